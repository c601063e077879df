/* SPDX-License-Identifier: MIT */
/* Aggregates that kernel code reads, against a cell fed by stat/cell.c. */
#include "test.h"

#include "gen_kit.h"

#include "stat/cell.h"
#include "stat/extract.h"
#include "store/kern_cell.h"

enum { NOPS = 5, KEYS = 3, WORDS = 8 };

static const enum stat_op ops[NOPS] = {
	STAT_COUNT, STAT_SUM, STAT_MIN, STAT_MAX, STAT_AVG,
};

struct live {
	struct kit *k;
	struct var *s, *a, *of_s[NOPS], *of_a[NOPS], *has;
	struct cell cell;
};

static struct var *aggregate(struct kit *k, const char *name, int arity)
{
	struct var *v = kit_global(k, name, TY_STATS, 0, arity);

	for (int i = 0; i < NOPS; i++)
		v->agg.ops |= 1u << ops[i];
	v->mode = AGG_LIVE;
	return v;
}

/* ctx: key, value. Feeds, then reads both into plain globals. */
static void handler(struct live *t)
{
	struct kit *k = t->k;
	struct ir_val key = val_reg((uint32_t)kit_reg(k, 0));
	struct ir_val v = val_reg((uint32_t)kit_reg(k, 0));

	kit_ins(k, OP_ARG, (int)key.reg, 1, val_num(0));
	kit_ins(k, OP_ARG, (int)v.reg, 1, val_num(1));
	kit_ins(k, OP_SADD, -1, 1, v)->global = t->s;
	kit_ins(k, OP_SADD, -1, 2, key, v)->global = t->a;
	for (int i = 0; i < NOPS; i++) {
		struct ir_val r = val_reg((uint32_t)kit_reg(k, 0));
		struct ir_ins *get;

		get = kit_ins(k, OP_SGET, (int)r.reg, 1, val_num(0));
		get->global = t->s;
		get->num = ops[i];
		kit_set(k, t->of_s[i], r);
		get = kit_ins(k, OP_SGET, (int)r.reg, 2, key, val_num(0));
		get->global = t->a;
		get->num = ops[i];
		kit_set(k, t->of_a[i], r);
	}
}

/* A timer on the host that feeds `a`: its elements have a cell for that. */
static void host_handler(struct live *t)
{
	struct kit *k = t->k;
	struct probe *p = arena_new_of(k->c->a, struct probe);
	struct ir_func *f = arena_new_of(k->c->a, struct ir_func);
	struct ir_func *kernel = k->f;
	struct ir_block *cur = k->cur, *last = k->last;

	p->place = PLACE_HOST;
	p->index = 1;
	p->pp = "timer.s(1)";
	vec_push(k->c->a, &k->prog->probes, p);
	f->name = "probe 1";
	f->probe = p;
	f->place = PLACE_HOST;
	f->index = 1;
	vec_push(k->c->a, &k->ir->funcs, f);
	k->f = f;
	k->cur = k->last = NULL;
	kit_ins(k, OP_SADD, -1, 2, val_num(0), val_num(1))->global = t->a;
	kit_ins(k, OP_RET, -1, 0);
	k->f = kernel;
	k->cur = cur;
	k->last = last;
}

static int make(struct live *t, unsigned ncpus)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);

	*t = (struct live){.k = k};
	k->ncpus = ncpus;
	t->s = aggregate(k, "s", 0);
	t->a = aggregate(k, "a", 1);
	t->a->size = 16;
	for (int i = 0; i < NOPS; i++) {
		t->of_s[i] = kit_global(k, "x", TY_LONG, 0, 0);
		t->of_a[i] = kit_global(k, "y", TY_LONG, 0, 0);
	}
	handler(t);
	host_handler(t);
	CHECK(kit_compile(k));
	t->cell = k->plan->globals[t->s->index].cell;
	return kit_load(k);
}

static void compare(struct live *t, struct var *const *of,
		    const uint64_t *want)
{
	int64_t v;

	for (int i = 0; i < NOPS; i++) {
		stat_extract(&t->cell, want, ops[i], 0, &v, NULL);
		CHECK_EQ(kit_num(t->k, of[i]), v);
	}
}

/* What the program of the CPU with the highest number would have fed. */
static void feed_last_row(struct live *t, uint64_t *want)
{
	const struct plan *p = t->k->plan;
	uint64_t *cell = (uint64_t *)
	    (t->k->rows + (size_t)(p->ncpus - 1) * p->row_size + p->bank_off +
	     p->bank_size + p->globals[t->s->index].slot[0]);

	cell_add(&t->cell, cell, -100000);
	cell_add(&t->cell, want, -100000);
}

/* What the host feeds an element; `host` is its cell as the host knows it. */
static void feed_host(struct live *t, struct kern_cell *c, uint64_t key,
		      uint64_t *host, int64_t v)
{
	CHECK_EQ(kern_cell_add(c, &key, host, v), 0);
	cell_add(&t->cell, host, v);
}

static int live_run(unsigned ncpus)
{
	uint64_t want_s[WORDS] = {0}, want_a[KEYS][WORDS] = {{0}};
	uint64_t host[KEYS][WORDS] = {{0}};
	const struct plan_global *g;
	struct kern_cell *c;
	struct live t;
	int loaded = make(&t, ncpus);

	if (loaded) {
		kit_free(t.k);
		return loaded;
	}
	g = &t.k->plan->globals[t.a->index];
	CHECK(g->host_cell);
	CHECK_EQ(g->shards > 1, ncpus > 16);
	c = kern_cell_new(t.k->fd[g->map], g);
	feed_last_row(&t, want_s);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t ctx[2] = {i % KEYS, i * 7919 % 1000 - 600ull};

		if (i % 5 == 0) {
			feed_host(&t, c, i % KEYS, host[i % KEYS],
				  -700 - (int)i);
			cell_add(&t.cell, want_a[i % KEYS], -700 - (int)i);
		}

		((struct control *)t.k->control)->bank = i / 50 & 1;
		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
		cell_add(&t.cell, want_s, (int64_t)ctx[1]);
		cell_add(&t.cell, want_a[i % KEYS], (int64_t)ctx[1]);
		compare(&t, t.of_s, want_s);
		compare(&t, t.of_a, want_a[i % KEYS]);
	}
	kern_cell_free(c);
	kit_free(t.k);
	return 0;
}

TEST(sums_all_cells_on_this_machine)
{
	if (live_run(0) == 1)
		SKIP("bpf() is refused");
}

/* A loop over the rows, and shards in the values. */
TEST(sums_all_cells_of_many_cpus)
{
	if (live_run(64) == 1)
		SKIP("bpf() is refused");
}

/* The host's own cell of an element, as the kernel's map has it. */
static int64_t host_count(struct live *t, uint64_t key)
{
	const struct plan_global *g = &t->k->plan->globals[t->a->index];
	uint64_t value[8 * WORDS];
	int64_t v = 0;

	if (bpf_map_lookup_elem(t->k->fd[g->map], &key, value))
		return -1;
	stat_extract(&g->cell, value + plan_host_off(g) / 8, STAT_COUNT, 0, &v,
		     NULL);
	return v;
}

/* What the host believes the cell to be need not be so. */
TEST(host_cell_after_a_program_deleted)
{
	uint64_t was[WORDS] = {0}, ctx[2] = {1, 5}, key = 1;
	const struct plan_global *g;
	struct kern_cell *c;
	struct live t;

	if (make(&t, 0) == 1)
		SKIP("bpf() is refused");
	g = &t.k->plan->globals[t.a->index];
	c = kern_cell_new(t.k->fd[g->map], g);
	CHECK_EQ(kern_cell_add(c, &key, NULL, 1), 0); /* makes it */
	CHECK_EQ(kern_cell_add(c, &key, NULL, 1), 0); /* knows nothing of it */
	CHECK_EQ(host_count(&t, 1), 2);
	CHECK_EQ(kit_run(t.k, ctx, 2), 0);
	CHECK_EQ(kit_num(t.k, t.of_a[0]), 3);
	cell_add(&g->cell, was, 1);
	cell_add(&g->cell, was, 1);
	/* deleted, and made by a program */
	CHECK_EQ(bpf_map_delete_elem(t.k->fd[g->map], &key), 0);
	CHECK_EQ(kit_run(t.k, ctx, 2), 0);
	CHECK_EQ(kern_cell_add(c, &key, was, 1), 0);
	CHECK_EQ(host_count(&t, 1), 1);
	/* deleted, and not made again */
	CHECK_EQ(bpf_map_delete_elem(t.k->fd[g->map], &key), 0);
	CHECK_EQ(kern_cell_add(c, &key, was, 1), 0);
	CHECK_EQ(host_count(&t, 1), 1);
	/* 16 elements */
	for (key = 2; key < 17; key++)
		CHECK_EQ(kern_cell_add(c, &key, NULL, 1), 0);
	CHECK_EQ(kern_cell_add(c, &key, NULL, 1), -E2BIG);
	kern_cell_free(c);
	kit_free(t.k);
}
