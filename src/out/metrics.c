/* SPDX-License-Identifier: MIT */
/*
 * OpenMetrics text. An aggregate NAME becomes tally_NAME, key columns the
 * labels key1, key2, ...; the array's other cell has the label other="1".
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "out/export.h"
#include "stat/extract.h"
#include "stat/grid.h"

/*
 * A label's value: backslash, quote and newline are escaped. That is the whole
 * escaping of the format (OpenMetrics 1.0, section on ABNF). It has to be
 * UTF-8, or a reader refuses the whole text: any other byte becomes the
 * character that it is in Latin-1, as in JSON.
 */
static void value(const char *s, FILE *f)
{
	size_t n = strlen(s), len;

	fputc('"', f);
	for (; n; s += len, n -= len) {
		unsigned char c = (unsigned char)*s;

		len = utf8_len(s, n);
		if (!len) {
			len = 1;
			fprintf(f, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
		} else if (c == '\n') {
			fputs("\\n", f);
		} else if (c == '\\' || c == '"') {
			fprintf(f, "\\%c", c);
		} else {
			fwrite(s, 1, len, f);
		}
	}
	fputc('"', f);
}

/*
 * The metric of an aggregate. A name of the language may have a $, for which a
 * metric has the colon: no two names become one.
 */
static void metric(const struct snap_agg *agg, const char *suffix, FILE *f)
{
	const char *c;

	fputs("tally_", f);
	for (c = agg->name; *c; c++)
		fputc(*c == '$' ? ':' : *c, f);
	fputs(suffix, f);
}

static void type(const struct snap_agg *agg, const char *suffix,
		 const char *what, FILE *f)
{
	fputs("# TYPE ", f);
	metric(agg, suffix, f);
	fprintf(f, " %s\n", what);
}

/*
 * {key1="a",key2="7",le="10"}; key NULL: the other cell. extra may be NULL.
 * Nothing at all, not "{}", when there are no labels.
 */
static void labels(const struct snap_agg *agg, const struct snap_key *key,
		   const char *extra, const char *what, FILE *f)
{
	const char *sep = "{";
	unsigned k;

	for (k = 0; key && k < agg->nkeys; k++, sep = ",") {
		fprintf(f, "%skey%u=", sep, k + 1);
		if (key[k].str)
			value(key[k].str, f);
		else
			fprintf(f, "\"%" PRId64 "\"", key[k].num);
	}
	if (!key && agg->nkeys) {
		fprintf(f, "%sother=\"1\"", sep);
		sep = ",";
	}
	if (extra) {
		fprintf(f, "%s%s=", sep, extra);
		value(what, f);
		sep = ",";
	}
	/* sep is still "{" when nothing was written. */
	if (*sep == ',')
		fputc('}', f);
}

/*
 * The largest value in bucket i of a linear histogram, not the last one. Near
 * INT64_MAX the last full step may end beyond what a sample can be.
 */
static int64_t linear_top(const struct cell *l, uint32_t i)
{
	int64_t width, next;

	if (__builtin_mul_overflow((int64_t)i, l->step, &width) ||
	    __builtin_add_overflow(l->lo, width, &next))
		return INT64_MAX;
	return next - 1;
}

/*
 * Buckets are cumulative, their bounds inclusive. Empty ones are left out,
 * which the format allows, but +Inf must be there.
 */
static void buckets(const struct snap_agg *agg, const struct snap_key *key,
		    const uint64_t *cell, FILE *f)
{
	const struct cell *l = &agg->layout;
	const uint64_t *hist = cell + l->off[CF_HIST] / 8;
	uint64_t sum = 0;
	char bound[32];
	uint32_t i;

	for (i = 0; i < l->nbuckets; i++) {
		sum += hist[i];
		if (!hist[i] && i + 1 < l->nbuckets)
			continue;
		if (i + 1 == l->nbuckets)
			snprintf(bound, sizeof(bound), "+Inf");
		else if (l->hist_log)
			snprintf(bound, sizeof(bound), "%" PRId64,
				 hist_log_low(i + 1) - 1);
		else
			snprintf(bound, sizeof(bound), "%" PRId64,
				 linear_top(l, i));
		/*
		 * le is the largest value in the bucket: one below the next
		 * one's smallest.
		 */
		metric(agg, "_hist_bucket", f);
		labels(agg, key, "le", bound, f);
		fprintf(f, " %" PRIu64 "\n", sum);
	}
}

/*
 * A sample line for each row and for the other cell. The format wants all lines
 * of one metric together, so each metric is a walk of its own.
 */
static void each_cell(const struct snap_agg *agg, FILE *f,
		      void (*say)(const struct snap_agg *agg,
				  const struct snap_key *key,
				  const uint64_t *cell, FILE *f))
{
	unsigned i;

	for (i = 0; i < agg->rows.n; i++)
		say(agg, agg->rows.v[i].key, agg->rows.v[i].cell, f);
	if (agg->other)
		say(agg, NULL, agg->other, f);
}

static void say_count(const struct snap_agg *agg, const struct snap_key *key,
		      const uint64_t *cell, FILE *f)
{
	metric(agg, "_samples_total", f);
	labels(agg, key, NULL, NULL, f);
	fprintf(f, " %" PRIu64 "\n", cell[agg->layout.off[CF_COUNT] / 8]);
}

static void say_values(const struct snap_agg *agg, const struct snap_key *key,
		       const uint64_t *cell, FILE *f)
{
	unsigned op;
	int64_t v;

	/* From the second operator on: the count has a metric of its own. */
	for (op = STAT_COUNT + 1; op < STAT_QUANTILES; op++) {
		if (!(agg->ops & 1u << op) || op == STAT_QUANTILE ||
		    stat_extract(&agg->layout, cell, (enum stat_op)op, 0, &v,
				 NULL))
			continue;
		metric(agg, "", f);
		labels(agg, key, "stat", stat_op_name((enum stat_op)op) + 1, f);
		fprintf(f, " %" PRId64 "\n", v);
	}
	/*
	 * Without parameters @quantile has no value; the usual four stand for
	 * it.
	 */
	for (op = 0; op < 4 && agg->layout.has[CF_GRID]; op++) {
		static const char *const names[] = { "p50", "p90", "p99",
						     "p99.9" };
		static const int64_t ppm[] = { 500000, 900000, 990000, 999000 };

		if (stat_extract(&agg->layout, cell, STAT_QUANTILE, ppm[op],
				 &v, NULL))
			continue;
		metric(agg, "", f);
		labels(agg, key, "stat", names[op], f);
		fprintf(f, " %" PRId64 "\n", v);
	}
}

static void say_outcome(const char *probe, const char *name, uint64_t n,
			FILE *f)
{
	fputs("tally_probe_events_total{probe=", f);
	value(probe, f);
	fprintf(f, ",outcome=\"%s\"} %" PRIu64 "\n", name, n);
}

/* One metric; an outcome is a label: docs/output.md says which add up. */
static void say_losses(const struct snapshot *s, FILE *f)
{
	unsigned i;

	fputs("# TYPE tally_probe_events counter\n", f);
	for (i = 0; i < s->losses.n; i++) {
		const struct snap_loss *l = &s->losses.v[i];

#define LOSS(name, is_new, is_outcome)                                        \
	if (is_outcome)                                                       \
		say_outcome(l->probe, #name, l->name, f);
#include "out/loss.def"
#undef LOSS
	}
}

/* Times, not events: no outcome. */
static void say_late_cpus(const struct snapshot *s, FILE *f)
{
	unsigned i;

	fputs("# TYPE tally_probe_late_cpus counter\n", f);
	for (i = 0; i < s->losses.n; i++) {
		fputs("tally_probe_late_cpus_total{probe=", f);
		value(s->losses.v[i].probe, f);
		fprintf(f, "} %" PRIu64 "\n", s->losses.v[i].late_cpus);
	}
}

void export_metrics(const struct snapshot *s, FILE *f)
{
	unsigned i;

	for (i = 0; i < s->aggs.n; i++) {
		const struct snap_agg *agg = &s->aggs.v[i];

		/*
		 * A metric's type stands above its lines, and its name without
		 * _total there.
		 */
		type(agg, "_samples", "counter", f);
		each_cell(agg, f, say_count);
		type(agg, "", "gauge", f);
		each_cell(agg, f, say_values);
		if (!agg->layout.has[CF_HIST])
			continue;
		type(agg, "_hist", "histogram", f);
		each_cell(agg, f, buckets);
	}
	say_losses(s, f);
	say_late_cpus(s, f);
	fputs("# EOF\n", f);
}
