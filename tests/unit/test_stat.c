/* SPDX-License-Identifier: MIT */
/* Cells, extractors, bucket functions and printed histograms: known values, the
 * reference's sample outputs, and the invariants that hold for any stream. */
#include <stdlib.h>

#include "stat/cell.h"
#include "stat/extract.h"
#include "stat/grid.h"
#include "stat/render.h"
#include "stat/wide.h"

#include "test.h"

#define ALL_OPS ((1u << STAT_MAX_OP) - 1)

struct buf {
	char s[16384];
	size_t n;
};

static void collect(void *ctx, const char *s, size_t n)
{
	struct buf *b = ctx;

	memcpy(b->s + b->n, s, n);
	b->n += n;
	b->s[b->n] = 0;
}

struct agg {
	struct cell l;
	uint64_t *cell;
};

static struct agg agg_new(uint32_t ops, int hist, int64_t lo, int64_t hi,
			  int64_t step)
{
	struct agg a = {.l = cell_layout(ops, hist, lo, hi, step)};

	a.cell = calloc(1, a.l.size);
	return a;
}

static int64_t get(const struct agg *a, enum stat_op op, int64_t param)
{
	int64_t v;

	CHECK_EQ(stat_extract(&a->l, a->cell, op, param, &v, NULL), STAT_OK);
	return v;
}

static void check_hist(const struct agg *a, int64_t elision, const char *want)
{
	const struct render_style style = {50, elision};
	struct buf b = {.n = 0};

	CHECK_EQ(render_hist(&a->l, a->cell, &style, collect, &b), STAT_OK);
	CHECK_STR(b.s, want);
	free(a->cell);
}

#define RULE "|-------------------------------------------------- count\n"
#define Z "                                                   0\n"

TEST(wide_numbers)
{
	uint64_t max3[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct wide p = wide_mul(max3, UINT64_MAX);

	CHECK_EQ(p.w[0], 1);
	CHECK_EQ(p.w[1], -1);
	CHECK_EQ(p.w[3], -2);
	p = wide_square(~(u128)0);
	CHECK_EQ(p.w[0], 1);
	CHECK_EQ(p.w[1], 0);
	CHECK_EQ(p.w[2], -2);
	CHECK_EQ(p.w[3], -1);
	CHECK_EQ(wide_div((struct wide){{100}}, 7), 14);
	CHECK_EQ(wide_div((struct wide){{0, 0, 1}}, (u128)1 << 65) >> 63, 1);
	CHECK_EQ(wide_sqrt((u128)INT64_MAX * INT64_MAX), INT64_MAX);
	CHECK_EQ(wide_sqrt(99), 9);
}

TEST(variance_is_exact)
{
	struct agg a = agg_new(1u << STAT_VARIANCE, HIST_NONE, 0, 0, 0);
	int64_t i;

	for (i = 1; i <= 5; i++)
		cell_add(&a.l, a.cell, i);
	CHECK_EQ(get(&a, STAT_VARIANCE, 0), 2); /* 2.5 */
	memset(a.cell, 0, a.l.size);
	cell_add(&a.l, a.cell, 0);
	CHECK_EQ(get(&a, STAT_VARIANCE, 0), 0);
	cell_add(&a.l, a.cell, 5000000000);
	/* 5e9^2 / 2 does not fit 63 bits. */
	CHECK_EQ(get(&a, STAT_VARIANCE, 0), INT64_MAX);
	CHECK_EQ(get(&a, STAT_STDDEV, 0), 3535533905);
	memset(a.cell, 0, a.l.size);
	/* 100 ms and 50 ms apart, in ns: squares beyond 64 bits. */
	for (i = 0; i < 100000; i++)
		cell_add(&a.l, a.cell, i & 1 ? 50000000 : 150000000);
	CHECK_EQ(get(&a, STAT_VARIANCE, 0), 2500025000250002);
	memset(a.cell, 0, a.l.size);
	for (i = 0; i < 2; i++) {
		cell_add(&a.l, a.cell, INT64_MIN);
		cell_add(&a.l, a.cell, INT64_MAX);
	}
	CHECK_EQ(get(&a, STAT_STDDEV, 0), INT64_MAX);
	free(a.cell);
}

TEST(extremes)
{
	struct agg a = agg_new(ALL_OPS, HIST_LOG, 0, 0, 0);
	unsigned warn = 0;
	int64_t v;

	CHECK_EQ(stat_extract(&a.l, a.cell, STAT_MIN, 0, &v, NULL), STAT_EMPTY);
	CHECK_EQ(stat_extract(&a.l, NULL, STAT_AVG, 0, &v, NULL), STAT_EMPTY);
	CHECK_EQ(stat_extract(&a.l, NULL, STAT_COUNT, 0, &v, NULL), STAT_OK);
	cell_add(&a.l, a.cell, INT64_MIN);
	CHECK_EQ(get(&a, STAT_MAX, 0), INT64_MIN);
	CHECK_EQ(get(&a, STAT_MIN, 0), INT64_MIN);
	CHECK_EQ(get(&a, STAT_MEDIAN, 0), INT64_MIN);
	cell_add(&a.l, a.cell, INT64_MIN);
	CHECK_EQ(get(&a, STAT_AVG, 0), INT64_MIN);
	CHECK_EQ(stat_extract(&a.l, a.cell, STAT_SUM, 0, &v, &warn), STAT_OK);
	CHECK_EQ(v, 0);
	CHECK_EQ(warn, STAT_WARN_OVERFLOW);
	cell_add(&a.l, a.cell, INT64_MAX);
	CHECK_EQ(get(&a, STAT_MAX, 0), INT64_MAX);
	/* (2 INT64_MIN + INT64_MAX) / 3 */
	CHECK_EQ(get(&a, STAT_AVG, 0), -3074457345618258603);
	CHECK_EQ(stat_bucket(&a.l, a.cell, 0, &v), STAT_OK);
	CHECK_EQ(v, 2);
	CHECK_EQ(stat_bucket(&a.l, a.cell, 127, &v), STAT_OK);
	CHECK_EQ(v, 1);
	CHECK_EQ(stat_bucket(&a.l, a.cell, 128, &v), STAT_BAD_INDEX);
	CHECK_EQ(stat_bucket(&a.l, a.cell, -1, &v), STAT_BAD_INDEX);
	free(a.cell);
}

TEST(average_truncates_toward_zero)
{
	struct agg a = agg_new(1u << STAT_AVG, HIST_NONE, 0, 0, 0);

	cell_add(&a.l, a.cell, -1);
	cell_add(&a.l, a.cell, -2);
	CHECK_EQ(get(&a, STAT_AVG, 0), -1);
	free(a.cell);
}

/* Every bucket's ends map back to it, neighbours touch, and the value that
 * stands for a bucket is within 1/128 of both ends. */
TEST(grid_covers_all_numbers)
{
	int64_t lo, hi, last = 0;
	uint32_t b;

	for (b = 0; b < GRID_BUCKETS; b++) {
		int64_t v = grid_value(b);

		grid_range(b, &lo, &hi);
		CHECK_EQ(grid_bucket(lo), b);
		CHECK_EQ(grid_bucket(hi), b);
		CHECK_EQ(grid_bucket(v), b);
		CHECK(b == 0 ? lo == INT64_MIN : lo == last + 1);
		last = hi;
		if (lo >= 0) {
			CHECK(v - lo <= lo / 128);
			CHECK(hi - v <= lo / 128 + 1 - (lo < 128));
		}
	}
	CHECK_EQ(last, INT64_MAX);
}

TEST(log_buckets)
{
	CHECK_EQ(hist_log_bucket(0), 64);
	CHECK_EQ(hist_log_bucket(1), 65);
	CHECK_EQ(hist_log_bucket(3), 66);
	CHECK_EQ(hist_log_bucket(INT64_MAX), 127);
	CHECK_EQ(hist_log_bucket(-1), 63);
	CHECK_EQ(hist_log_bucket(-3), 62);
	CHECK_EQ(hist_log_bucket(-4), 61);
	CHECK_EQ(hist_log_bucket(INT64_MIN), 0);
	CHECK_EQ(hist_log_label(0), INT64_MIN);
	CHECK_EQ(hist_log_label(63), -1);
	CHECK_EQ(hist_log_label(127), 1ll << 62);
}

TEST(linear_parameters)
{
	CHECK_EQ(cell_linear_buckets(0, 100, 10, 128), 13);
	CHECK_EQ(cell_linear_buckets(0, 0, 1, 128), 3);
	CHECK_EQ(cell_linear_buckets(0, 100, 0, 128), 0);
	CHECK_EQ(cell_linear_buckets(0, 1260, 10, 128), 0);
	CHECK_EQ(cell_linear_buckets(0, 1250, 10, 128), 128);
	CHECK_EQ(cell_linear_buckets(100, 0, -10, 128), 0);
	CHECK_EQ(cell_linear_buckets(INT64_MIN, INT64_MAX, 1, 128), 0);
}

static uint64_t random_state = 12345;

static int64_t random_value(void)
{
	random_state =
	    random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (int64_t)(random_state ^ random_state >> 29) >>
	       (random_state >> 58);
}

/* Σ buckets = count; min <= avg <= max; quantiles monotone and inside; merging
 * parts in any grouping gives the same bits as one pass. */
TEST(invariants_and_merging)
{
	struct agg whole = agg_new(ALL_OPS, HIST_LINEAR, -1000, 1000, 100);
	uint64_t *part[4], *sum;
	int64_t q, last = INT64_MIN;
	uint64_t total = 0;
	int i;

	for (i = 0; i < 4; i++)
		part[i] = calloc(1, whole.l.size);
	for (i = 0; i < 20000; i++) {
		int64_t v = random_value();

		cell_add(&whole.l, whole.cell, v);
		cell_add(&whole.l, part[i & 3], v);
	}
	sum = calloc(1, whole.l.size);
	cell_merge(&whole.l, part[2], part[3]);
	cell_merge(&whole.l, sum, part[1]);
	cell_merge(&whole.l, sum, part[2]);
	cell_merge(&whole.l, sum, part[0]);
	CHECK_EQ(memcmp(sum, whole.cell, whole.l.size), 0);
	for (i = 0; i < (int)whole.l.nbuckets; i++)
		total += whole.cell[whole.l.off[CF_HIST] / 8 + (unsigned)i];
	CHECK_EQ(total, 20000);
	CHECK(get(&whole, STAT_MIN, 0) <= get(&whole, STAT_AVG, 0));
	CHECK(get(&whole, STAT_AVG, 0) <= get(&whole, STAT_MAX, 0));
	for (i = 0; i <= 100; i++) {
		q = get(&whole, STAT_QUANTILE, i * 10000);
		CHECK(q >= last);
		CHECK(q >= get(&whole, STAT_MIN, 0));
		CHECK(q <= get(&whole, STAT_MAX, 0));
		last = q;
	}
	q = get(&whole, STAT_DISTINCT, 0);
	CHECK(q > 9000 && q < 21000);
	for (i = 0; i < 4; i++)
		free(part[i]);
	free(sum);
	free(whole.cell);
}

TEST(distinct_is_near)
{
	struct agg a = agg_new(1u << STAT_DISTINCT, HIST_NONE, 0, 0, 0);
	int64_t i, n;

	for (i = 0; i < 100; i++)
		cell_add(&a.l, a.cell, i % 50);
	CHECK_EQ(get(&a, STAT_DISTINCT, 0), 50);
	for (i = 0; i < 100000; i++)
		cell_add(&a.l, a.cell, i);
	n = get(&a, STAT_DISTINCT, 0);
	CHECK(n > 95000 && n < 105000);
	free(a.cell);
}

/* Standard error 1.6 % at all counts, without a mean of its own: also where an
 * estimate by the empty registers would give way to one by the ranks. */
TEST(distinct_has_no_bias)
{
	static const int counts[] = { 2000, 8000, 10240, 11000, 12500, 30000 };
	enum { SETS = 60 };
	uint64_t x = 88172645463325252u;
	unsigned c;

	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		double sum = 0, squares = 0;
		int set, i;

		for (set = 0; set < SETS; set++) {
			struct agg a = agg_new(1u << STAT_DISTINCT, HIST_NONE,
					       0, 0, 0);
			double e;

			for (i = 0; i < counts[c]; i++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				cell_add(&a.l, a.cell, (int64_t)x);
			}
			e = (double)get(&a, STAT_DISTINCT, 0) / counts[c] - 1;
			sum += e;
			squares += e * e;
			free(a.cell);
		}
		CHECK(sum / SETS > -0.008 && sum / SETS < 0.008);
		CHECK(squares / SETS < 0.019 * 0.019);
	}
}

TEST(hist_minus_one_and_one)
{
	struct agg a = agg_new(0, HIST_LOG, 0, 0, 0);

	cell_add(&a.l, a.cell, -1);
	cell_add(&a.l, a.cell, 1);
	check_hist(
	    &a, 2,
	    "value " RULE "   -4 |" Z "   -2 |" Z
	    "   -1 |@                                                  1\n"
	    "    0 |" Z
	    "    1 |@                                                  1\n"
	    "    2 |" Z "    4 |" Z "\n");
}

TEST(hist_zero_only)
{
	struct agg a = agg_new(0, HIST_LOG, 0, 0, 0);

	cell_add(&a.l, a.cell, 0);
	check_hist(
	    &a, 2,
	    "value " RULE
	    "    0 |@                                                  1\n"
	    "    1 |" Z "    2 |" Z "\n");
}

TEST(hist_largest)
{
	struct agg a = agg_new(0, HIST_LOG, 0, 0, 0);

	cell_add(&a.l, a.cell, INT64_MAX);
	check_hist(&a, 2,
		   "              value " RULE "1152921504606846976 |" Z
		   "2305843009213693952 |" Z
		   "4611686018427387904 |@                                     "
		   "             1\n\n");
}

TEST(hist_all_above)
{
	struct agg a = agg_new(0, HIST_LINEAR, 0, 100, 10);
	int64_t i;

	for (i = 1000; i < 10000; i++)
		cell_add(&a.l, a.cell, i);
	check_hist(
	    &a, 2,
	    "value " RULE
	    "   90 |                                                      0\n"
	    "  100 |                                                      0\n"
	    " >100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ "
	    "9000\n\n");
}

TEST(hist_all_below)
{
	struct agg a = agg_new(0, HIST_LINEAR, 1800, 2500, 100);
	int64_t i;

	for (i = 0; i < 100; i++)
		cell_add(&a.l, a.cell, i);
	check_hist(
	    &a, 2,
	    "value " RULE
	    "<1800 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 100\n"
	    " 1800 |                                                     0\n"
	    " 1900 |                                                     "
	    "0\n\n");
}

static struct agg two_far_apart(void)
{
	struct agg a = agg_new(0, HIST_LINEAR, 0, 1500, 50);

	cell_add(&a.l, a.cell, 444);
	cell_add(&a.l, a.cell, 999);
	return a;
}

TEST(hist_elision)
{
	struct agg a = two_far_apart();

	check_hist(
	    &a, 2,
	    "value " RULE "  300 |" Z "  350 |" Z
	    "  400 |@                                                  1\n"
	    "  450 |" Z "  500 |" Z "      ~\n  850 |" Z "  900 |" Z
	    "  950 |@                                                  1\n"
	    " 1000 |" Z " 1050 |" Z "\n");
	a = two_far_apart();
	check_hist(
	    &a, 0,
	    "value " RULE "      ~\n"
	    "  400 |@                                                  1\n"
	    "      ~\n"
	    "  950 |@                                                  1\n\n");
	a = two_far_apart();
	check_hist(
	    &a, 1,
	    "value " RULE "      ~\n  350 |" Z
	    "  400 |@                                                  1\n"
	    "  450 |" Z "      ~\n  900 |" Z
	    "  950 |@                                                  1\n"
	    " 1000 |" Z "\n");
}

TEST(hist_ends)
{
	struct agg a = agg_new(0, HIST_LINEAR, 0, 1500, 50);

	cell_add(&a.l, a.cell, 1500);
	check_hist(
	    &a, 2,
	    "value " RULE " 1400 |" Z " 1450 |" Z
	    " 1500 |@                                                  1\n\n");
	a = agg_new(0, HIST_LINEAR, 0, 1500, 50);
	cell_add(&a.l, a.cell, 0);
	check_hist(
	    &a, 2,
	    "value " RULE
	    "    0 |@                                                  1\n"
	    "   50 |" Z "  100 |" Z "\n");
}

TEST(hist_wide_labels)
{
	static const int64_t v[] = {
	    0,          0,          0,          100000000,  100000001,
	    500000000,  500000000,  500000000,  500000000,  500000000,
	    1000000000, 1000000000, 1000000000, 1000000000, 2000000000};
	struct agg a = agg_new(0, HIST_LINEAR, 0, 1000000000, 100000000);
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(*v); i++)
		cell_add(&a.l, a.cell, v[i]);
	check_hist(&a, 2,
		   "      value " RULE "          0 |@@@                       "
				       "                         3\n"
		   "  100000000 |@@                                            "
		   "     2\n"
		   "  200000000 |" Z "  300000000 |" Z "  400000000 |" Z
		   "  500000000 |@@@@@                                         "
		   "     5\n"
		   "  600000000 |" Z "  700000000 |" Z "  800000000 |" Z
		   "  900000000 |" Z " 1000000000 |@@@@                        "
				     "                       4\n"
		   ">1000000000 |@                                             "
		   "     1\n\n");
}

TEST(hist_scaled)
{
	struct agg a = agg_new(0, HIST_LINEAR, 0, 0, 1);
	int i;

	for (i = 0; i < 128; i++)
		cell_add(&a.l, a.cell, 0);
	check_hist(&a, 2,
		   "value " RULE
		   "    0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@         "
		   "128\n\n");
}
