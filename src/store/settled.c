/* SPDX-License-Identifier: MIT */
/*
 * Settled totals: a hash of cells, or one cell. What a drain takes out of the
 * kernel's banks ends up here and is never in two places, so count here plus
 * count there is always the number of samples. Samples of keys for which there
 * was no room are in the "other" cell: sums over all keys stay right.
 */
#include "store/settled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "stat/grid.h"
#include "store/htab.h"
#include "store/store.h"

/* One aggregate's totals on the host. */
struct settled {
	const struct plan_global *g;
	struct htab *keyed; /* NULL: scalar */
	uint64_t *cell;     /* the scalar's, else "other" */
	/* samples in `cell`, of keyed ones, since last asked */
	uint64_t to_other;
	const uint8_t **keys; /* of the last settled_keys() */
};

struct settled *settled_new(const struct plan_global *g, uint32_t size)
{
	struct settled *t = xcalloc(1, sizeof(*t));

	t->g = g;
	/*
	 * Keyed by the plan's key bytes, so keys of kernel maps are looked up
	 * as they are.
	 */
	if (g->key.n)
		t->keyed = htab_new(g->key.size, g->cell.size, size);
	t->cell = xcalloc(1, g->cell.size ? g->cell.size : 8);
	return t;
}

void settled_limit(struct settled *t, uint32_t size)
{
	if (t->keyed)
		htab_limit(t->keyed, size);
}

void settled_free(struct settled *t)
{
	if (!t)
		return;
	htab_free(t->keyed);
	free(t->cell);
	free(t->keys);
	free(t);
}

/*
 * An empty cell has the same effect as none, and @count is 0 for both; but an
 * element that was never fed must not appear in foreach. Without a count (the
 * script asks for @max alone) any word tells, as no identity but 0 is used.
 */
bool cell_used(const struct cell *l, const uint64_t *cell)
{
	uint32_t i;

	if (l->has[CF_COUNT])
		return cell[l->off[CF_COUNT] / 8] != 0;
	for (i = 0; i < l->size / 8; i++)
		if (cell[i])
			return true;
	return false;
}

/* How many went to "other": at least one where cells do not count. */
static uint64_t samples_in(const struct cell *l, const uint64_t *cell)
{
	return l->has[CF_COUNT] ? cell[l->off[CF_COUNT] / 8] : 1;
}

/* The key's cell, made if there is room; NULL: full. */
static uint64_t *cell_for(struct settled *t, const void *key)
{
	bool is_new;

	if (!t->keyed)
		return t->cell;
	/*
	 * Merging a key may drop the oldest one of a wrapping aggregate, as
	 * adding does.
	 */
	return (uint64_t *)store_make_room(t->keyed, t->g->var->wrap, key,
					   &is_new);
}

int settled_add(struct settled *t, const void *key, int64_t v)
{
	uint64_t *cell = cell_for(t, key);

	/* Both paths count the sample once: in its element or in "other". */
	if (!cell) {
		settled_add_other(t, v);
		return -E2BIG;
	}
	cell_add(&t->g->cell, cell, v);
	return 0;
}

void settled_add_other(struct settled *t, int64_t v)
{
	cell_add(&t->g->cell, t->cell, v);
	t->to_other++;
}

int settled_merge(struct settled *t, const void *key, const uint64_t *from)
{
	uint64_t *cell;

	if (!cell_used(&t->g->cell, from))
		return 0;
	cell = cell_for(t, key);
	cell_merge(&t->g->cell, cell ? cell : t->cell, from);
	if (cell)
		return 0;
	t->to_other += samples_in(&t->g->cell, from);
	return -E2BIG;
}

/* Likewise for what maps hold when quantile grids have a map of their own. */
int settled_merge_part(struct settled *t, const void *key, const uint64_t *part)
{
	const struct cell *l = &t->g->part;
	uint64_t *cell;

	if (!cell_used(l, part))
		return 0;
	cell = cell_for(t, key);
	cell_merge(l, cell ? cell : t->cell, part);
	if (cell)
		return 0;
	t->to_other += samples_in(l, part);
	return -E2BIG;
}

void settled_merge_octave(struct settled *t, const void *key, uint64_t octave,
			  const uint64_t *counts)
{
	/*
	 * The key was merged before its octaves, so it is there, unless it
	 * found no room.
	 */
	uint64_t *cell = (uint64_t *)htab_find(t->keyed, key);
	unsigned i;

	/* No cell: its part went to "other", or a newer key took its place. */
	if (!cell && t->g->var->wrap)
		return;
	if (!cell)
		cell = t->cell;
	/*
	 * grid.h numbers buckets so that an octave is GRID_SUB of them in a
	 * row.
	 */
	cell += t->g->cell.off[CF_GRID] / 8 + octave * GRID_SUB;
	/*
	 * octave is a kernel's key: what is out of range is dropped, not
	 * written.
	 */
	for (i = 0; i < GRID_SUB && octave < GRID_BUCKETS / GRID_SUB; i++)
		cell[i] += counts[i];
}

void settled_merge_other(struct settled *t, const uint64_t *from)
{
	if (!cell_used(&t->g->cell, from))
		return;
	cell_merge(&t->g->cell, t->cell, from);
	t->to_other += samples_in(&t->g->cell, from);
}

void settled_merge_all(struct settled *t, const struct settled *from)
{
	uint32_t e;

	if (!from->keyed) {
		settled_merge(t, NULL, from->cell);
		return;
	}
	for (e = htab_first(from->keyed); e != HTAB_NONE;
	     e = htab_next(from->keyed, e))
		settled_merge(t, htab_key(from->keyed, e),
			      (const uint64_t *)htab_value(from->keyed, e));
	settled_merge_other(t, from->cell);
}

const uint64_t *settled_cell(const struct settled *t, const void *key)
{
	if (t->keyed)
		return (const uint64_t *)htab_find(t->keyed, key);
	return cell_used(&t->g->cell, t->cell) ? t->cell : NULL;
}

const uint64_t *settled_other(const struct settled *t)
{
	if (!t->keyed || !cell_used(&t->g->cell, t->cell))
		return NULL;
	return t->cell;
}

int settled_del(struct settled *t, const void *key)
{
	if (t->keyed)
		return htab_del(t->keyed, key) ? 0 : -ENOENT;
	memset(t->cell, 0, t->g->cell.size);
	return 0;
}

void settled_clear(struct settled *t)
{
	if (t->keyed)
		/*
		 * "other" goes with the elements: delete of an array leaves
		 * nothing of it.
		 */
		htab_clear(t->keyed);
	memset(t->cell, 0, t->g->cell.size);
	t->to_other = 0;
}

unsigned settled_count(const struct settled *t)
{
	return t->keyed ? htab_count(t->keyed) : 0;
}

unsigned settled_keys(struct settled *t, const uint8_t ***ret)
{
	unsigned n = settled_count(t), i = 0;
	uint32_t e;

	/* + 1: never NULL. */
	t->keys = xrealloc(t->keys, (n + 1) * sizeof(*t->keys));
	*ret = t->keys;
	if (!n)
		return 0;
	for (e = htab_first(t->keyed); e != HTAB_NONE;
	     e = htab_next(t->keyed, e))
		t->keys[i++] = htab_key(t->keyed, e);
	return n;
}

uint64_t settled_take_other(struct settled *t)
{
	uint64_t n = t->to_other;

	t->to_other = 0;
	return n;
}
