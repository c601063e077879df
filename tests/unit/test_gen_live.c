/* SPDX-License-Identifier: MIT */
/* Aggregates that kernel code reads, against a cell fed by stat/cell.c. */
#include "test.h"

#include "gen_kit.h"

#include "stat/cell.h"
#include "stat/extract.h"

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

static int live_run(unsigned ncpus)
{
	uint64_t want_s[WORDS] = {0}, want_a[KEYS][WORDS] = {{0}};
	struct live t;
	int loaded = make(&t, ncpus);

	if (loaded) {
		kit_free(t.k);
		return loaded;
	}
	feed_last_row(&t, want_s);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t ctx[2] = {i % KEYS, i * 7919 % 1000 - 600ull};

		((struct control *)t.k->control)->bank = i / 50 & 1;
		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
		cell_add(&t.cell, want_s, (int64_t)ctx[1]);
		cell_add(&t.cell, want_a[i % KEYS], (int64_t)ctx[1]);
		compare(&t, t.of_s, want_s);
		compare(&t, t.of_a, want_a[i % KEYS]);
	}
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
