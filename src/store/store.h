/* SPDX-License-Identifier: MIT */
/*
 * Everything a script's globals hold, behind one interface with two
 * implementations: memory (store_mem) and kernel maps (store_kern). The areas
 * CONTROL, ROWS and RODATA are plain memory in both (mapped in the kernel's
 * case). Aggregates have two banks: a drain flips the bank, waits until no
 * program can still write the other, adds it to the settled totals kept here,
 * and zeroes it. Readers see settled totals only.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/plan.h"

struct store;

/*
 * One implementation. g is a global's number, key its bytes as plan_key lays
 * them out. Whether the global has a map was decided before (store_has_map).
 */
struct store_ops {
	const char *name; /* "memory", "kernel" */
	void (*close)(struct store *s);
	/* Plain arrays. value: plain_value.value's bytes. 0, or -E2BIG full,
	 * -ENOENT missing. */
	int (*get)(struct store *s, unsigned g, const void *key, void *value);
	int (*set)(struct store *s, unsigned g, const void *key,
		   const void *value);
	/* old + delta; a missing element counts as 0 and is made. */
	int (*add)(struct store *s, unsigned g, const void *key, int64_t delta,
		   int64_t *ret_old);
	/* 0 or -ENOENT */
	int (*del)(struct store *s, unsigned g, const void *key);
	/* Copies all elements in order of creation. *ret_elems: n times key
	 * then value (key.size + value_width), from malloc. Returns n or a
	 * negative errno. */
	int64_t (*snapshot)(struct store *s, unsigned g, uint8_t **ret_elems);
	/* Makes what a snapshot needs ready, before a lock is held; NULL:
	 * nothing. */
	int (*ready)(struct store *s, unsigned g);
	/* Until thaw() get and snapshot show the array as it is now. NULL, or
	 * not 0: cannot be done. */
	int (*freeze)(struct store *s, unsigned g);
	void (*thaw)(struct store *s);
	int (*clear)(struct store *s, unsigned g); /* 0 or a negative errno */
	/*
	 * Flip banks and move what the other bank's maps hold to settled
	 * totals (scalars and "other" cells: store_drain_rows()). Aggregates in
	 * live mode are copied, not moved.
	 */
	int (*drain)(struct store *s);
	/* Live aggregates: zero the cells that programs see (key NULL: all). */
	int (*live_del)(struct store *s, unsigned g, const void *key);
	/*
	 * Live arrays: adds to the host's cell of the element, which is made
	 * when missing. was: that cell as far as the host knows, or NULL; it
	 * need not be right. 0; -E2BIG full; -ENOTSUP cannot be done.
	 */
	int (*live_add)(struct store *s, unsigned g, const void *key,
			const uint64_t *was, int64_t v);
};

struct htab;    /* store/htab.h */
struct settled; /* settled totals of one aggregate: store/settled.h */
struct live;    /* banks that are not emptied: store/live.h */

/* The common part; each implementation has a struct that begins with it. */
struct store {
	const struct store_ops *ops;
	const struct plan *plan; /* not owned; outlives the store */
	uint8_t *control, *rows, *rodata; /* the mapped areas */
	/* by global: totals of aggregates; NULL for plain ones */
	struct settled **settled;
	/* by global: aggregates in live mode, whose settled totals are taken
	 * anew at each drain; NULL for others */
	struct live **live;
	/* by global: samples that went to "other" */
	uint64_t *other_events;
	/* by probe: samples of its hot entries that a drain found no room for;
	 * on top of probe_counts.map_full. Set by store_init_globals(). */
	uint64_t *late_full;
	struct htab **own; /* by global: arrays that only the host uses */
	int *map_fd;       /* kernel: by plan map; -1 else */
	unsigned nprobes;  /* set by store_init_globals() */
	bool has_banks;    /* some aggregate is fed by kernel code */
	uint32_t entries;  /* capacity of arrays without a size */
};

/* In memory; never fails. */
struct store *store_mem_open(const struct plan *p);
/* Creates the kernel maps. NULL and *ret_err (negative errno) with the map's
 * index in *ret_map when one is refused. */
struct store *store_kern_open(const struct plan *p, int *ret_err,
			      unsigned *ret_map);
/* Unmaps and closes everything. NULL is accepted. */
void store_close(struct store *s);
/* Scalar globals get their initial values, CONTROL its start. Call it once,
 * before anything runs. */
void store_init_globals(struct store *s, const struct ir *ir);
/* Capacity of arrays without a size that have no map: LIMIT_MAXMAPENTRIES. */
void store_set_entries(struct store *s, uint32_t n);

/*
 * Plain arrays, wherever they live; as in store_ops. A host-only array (its
 * plan has no map) lives in the process.
 */
int store_get(struct store *s, unsigned g, const void *key, void *value);
int store_set(struct store *s, unsigned g, const void *key, const void *value);
int store_add(struct store *s, unsigned g, const void *key, int64_t delta,
	      int64_t *ret_old);
int store_del(struct store *s, unsigned g, const void *key);
int64_t store_snapshot(struct store *s, unsigned g, uint8_t **ret_elems);
int store_clear(struct store *s, unsigned g);

/* --- for implementations (store.c) ---------------------------------------- */

/* Allocates settled totals and counters; ops and areas are the caller's. */
void store_setup(struct store *s, const struct plan *p);
void store_teardown(struct store *s);
/*
 * Adds the bank's cells of all rows (scalar aggregates and "other" cells) to
 * settled totals and zeroes them. Only when no program can write that bank.
 */
void store_drain_rows(struct store *s, unsigned bank);
/* A live aggregate's part of that, as a copy; its elements are the caller's. */
void store_copy_live(struct store *s, unsigned g, unsigned bank);
/* Did a program delete from it meanwhile, so that a key's part may be missing?
 * Then all of it is to be copied again. */
bool store_live_torn(const struct store *s, unsigned g);
/* Adds the cells of an element's value (one CPU's) up into one. */
void store_sum_shards(const struct plan_global *g, const uint8_t *value,
		      uint64_t *into);
/* The maps of a bank are empty again: their counts of keys begin anew. */
void store_emptied(struct store *s, const struct plan_global *g, unsigned bank);
/* Orders keys: numbers signed, strings bytewise, first key first. */
int store_key_compare(const struct plan_key *k, const void *a, const void *b);
/*
 * What a bank holds of a keyed aggregate, from its map and from hot entries
 * (plan.h): n times key, cell, and whose hot entry it was, as 1 + the probe's
 * index in 8 bytes, or 0. A key may be there several times.
 */
struct store_batch {
	uint8_t *elems;
	unsigned n;
	size_t stride;
};
/* Room for `more` elements and for all that store_take_hot() may add. */
void store_batch_init(struct store_batch *b, const struct store *s, unsigned g,
		      size_t more);
/* Moves the hot entries of that bank to the batch. Likewise only when no
 * program can write it. */
void store_take_hot(struct store *s, unsigned g, unsigned bank,
		    struct store_batch *b);
/*
 * Merges a batch into a keyed aggregate's totals and frees it. Keys that are
 * new are taken in key order, since a kernel map does not know the order they
 * came in. Samples of a hot entry that find no room count as their probe's
 * map_full (late_full), as they would have when the program flushed it.
 */
void store_merge_batch(struct store *s, unsigned g, struct store_batch *b);
/* Does an array have a map of its own? Else only the host uses it. */
static inline bool store_has_map(const struct store *s,
				 const struct plan_global *g)
{
	return g->map >= MAP_FIRST_ARRAY && g->map < s->plan->maps.n;
}
/* Elements an array may have, host-only or not. */
uint32_t store_capacity(const struct store *s, const struct plan_global *g);
/* Finds or makes an element, dropping the oldest of a full wrapping array.
 * NULL: full. */
uint8_t *store_make_room(struct htab *h, bool wrap, const void *key,
			 bool *ret_new);
static inline bool store_is_agg(const struct plan_global *g)
{
	return g->var->type == TY_STATS;
}
static inline bool store_is_live(const struct plan_global *g)
{
	return g->live;
}

/* --- kernel code in the VM (memory store only): the kernel's map calls ---- */

/* The map numbers below: a plan map, or one bank of a PM_BANKS map. */
#define STORE_BANK(map, bank) ((map) | ((bank) + 1u) << 16)
/* NULL: missing. cpu: whose value of a per-CPU map. */
void *store_mem_lookup(struct store *s, unsigned map, const void *key,
		       unsigned cpu);
/* A per-CPU map's value is set for cpu only. 0 or a negative errno. */
int store_mem_update(struct store *s, unsigned map, const void *key,
		     const void *value, uint64_t flags, unsigned cpu);
int store_mem_delete(struct store *s, unsigned map, const void *key);
/* Walks a map: the next element's value, its key to key; NULL: no more. *pos:
 * where it stands, UINT32_MAX to begin. */
void *store_mem_next(struct store *s, unsigned map, uint32_t *pos, void *key);
/* The live element value that addr lies in; false: none. */
bool store_mem_owner(struct store *s, uint64_t addr, uint64_t *ret_base,
		     uint64_t *ret_size);

/* --- aggregates, on settled totals: call store_drain() first -------------- */
/* 0 or a negative errno; without kernel programs nothing is done. */
int store_drain(struct store *s);
/* Drains if a program has asked for it. */
int store_drain_early(struct store *s);
/* The host's own samples. 0; -E2BIG (went to "other"; counted in
 * other_events); -ENOTSUP: in the totals, but programs do not see it. key NULL:
 * scalar. */
int store_agg_add(struct store *s, unsigned g, const void *key, int64_t v);
/* The cell, or NULL when there is no sample. */
const uint64_t *store_agg_cell(struct store *s, unsigned g, const void *key);
/* Samples of keys that found no room; NULL: none. */
const uint64_t *store_agg_other(struct store *s, unsigned g);
/* 0, or -ENOENT. Also what programs see of it, in live mode. */
int store_agg_del(struct store *s, unsigned g, const void *key);
void store_agg_clear(struct store *s, unsigned g);
/* Keys in order of first insertion where known, else key order. Pointers are
 * valid until the next change. */
unsigned store_agg_keys(struct store *s, unsigned g, const uint8_t ***ret_keys);

#endif
