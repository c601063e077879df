/* SPDX-License-Identifier: MIT */
/* Layout, feeding and merging of aggregate cells. */
#include "stat/cell.h"

#include <string.h>

#include "front/ast.h"
#include "stat/grid.h"
#include "stat/wide.h"

#define BIT(op) (1u << STAT_##op)

/* The next field of the cell. Fields without their bit take no room. */
static void place(struct cell *l, enum cell_field f, uint32_t words)
{
	l->has[f] = true;
	l->off[f] = l->size;
	l->size += words * 8;
}

struct cell cell_layout(uint32_t ops, int hist_kind, int64_t lo, int64_t hi,
			int64_t step)
{
	const uint32_t spread = BIT(VARIANCE) | BIT(STDDEV);
	const uint32_t grid =
	    BIT(QUANTILE) | BIT(MEDIAN) | BIT(QUANTILES) | BIT(MODE);
	struct cell l = { .lo = lo, .hi = hi, .step = step };

	/* The count tells an empty cell, which nearly every operator needs. */
	place(&l, CF_COUNT, 1);
	/*
	 * Sums are kept in 128 bits, so that what does not fit the 64 bits of
	 * the language can be told (STAT_WARN_OVERFLOW).
	 */
	if (ops & (BIT(SUM) | BIT(AVG) | spread)) {
		place(&l, CF_SUM, 1);
		place(&l, CF_SUM_HI, 1);
	}
	/* The grid clamps what it estimates to the true minimum and maximum. */
	if (ops & (BIT(MIN) | grid))
		place(&l, CF_MIN, 1);
	if (ops & (BIT(MAX) | grid))
		place(&l, CF_MAX, 1);
	if (ops & spread)
		place(&l, CF_SQ, 3);
	if (hist_kind != HIST_NONE) {
		l.hist_log = hist_kind == HIST_LOG;
		l.nbuckets = l.hist_log ?
				 HIST_LOG_BUCKETS :
				 cell_linear_buckets(lo, hi, step, UINT32_MAX);
		place(&l, CF_HIST, l.nbuckets);
	}
	if (ops & BIT(DISTINCT)) {
		l.nhll = HLL_WORDS;
		place(&l, CF_HLL, l.nhll);
	}
	if (ops & grid) {
		l.ngrid = GRID_BUCKETS;
		place(&l, CF_GRID, l.ngrid);
	}
	return l;
}

struct cell cell_without_grid(const struct cell *l)
{
	struct cell part = *l;

	if (part.has[CF_GRID])
		part.size = part.off[CF_GRID];
	part.has[CF_GRID] = false;
	part.ngrid = 0;
	return part;
}

uint32_t cell_linear_buckets(int64_t lo, int64_t hi, int64_t step,
			     uint32_t max_buckets)
{
	/* In 128 bits: hi - lo of two int64 may need 65. */
	i128 n;

	if (step == 0)
		return 0;
	/*
	 * One bucket for each step, one for hi itself, two for what lies
	 * outside.
	 */
	n = ((i128)hi - lo) / step + 3;
	/* A negative step has no order of buckets to count into. */
	if (step < 0 || n < 3 || n > max_buckets)
		return 0;
	return (uint32_t)n;
}

/*
 * Offsets are in bytes, as the kernel's code wants them; cells are words here.
 */
static uint64_t *word(const struct cell *l, uint64_t *cell, enum cell_field f)
{
	return cell + l->off[f] / 8;
}

static const uint64_t *cword(const struct cell *l, const uint64_t *cell,
			     enum cell_field f)
{
	return cell + l->off[f] / 8;
}

/* 128-bit two's complement sum in two words. */
static void add_sum(uint64_t *lo, uint64_t *hi, uint64_t vlo, uint64_t vhi)
/*
 * The carry out of the low word shows as a result smaller than what was added.
 */
{
	*lo += vlo;
	*hi += vhi + (*lo < vlo);
}

/* 192-bit sum in three words. */
static void add_sq(uint64_t *s, const uint64_t v[3])
{
	u128 carry = 0;
	int i;

	for (i = 0; i < 3; i++) {
		carry += (u128)s[i] + v[i];
		s[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

/* min and max are kept so that larger is further out: see cell.h. */
static void raise_to(uint64_t *w, uint64_t v)
{
	if (v > *w)
		*w = v;
}

static void add_hist(const struct cell *l, uint64_t *hist, int64_t v)
{
	uint32_t b = l->hist_log ? hist_log_bucket(v) :
				   hist_linear_bucket(v, l->lo, l->step,
						      l->nbuckets);
	hist[b]++;
}

void cell_add(const struct cell *l, uint64_t *cell, int64_t v)
{
	/*
	 * Flipping the sign bit maps int64's order to that of uint64, and
	 * INT64_MIN to 0.
	 */
	const uint64_t biased = (uint64_t)v ^ 1ull << 63;

	*word(l, cell, CF_COUNT) += 1;
	if (l->has[CF_SUM])
		add_sum(word(l, cell, CF_SUM), word(l, cell, CF_SUM_HI),
			/* The high word of the sample: its sign. */
			(uint64_t)v, v < 0 ? UINT64_MAX : 0);
	if (l->has[CF_MIN])
		raise_to(word(l, cell, CF_MIN), ~biased);
	if (l->has[CF_MAX])
		raise_to(word(l, cell, CF_MAX), biased);
	if (l->has[CF_SQ]) {
		/*
		 * The magnitude without overflow: -INT64_MIN is no int64. The
		 * third word only takes carries: one square is at most 2^126.
		 */
		uint64_t abs = v < 0 ? -(uint64_t)v : (uint64_t)v;
		u128 sq = (u128)abs * abs;
		uint64_t w[3] = { (uint64_t)sq, (uint64_t)(sq >> 64), 0 };

		add_sq(word(l, cell, CF_SQ), w);
	}
	if (l->has[CF_HIST])
		add_hist(l, word(l, cell, CF_HIST), v);
	if (l->has[CF_GRID])
		word(l, cell, CF_GRID)[grid_bucket(v)]++;
	if (l->has[CF_HLL]) {
		/*
		 * A byte a register, eight to a word; cells are read and merged
		 * on the machine that wrote them.
		 */
		uint8_t *regs = (uint8_t *)word(l, cell, CF_HLL);
		uint32_t reg;
		uint8_t rank;

		hll_place(hll_mix(v), &reg, &rank);
		if (rank > regs[reg])
			regs[reg] = rank;
	}
}

static void merge_counts(uint64_t *into, const uint64_t *from, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		into[i] += from[i];
}

void cell_merge(const struct cell *l, uint64_t *into, const uint64_t *from)
{
	*word(l, into, CF_COUNT) += *cword(l, from, CF_COUNT);
	if (l->has[CF_SUM])
		add_sum(word(l, into, CF_SUM), word(l, into, CF_SUM_HI),
			*cword(l, from, CF_SUM), *cword(l, from, CF_SUM_HI));
	if (l->has[CF_MIN])
		raise_to(word(l, into, CF_MIN), *cword(l, from, CF_MIN));
	if (l->has[CF_MAX])
		raise_to(word(l, into, CF_MAX), *cword(l, from, CF_MAX));
	if (l->has[CF_SQ])
		add_sq(word(l, into, CF_SQ), cword(l, from, CF_SQ));
	if (l->has[CF_HIST])
		merge_counts(word(l, into, CF_HIST), cword(l, from, CF_HIST),
			     l->nbuckets);
	if (l->has[CF_GRID])
		merge_counts(word(l, into, CF_GRID), cword(l, from, CF_GRID),
			     l->ngrid);
	/* A register keeps a maximum, so the union's is the larger one. */
	if (l->has[CF_HLL]) {
		uint8_t *a = (uint8_t *)word(l, into, CF_HLL);
		const uint8_t *b = (const uint8_t *)cword(l, from, CF_HLL);
		uint32_t i;

		for (i = 0; i < HLL_REGS; i++)
			if (b[i] > a[i])
				a[i] = b[i];
	}
}
