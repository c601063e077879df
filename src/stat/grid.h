/* SPDX-License-Identifier: MIT */
/*
 * The bucket functions: which counter a sample belongs to, and what a counter
 * stands for. gen/ emits the same functions as eBPF; tests/unit/test_stat.c
 * holds the two against each other.
 *
 * Quantile grid. A number u >= 0 below 128 has a bucket of its own; above, each
 * octave [2^e, 2^(e+1)) is cut into GRID_SUB = 64 buckets:
 *     shift = max(0, floor(log2 u) - 6),   half(u) = shift * 64 + (u >> shift)
 * A sample v >= 0 has the bucket GRID_HALF + half(v), a sample v < 0 the bucket
 * GRID_HALF - 1 - half(~v), so buckets are ordered as their values are. A
 * bucket is at most 1/64 of its lower bound wide, and its middle is less than
 * 1/128 = 0.78125 % away from any value in it.
 */
#ifndef STAT_GRID_H
#define STAT_GRID_H

#include <stdint.h>

enum {
	GRID_SUB_BITS = 6,
	GRID_SUB = 1 << GRID_SUB_BITS,
	GRID_HALF = (62 - GRID_SUB_BITS + 2) * GRID_SUB, /* 3712 */
	GRID_BUCKETS = 2 * GRID_HALF,
	HIST_LOG_ZERO = 64, /* the bucket of the value 0 */
	HLL_BITS = 12,
	/* one byte each; error 1.04 / sqrt(4096) = 1.6 % */
	HLL_REGS = 1 << HLL_BITS,
	HLL_WORDS = HLL_REGS / 8,
};

/* floor(log2 v), v > 0. */
static inline unsigned stat_log2(uint64_t v)
{
	return 63u - (unsigned)__builtin_clzll(v);
}

/* The bucket of a sample, 0 .. GRID_BUCKETS - 1. */
uint32_t grid_bucket(int64_t v);
/* Smallest and largest value of a bucket. */
void grid_range(uint32_t bucket, int64_t *ret_lo, int64_t *ret_hi);
/* The value that stands for a bucket: its middle, rounded toward zero. */
int64_t grid_value(uint32_t bucket);

/* @hist_log: 0..127; 64 + 1 + floor(log2 v), or 63 - floor(log2 -v). */
uint32_t hist_log_bucket(int64_t v);
/* The bound of a bucket that is nearest to zero. */
int64_t hist_log_label(uint32_t bucket);
/* The smallest value of a bucket. */
int64_t hist_log_low(uint32_t bucket);
/*
 * @hist_linear with n buckets: 0 is below lo, n - 1 is the rest above.
 * Parameters must have passed cell_linear_buckets(): step > 0, n >= 3.
 */
uint32_t hist_linear_bucket(int64_t v, int64_t lo, int64_t step, uint32_t n);

/*
 * @distinct: a sample's register and rank, from a 64-bit mix of its value
 * (the finalizer of splitmix64: Steele, Lea, Flood, OOPSLA 2014).
 */
uint64_t hll_mix(int64_t v);
/* Register 0..HLL_REGS-1 and rank 1..53 of a mixed sample. */
void hll_place(uint64_t mixed, uint32_t *ret_reg, uint8_t *ret_rank);
/* The estimate (Flajolet et al. 2007, with linear counting when small). */
int64_t hll_count(const uint8_t *regs);

#endif
