/* SPDX-License-Identifier: MIT */
/* Snapshots: order, merging and writing. Reading is snapshot_read.c. */
#include "out/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "stat/grid.h"

/*
 * Tells scripts apart, it does not protect from forgery. Not base/hash.h: this
 * value stands in files and must never change.
 */
uint64_t snapshot_hash(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return h;
}

bool snapshot_layout(struct snap_agg *agg)
{
	/*
	 * A file's word is not taken for how much memory a cell needs. In
	 * memory of this process: the real limit (STP_MAX_BUCKETS) was the
	 * script's.
	 */
	enum { BUCKETS_MAX = 1000000 };

	if (agg->hist == HIST_LINEAR &&
	    !cell_linear_buckets(agg->lo, agg->hi, agg->step, BUCKETS_MAX))
		return false;
	agg->layout =
	    cell_layout(agg->ops, agg->hist, agg->lo, agg->hi, agg->step);
	return true;
}

/*
 * Numbers by value, strings by bytes: an order that does not depend on the
 * locale, so that files of two machines are equal.
 */
static int compare_keys(const struct snap_key *a, const struct snap_key *b)
{
	unsigned i;

	/* Unused key columns are all zero and so equal. */
	for (i = 0; i < SNAP_KEYS_MAX; i++) {
		int c = a[i].str
			    ? strcmp(a[i].str, b[i].str)
			    : (a[i].num > b[i].num) - (a[i].num < b[i].num);

		if (c)
			return c;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	return compare_keys(((const struct snap_row *)a)->key,
			    ((const struct snap_row *)b)->key);
}

void snapshot_sort(struct snapshot *s)
{
	unsigned i;

	for (i = 0; i < s->aggs.n; i++)
		if (s->aggs.v[i].rows.n)
			qsort(s->aggs.v[i].rows.v, s->aggs.v[i].rows.n,
			      sizeof(struct snap_row), compare_rows);
}

/* --- merging -------------------------------------------------------------- */

static struct snap_agg *find_agg(const struct snapshot *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->aggs.n; i++)
		if (strcmp(s->aggs.v[i].name, name) == 0)
			return &s->aggs.v[i];
	return NULL;
}

/* Merging is by field, so everything that decides about fields must agree. */
static bool same_shape(const struct snap_agg *a, const struct snap_agg *b)
{
	return a->nkeys == b->nkeys && a->ops == b->ops && a->hist == b->hist &&
	       a->lo == b->lo && a->hi == b->hi && a->step == b->step &&
	       memcmp(a->key_is_str, b->key_is_str, sizeof(a->key_is_str)) == 0;
}

static uint64_t *cell_copy(struct arena *a, const struct cell *l,
			   const uint64_t *cell)
{
	uint64_t *copy = arena_alloc(a, l->size);

	memcpy(copy, cell, l->size);
	return copy;
}

/*
 * into += from, or false: so many samples (2^64) that their number is no longer
 * known, which only a forged file can have.
 */
static bool add_cell(const struct cell *l, uint64_t *into, const uint64_t *from)
{
	const uint64_t n = from[l->off[CF_COUNT] / 8];

	cell_merge(l, into, from);
	return into[l->off[CF_COUNT] / 8] >= n;
}

/*
 * Both rows are sorted: one walk through the two. Cells of `into` are added to
 * in place; those that only `from` has are copied, since from is the caller's.
 * Costs the sum of both lengths.
 */
static bool merge_rows(struct arena *a, struct snap_agg *into,
		       const struct snap_agg *from)
{
	struct snap_agg out = *into;
	unsigned i = 0, j = 0;
	bool fits = true;

	memset(&out.rows, 0, sizeof(out.rows));
	while (i < into->rows.n || j < from->rows.n) {
		int c = i == into->rows.n ? 1
			: j == from->rows.n
			    ? -1
			    : compare_rows(&into->rows.v[i], &from->rows.v[j]);
		struct snap_row row;

		if (c > 0) {
			row = from->rows.v[j++];
			row.cell = cell_copy(a, &into->layout, row.cell);
		} else {
			row = into->rows.v[i++];
			if (c == 0)
				fits &= add_cell(&into->layout, row.cell,
						 from->rows.v[j++].cell);
		}
		vec_push(a, &out.rows, row);
	}
	into->rows.v = out.rows.v;
	into->rows.n = out.rows.n;
	into->rows.cap = out.rows.cap;
	if (from->other && into->other)
		fits &= add_cell(&into->layout, into->other, from->other);
	else if (from->other)
		into->other = cell_copy(a, &into->layout, from->other);
	return fits;
}

static bool same_probe(const struct snap_loss *x, const struct snap_loss *y)
{
	return strcmp(x->probe, y->probe) == 0;
}

/*
 * The row for from's row i: of several probes of one point the first goes with
 * the first, the second with the second. NULL: a probe that into has not.
 */
static struct snap_loss *loss_for(const struct snapshot *into,
				  const struct snapshot *from, unsigned i)
{
	const struct snap_loss *f = from->losses.v;
	unsigned j, before = 0;

	for (j = 0; j < i; j++)
		before += same_probe(&f[j], &f[i]);
	for (j = 0; j < into->losses.n; j++)
		if (same_probe(&into->losses.v[j], &f[i]) && !before--)
			return &into->losses.v[j];
	return NULL;
}

/*
 * By probe's name. A probe that only one run had keeps its numbers. Runs of one
 * script mostly have the same rows: only from the first difference on is one
 * searched for.
 */
static void merge_losses(struct arena *a, struct snapshot *into,
			 const struct snapshot *from)
{
	bool aligned = true;
	unsigned i;

	for (i = 0; i < from->losses.n; i++) {
		const struct snap_loss *f = &from->losses.v[i];
		struct snap_loss *t;

		aligned = aligned && i < into->losses.n &&
			  same_probe(&into->losses.v[i], f);
		t = aligned ? &into->losses.v[i] : loss_for(into, from, i);
		if (!t) {
			vec_push(a, &into->losses, *f);
			continue;
		}
#define LOSS(name, is_new, is_outcome) t->name += f->name;
#include "out/loss.def"
#undef LOSS
	}
}

bool snapshot_merge(struct arena *a, struct snapshot *into,
		    const struct snapshot *from, const char **ret_why)
{
	unsigned i;

	/* The hash, not the name: what a file was called says nothing. */
	if (into->script_hash != from->script_hash) {
		*ret_why =
		    arena_printf(a, "they come from different scripts (%s, %s)",
				 into->script, from->script);
		return false;
	}
	if (into->aggs.n != from->aggs.n) {
		*ret_why = "they have different aggregates";
		return false;
	}
	for (i = 0; i < from->aggs.n; i++) {
		const struct snap_agg *t = find_agg(into, from->aggs.v[i].name);

		if (!t || !same_shape(t, &from->aggs.v[i])) {
			*ret_why =
			    arena_printf(a, "aggregate %s differs between them",
					 from->aggs.v[i].name);
			return false;
		}
	}
	for (i = 0; i < from->aggs.n; i++) {
		if (merge_rows(a, find_agg(into, from->aggs.v[i].name),
			       &from->aggs.v[i]))
			continue;
		*ret_why = arena_printf(a, "aggregate %s has too many samples",
					from->aggs.v[i].name);
		return false;
	}
	/*
	 * A merged file lists all machines; one that ran twice is there twice.
	 */
	for (i = 0; i < from->hosts.n; i++)
		vec_push(a, &into->hosts, from->hosts.v[i]);
	merge_losses(a, into, from);
	return true;
}

/* --- writing -------------------------------------------------------------- */

static void write_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_uint(j, v);
}

/*
 * Counters that are not zero, by index: histograms and grids are sparse. As an
 * object, "bucket": count, so that a file can be read by eye.
 */
static void write_counts(struct json *j, const char *key, const uint64_t *v,
			 uint32_t n)
{
	char name[16];
	uint32_t i;

	json_key(j, key);
	json_object(j);
	for (i = 0; i < n; i++) {
		if (!v[i])
			continue;
		snprintf(name, sizeof(name), "%u", i);
		write_u64(j, name, v[i]);
	}
	json_end_object(j);
}

/*
 * Words as one hexadecimal number, high word first. JSON's numbers end at 2^53
 * in most readers; text does not.
 */
static void write_wide(struct json *j, const char *key, const uint64_t *v,
		       unsigned words)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "0x");

	while (words--)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%016" PRIx64,
			      v[words]);
	json_key(j, key);
	json_strz(j, text);
}

/* Two digits a register, all 4096: most are in use once there are samples. */
static void write_registers(struct json *j, const uint8_t *regs)
{
	char text[2 * HLL_REGS + 1];
	unsigned i;

	for (i = 0; i < HLL_REGS; i++)
		snprintf(text + 2 * i, 3, "%02x", regs[i]);
	json_key(j, "distinct");
	json_strz(j, text);
}

/*
 * All fields of the layout, each in a form that does not depend on the layout.
 */
static void write_cell(struct json *j, const struct cell *l,
		       const uint64_t *cell)
{
	json_object(j);
	write_u64(j, "count", cell[l->off[CF_COUNT] / 8]);
	if (l->has[CF_SUM])
		write_wide(j, "sum", cell + l->off[CF_SUM] / 8, 2);
	/* The bias is the cell's own business: files hold the numbers. */
	if (l->has[CF_MIN]) {
		json_key(j, "min");
		json_int(j, (int64_t)(~cell[l->off[CF_MIN] / 8] ^ 1ull << 63));
	}
	if (l->has[CF_MAX]) {
		json_key(j, "max");
		json_int(j, (int64_t)(cell[l->off[CF_MAX] / 8] ^ 1ull << 63));
	}
	if (l->has[CF_SQ])
		write_wide(j, "squares", cell + l->off[CF_SQ] / 8, 3);
	if (l->has[CF_HIST])
		write_counts(j, "histogram", cell + l->off[CF_HIST] / 8,
			     l->nbuckets);
	if (l->has[CF_GRID])
		write_counts(j, "grid", cell + l->off[CF_GRID] / 8, l->ngrid);
	if (l->has[CF_HLL])
		write_registers(j,
				(const uint8_t *)(cell + l->off[CF_HLL] / 8));
	json_end_object(j);
}

/* {"key": [...], "cell": {...}} */
static void write_row(struct json *j, const struct snap_agg *agg,
		      const struct snap_row *row)
{
	unsigned k;

	json_object(j);
	json_key(j, "key");
	json_array(j);
	for (k = 0; k < agg->nkeys; k++) {
		if (row->key[k].str)
			json_strz(j, row->key[k].str);
		else
			json_int(j, row->key[k].num);
	}
	json_end_array(j);
	json_key(j, "cell");
	write_cell(j, &agg->layout, row->cell);
	json_end_object(j);
}

/* What two snapshots must have in common: same_shape(). */
static void write_shape(struct json *j, const struct snap_agg *agg)
{
	unsigned k;

	json_key(j, "name");
	json_strz(j, agg->name);
	json_key(j, "keys");
	json_array(j);
	for (k = 0; k < agg->nkeys; k++)
		json_strz(j, agg->key_is_str[k] ? "string" : "long");
	json_end_array(j);
	json_key(j, "operators");
	json_array(j);
	for (k = 0; k < STAT_MAX_OP; k++)
		if (agg->ops & 1u << k)
			json_strz(j, stat_op_name((enum stat_op)k));
	json_end_array(j);
	json_key(j, "histogram");
	if (agg->hist == HIST_NONE) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key(j, "kind");
	/* "low", "high", "width" are the parameters as the script gave them. */
	json_strz(j, agg->hist == HIST_LOG ? "log" : "linear");
	if (agg->hist == HIST_LINEAR) {
		json_key(j, "low");
		json_int(j, agg->lo);
		json_key(j, "high");
		json_int(j, agg->hi);
		json_key(j, "width");
		json_int(j, agg->step);
	}
	json_end_object(j);
}

static void write_agg(struct json *j, const struct snap_agg *agg)
{
	unsigned i;

	json_object(j);
	write_shape(j, agg);
	json_key(j, "rows");
	json_array(j);
	for (i = 0; i < agg->rows.n; i++)
		write_row(j, agg, &agg->rows.v[i]);
	json_end_array(j);
	json_key(j, "other");
	if (agg->other)
		write_cell(j, &agg->layout, agg->other);
	else
		json_null(j);
	json_end_object(j);
}

static void write_hosts(struct json *j, const struct snapshot *s)
{
	unsigned i;

	json_key(j, "hosts");
	json_array(j);
	for (i = 0; i < s->hosts.n; i++) {
		const struct snap_host *h = &s->hosts.v[i];

		json_object(j);
		json_key(j, "name");
		json_strz(j, h->name);
		json_key(j, "kernel");
		json_strz(j, h->kernel);
		write_u64(j, "cpus", h->cpus);
		write_u64(j, "start_ns", h->start_ns);
		write_u64(j, "end_ns", h->end_ns);
		json_end_object(j);
	}
	json_end_array(j);
}

void snapshot_write_ledger(struct json *j, const struct snapshot *s)
{
	unsigned i;

	json_key(j, "ledger");
	json_array(j);
	for (i = 0; i < s->losses.n; i++) {
		const struct snap_loss *l = &s->losses.v[i];

		json_object(j);
		json_key(j, "probe");
		json_strz(j, l->probe);
#define LOSS(name, is_new, is_outcome) write_u64(j, #name, l->name);
#include "out/loss.def"
#undef LOSS
		json_end_object(j);
	}
	json_end_array(j);
}

int snapshot_write(const struct snapshot *s, FILE *f)
{
	struct json j;
	char hash[24];
	unsigned i;

	/* Indented: people compare such files with diff. */
	json_init(&j, f, true);
	json_object(&j);
	write_u64(&j, "tally_snapshot", SNAPSHOT_VERSION);
	json_key(&j, "script");
	json_strz(&j, s->script);
	snprintf(hash, sizeof(hash), "%016" PRIx64, s->script_hash);
	json_key(&j, "script_hash");
	json_strz(&j, hash);
	write_hosts(&j, s);
	snapshot_write_ledger(&j, s);
	json_key(&j, "aggregates");
	json_array(&j);
	for (i = 0; i < s->aggs.n; i++)
		write_agg(&j, &s->aggs.v[i]);
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', f);
	/* Also errors of earlier writes, which FILE remembers. */
	return fflush(f) || ferror(f) ? -1 : 0;
}
