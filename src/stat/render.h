/* SPDX-License-Identifier: MIT */
/* Histograms and quantiles as text: print(@hist_log(x)) and its kin. */
#ifndef STAT_RENDER_H
#define STAT_RENDER_H

#include <stddef.h>
#include <stdint.h>

#include "stat/cell.h"

/* Takes pieces of the text, in order. */
typedef void (*stat_sink)(void *ctx, const char *s, size_t n);

struct render_style {
	int64_t width;	 /* HIST_WIDTH: columns of the longest bar */
	int64_t elision; /* HIST_ELISION: zero rows kept; -1 all */
};

/*
 * The layout of the reference (docs/aggregates.md), byte for byte. cell must
 * hold a sample: else STAT_EMPTY. style must have width > 0. hist is found by
 * the layout: it must have one.
 */
int render_hist(const struct cell *l, const uint64_t *cell,
		const struct render_style *style, stat_sink out, void *ctx);
/*
 * count, min, p50, p90, p99, p99.9, max and the error bound. The layout must
 * have a grid. STAT_EMPTY: no sample, nothing is printed.
 */
int render_quantiles(const struct cell *l, const uint64_t *cell,
		     stat_sink out, void *ctx);

#endif
