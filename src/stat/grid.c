/* SPDX-License-Identifier: MIT */
/* Bucket functions of histograms, quantile grids and distinct counts. */
#include "stat/grid.h"

#include <math.h>
#include <stddef.h>

/* half(u) of grid.h: the bucket of a magnitude. */
static uint32_t grid_half(uint64_t u)
{
	unsigned shift;

	if (u < 2 * GRID_SUB)
		return (uint32_t)u;
	shift = stat_log2(u) - GRID_SUB_BITS;
	/*
	 * u >> shift lies in [64, 128): the 64 buckets of the octave, counted
	 * on from where the last octave ended.
	 */
	return shift * GRID_SUB + (uint32_t)(u >> shift);
}

/*
 * First value and number of values of a half-grid bucket. The inverse of
 * grid_half().
 */
static uint64_t half_range(uint32_t h, uint64_t *ret_width)
{
	unsigned shift = h < 2 * GRID_SUB ? 0 : h / GRID_SUB - 1;

	*ret_width = 1ull << shift;
	return (uint64_t)(h - shift * GRID_SUB) << shift;
}

uint32_t grid_bucket(int64_t v)
{
	if (v >= 0)
		return GRID_HALF + grid_half((uint64_t)v);
	/*
	 * ~v = -v - 1 makes 0..2^63-1 of the negative numbers, without a gap or
	 * an overflow at INT64_MIN.
	 */
	return GRID_HALF - 1 - grid_half(~(uint64_t)v);
}

void grid_range(uint32_t bucket, int64_t *ret_lo, int64_t *ret_hi)
{
	uint64_t first, width;

	if (bucket >= GRID_HALF) {
		first = half_range(bucket - GRID_HALF, &width);
		*ret_lo = (int64_t)first;
		*ret_hi = (int64_t)(first + (width - 1));
	} else {
		first = half_range(GRID_HALF - 1 - bucket, &width);
		/*
		 * The range of ~v, mirrored: its largest value is our smallest.
		 */
		*ret_lo = (int64_t)~(first + (width - 1));
		*ret_hi = (int64_t)~first;
	}
}

int64_t grid_value(uint32_t bucket)
{
	int64_t lo, hi;

	grid_range(bucket, &lo, &hi);
	/* Toward zero: both ends have the same sign, so no overflow. */
	if (lo >= 0)
		return lo + (hi - lo) / 2;
	return hi - (hi - lo) / 2;
}

uint32_t hist_log_bucket(int64_t v)
{
	if (v == 0)
		return HIST_LOG_ZERO;
	if (v > 0)
		return HIST_LOG_ZERO + 1 + stat_log2((uint64_t)v);
	return HIST_LOG_ZERO - 1 - stat_log2(-(uint64_t)v);
}

/*
 * A power of two. Of bucket 0 it is -2^63, which the negation in unsigned
 * numbers gives without overflow.
 */
int64_t hist_log_label(uint32_t bucket)
{
	if (bucket == HIST_LOG_ZERO)
		return 0;
	if (bucket > HIST_LOG_ZERO)
		return (int64_t)(1ull << (bucket - HIST_LOG_ZERO - 1));
	return (int64_t)-(1ull << (HIST_LOG_ZERO - 1 - bucket));
}

int64_t hist_log_low(uint32_t bucket)
{
	/*
	 * Above zero, and of -2^63 alone, the label is the smallest value;
	 * below zero the label is the largest, and the bucket reaches to just
	 * above the next label.
	 */
	if (bucket >= HIST_LOG_ZERO || !bucket)
		return hist_log_label(bucket);
	return 2 * hist_log_label(bucket) + 1;
}

uint32_t hist_linear_bucket(int64_t v, int64_t lo, int64_t step, uint32_t n)
{
	uint64_t i;

	if (v < lo)
		return 0;
	/* Differences of int64 fit uint64: v >= lo here. */
	i = ((uint64_t)v - (uint64_t)lo) / (uint64_t)step + 1;
	return i < n - 1 ? (uint32_t)i : n - 1;
}

uint64_t hll_mix(int64_t v)
{
	/*
	 * Constants of splitmix64. Consecutive samples (addresses, counters)
	 * must not fall into consecutive registers.
	 */
	uint64_t z = (uint64_t)v + 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void hll_place(uint64_t mixed, uint32_t *ret_reg, uint8_t *ret_rank)
{
	/* The low bits choose the register; the high ones, with a stop bit
	 * below them, give the rank. */
	uint64_t rest = mixed | ((1ull << HLL_BITS) - 1);

	*ret_reg = (uint32_t)(mixed & (HLL_REGS - 1));
	*ret_rank = (uint8_t)(64 - stat_log2(rest));
}

/*
 * What registers without a sample, the part x of all, add to the sum of the
 * estimator below: x + sum of x^(2^k) 2^(k-1) over k >= 1. x < 1.
 */
static double hll_empty(double x)
{
	double y = 1, z = x, before;

	do {
		x *= x;
		before = z;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

/*
 * Likewise for those that are full: (1 - x - sum of (1 - x^(2^-k))^2 2^-k over
 * k >= 1) / 3, where x is the part that is not.
 */
static double hll_full(double x)
{
	double y = 1, z = 1 - x, before;

	if (x <= 0 || x >= 1)
		return 0;
	do {
		x = sqrt(x);
		before = z;
		y /= 2;
		z -= (1 - x) * (1 - x) * y;
	} while (z != before);
	return z / 3;
}

/*
 * Ertl's estimator (New cardinality estimation algorithms for HyperLogLog
 * sketches, 2017, algorithm 6): one formula for all counts. The usual pair of
 * linear counting and the raw estimate is 2.4 % too high on average where it
 * changes from one to the other, at 2.5 samples a register.
 */
int64_t hll_count(const uint8_t *regs)
{
	enum { RANKS = 64 - HLL_BITS }; /* the one above means full */
	unsigned n[RANKS + 2] = { 0 };
	double m = HLL_REGS, z;
	size_t i;

	for (i = 0; i < HLL_REGS; i++)
		n[regs[i] <= RANKS ? regs[i] : RANKS + 1]++;
	if (n[0] == HLL_REGS)
		return 0;
	z = m * hll_full(1 - n[RANKS + 1] / m);
	for (i = RANKS; i > 0; i--)
		z = 0.5 * (z + n[i]);
	z += m * hll_empty(n[0] / m);
	/* All full: more than can be told apart. */
	if (z <= 0)
		return INT64_MAX;
	z = m * m / (2 * M_LN2 * z) + 0.5;
	return z < 9e18 ? (int64_t)z : INT64_MAX;
}
