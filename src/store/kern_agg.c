/* SPDX-License-Identifier: MIT */
/*
 * Aggregates in kernel maps: moving what a bank holds to the settled totals,
 * and copying banks that programs read themselves (live mode).
 */
#include "store/kern_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "stat/cell.h"
#include "stat/grid.h"
#include "store/kern_map.h"
#include "store/live.h"
#include "store/settled.h"

/* Adds the elements of a map of cells, summed over CPUs and shards. */
static void sum_cells(const struct plan_global *pg,
		      const struct kern_rows *rows, struct store_batch *b)
{
	size_t step = (size_t)pg->part.size * pg->shards, i;
	/* The last cell of rows->value_size is whole: the plan rounds to 8. */
	unsigned cpu, cpus = (unsigned)(rows->value_size / step);
	const uint8_t *v;
	uint8_t *e;

	for (i = 0; i < rows->n; i++) {
		e = b->elems + b->n++ * b->stride;
		memcpy(e, kern_rows_key(rows, i), pg->key.size);
		v = kern_rows_value(rows, i);
		for (cpu = 0; cpu < cpus; cpu++, v += step)
			store_sum_shards(pg, v, (uint64_t *)(e + pg->key.size));
	}
}

/* Bytes that reading an element's value gives. */
static size_t cells_size(const struct kern_store *k,
			 const struct plan_global *pg, enum map_kind kind)
{
	size_t size = k->s.plan->maps.v[pg->map].value_size;

	return kind == PM_PERCPU_HASH ? size * k->s.plan->ncpus : size;
}

/*
 * Moves what a bank's map and hot entries hold to the totals. Nobody adds to
 * this bank any more, so what was read is all there is, and deleting exactly
 * that empties the map.
 */
static int drain_map(struct kern_store *k, unsigned g, unsigned bank)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	int fd = k->bank_fd[pg->map][bank];
	struct store_batch b;
	struct kern_rows rows;
	int rc;

	rc = kern_map_read(fd, pg->key.size,
			   cells_size(k, pg, k->s.plan->maps.v[pg->map].inner),
			   &rows);
	if (!rc) {
		store_batch_init(&b, &k->s, g, rows.n);
		sum_cells(pg, &rows, &b);
		store_take_hot(&k->s, g, bank, &b);
		store_merge_batch(&k->s, g, &b);
	}
	if (!rc && rows.n)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

/*
 * Moves the octaves of a bank's grids. Keys are the aggregate's key and then
 * the octave's number.
 */
static int drain_grid(struct kern_store *k, unsigned g, int fd)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	struct kern_rows rows;
	const uint8_t *key;
	uint64_t octave;
	size_t i;
	int rc;

	rc = kern_map_read(fd, pg->key.size + 8, GRID_SUB * 8, &rows);
	for (i = 0; !rc && i < rows.n; i++) {
		key = kern_rows_key(&rows, i);
		memcpy(&octave, key + pg->key.size, 8);
		settled_merge_octave(k->s.settled[g], key, octave,
			(const uint64_t *)kern_rows_value(&rows, i));
	}
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

/* What sorting needs to know. */
struct key_order {
	const struct plan_key *key;
	const struct kern_rows *rows;
};

static int by_key(const void *a, const void *b, void *ctx)
{
	const struct key_order *o = ctx;

	return store_key_compare(o->key,
				 kern_rows_key(o->rows, *(const size_t *)a),
				 kern_rows_key(o->rows, *(const size_t *)b));
}

/*
 * Copies a live map in key order. So that keys that are new come in the same
 * order on every run.
 */
static int copy_map(struct kern_store *k, unsigned g)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	struct kern_rows rows;
	struct key_order o = { &pg->key, &rows };
	struct live *l = k->s.live[g];
	size_t i, *order;
	int rc;

	rc = kern_map_read(k->s.map_fd[pg->map], pg->key.size,
			   cells_size(k, pg, PM_HASH), &rows);
	if (!rc) {
		order = xcalloc(rows.n + 1, sizeof(*order));
		for (i = 0; i < rows.n; i++)
			order[i] = i;
		qsort_r(order, rows.n, sizeof(*order), by_key, &o);
		for (i = 0; i < rows.n; i++) {
			const uint8_t *key = kern_rows_key(&rows, order[i]);
			const uint8_t *v = kern_rows_value(&rows, order[i]);

			live_copy(l, key, v, pg->shards,
				  (size_t)pg->shards * pg->cell.size);
			if (pg->host_cell)
				live_copy_host(l, key, (const uint64_t *)
						       (v + plan_host_off(pg)));
		}
		free(order);
	}
	kern_rows_free(&rows);
	return rc;
}

/* One keyed aggregate's part of a drain; scalars are in the rows. */
static int drain_global(struct kern_store *k, unsigned g, unsigned bank)
{
	const struct plan *p = k->s.plan;
	const struct plan_global *pg = &p->globals[g];
	int rc;

	if (!store_is_agg(pg) || !pg->key.n || !store_has_map(&k->s, pg))
		return 0;
	/* A live map has both banks' cells in each element. */
	if (store_is_live(pg)) {
		rc = copy_map(k, g);
		if (rc || !store_live_torn(&k->s, g))
			return rc;
		store_copy_live(&k->s, g, bank);
		return copy_map(k, g);
	}
	rc = drain_map(k, g, bank);
	/* After the elements: an octave is added to its element. */
	if (!rc && pg->grid_map != UINT32_MAX)
		rc = drain_grid(k, g, k->bank_fd[pg->grid_map][bank]);
	if (pg->early)
		store_emptied(&k->s, pg, bank);
	return rc;
}

int kern_agg_drain(struct store *s)
{
	struct kern_store *k = kern_of(s);
	struct control *c = (struct control *)s->control;
	unsigned g, bank = c->bank & 1;
	int rc = 0;

	/* One store moves all programs and all aggregates to the other bank:
	 * what is drained describes one instant. */
	__atomic_store_n(&c->bank, bank ^ 1, __ATOMIC_SEQ_CST);
	if (!k->quiet)
		rc = grace_wait(&k->grace);
	/*
	 * The bank was flipped but nothing was moved: its samples wait there
	 * until the next flip but one, and are not lost.
	 */
	if (rc)
		return rc;
	store_drain_rows(s, bank);
	for (g = 0; !rc && g < s->plan->nglobals; g++)
		rc = drain_global(k, g, bank);
	return rc;
}

/*
 * A program that holds an element which is deleted meanwhile adds to memory
 * that nobody reads: such a sample came before the delete.
 */
int kern_agg_live_del(struct store *s, unsigned g, const void *key)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct kern_rows rows;
	int rc, fd;

	fd = s->map_fd[pg->map];
	if (key) {
		rc = bpf_map_delete_elem(fd, key);
		return rc == -ENOENT ? 0 : rc;
	}
	rc = kern_map_read(fd, pg->key.size,
			   cells_size(kern_of(s), pg, PM_HASH), &rows);
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

int kern_agg_live_add(struct store *s, unsigned g, const void *key,
		      const uint64_t *was, int64_t v)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct kern_cell **c = &kern_of(s)->global[g].cell;

	if (!*c)
		*c = kern_cell_new(s->map_fd[pg->map], pg);
	return kern_cell_add(*c, key, was, v);
}

