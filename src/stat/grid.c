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

int64_t hll_count(const uint8_t *regs)
{
	/*
	 * m^2 / sum(2^-rank) times alpha(m), the paper's formula 3. Its
	 * correction for large counts is for 32-bit hashes; ours have 64.
	 */
	double m = HLL_REGS, inv = 0, e;
	unsigned zeros = 0;
	size_t i;

	for (i = 0; i < HLL_REGS; i++) {
		inv += ldexp(1.0, -(int)regs[i]);
		zeros += regs[i] == 0;
	}
	e = 0.7213 / (1 + 1.079 / m) * m * m / inv;
	/*
	 * Few samples leave registers empty, and how many tells more than their
	 * ranks.
	 */
	if (e <= 2.5 * m && zeros)
		e = m * log(m / zeros);
	return (int64_t)(e + 0.5);
}
