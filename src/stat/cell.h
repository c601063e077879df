/* SPDX-License-Identifier: MIT */
/*
 * The cell of an aggregate: which 64-bit words it has and where. Zeroed memory
 * is an empty cell; cells of the same layout are merged by cell_merge(). The
 * kernel's programs, the VM and the host all use this layout.
 *
 * Words, in this order, only those needed:
 *   count
 *   sum            low 64 bits of the sum
 *   sum_hi         high 64 bits (two's complement): with every sum, so that one
 *                  beyond 64 bits is told and means and variances are exact
 *   min            max over samples of ~(v ^ INT64_MIN); 0: none yet
 *   max            max over samples of   v ^ INT64_MIN ; 0: none, or INT64_MIN
 *   sq0 sq1 sq2    192-bit sum of squares, low word first
 *   hist[nbuckets] log: 128 (bucket 64 is the value 0), linear: as asked
 *   hll[]          @distinct registers: HLL_WORDS words of 8 registers
 *   grid[ngrid]    quantile grid, stat/grid.h: last, see cell_without_grid()
 */
#ifndef STAT_CELL_H
#define STAT_CELL_H

#include <stdbool.h>
#include <stdint.h>

struct agg_spec;

enum cell_field {
	CF_COUNT, CF_SUM, CF_SUM_HI, CF_MIN, CF_MAX, CF_SQ, CF_HIST, CF_GRID,
	CF_HLL, CF_MAX_FIELD
};

struct cell {
	bool has[CF_MAX_FIELD];
	uint32_t off[CF_MAX_FIELD]; /* bytes from the start of the cell */
	uint32_t nbuckets;	    /* histogram buckets; 0: none */
	uint32_t ngrid;
	uint32_t nhll;		    /* words */
	int64_t lo, hi, step;	    /* linear histogram */
	bool hist_log; /* @hist_log, not @hist_linear */
	uint32_t size;		    /* bytes, multiple of 8 */
};

enum { HIST_LOG_BUCKETS = 128 };

/* ops: bits of enum stat_op. nbuckets of a linear histogram must already be
 * valid (cell_linear_buckets). */
struct cell cell_layout(uint32_t ops, int hist_kind, int64_t lo, int64_t hi,
			int64_t step);
/* Number of buckets, or 0 when the parameters are out of range: step 0, or
 * fewer than 3 or more than max_buckets buckets. */
uint32_t cell_linear_buckets(int64_t lo, int64_t hi, int64_t step,
			     uint32_t max_buckets);

/*
 * The same without its grid: all that is left is where it was. A grid takes
 * 59 KB, so keyed aggregates keep it in a map of its own (ir/plan.h).
 */
struct cell cell_without_grid(const struct cell *l);

/* --- on the host --------------------------------------------------------- */

/* Adds one sample. Plain; the kernel's programs do the same. */
void cell_add(const struct cell *l, uint64_t *cell, int64_t v);
/* into += from, field by field; commutative and associative. */
void cell_merge(const struct cell *l, uint64_t *into, const uint64_t *from);

#endif
