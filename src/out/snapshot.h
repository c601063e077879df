/* SPDX-License-Identifier: MIT */
/*
 * A run's results as a file that can be merged with other runs': the full state
 * of every aggregate, not its printed form. docs/snapshot.md is the schema.
 *
 * Merging is exact: the rows of merge(A, B) hold the bits that one run over the
 * samples of both would hold, in whatever order and grouping files are merged.
 * So that equal contents are equal text, rows are kept sorted by key.
 */
#ifndef OUT_SNAPSHOT_H
#define OUT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "front/ast.h"
#include "stat/cell.h"

struct json;

enum { SNAPSHOT_VERSION = 1, SNAP_KEYS_MAX = 9 };

struct snap_key {
	int64_t num;
	const char *str; /* NULL: a number */
};

/* A scalar's row has no key columns. */
struct snap_row {
	struct snap_key key[SNAP_KEYS_MAX];
	uint64_t *cell; /* as agg->layout says; in the arena */
};

/* One aggregate, with what its cells hold and its rows. */
struct snap_agg {
	const char *name;
	unsigned nkeys; /* 0: a scalar, which has at most one row */
	bool key_is_str[SNAP_KEYS_MAX];
	uint32_t ops; /* bits of enum stat_op */
	enum hist_kind hist;
	/* of a linear histogram, as the script wrote them */
	int64_t lo, hi, step;
	struct cell layout;
	VEC(struct snap_row) rows; /* sorted by key from snapshot_sort() on */
	uint64_t *other; /* samples that found the array full, or NULL */
};

/*
 * The loss ledger's row of one probe, as in run/ledger.h: hits = handled +
 * lock_skips + nest_skips; misses never were hits; map_full, ring_full, errors
 * and unplaced are of handled ones.
 */
struct snap_loss {
	const char *probe;
#define LOSS(name, is_new, is_outcome) uint64_t name;
#include "out/loss.def"
#undef LOSS
};

/* A machine and a run of it. */
struct snap_host {
	const char *name, *kernel;
	uint64_t start_ns, end_ns; /* wall clock */
	unsigned cpus; /* possible ones */
};

struct snapshot {
	const char *script;   /* file name */
	uint64_t script_hash; /* FNV-1a of its text */
	VEC(struct snap_host) hosts;
	VEC(struct snap_loss) losses;
	VEC(struct snap_agg) aggs;
};

/* The hash that stands in snapshots: FNV-1a, 64 bits, fixed for ever. */
uint64_t snapshot_hash(const char *text, size_t n);
/* Lays out the cells of an aggregate whose ops, hist, lo, hi, step are set.
 * false: the histogram's parameters are out of range. */
bool snapshot_layout(struct snap_agg *agg);
/* Sorts the rows of all aggregates by key: the order they are written in. */
void snapshot_sort(struct snapshot *s);
/* Returns 0 or -1 (write error). s must be sorted. */
int snapshot_write(const struct snapshot *s, FILE *f);
/* The member "ledger": the same in snapshots and in --format=json. */
void snapshot_write_ledger(struct json *j, const struct snapshot *s);
/* NULL: *ret_why says what is wrong with the text (arena memory). */
struct snapshot *snapshot_read(struct arena *a, const char *text, size_t n,
			       const char **ret_why);
/*
 * into += from; from is left as it was. false: *ret_why says what does not fit,
 * and into may hold a part of from: it is good for nothing.
 */
bool snapshot_merge(struct arena *a, struct snapshot *into,
		    const struct snapshot *from, const char **ret_why);
/* For people: per aggregate its rows by count, with the extractors it keeps. */
void snapshot_print(const struct snapshot *s, FILE *f);

#endif
