/* SPDX-License-Identifier: MIT */
/* What the memory store and the kernel store share. */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "store/htab.h"
#include "store/live.h"
#include "store/settled.h"

/*
 * Of an aggregate: what the plan gave the totals (entries), which may be more
 * than its map has. Of others: the map's, the declared size, or the default.
 */
uint32_t store_capacity(const struct store *s, const struct plan_global *g)
{
	if (store_is_agg(g) && g->entries)
		return g->entries;
	if (store_has_map(s, g))
		return s->plan->maps.v[g->map].max_entries;
	if (g->var->size > 0)
		return g->var->size < UINT32_MAX ? (uint32_t)g->var->size
						 : UINT32_MAX;
	return s->entries;
}

void store_setup(struct store *s, const struct plan *p)
{
	unsigned i;

	s->plan = p;
	s->settled = xcalloc(p->nglobals + 1, sizeof(*s->settled));
	s->live = xcalloc(p->nglobals + 1, sizeof(*s->live));
	s->other_events = xcalloc(p->nglobals + 1, sizeof(*s->other_events));
	s->own = xcalloc(p->nglobals + 1, sizeof(*s->own));
	/* The language's default of MAXMAPENTRIES; main sets the user's. */
	s->entries = 2048;
	s->map_fd = xcalloc(p->maps.n + 1, sizeof(*s->map_fd));
	for (i = 0; i < p->maps.n; i++)
		s->map_fd[i] = -1;
	for (i = 0; i < p->nglobals; i++) {
		const struct plan_global *g = &p->globals[i];

		if (store_is_agg(g))
			s->settled[i] = settled_new(g, store_capacity(s, g));
		if (store_is_live(g))
			s->live[i] = live_new(g, store_capacity(s, g));
	}
}

/* Implementations free their own parts, then call this, then free s. */
void store_teardown(struct store *s)
{
	unsigned i;

	for (i = 0; i < s->plan->nglobals; i++) {
		settled_free(s->settled[i]);
		live_free(s->live[i]);
		htab_free(s->own[i]);
	}
	free(s->own);
	free(s->settled);
	free(s->live);
	free(s->other_events);
	free(s->late_full);
	free(s->map_fd);
}

/* Only arrays of the host: kernel maps were made with their size. */
void store_set_entries(struct store *s, uint32_t n)
{
	unsigned i;

	s->entries = n;
	for (i = 0; i < s->plan->nglobals; i++) {
		const struct plan_global *g = &s->plan->globals[i];

		if (s->settled[i])
			settled_limit(s->settled[i], store_capacity(s, g));
		if (s->live[i])
			live_limit(s->live[i], store_capacity(s, g));
		if (s->own[i])
			htab_limit(s->own[i], store_capacity(s, g));
	}
}

void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Does any program feed it through the rows or a map? */
static bool is_fed(const struct store *s, const struct plan_global *g)
{
	unsigned i;

	if (g->key.n)
		return store_has_map(s, g);
	for (i = 0; g->slot && i < s->nprobes; i++)
		if (g->slot[i] != UINT32_MAX)
			return true;
	return false;
}

void store_init_globals(struct store *s, const struct ir *ir)
{
	const struct plan *p = s->plan;
	struct control *control = (struct control *)s->control;
	unsigned i;

	s->nprobes = ir->prog ? ir->prog->probes.n : 0;
	s->late_full = xcalloc(s->nprobes + 1, sizeof(*s->late_full));
	/* Handlers read the wall clock as monotonic time plus this. */
	control->start_wall_ns =
	    clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < p->nglobals; i++) {
		const struct plan_global *g = &p->globals[i];
		const struct literal *init = &g->var->init;
		size_t n;

		if (store_is_agg(g)) {
			s->has_banks |= is_fed(s, g);
			continue;
		}
		if (g->key.n || init->type == TY_UNKNOWN)
			continue;
		if (g->var->type == TY_LONG) {
			memcpy(s->control + g->off, &init->num, 8);
		} else if (g->var->type == TY_STRING && init->str) {
			/*
			 * A literal longer than the variable's width is cut, as
			 * by an assignment.
			 */
			n = strlen(init->str);
			if (n > g->var->width - 1)
				n = g->var->width - 1;
			memset(s->control + g->off, 0, g->var->width);
			memcpy(s->control + g->off, init->str, n);
		}
	}
}

/* --- drains --------------------------------------------------------------- */

/*
 * The rows are those of the CPUs, each with both banks: bank_off + bank * size.
 */
static uint64_t *row_cell(const struct store *s, unsigned row, unsigned bank,
			  uint32_t off)
{
	const struct plan *p = s->plan;

	return (uint64_t *)(s->rows + (size_t)row * p->row_size + p->bank_off +
			    (size_t)bank * p->bank_size + off);
}

/* Adds up one cell of all rows and empties it; nobody writes this bank now. */
static void drain_cell(struct store *s, unsigned g, unsigned bank, uint32_t off,
		       bool other)
{
	const struct plan_global *pg = &s->plan->globals[g];
	unsigned row;

	for (row = 0; row < s->plan->nrows; row++) {
		uint64_t *cell = row_cell(s, row, bank, off);

		if (other)
			settled_merge_other(s->settled[g], cell);
		else
			settled_merge(s->settled[g], NULL, cell);
		memset(cell, 0, pg->cell.size);
	}
}

/* Live cells are left where they are: programs read them. */
static void copy_cells(struct store *s, unsigned g)
{
	const struct plan *p = s->plan;
	const struct plan_global *pg = &p->globals[g];
	unsigned row, i;

	for (row = 0; row < p->nrows; row++) {
		const uint8_t *at = (uint8_t *)row_cell(s, row, 0, 0);

		/*
		 * An array of live aggregates has only its "other" cell in the
		 * rows; its elements are copied by the implementation.
		 */
		if (pg->key.n && pg->other_off != UINT32_MAX)
			live_copy_other(s->live[g], at + pg->other_off,
					p->bank_size);
		/* <=: the slot behind the probes' is the host's own. */
		for (i = 0; !pg->key.n && i <= s->nprobes; i++)
			if (pg->slot[i] != UINT32_MAX)
				live_copy(s->live[g], NULL, at + pg->slot[i], 1,
					  p->bank_size);
	}
}

static uint64_t deletes(const struct store *s, unsigned g)
{
	return __atomic_load_n((uint64_t *)(s->control +
					    s->plan->globals[g].deletes_off),
			       __ATOMIC_SEQ_CST);
}

bool store_live_torn(const struct store *s, unsigned g)
{
	return live_torn(s->live[g], deletes(s, g));
}

/*
 * A scalar that is deleted all the time may never hold still for long enough:
 * then the last copy has to do.
 */
void store_copy_live(struct store *s, unsigned g, unsigned bank)
{
	enum { TRIES = 100 };
	int i;

	for (i = 0; i < TRIES; i++) {
		live_begin(s->live[g], bank, deletes(s, g));
		copy_cells(s, g);
		if (s->plan->globals[g].key.n || !store_live_torn(s, g))
			return;
	}
}

/* Cells of a row's bank for what finds the array full. */
static unsigned others(const struct plan_global *pg)
{
	if (!pg->key.n || pg->other_off == UINT32_MAX)
		return 0;
	return pg->by_program ? pg->shards : 1;
}

void store_drain_rows(struct store *s, unsigned bank)
{
	unsigned g, i;

	for (g = 0; g < s->plan->nglobals; g++) {
		const struct plan_global *pg = &s->plan->globals[g];

		if (!store_is_agg(pg))
			continue;
		if (store_is_live(pg)) {
			store_copy_live(s, g, bank);
			continue;
		}
		/*
		 * The bank is empty from here on: handlers may try again to add
		 * keys.
		 */
		if (pg->full_off != UINT32_MAX) /* there will be room */
			((uint64_t *)(s->control + pg->full_off))[bank] = 0;
		for (i = 0; i < others(pg); i++)
			drain_cell(s, g, bank,
				   pg->other_off + i * pg->cell.size, true);
		for (i = 0; !pg->key.n && pg->slot && i < s->nprobes; i++)
			if (pg->slot[i] != UINT32_MAX)
				drain_cell(s, g, bank, pg->slot[i], false);
		s->other_events[g] += settled_take_other(s->settled[g]);
	}
}

void store_batch_init(struct store_batch *b, const struct store *s, unsigned g,
		      size_t more)
{
	const struct plan_global *pg = &s->plan->globals[g];
	unsigned i, hot = 0;

	for (i = 0; pg->hot_ways && i < s->nprobes; i++)
		if (pg->hot[i] != UINT32_MAX)
			hot += pg->hot_ways;
	b->stride = pg->key.size + pg->part.size + 8;
	b->n = 0;
	b->elems = xcalloc(more + (size_t)hot * s->plan->nrows + 1, b->stride);
}

/* One program's entries on one CPU. Those that were not used are not even
 * written: most CPUs' are in no cache. */
static void take_entries(const struct plan_global *g, uint8_t *entry,
			 uint64_t owner, struct store_batch *b)
{
	const uint32_t key = g->key.size, part = g->part.size;
	unsigned i;

	for (i = 0; i < g->hot_ways; i++, entry += g->hot_size) {
		uint8_t *e = b->elems + b->n * b->stride;

		if (!cell_used(&g->part, (const uint64_t *)entry))
			continue;
		memcpy(e, entry + part, key);
		memcpy(e + key, entry, part);
		memcpy(e + key + part, &owner, 8);
		b->n++;
		memset(entry, 0, g->hot_size);
	}
}

void store_take_hot(struct store *s, unsigned g, unsigned bank,
		    struct store_batch *b)
{
	const struct plan_global *pg = &s->plan->globals[g];
	unsigned row, i;

	for (row = 0; pg->hot_ways && row < s->plan->nrows; row++)
		for (i = 0; i < s->nprobes; i++)
			if (pg->hot[i] != UINT32_MAX)
				take_entries(pg,
					(uint8_t *)row_cell(s, row, bank,
							    pg->hot[i]),
					i + 1, b);
}

/*
 * Shards are cells of one element that several CPUs add to, so that they do not
 * wait for one cache line.
 */
void store_sum_shards(const struct plan_global *g, const uint8_t *value,
		      uint64_t *into)
{
	unsigned i;

	for (i = 0; i < g->shards; i++)
		cell_merge(&g->part, into,
			   (const uint64_t *)(value + i * g->part.size));
}

int store_drain(struct store *s)
{
	unsigned g;
	int err;

	if (!s->has_banks)
		return 0;
	/*
	 * Settled totals of live aggregates are a view, built anew: what the
	 * last drain added is replaced, with its count of "other" samples.
	 */
	err = s->ops->drain(s);
	for (g = 0; g < s->plan->nglobals; g++) {
		if (!s->settled[g])
			continue;
		if (s->live[g]) {
			live_show(s->live[g], s->settled[g]);
			s->other_events[g] = 0;
		}
		s->other_events[g] += settled_take_other(s->settled[g]);
	}
	return err;
}

/* Exchange: a request that comes while draining is not lost. */
int store_drain_early(struct store *s)
{
	struct control *c = (struct control *)s->control;

	if (!s->plan->early ||
	    !__atomic_exchange_n(&c->drain, 0, __ATOMIC_ACQ_REL))
		return 0;
	return store_drain(s);
}

/*
 * Words 0 and 1 count the keys of the element maps, 2 and 3 those of the grids.
 */
void store_emptied(struct store *s, const struct plan_global *g, unsigned bank)
{
	uint64_t *fill = (uint64_t *)(s->control + g->fill_off);

	__atomic_store_n(&fill[bank], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&fill[2 + bank], 0, __ATOMIC_RELAXED);
}

int store_key_compare(const struct plan_key *k, const void *a, const void *b)
{
	unsigned i;

	for (i = 0; i < k->n; i++) {
		const char *pa = (const char *)a + k->off[i];
		const char *pb = (const char *)b + k->off[i];
		int64_t va, vb;
		int cmp;

		/*
		 * The padding is zero, so comparing stops at the end of the
		 * shorter one.
		 */
		if (k->is_str[i]) {
			cmp = strncmp(pa, pb, k->width[i]);
		} else {
			memcpy(&va, pa, 8);
			memcpy(&vb, pb, 8);
			cmp = va < vb ? -1 : va > vb;
		}
		if (cmp)
			return cmp;
	}
	return 0;
}

static int compare_elems(const void *a, const void *b, void *ctx)
{
	return store_key_compare(ctx, *(const uint8_t *const *)a,
				 *(const uint8_t *const *)b);
}

static void merge_elem(struct store *s, unsigned g, const uint8_t *e)
{
	const struct plan_global *pg = &s->plan->globals[g];
	const uint64_t *cell = (const uint64_t *)(e + pg->key.size);
	uint64_t owner = cell[pg->part.size / 8];

	if (settled_merge_part(s->settled[g], e, cell) == -E2BIG && owner)
		s->late_full[owner - 1] +=
			cell[pg->part.off[CF_COUNT] / 8];
}

void store_merge_batch(struct store *s, unsigned g, struct store_batch *b)
{
	const struct plan_global *pg = &s->plan->globals[g];
	const uint8_t **sorted = xcalloc(b->n + 1, sizeof(*sorted));
	unsigned i, nnew = 0;

	for (i = 0; i < b->n; i++) {
		const uint8_t *e = b->elems + i * b->stride;

		/* Known keys keep their place; only new ones need an order. */
		if (settled_cell(s->settled[g], e))
			merge_elem(s, g, e);
		else
			sorted[nnew++] = e;
	}
	qsort_r(sorted, nnew, sizeof(*sorted), compare_elems, (void *)&pg->key);
	for (i = 0; i < nnew; i++)
		merge_elem(s, g, sorted[i]);
	free(sorted);
	free(b->elems);
}

/* --- aggregates on settled totals ----------------------------------------- */

/*
 * The host's cell of a live scalar, which programs see too; NULL: none. The
 * cell is row 0's, whatever CPU the host runs on: only the host writes it.
 */
static uint64_t *host_slot(struct store *s, const struct plan_global *pg)
{
	if (!store_is_live(pg) || pg->key.n ||
	    pg->slot[s->nprobes] == UINT32_MAX)
		return NULL;
	return row_cell(s, 0, 0, pg->slot[s->nprobes]);
}

/*
 * Live: where programs read. The totals are a view of that, which gets the
 * sample too, so that the handler at hand sees what it added.
 */
static int add_live(struct store *s, unsigned g, const void *key, int64_t v)
{
	const struct plan_global *pg = &s->plan->globals[g];
	uint64_t *slot = host_slot(s, pg);
	int err = -ENOTSUP;

	if (slot) {
		cell_add(&pg->cell, slot, v);
		live_add_cell(s->live[g], v);
		err = 0;
	} else if (pg->host_cell) {
		err = s->ops->live_add(s, g, key, live_host(s->live[g], key),
				       v);
		if (!err)
			live_add(s->live[g], key, v);
	}
	if (err == -E2BIG)
		settled_add_other(s->settled[g], v);
	else
		settled_add(s->settled[g], key, v);
	if (err)
		live_add_apart(s->live[g], err == -E2BIG ? NULL : key, v);
	/* The view may still have keys that programs have deleted. */
	settled_take_other(s->settled[g]);
	s->other_events[g] += err == -E2BIG;
	return err;
}

/* Into the totals, which the script reads. */
int store_agg_add(struct store *s, unsigned g, const void *key, int64_t v)
{
	const struct plan_global *pg = &s->plan->globals[g];
	int err;

	if (!pg->key.n)
		key = NULL;
	if (store_is_live(pg))
		return add_live(s, g, key, v);
	err = settled_add(s->settled[g], key, v);
	s->other_events[g] += settled_take_other(s->settled[g]);
	return err;
}

const uint64_t *store_agg_cell(struct store *s, unsigned g, const void *key)
{
	return settled_cell(s->settled[g], key);
}

const uint64_t *store_agg_other(struct store *s, unsigned g)
{
	return settled_other(s->settled[g]);
}

static void zero_in_rows(struct store *s, const struct plan_global *pg,
			 uint32_t off)
{
	unsigned r, bank;

	for (r = 0; off != UINT32_MAX && r < s->plan->nrows; r++)
		for (bank = 0; bank < 2; bank++)
			memset(row_cell(s, r, bank, off), 0, pg->cell.size);
}

/*
 * Also the cells that programs write, a scalar's or an array's "other":
 * deleting while its probes run may lose the samples of that instant, as the
 * script asked for.
 */
static void zero_live_rows(struct store *s, unsigned g)
{
	const struct plan_global *pg = &s->plan->globals[g];
	unsigned i;

	zero_in_rows(s, pg, pg->other_off);
	for (i = 0; !pg->key.n && i <= s->nprobes; i++)
		zero_in_rows(s, pg, pg->slot[i]);
}

/* key NULL: everything. */
static void forget_live(struct store *s, unsigned g, const void *key)
{
	const struct plan_global *pg = &s->plan->globals[g];

	if (!store_is_live(pg))
		return;
	if (!key)
		zero_live_rows(s, g);
	if (pg->key.n && store_has_map(s, pg))
		s->ops->live_del(s, g, key);
	live_del(s->live[g], key);
}

int store_agg_del(struct store *s, unsigned g, const void *key)
{
	forget_live(s, g, key);
	return settled_del(s->settled[g], key);
}

void store_agg_clear(struct store *s, unsigned g)
{
	forget_live(s, g, NULL);
	settled_clear(s->settled[g]);
}

unsigned store_agg_keys(struct store *s, unsigned g, const uint8_t ***ret_keys)
{
	return settled_keys(s->settled[g], ret_keys);
}
