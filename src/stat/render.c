/* SPDX-License-Identifier: MIT */
/* Text of histograms: which rows are shown, how wide, and their bars. */
#include "stat/render.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "stat/extract.h"
#include "stat/grid.h"

/* A table being printed: what is shown and where it goes. */
struct page {
	const struct cell *l;
	const uint64_t *hist; /* counters, l->nbuckets of them */
	const struct render_style *style;
	stat_sink out;
	void *ctx;
	int64_t low, high; /* first and last row */
	uint64_t top;      /* largest counter */
	int label_width, count_width;
};

/* Pieces are short (a number, a label), so 128 bytes always hold one. */
static void say(struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct page *p, const char *fmt, ...)
{
	char buf[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	p->out(p->ctx, buf, (size_t)n);
}

/* Bars go up to HIST_WIDTH = 4096 columns: written in runs, not one by one. */
static void repeat(struct page *p, char c, uint64_t n)
{
	char run[64];
	size_t i;

	for (i = 0; i < sizeof(run); i++)
		run[i] = c;
	while (n) {
		size_t now = n < sizeof(run) ? (size_t)n : sizeof(run);

		p->out(p->ctx, run, now);
		n -= now;
	}
}

/* Columns of a number, its sign included. */
static int digits(int64_t v)
{
	return snprintf(NULL, 0, "%lld", (long long)v);
}

/* The first bound of row i; *ret_mark is '<' or '>' for the ends. */
static int64_t label(const struct cell *l, int64_t i, char *ret_mark)
{
	*ret_mark = 0;
	if (l->hist_log)
		return hist_log_label((uint32_t)i);
	if (i == 0) {
		*ret_mark = '<';
		return l->lo;
	}
	if (i == l->nbuckets - 1) {
		*ret_mark = '>';
		i--;
	}
	/* Unsigned: the last labels of a range near the ends may wrap. */
	return (int64_t)((uint64_t)l->lo +
			 (uint64_t)(i - 1) * (uint64_t)l->step);
}

/* Rows from the first to the last counter that is not zero, two more on either
 * side, but never past the zero bucket nor into an empty end. */
static void find_rows(struct page *p)
{
	const int64_t n = p->l->nbuckets;
	int64_t i, first = -1, last = -1;
	int round;

	for (i = 0; i < n; i++) {
		if (p->hist[i] == 0)
			continue;
		first = first < 0 ? i : first;
		last = i;
		p->top = p->hist[i] > p->top ? p->hist[i] : p->top;
	}
	/*
	 * One step of widening a round, so that a histogram at the edge of its
	 * range stays narrower, as the reference's does.
	 */
	for (round = 0; round < 2; round++) {
		if (first > 0 && !(p->l->hist_log && first == HIST_LOG_ZERO))
			first--;
		if (last < n - 1)
			last++;
	}
	if (!p->l->hist_log) {
		if (first == 0 && p->hist[0] == 0)
			first++;
		if (last == n - 1 && p->hist[n - 1] == 0)
			last--;
	}
	p->low = first;
	p->high = last;
}

/*
 * The first and the last label are the widest but for numbers in between that
 * are never wider: labels grow in one direction.
 */
static void find_widths(struct page *p)
{
	const struct cell *l = p->l;
	int a, b;

	if (l->hist_log) {
		a = digits(hist_log_label((uint32_t)p->low));
		b = digits(hist_log_label((uint32_t)p->high));
	} else {
		/* The reference computes the last label one or two steps too
		 * high, in 32 bits; the column's width shows it. */
		a = digits(l->lo) + (p->low == 0);
		b = digits((int32_t)((uint32_t)l->lo +
				     (uint32_t)l->step * (uint32_t)p->high)) +
		    (p->high == l->nbuckets - 1);
	}
	p->label_width = a > b ? a : b;
	/* At least as wide as the word "value". */
	if (p->label_width < 5)
		p->label_width = 5;
	p->count_width = digits((int64_t)p->top);
}

/* Is every row within `elision` of row i zero? */
static bool is_elided(const struct page *p, int64_t i)
{
	int64_t e = p->style->elision, j, from, to;

	if (e < 0)
		return false;
	if (e > p->l->nbuckets)
		/* No larger than the table: i + e must not overflow. */
		e = p->l->nbuckets;
	from = i - e < p->low ? p->low : i - e;
	to = i + e > p->high ? p->high : i + e;
	for (j = from; j <= to; j++)
		if (p->hist[j])
			return false;
	return true;
}

static void row(struct page *p, int64_t i, uint64_t scale)
{
	/* The bar, then blanks so that counts end in one column. */
	const uint64_t n = p->hist[i], bar = n / scale;
	const uint64_t room =
	    (uint64_t)p->style->width - bar + 1 + (uint64_t)p->count_width;
	char mark, number[32];
	int64_t v = label(p->l, i, &mark);
	int pad = p->label_width - digits(v) - (mark != 0), len;

	repeat(p, ' ', pad > 0 ? (uint64_t)pad : 0);
	if (mark)
		p->out(p->ctx, &mark, 1);
	say(p, "%lld |", (long long)v);
	repeat(p, '@', bar);
	len = snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
	if (room > (uint64_t)len)
		repeat(p, ' ', room - (uint64_t)len);
	say(p, "%s\n", number);
}

int render_hist(const struct cell *l, const uint64_t *cell,
		const struct render_style *style, stat_sink out, void *ctx)
{
	struct page p = {.l = l, .style = style, .out = out, .ctx = ctx};
	uint64_t width = (uint64_t)style->width, scale;
	bool gap = false;
	int64_t i;

	/*
	 * Tested here and not by the caller, because an empty cell has no rows
	 * to find.
	 */
	if (!cell || cell[l->off[CF_COUNT] / 8] == 0)
		return STAT_EMPTY;
	p.hist = cell + l->off[CF_HIST] / 8;
	find_rows(&p);
	find_widths(&p);
	/*
	 * Counters up to the width are shown one to one; larger ones are
	 * divided by the smallest number that fits the largest into the width.
	 */
	scale = p.top <= width ? 1 : (p.top - 1) / width + 1;
	say(&p, "%*s |", p.label_width, "value");
	repeat(&p, '-', width);
	say(&p, " count\n");
	/* A run of rows that are left out is shown as one "~". */
	for (i = p.low; i <= p.high; i++) {
		if (is_elided(&p, i)) {
			gap = true;
			continue;
		}
		if (gap)
			say(&p, "%*s ~\n", p.label_width, "");
		gap = false;
		row(&p, i, scale);
	}
	say(&p, "\n");
	return STAT_OK;
}

int render_quantiles(const struct cell *l, const uint64_t *cell, stat_sink out,
		     void *ctx)
{
	/* Those that people ask for, and what each is called in the text. */
	static const struct {
		const char *name;
		enum stat_op op;
		int64_t ppm;
	} rows[] = {
	    {"count", STAT_COUNT, 0},       {"min", STAT_MIN, 0},
	    {"p50", STAT_QUANTILE, 500000}, {"p90", STAT_QUANTILE, 900000},
	    {"p99", STAT_QUANTILE, 990000}, {"p99.9", STAT_QUANTILE, 999000},
	    {"max", STAT_MAX, 0},
	};
	struct page p = {.out = out, .ctx = ctx};
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (stat_extract(l, cell, rows[i].op, rows[i].ppm, &v, NULL) ==
			STAT_EMPTY ||
		    !cell || cell[l->off[CF_COUNT] / 8] == 0)
			return STAT_EMPTY;
		say(&p, "%5s %lld\n", rows[i].name, (long long)v);
	}
	/* Half of 1/64 (grid.h), rounded up in the second digit. */
	say(&p, "quantiles within 0.79 %% of a sample; exact below 128\n\n");
	return STAT_OK;
}
