/* SPDX-License-Identifier: MIT */
/* The store in kernel maps, on a plan made by hand. Needs CAP_BPF. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/compile.h"
#include "stat/cell.h"
#include "store/kern.h"
#include "store/store.h"

enum { G_SCALAR, G_PLAIN, G_AGG, G_KEYED, NGLOBALS, NPROBES = 1 };

struct world {
	struct compile *c;
	struct var var[NGLOBALS];
	struct plan_global pg[NGLOBALS];
	uint32_t slot[NPROBES];
	struct plan plan;
	struct program prog;
	struct ir ir;
	struct probe probe;
	struct store *s;
};

static void add_map(struct world *w, const char *name, enum map_kind kind,
		    enum map_kind inner, uint32_t key, uint32_t value,
		    uint32_t n)
{
	struct plan_map m = { .name = name, .kind = kind, .inner = inner,
			      .key_size = key, .value_size = value,
			      .max_entries = n };

	vec_push(w->c->a, &w->plan.maps, m);
}

static void set_key(struct plan_global *g)
{
	g->key.n = 1;
	g->key.width[0] = 8;
	g->key.size = 8;
}

static bool world_open(struct world *w)
{
	struct plan *p = &w->plan;
	struct probe *probe = &w->probe;
	int err;
	unsigned i, map;

	memset(w, 0, sizeof(*w));
	w->c = compile_new();
	for (i = 0; i < NGLOBALS; i++) {
		w->pg[i].var = &w->var[i];
		w->var[i].type = i < G_AGG ? TY_LONG : TY_STATS;
		w->var[i].width = 8;
		w->pg[i].value_width = 8;
		w->pg[i].shards = 1;
		w->pg[i].grid_map = UINT32_MAX;
		w->pg[i].other_off = w->pg[i].full_off = UINT32_MAX;
		if (i >= G_AGG)
			w->pg[i].cell = cell_layout(1 << STAT_COUNT |
						    1 << STAT_SUM, 0, 0, 0, 0);
		w->pg[i].part = w->pg[i].cell;
	}
	p->ncpus = (unsigned)libbpf_num_possible_cpus();
	for (p->nrows = 1; p->nrows < p->ncpus; p->nrows *= 2)
		;
	p->counts_off = 0;
	p->bank_off = 64;
	p->bank_size = 128;
	p->row_size = 64 + 2 * 128;
	p->control_size = sizeof(struct control) + 8;
	p->globals = w->pg;
	p->nglobals = NGLOBALS;
	w->pg[G_SCALAR].off = sizeof(struct control);
	w->pg[G_SCALAR].var->init.type = TY_LONG;
	w->pg[G_SCALAR].var->init.num = 42;
	w->slot[0] = 0;
	w->pg[G_AGG].slot = w->slot;
	w->pg[G_KEYED].other_off = 64;
	set_key(&w->pg[G_PLAIN]);
	set_key(&w->pg[G_KEYED]);
	w->pg[G_PLAIN].map = 4;
	w->pg[G_KEYED].map = 5;
	add_map(w, "control", PM_ARRAY_MMAP, 0, 4, p->control_size, 1);
	add_map(w, "rows", PM_ARRAY_MMAP, 0, 4, p->row_size * p->nrows, 1);
	add_map(w, "rodata", PM_ARRAY_RDONLY, 0, 4, 8, 1);
	add_map(w, "ring", PM_RINGBUF, 0, 0, 0, 0);
	add_map(w, "plain", PM_HASH, 0, 8, 16, 4);
	add_map(w, "keyed", PM_BANKS, PM_PERCPU_HASH, 8,
		w->pg[G_KEYED].cell.size, 1000);
	vec_push(w->c->a, &w->prog.probes, probe);
	w->ir.prog = &w->prog;
	w->s = store_kern_open(p, &err, &map);
	if (w->s)
		store_init_globals(w->s, &w->ir);
	return w->s;
}

static void world_close(struct world *w)
{
	store_close(w->s);
	compile_free(w->c);
}

TEST(plain_arrays_keep_the_order_of_creation)
{
	struct world w;
	int64_t key, v, old, n;
	uint8_t *elems;

	if (!world_open(&w))
		SKIP("needs CAP_BPF");
	CHECK_EQ(*(int64_t *)(w.s->control + w.pg[G_SCALAR].off), 42);
	for (key = 3; key >= 0; key--) {
		v = key * 10;
		CHECK_EQ(w.s->ops->set(w.s, G_PLAIN, &key, &v), 0);
	}
	key = 9;
	CHECK_EQ(w.s->ops->set(w.s, G_PLAIN, &key, &v), -E2BIG);
	key = 2;
	CHECK_EQ(w.s->ops->add(w.s, G_PLAIN, &key, 5, &old), 0);
	CHECK_EQ(old, 20);
	CHECK_EQ(w.s->ops->get(w.s, G_PLAIN, &key, &v), 0);
	CHECK_EQ(v, 25);
	key = 1;
	CHECK_EQ(w.s->ops->del(w.s, G_PLAIN, &key), 0);
	CHECK_EQ(w.s->ops->get(w.s, G_PLAIN, &key, &v), -ENOENT);
	n = w.s->ops->snapshot(w.s, G_PLAIN, &elems);
	CHECK_EQ(n, 3);
	CHECK_EQ(((int64_t *)elems)[0], 3);
	CHECK_EQ(((int64_t *)elems)[2], 2);
	CHECK_EQ(((int64_t *)elems)[3], 25);
	CHECK_EQ(((int64_t *)elems)[4], 0);
	free(elems);
	CHECK_EQ(w.s->ops->clear(w.s, G_PLAIN), 0);
	n = w.s->ops->snapshot(w.s, G_PLAIN, &elems);
	CHECK_EQ(n, 0);
	free(elems);
	world_close(&w);
}

TEST(a_wrapping_array_drops_its_oldest_element)
{
	struct world w;
	int64_t key, v = 1;

	if (!world_open(&w))
		SKIP("needs CAP_BPF");
	w.var[G_PLAIN].wrap = true;
	for (key = 0; key < 6; key++)
		CHECK_EQ(w.s->ops->set(w.s, G_PLAIN, &key, &v), 0);
	key = 1;
	CHECK_EQ(w.s->ops->get(w.s, G_PLAIN, &key, &v), -ENOENT);
	key = 2;
	CHECK_EQ(w.s->ops->get(w.s, G_PLAIN, &key, &v), 0);
	world_close(&w);
}

/* What a program would do: adds v to the cell of a row in the active bank. */
static void feed_row(struct world *w, unsigned row, uint32_t off, int64_t v)
{
	const struct control *c = (const struct control *)w->s->control;

	cell_add(&w->pg[G_AGG].cell,
		 (uint64_t *)(w->s->rows + row * w->plan.row_size +
			      w->plan.bank_off + c->bank * w->plan.bank_size +
			      off), v);
}

/* The inner map that programs write now. */
static int active_map(struct world *w)
{
	const struct control *c = (const struct control *)w->s->control;
	uint32_t bank = c->bank, id;

	CHECK_EQ(bpf_map_lookup_elem(w->s->map_fd[5], &bank, &id), 0);
	return bpf_map_get_fd_by_id(id);
}

TEST(drains_move_every_sample_once)
{
	struct world w;
	const struct cell *l;
	const uint64_t *cell;
	uint64_t *percpu, total = 0;
	int64_t key, round;
	unsigned i, step;
	int fd;

	if (!world_open(&w))
		SKIP("needs CAP_BPF");
	l = &w.pg[G_KEYED].cell;
	step = l->size / 8;
	percpu = calloc(w.plan.ncpus, l->size);
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < w.plan.nrows; i++)
			feed_row(&w, i, 0, round);
		feed_row(&w, 0, 64, 1); /* the keyed aggregate's "other" */
		fd = active_map(&w);
		for (key = 500; key > 0; key--) {
			memset(percpu, 0, (size_t)w.plan.ncpus * l->size);
			for (i = 0; i < w.plan.ncpus; i++)
				cell_add(l, percpu + i * step, key);
			CHECK_EQ(bpf_map_update_elem(fd, &key, percpu, 0), 0);
		}
		close(fd);
		CHECK_EQ(store_drain(w.s), 0);
		total += w.plan.ncpus;
		cell = store_agg_cell(w.s, G_AGG, NULL);
		CHECK(cell);
		CHECK_EQ(cell[l->off[CF_COUNT] / 8],
			 (uint64_t)round * w.plan.nrows);
		for (key = 1; key <= 500; key++) {
			cell = store_agg_cell(w.s, G_KEYED, &key);
			CHECK(cell);
			CHECK_EQ(cell[l->off[CF_COUNT] / 8], total);
			CHECK_EQ(cell[l->off[CF_SUM] / 8],
				 total * (uint64_t)key);
		}
	}
	CHECK_EQ(store_drain(w.s), 0);
	CHECK_EQ(store_drain(w.s), 0);
	key = 7;
	cell = store_agg_cell(w.s, G_KEYED, &key);
	CHECK_EQ(cell[l->off[CF_COUNT] / 8], total);
	cell = store_agg_other(w.s, G_KEYED);
	CHECK(cell);
	CHECK_EQ(cell[l->off[CF_COUNT] / 8], 3);
	free(percpu);
	world_close(&w);
}

TEST(keys_of_one_drain_come_in_their_order)
{
	struct world w;
	uint64_t *percpu;
	const uint8_t **keys;
	int64_t key;
	unsigned i, n;
	int fd;

	if (!world_open(&w))
		SKIP("needs CAP_BPF");
	percpu = calloc(w.plan.ncpus, w.pg[G_KEYED].cell.size);
	cell_add(&w.pg[G_KEYED].cell, percpu, 1);
	fd = active_map(&w);
	for (i = 0; i < 100; i++) {
		key = (int64_t)(i * 37 % 100) - 50;
		CHECK_EQ(bpf_map_update_elem(fd, &key, percpu, 0), 0);
	}
	close(fd);
	CHECK_EQ(store_drain(w.s), 0);
	n = store_agg_keys(w.s, G_KEYED, &keys);
	CHECK_EQ(n, 100);
	for (i = 0; i < n; i++)
		CHECK_EQ(*(const int64_t *)keys[i], (int64_t)i - 50);
	free(percpu);
	world_close(&w);
}
