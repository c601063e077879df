/* SPDX-License-Identifier: MIT */
/* A snapshot for people: the rows of each aggregate, those with the most
 * samples first, with the extractors that the script uses. */
#include "out/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stat/extract.h"
#include "stat/render.h"

/* The sink that rendering wants. */
static void to_file(void *ctx, const char *s, size_t n)
{
	fwrite(s, 1, n, ctx);
}

/* ["cc1",7], or nothing for a scalar. */
static void print_key(const struct snap_agg *agg, const struct snap_row *row,
		      FILE *f)
{
	unsigned k;

	for (k = 0; k < agg->nkeys; k++) {
		fputs(k ? "," : "[", f);
		if (row->key[k].str)
			fprintf(f, "\"%s\"", row->key[k].str);
		else
			fprintf(f, "%" PRId64, row->key[k].num);
	}
	if (agg->nkeys)
		fputc(']', f);
}

static void print_cell(const struct snap_agg *agg, const uint64_t *cell,
		       FILE *f)
{
	/*
	 * The defaults of -DHIST_WIDTH and -DHIST_ELISION: a file does not say
	 * what its script was run with.
	 */
	const struct render_style style = { .width = 50, .elision = 2 };
	unsigned op;
	int64_t v;

	for (op = 0; op < STAT_QUANTILES; op++) {
		/* Which quantile was asked for is the script's matter. */
		if (!(agg->ops & 1u << op) || op == STAT_QUANTILE)
			continue;
		if (stat_extract(&agg->layout, cell, (enum stat_op)op, 0, &v,
				 NULL) == STAT_OK)
			fprintf(f, " %s=%" PRId64,
				stat_op_name((enum stat_op)op), v);
	}
	fputc('\n', f);
	if (agg->layout.has[CF_HIST])
		render_hist(&agg->layout, cell, &style, to_file, f);
	if (agg->layout.has[CF_GRID])
		render_quantiles(&agg->layout, cell, to_file, f);
}

/* Rows are kept by key; this orders them by count without moving them. */
struct ranked {
	uint64_t count;
	unsigned row;
};

static int by_count(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	/* qsort is not stable: equal counts stay in the order of keys. */
	return x->row < y->row ? -1 : 1;
}

static void print_agg(const struct snap_agg *agg, FILE *f)
{
	unsigned i, n = agg->rows.n;
	struct ranked *order = calloc(n ? n : 1, sizeof(*order));

	if (!order)
		return;
	for (i = 0; i < n; i++) {
		order[i].count =
		    agg->rows.v[i].cell[agg->layout.off[CF_COUNT] / 8];
		order[i].row = i;
	}
	qsort(order, n, sizeof(*order), by_count);
	for (i = 0; i < n; i++) {
		const struct snap_row *row = &agg->rows.v[order[i].row];

		fputs(agg->name, f);
		print_key(agg, row, f);
		print_cell(agg, row->cell, f);
	}
	if (agg->other) {
		fprintf(f, "%s[other]", agg->name);
		print_cell(agg, agg->other, f);
	}
	free(order);
}

void snapshot_print(const struct snapshot *s, FILE *f)
{
	unsigned i;

	fprintf(f, "# %s on", s->script);
	for (i = 0; i < s->hosts.n; i++)
		fprintf(f, "%s %s", i ? "," : "", s->hosts.v[i].name);
	fputc('\n', f);
	for (i = 0; i < s->aggs.n; i++)
		print_agg(&s->aggs.v[i], f);
}
