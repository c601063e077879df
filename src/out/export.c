/* SPDX-License-Identifier: MIT */
/* JSON lines: docs/output.md is the schema. */
#include "out/export.h"

#include "base/json.h"
#include "stat/extract.h"
#include "stat/grid.h"

/* One line a print: readers of the stream get it at once and in order. */
void export_text(const char *text, size_t n, FILE *f)
{
	struct json j;

	json_init(&j, f, false);
	json_object(&j);
	json_key(&j, "type");
	json_strz(&j, "text");
	json_key(&j, "text");
	json_str(&j, text, n);
	json_end_object(&j);
	fputc('\n', f);
}

/* "key": v, for numbers without a sign. */
static void member(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_uint(j, v);
}

/* Percentiles that print(@quantiles(x)) shows, and what they are called. */
static const struct {
	const char *name;
	int64_t ppm;
} shown[] = {
	{ "p50", 500000 }, { "p90", 900000 }, { "p99", 990000 },
	{ "p99.9", 999000 },
};

static void write_quantiles(struct json *j, const struct cell *l,
			    const uint64_t *cell)
{
	unsigned i;
	int64_t v;

	json_key(j, "quantiles");
	json_object(j);
	for (i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (stat_extract(l, cell, STAT_QUANTILE, shown[i].ppm, &v,
				 NULL))
			continue;
		json_key(j, shown[i].name);
		json_int(j, v);
	}
	json_end_object(j);
}

/*
 * [lowest value, count] of each bucket in use; null: no lower bound. Only
 * buckets in use: a quantile grid or a log histogram is mostly empty.
 */
static void write_hist(struct json *j, const struct cell *l,
		       const uint64_t *hist)
{
	uint32_t i;

	json_key(j, "histogram");
	json_array(j);
	for (i = 0; i < l->nbuckets; i++) {
		if (!hist[i])
			continue;
		json_array(j);
		if (l->hist_log)
			json_int(j, hist_log_low(i));
		else if (!i)
			json_null(j);
		else
			json_int(j, l->lo + (int64_t)(i - 1) * l->step);
		json_uint(j, hist[i]);
		json_end_array(j);
	}
	json_end_array(j);
}

static void write_values(struct json *j, const struct snap_agg *agg,
			 const uint64_t *cell)
{
	const struct cell *l = &agg->layout;
	unsigned op;
	int64_t v;

	member(j, "count", cell[l->off[CF_COUNT] / 8]);
	for (op = 0; op < STAT_QUANTILES; op++) {
		/*
		 * The count stands above; a quantile needs its parameter, so
		 * those of the table are written instead.
		 */
		if (!(agg->ops & 1u << op) || op == STAT_COUNT ||
		    op == STAT_QUANTILE)
			continue;
		if (stat_extract(l, cell, (enum stat_op)op, 0, &v, NULL))
			continue;
		/* Without the @ of the script's operator. */
		json_key(j, stat_op_name((enum stat_op)op) + 1);
		json_int(j, v);
	}
	if (l->has[CF_GRID])
		write_quantiles(j, l, cell);
	if (l->has[CF_HIST])
		write_hist(j, l, cell + l->off[CF_HIST] / 8);
}

static void write_key(struct json *j, const struct snap_agg *agg,
		      const struct snap_key *key)
{
	unsigned k;

	json_key(j, "key");
	json_array(j);
	for (k = 0; k < agg->nkeys; k++) {
		if (key[k].str)
			json_strz(j, key[k].str);
		else
			json_int(j, key[k].num);
	}
	json_end_array(j);
}

/* {"name", "rows": [{"key", values}], "other": values or null}. */
static void write_agg(struct json *j, const struct snap_agg *agg)
{
	unsigned i;

	json_object(j);
	json_key(j, "name");
	json_strz(j, agg->name);
	json_key(j, "rows");
	json_array(j);
	for (i = 0; i < agg->rows.n; i++) {
		json_object(j);
		write_key(j, agg, agg->rows.v[i].key);
		write_values(j, agg, agg->rows.v[i].cell);
		json_end_object(j);
	}
	json_end_array(j);
	/*
	 * What came when the array was full: totals of rows and other add up.
	 */
	json_key(j, "other");
	if (agg->other) {
		json_object(j);
		write_values(j, agg, agg->other);
		json_end_object(j);
	} else {
		json_null(j);
	}
	json_end_object(j);
}

static void write_times(struct json *j, const struct export_end *end)
{
	unsigned i;

	json_key(j, "times");
	json_array(j);
	for (i = 0; i < end->times.n; i++) {
		const struct export_time *t = &end->times.v[i];

		json_object(j);
		json_key(j, "probe");
		json_strz(j, t->probe);
		member(j, "index", t->index);
		member(j, "count", t->n);
		member(j, "min_ns", t->least);
		member(j, "avg_ns", t->sum / t->n);
		member(j, "max_ns", t->most);
		json_end_object(j);
	}
	json_end_array(j);
}

void export_json(const struct snapshot *s, const struct export_end *end,
		 FILE *f)
{
	struct json j;
	unsigned i;

	json_init(&j, f, false);
	json_object(&j);
	json_key(&j, "type");
	json_strz(&j, "end");
	json_key(&j, "status");
	json_int(&j, end->status);
	member(&j, "errors", end->errors);
	member(&j, "skipped", end->skipped);
	json_key(&j, "aggregates");
	json_array(&j);
	for (i = 0; i < s->aggs.n; i++)
		write_agg(&j, &s->aggs.v[i]);
	json_end_array(&j);
	snapshot_write_ledger(&j, s);
	if (end->timed)
		write_times(&j, end);
	json_end_object(&j);
	fputc('\n', f);
}
