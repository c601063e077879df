/* SPDX-License-Identifier: MIT */
/* The extractors. Each is computed once per report from exact totals. */
#include "stat/extract.h"

#include "stat/grid.h"
#include "stat/wide.h"

static const uint64_t *word(const struct cell *l, const uint64_t *cell,
			    enum cell_field f)
{
	return cell + l->off[f] / 8;
}

static uint64_t count_of(const struct cell *l, const uint64_t *cell)
{
	return cell ? *word(l, cell, CF_COUNT) : 0;
}

/*
 * Without a sum among the fields off[] is 0, so callers ask only for cells that
 * have one.
 */
static void stat_sum_wide(const struct cell *l, const uint64_t *cell,
			  int64_t *ret_hi, uint64_t *ret_lo)
{
	*ret_lo = cell ? *word(l, cell, CF_SUM) : 0;
	*ret_hi = cell ? (int64_t)*word(l, cell, CF_SUM_HI) : 0;
}

static i128 sum_of(const struct cell *l, const uint64_t *cell)
{
	int64_t hi;
	uint64_t lo;

	stat_sum_wide(l, cell, &hi, &lo);
	return (i128)((u128)(uint64_t)hi << 64 | lo);
}

/* The bias undone, see cell.h. Of a cell without samples they mean nothing. */
static int64_t min_of(const struct cell *l, const uint64_t *cell)
{
	return (int64_t)(~*word(l, cell, CF_MIN) ^ 1ull << 63);
}

static int64_t max_of(const struct cell *l, const uint64_t *cell)
{
	return (int64_t)(*word(l, cell, CF_MAX) ^ 1ull << 63);
}

/*
 * floor of the exact sample variance; n >= 1. Never negative: n * sum(x^2) >=
 * sum(x)^2 for any samples (Cauchy and Schwarz), and below 2^128: half of the
 * square of the samples' range, when there are two, is the most it can be.
 */
static u128 variance_of(const struct cell *l, const uint64_t *cell, uint64_t n)
{
	i128 sum = sum_of(l, cell);
	u128 abs = sum < 0 ? -(u128)sum : (u128)sum;

	if (n < 2)
		return 0;
	return wide_div(wide_sub(wide_mul(word(l, cell, CF_SQ), n),
				 wide_square(abs)),
			(u128)n * (n - 1));
}

bool stat_is_possible(const struct cell *l, const uint64_t *cell)
{
	/* The square of INT64_MIN, 2^126: no sample adds more. */
	static const uint64_t largest[3] = { 0, 1ull << 62, 0 };
	const uint64_t n = count_of(l, cell);
	struct wide squares = { { 0 } };
	i128 sum;
	int i;

	if (!l->has[CF_SQ])
		return true;
	for (i = 0; i < 3; i++)
		squares.w[i] = word(l, cell, CF_SQ)[i];
	sum = sum_of(l, cell);
	return !wide_less(wide_mul(largest, n), squares) &&
	       !wide_less(wide_mul(squares.w, n),
			  wide_square(sum < 0 ? -(u128)sum : (u128)sum));
}

/* As print(@quantiles(x)) says: within the grid's error, see extract.h. */
static int64_t quantile_of(const struct cell *l, const uint64_t *cell,
			   uint64_t n, int64_t ppm)
{
	const uint64_t *grid = word(l, cell, CF_GRID);
	/*
	 * The nearest rank: the smallest sample such that at least ppm of all
	 * are not larger. Multiplied before divided, in 128 bits, so no rank is
	 * off by one.
	 */
	u128 want = ((u128)n * (uint64_t)ppm + 999999) / 1000000;
	uint64_t rank = want < 1 ? 1 : (uint64_t)want, seen = 0;
	int64_t lo = min_of(l, cell), hi = max_of(l, cell), v;
	uint32_t b;

	/* The extremes are known exactly, whatever the buckets. */
	if (rank <= 1)
		return lo;
	if (rank >= n)
		return hi;
	for (b = 0; b < l->ngrid - 1; b++) {
		seen += grid[b];
		if (seen >= rank)
			break;
	}
	v = grid_value(b);
	return v < lo ? lo : v > hi ? hi : v;
}

/* The middle of the fullest grid bucket; the lowest of equals. */
static int64_t mode_of(const struct cell *l, const uint64_t *cell)
{
	const uint64_t *grid = word(l, cell, CF_GRID);
	int64_t lo = min_of(l, cell), hi = max_of(l, cell), v;
	uint32_t b, best = 0;

	for (b = 1; b < l->ngrid; b++)
		if (grid[b] > grid[best])
			best = b;
	v = grid_value(best);
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * What does not fit the language's numbers is the largest of them, with a
 * warning, never a wrapped one.
 */
static int64_t saturate(u128 v, unsigned *warn)
{
	if (v <= INT64_MAX)
		return (int64_t)v;
	*warn |= STAT_WARN_SATURATED;
	return INT64_MAX;
}

int stat_extract(const struct cell *l, const uint64_t *cell, enum stat_op op,
		 int64_t param, int64_t *ret, unsigned *warn)
{
	uint64_t n = count_of(l, cell);
	unsigned ignored = 0;
	i128 sum;

	if (!warn)
		warn = &ignored;
	*ret = 0;
	if (n == 0)
		return op == STAT_COUNT || op == STAT_SUM ||
			       op == STAT_DISTINCT ?
			   STAT_OK :
			   STAT_EMPTY;
	switch (op) {
	case STAT_COUNT:
		*ret = (int64_t)n;
		break;
	case STAT_SUM:
		sum = sum_of(l, cell);
		*ret = (int64_t)sum;
		/*
		 * The low 64 bits are what the language defines; that they are
		 * not all is said.
		 */
		if (sum != (i128)*ret)
			*warn |= STAT_WARN_OVERFLOW;
		break;
	case STAT_MIN:
		*ret = min_of(l, cell);
		break;
	case STAT_MAX:
		*ret = max_of(l, cell);
		break;
	/* C's division truncates toward zero, as the reference does. */
	case STAT_AVG:
		*ret = (int64_t)(sum_of(l, cell) / (i128)n);
		break;
	case STAT_VARIANCE:
		*ret = saturate(variance_of(l, cell, n), warn);
		break;
	case STAT_STDDEV:
		*ret = saturate(wide_sqrt(variance_of(l, cell, n)), warn);
		break;
	case STAT_QUANTILE:
		*ret = quantile_of(l, cell, n, param);
		break;
	case STAT_MEDIAN:
		*ret = quantile_of(l, cell, n, 500000);
		break;
	case STAT_MODE:
		*ret = mode_of(l, cell);
		break;
	case STAT_DISTINCT:
		*ret = hll_count((const uint8_t *)word(l, cell, CF_HLL));
		break;
	/* These have no single value; the checks let them only be printed. */
	case STAT_QUANTILES:
	case STAT_MAX_OP:
		break;
	}
	return STAT_OK;
}

int stat_bucket(const struct cell *l, const uint64_t *cell, int64_t index,
		int64_t *ret)
{
	*ret = 0;
	if (count_of(l, cell) == 0)
		return STAT_EMPTY;
	if (index < 0 || index >= l->nbuckets)
		return STAT_BAD_INDEX;
	*ret = (int64_t)word(l, cell, CF_HIST)[index];
	return STAT_OK;
}
