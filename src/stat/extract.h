/* SPDX-License-Identifier: MIT */
/* What an aggregate says: the extractors, exact, from a merged cell. */
#ifndef STAT_EXTRACT_H
#define STAT_EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "front/ast.h"
#include "stat/cell.h"

/* Results of the functions below. */
enum {
	STAT_OK = 0,
	STAT_EMPTY = -1,     /* "empty aggregate" */
	STAT_BAD_INDEX = -2, /* "histogram index out of range" */
};
/* What a caller should warn of, once. */
enum {
	STAT_WARN_SATURATED = 1, /* a variance over INT64_MAX */
	STAT_WARN_OVERFLOW = 2,	 /* a sum that needs more than 64 bits */
};

/*
 * cell may be NULL: no sample. It must have the fields that op needs. param:
 * QUANTILE's p in parts per million. The warnings are or-ed into *warn (may be
 * NULL).
 *   COUNT, SUM, DISTINCT: 0 when empty; the others STAT_EMPTY.
 *   AVG: exact sum over count, toward zero.
 *   VARIANCE: (n sum(x^2) - sum(x)^2) / (n (n - 1)) toward zero; one sample: 0.
 *   STDDEV: floor of the square root of the exact variance.
 *   QUANTILE: nearest rank, max(1, ceil(p n)), from the grid, clamped to
 *   [min, max]; exact below 128 in magnitude, else within 1/128.
 */
int stat_extract(const struct cell *l, const uint64_t *cell, enum stat_op op,
		 int64_t param, int64_t *ret, unsigned *warn);
/*
 * Counter of a histogram bucket. index counts from 0; a wrong one is
 * STAT_BAD_INDEX. Layouts without a histogram have no index that is right.
 */
int stat_bucket(const struct cell *l, const uint64_t *cell, int64_t index,
		int64_t *ret);
/*
 * Could any samples have given these words? For cells that come from a file:
 * of others no extractor has to fear a variance below zero. Merging two such
 * cells gives another one, as long as the counts do not overflow.
 */
bool stat_is_possible(const struct cell *l, const uint64_t *cell);

#endif
