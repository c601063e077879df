/* SPDX-License-Identifier: MIT */
/*
 * The store in memory: for scripts without kernel probes, and for kernel
 * handlers that run in the VM. Kernel code and host helpers see one state: the
 * same table backs the plan's map and the global.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "base/xalloc.h"
#include "store/htab.h"
#include "store/live.h"
#include "store/settled.h"

/* A plan map: one table, or one for each bank of PM_BANKS. */
struct mem_map {
	struct htab *bank[2];
	uint32_t value_size; /* of one CPU */
	unsigned ncpus;      /* values an element holds: 1 when not per CPU */
};

struct store_mem {
	struct store s; /* first: mem_of() relies on it */
	struct mem_map *maps; /* by plan map */
};

static struct store_mem *mem_of(struct store *s)
{
	return (struct store_mem *)s;
}

static struct control *control_of(struct store *s)
{
	return (struct control *)s->control;
}

/* --- plain arrays --------------------------------------------------------- */

/* Plain arrays have no banks. */
static struct htab *plain_table(struct store *s, unsigned g)
{
	return mem_of(s)->maps[s->plan->globals[g].map].bank[0];
}

static int mem_get(struct store *s, unsigned g, const void *key, void *value)
{
	uint8_t *at = htab_find(plain_table(s, g), key);

	if (!at)
		return -ENOENT;
	memcpy(value, ((struct plain_value *)at)->value,
	       s->plan->globals[g].value_width);
	return 0;
}

/* The element's value, made (evicting from a wrapping array) when missing;
 * NULL: full. */
static struct plain_value *plain_at(struct store *s, unsigned g,
				    const void *key)
{
	uint8_t *at;
	bool is_new;

	at = store_make_room(plain_table(s, g), s->plan->globals[g].var->wrap,
			     key, &is_new);
	if (at && is_new)
		((struct plain_value *)at)->stamp = control_of(s)->stamp++;
	return (struct plain_value *)at;
}

static int mem_set(struct store *s, unsigned g, const void *key,
		   const void *value)
{
	struct plain_value *at = plain_at(s, g, key);

	if (!at)
		return -E2BIG;
	memcpy(at->value, value, s->plan->globals[g].value_width);
	return 0;
}

static int mem_add(struct store *s, unsigned g, const void *key, int64_t delta,
		   int64_t *ret_old)
{
	struct plain_value *at = plain_at(s, g, key);
	uint64_t old, now;

	if (!at)
		return -E2BIG;
	memcpy(&old, at->value, 8);
	now = old + (uint64_t)delta;
	memcpy(at->value, &now, 8);
	*ret_old = (int64_t)old;
	return 0;
}

static int mem_del(struct store *s, unsigned g, const void *key)
{
	return htab_del(plain_table(s, g), key) ? 0 : -ENOENT;
}

static int mem_clear(struct store *s, unsigned g)
{
	htab_clear(plain_table(s, g));
	return 0;
}

/*
 * The table's order is that of creation; the kernel store needs stamps for it.
 */
static int64_t mem_snapshot(struct store *s, unsigned g, uint8_t **ret_elems)
{
	const struct plan_global *pg = &s->plan->globals[g];
	const struct htab *h = plain_table(s, g);
	size_t stride = pg->key.size + pg->value_width;
	uint8_t *to = xmalloc(htab_count(h) * stride + 1);
	uint32_t e;

	*ret_elems = to;
	for (e = htab_first(h); e != HTAB_NONE; e = htab_next(h, e)) {
		struct plain_value *v = (void *)htab_value(h, e);

		memcpy(to, htab_key(h, e), pg->key.size);
		memcpy(to + pg->key.size, v->value, pg->value_width);
		to += stride;
	}
	return htab_count(h);
}

/* --- aggregates ----------------------------------------------------------- */

/* The host's cell in a live element's value. */
static uint64_t *host_cell(const struct plan_global *g, const uint8_t *value)
{
	return (uint64_t *)(value + plan_host_off(g));
}

/* Moves (live: copies) one table's cells to settled totals. */
static void drain_table(struct store *s, unsigned g, struct mem_map *m,
			struct htab *h)
{
	const struct plan_global *pg = &s->plan->globals[g];
	uint64_t *sum = xcalloc(1, pg->part.size);
	/* Words of one element, summed over CPUs and shards. */
	uint32_t e;
	unsigned cpu;

	for (e = htab_first(h); e != HTAB_NONE; e = htab_next(h, e)) {
		const uint8_t *v = htab_value(h, e);

		if (store_is_live(pg)) {
			live_copy(s->live[g], htab_key(h, e), v, pg->shards,
				  (size_t)pg->shards * pg->cell.size);
			if (pg->host_cell)
				live_copy_host(s->live[g], htab_key(h, e),
					       host_cell(pg, v));
			continue;
		}
		memset(sum, 0, pg->part.size);
		for (cpu = 0; cpu < m->ncpus; cpu++)
			store_sum_shards(pg, v + cpu * m->value_size, sum);
		settled_merge_part(s->settled[g], htab_key(h, e), sum);
	}
	free(sum);
	if (!store_is_live(pg))
		htab_clear(h);
}

static void drain_hot(struct store *s, unsigned g, unsigned bank)
{
	struct store_batch b;

	store_batch_init(&b, s, g, 0);
	store_take_hot(s, g, bank, &b);
	store_merge_batch(s, g, &b);
}

/*
 * Octaves have keys of their own: the element's key, then the octave's number.
 */
static void drain_grid(struct store *s, unsigned g, struct htab *h)
{
	uint64_t octave;
	uint32_t e;

	for (e = htab_first(h); e != HTAB_NONE; e = htab_next(h, e)) {
		memcpy(&octave,
		       htab_key(h, e) + s->plan->globals[g].key.size, 8);
		settled_merge_octave(s->settled[g], htab_key(h, e), octave,
				     (uint64_t *)htab_value(h, e));
	}
	htab_clear(h);
}

/*
 * No program runs while the host does, in one process: the flip needs no wait.
 */
static int mem_drain(struct store *s)
{
	struct store_mem *mem = mem_of(s);
	unsigned old = control_of(s)->bank & 1, g;

	control_of(s)->bank = !old;
	store_drain_rows(s, old);
	for (g = 0; g < s->plan->nglobals; g++) {
		const struct plan_global *pg = &s->plan->globals[g];
		struct mem_map *m;
		unsigned bank;

		if (!store_is_agg(pg) || !pg->key.n || !store_has_map(s, pg))
			continue;
		m = &mem->maps[pg->map];
		/* A live map has its two banks inside each element. */
		bank = m->bank[1] ? old : 0;
		if (m->bank[bank])
			drain_table(s, g, m, m->bank[bank]);
		if (pg->hot_ways)
			drain_hot(s, g, old);
		if (pg->grid_map != UINT32_MAX)
			drain_grid(s, g, mem->maps[pg->grid_map].bank[old]);
		if (pg->early)
			store_emptied(s, pg, old);
	}
	return 0;
}

static int mem_live_del(struct store *s, unsigned g, const void *key)
{
	struct htab *h = mem_of(s)->maps[s->plan->globals[g].map].bank[0];

	if (key)
		return htab_del(h, key) ? 0 : -ENOENT;
	htab_clear(h);
	return 0;
}

/* No program runs meanwhile: the cell is fed where it is. */
static int mem_live_add(struct store *s, unsigned g, const void *key,
			const uint64_t *was, int64_t v)
{
	const struct plan_global *pg = &s->plan->globals[g];
	bool is_new;
	uint8_t *at = htab_add(mem_of(s)->maps[pg->map].bank[0], key, &is_new);

	(void)was;
	if (!at)
		return -E2BIG;
	cell_add(&pg->cell, host_cell(pg, at), v);
	return 0;
}

/* --- opening -------------------------------------------------------------- */

static void mem_close(struct store *s)
{
	struct store_mem *mem = mem_of(s);
	unsigned i;

	for (i = 0; i < s->plan->maps.n; i++) {
		htab_free(mem->maps[i].bank[0]);
		htab_free(mem->maps[i].bank[1]);
	}
	free(mem->maps);
	free(s->control);
	free(s->rows);
	free(s->rodata);
	store_teardown(s);
	free(mem);
}

static const struct store_ops mem_ops = {
    .name = "memory",
    .close = mem_close,
    .get = mem_get,
    .set = mem_set,
    .add = mem_add,
    .del = mem_del,
    .snapshot = mem_snapshot,
    .clear = mem_clear,
    .drain = mem_drain,
    .live_del = mem_live_del,
    .live_add = mem_live_add,
};

/* Zeroed, on a cache line as the plan's rows expect. */
static uint8_t *area_new(size_t size)
{
	size_t n = (size + 63) & ~(size_t)63;
	uint8_t *p = aligned_alloc(64, n ? n : 64);

	if (!p)
		xalloc_fail(n);
	memset(p, 0, n ? n : 64);
	return p;
}

/*
 * Only hashes: CONTROL, ROWS and RODATA are areas, and there is no ring buffer
 * in memory (records go to vm_hooks.record).
 */
static void map_open(struct mem_map *m, const struct plan_map *pm,
		     unsigned ncpus)
{
	enum map_kind kind = pm->kind == PM_BANKS ? pm->inner : pm->kind;
	unsigned nbanks = pm->kind == PM_BANKS ? 2 : 1, i;

	if (kind != PM_HASH && kind != PM_PERCPU_HASH)
		return;
	m->value_size = (pm->value_size + 7) & ~7u;
	m->ncpus = kind == PM_PERCPU_HASH ? ncpus : 1;
	for (i = 0; i < nbanks; i++)
		m->bank[i] = htab_new(pm->key_size, m->value_size * m->ncpus,
				      pm->max_entries);
}

struct store *store_mem_open(const struct plan *p)
{
	struct store_mem *mem = xcalloc(1, sizeof(*mem));
	struct store *s = &mem->s;
	unsigned i;

	s->ops = &mem_ops;
	store_setup(s, p);
	/* A plan made by hand, as in tests, may have none. */
	s->control = area_new(p->control_size < sizeof(struct control)
				  ? sizeof(struct control)
				  : p->control_size);
	s->rows = area_new((size_t)p->nrows * p->row_size);
	s->rodata = area_new(p->rodata_size);
	if (p->rodata_size)
		memcpy(s->rodata, p->rodata, p->rodata_size);
	mem->maps = xcalloc(p->maps.n + 1, sizeof(*mem->maps));
	for (i = 0; i < p->maps.n; i++)
		map_open(&mem->maps[i], &p->maps.v[i], p->ncpus ? p->ncpus : 1);
	return s;
}

/* --- what simulated kernel code calls ------------------------------------- */

/*
 * The map number of a simulated program: the low 16 bits are the plan's map,
 * above them 1 + the bank of STORE_BANK(). NULL: no such hash.
 */
static struct htab *table_of(struct store *s, unsigned map,
			     struct mem_map **ret_m)
{
	unsigned bank = map >> 16 ? (map >> 16) - 1 : 0;
	unsigned i = map & 0xffff;

	if (i >= s->plan->maps.n || bank > 1)
		return NULL;
	*ret_m = &mem_of(s)->maps[i];
	return (*ret_m)->bank[bank];
}

void *store_mem_lookup(struct store *s, unsigned map, const void *key,
		       unsigned cpu)
{
	struct mem_map *m = NULL;
	struct htab *h = table_of(s, map, &m);
	uint8_t *at = h ? htab_find(h, key) : NULL;

	if (!at || (m->ncpus > 1 && cpu >= m->ncpus))
		return NULL;
	return m->ncpus > 1 ? at + cpu * m->value_size : at;
}

/* The kernel's rules for BPF_ANY, BPF_NOEXIST and BPF_EXIST, and its errors. */
int store_mem_update(struct store *s, unsigned map, const void *key,
		     const void *value, uint64_t flags, unsigned cpu)
{
	struct mem_map *m = NULL;
	struct htab *h = table_of(s, map, &m);
	uint8_t *at;
	bool is_new;

	if (!h)
		return -EINVAL;
	if (flags == BPF_EXIST && !htab_find(h, key))
		return -ENOENT;
	at = htab_add(h, key, &is_new);
	if (!at)
		return -E2BIG;
	if (flags == BPF_NOEXIST && !is_new)
		return -EEXIST;
	if (m->ncpus > 1)
		at += (cpu < m->ncpus ? cpu : 0) * m->value_size;
	memcpy(at, value, s->plan->maps.v[map & 0xffff].value_size);
	return 0;
}

int store_mem_delete(struct store *s, unsigned map, const void *key)
{
	struct mem_map *m = NULL;
	struct htab *h = table_of(s, map, &m);

	if (!h)
		return -EINVAL;
	return htab_del(h, key) ? 0 : -ENOENT;
}

void *store_mem_next(struct store *s, unsigned map, uint32_t *pos, void *key)
{
	struct mem_map *m = NULL;
	struct htab *h = table_of(s, map, &m);

	if (!h || m->ncpus > 1)
		return NULL;
	*pos = *pos == HTAB_NONE ? htab_first(h) : htab_next(h, *pos);
	if (*pos == HTAB_NONE)
		return NULL;
	memcpy(key, htab_key(h, *pos), s->plan->maps.v[map & 0xffff].key_size);
	return htab_value(h, *pos);
}

/* Values only, not keys: that is what a program gets pointers to. */
bool store_mem_owner(struct store *s, uint64_t addr, uint64_t *ret_base,
		     uint64_t *ret_size)
{
	struct store_mem *mem = mem_of(s);
	unsigned i, bank;

	for (i = MAP_FIRST_ARRAY; i < s->plan->maps.n; i++) {
		struct mem_map *m = &mem->maps[i];

		for (bank = 0; bank < 2 && m->bank[bank]; bank++) {
			uint8_t *at = htab_owner(m->bank[bank], addr);

			if (!at)
				continue;
			*ret_base = (uint64_t)(uintptr_t)at;
			*ret_size = (uint64_t)m->value_size * m->ncpus;
			return true;
		}
	}
	return false;
}
