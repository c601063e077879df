/* SPDX-License-Identifier: MIT */
/*
 * Reading a snapshot: every value is checked, since a truncated or hostile file
 * must end in a sentence about it and never in a wrong number.
 */
#include "out/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "stat/extract.h"
#include "stat/grid.h"

/* State of one reading: the first mistake is the one that is told. */
struct reading {
	struct arena *a;
	const char *why;
	const char *what; /* the aggregate being read */
};

/* false, for `return bad(...)`; names the aggregate when inside one. */
static bool bad(struct reading *r, const char *why)
{
	if (!r->why)
		r->why = r->what ? arena_printf(r->a, "aggregate %s: %s",
						r->what, why)
				 : why;
	return false;
}

static bool read_u64(struct reading *r, const struct jval *o, const char *key,
		     uint64_t *ret)
{
	if (juint(jget(o, key), ret))
		return true;
	return bad(r, arena_printf(r->a, "'%s' is not a count", key));
}

/*
 * "0x" and 16 digits a word, high word first. Lower case and full length only:
 * what snapshot_write() writes. A looser reader would accept what is not one of
 * our files.
 */
static bool read_wide(struct reading *r, const struct jval *cell,
		      const char *key, uint64_t *words, unsigned n)
{
	const char *s = jstr(jget(cell, key));
	unsigned i;

	if (!s || strlen(s) != 2 + 16 * n || strncmp(s, "0x", 2) != 0 ||
	    strspn(s + 2, "0123456789abcdef") != 16 * n)
		return bad(r, arena_printf(r->a, "'%s' is not a %u-bit number",
					   key, 64 * n));
	for (i = 0; i < n; i++) {
		char part[17] = {0};

		memcpy(part, s + 2 + 16 * i, 16);
		words[n - 1 - i] = strtoull(part, NULL, 16);
	}
	return true;
}

/*
 * Returns the sum of the counters in *ret_total. A bucket that is not there is
 * 0. strtoul() wraps no index into range: b is compared as it was read,
 * ULONG_MAX when it is too large.
 */
static bool read_counts(struct reading *r, const struct jval *cell,
			const char *key, uint64_t *v, uint32_t n,
			uint64_t *ret_total)
{
	const struct jval *o = jget(cell, key);
	size_t i;

	*ret_total = 0;
	if (!o || o->kind != J_OBJECT)
		return bad(r, arena_printf(r->a, "'%s' is missing", key));
	for (i = 0; i < o->n; i++) {
		char *end;
		unsigned long b = strtoul(o->keys[i], &end, 10);

		if (*end || !*o->keys[i] || b >= n || !juint(o->v[i], &v[b]))
			return bad(r, arena_printf(
					  r->a, "'%s' has a bad bucket", key));
		*ret_total += v[b];
	}
	return true;
}

/* Ranks above what 52 bits can give would make estimates of nonsense. */
static bool read_registers(struct reading *r, const struct jval *cell,
			   uint8_t *regs)
{
	const char *s = jstr(jget(cell, "distinct"));
	size_t i;

	if (!s || strlen(s) != 2 * HLL_REGS ||
	    strspn(s, "0123456789abcdef") != 2 * HLL_REGS)
		return bad(r, "'distinct' is not a set of registers");
	for (i = 0; i < HLL_REGS; i++) {
		char two[3] = {s[2 * i], s[2 * i + 1], 0};

		regs[i] = (uint8_t)strtoul(two, NULL, 16);
		if (regs[i] > 64 - HLL_BITS + 1)
			return bad(r, "'distinct' has a bad register");
	}
	return true;
}

static uint64_t *word(const struct cell *l, uint64_t *cell, enum cell_field f)
{
	return cell + l->off[f] / 8;
}

/* Undoes write_cell(): numbers become the biased words of stat/cell.h. */
static bool read_bounds(struct reading *r, const struct cell *l,
			const struct jval *j, uint64_t *cell)
{
	int64_t v;

	if (l->has[CF_MIN]) {
		if (!jint(jget(j, "min"), &v))
			return bad(r, "'min' is not a number");
		*word(l, cell, CF_MIN) = ~((uint64_t)v ^ 1ull << 63);
	}
	if (l->has[CF_MAX]) {
		if (!jint(jget(j, "max"), &v))
			return bad(r, "'max' is not a number");
		*word(l, cell, CF_MAX) = (uint64_t)v ^ 1ull << 63;
	}
	return true;
}

/*
 * NULL: r->why says what is wrong. Counts are checked against each other where
 * they must agree: a file that was cut and mended shows there.
 */
static uint64_t *read_cell(struct reading *r, const struct snap_agg *agg,
			   const struct jval *j)
{
	const struct cell *l = &agg->layout;
	uint64_t *cell = arena_alloc(r->a, l->size), count, total;

	if (!read_u64(r, j, "count", &count))
		return NULL;
	*word(l, cell, CF_COUNT) = count;
	if (l->has[CF_SUM] && !read_wide(r, j, "sum", word(l, cell, CF_SUM), 2))
		return NULL;
	if (!read_bounds(r, l, j, cell))
		return NULL;
	if (l->has[CF_SQ] &&
	    !read_wide(r, j, "squares", word(l, cell, CF_SQ), 3))
		return NULL;
	if (l->has[CF_HIST]) {
		if (!read_counts(r, j, "histogram", word(l, cell, CF_HIST),
				 l->nbuckets, &total))
			return NULL;
		if (total != count) {
			bad(r,
			    "a histogram's buckets do not add up to its count");
			return NULL;
		}
	}
	if (l->has[CF_GRID]) {
		if (!read_counts(r, j, "grid", word(l, cell, CF_GRID), l->ngrid,
				 &total))
			return NULL;
		if (total != count) {
			bad(r, "a grid's buckets do not add up to its count");
			return NULL;
		}
	}
	/* The variance relies on it. */
	if (!stat_is_possible(l, cell)) {
		bad(r, "no samples have such a sum and such squares");
		return NULL;
	}
	if (l->has[CF_HLL] &&
	    !read_registers(r, j, (uint8_t *)word(l, cell, CF_HLL)))
		return NULL;
	return cell;
}

static bool read_key(struct reading *r, const struct snap_agg *agg,
		     const struct jval *j, struct snap_row *row)
{
	unsigned k;

	if (!j || j->kind != J_ARRAY || j->n != agg->nkeys)
		return bad(r, "a row's key has the wrong number of columns");
	for (k = 0; k < agg->nkeys; k++) {
		if (agg->key_is_str[k])
			row->key[k].str = jstr(j->v[k]);
		if (agg->key_is_str[k] ? !row->key[k].str
				       : !jint(j->v[k], &row->key[k].num))
			return bad(r, "a row's key has the wrong type");
	}
	return true;
}

/* All rows have the columns and the operators of the aggregate. */
static bool read_rows(struct reading *r, struct snap_agg *agg,
		      const struct jval *j)
{
	const struct jval *rows = jget(j, "rows"), *other = jget(j, "other");
	size_t i;

	if (!rows || rows->kind != J_ARRAY)
		return bad(r, "'rows' is missing");
	if (agg->nkeys == 0 && rows->n > 1)
		return bad(r, "a scalar has more than one row");
	for (i = 0; i < rows->n; i++) {
		struct snap_row row = {0};

		if (!read_key(r, agg, jget(rows->v[i], "key"), &row))
			return false;
		row.cell = read_cell(r, agg, jget(rows->v[i], "cell"));
		if (!row.cell)
			return false;
		vec_push(r->a, &agg->rows, row);
	}
	if (other && other->kind != J_NULL) {
		agg->other = read_cell(r, agg, other);
		return agg->other != NULL;
	}
	return true;
}

/* By name: their numbers are this version's own. */
static bool read_operators(struct reading *r, struct snap_agg *agg,
			   const struct jval *j)
{
	size_t i;
	unsigned op;

	if (!j || j->kind != J_ARRAY)
		return bad(r, "'operators' is missing");
	for (i = 0; i < j->n; i++) {
		const char *name = jstr(j->v[i]);

		for (op = 0; op < STAT_MAX_OP; op++)
			if (name &&
			    strcmp(name, stat_op_name((enum stat_op)op)) == 0)
				break;
		if (op == STAT_MAX_OP)
			return bad(r, "an unknown operator");
		agg->ops |= 1u << op;
	}
	return true;
}

/* Its range is checked by snapshot_layout(). */
static bool read_histogram(struct reading *r, struct snap_agg *agg,
			   const struct jval *j)
{
	const char *kind = jstr(jget(j, "kind"));

	if (!j || j->kind == J_NULL)
		return true;
	if (kind && strcmp(kind, "log") == 0) {
		agg->hist = HIST_LOG;
		return true;
	}
	agg->hist = HIST_LINEAR;
	if (!kind || strcmp(kind, "linear") != 0 ||
	    !jint(jget(j, "low"), &agg->lo) ||
	    !jint(jget(j, "high"), &agg->hi) ||
	    !jint(jget(j, "width"), &agg->step))
		return bad(r, "an unknown histogram");
	return true;
}

/* A name of the language. It ends up in metrics and on the terminal, where
 * others would mean something else. */
static bool is_name(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	if (!*s || !strchr(letters, *s))
		return false;
	while (*s && (strchr(letters, *s) || strchr("0123456789$", *s)))
		s++;
	return !*s;
}

/* The shape first: it says how large the rows' cells are. */
static bool read_agg(struct reading *r, const struct jval *j,
		     struct snap_agg *agg)
{
	const struct jval *keys = jget(j, "keys");
	unsigned k;

	agg->name = jstr(jget(j, "name"));
	if (!agg->name)
		return bad(r, "an aggregate has no name");
	if (!is_name(agg->name))
		return bad(r, "the name of an aggregate is none of a global");
	r->what = agg->name;
	if (!keys || keys->kind != J_ARRAY || keys->n > SNAP_KEYS_MAX)
		return bad(r, "'keys' is wrong");
	agg->nkeys = (unsigned)keys->n;
	for (k = 0; k < agg->nkeys; k++) {
		const char *type = jstr(keys->v[k]);

		agg->key_is_str[k] = type && strcmp(type, "string") == 0;
		if (!type || (!agg->key_is_str[k] && strcmp(type, "long") != 0))
			return bad(r, "'keys' has an unknown type");
	}
	if (!read_operators(r, agg, jget(j, "operators")) ||
	    !read_histogram(r, agg, jget(j, "histogram")))
		return false;
	if (!snapshot_layout(agg))
		return bad(r, "its histogram has too many or too few buckets");
	return read_rows(r, agg, j);
}

static bool read_hosts(struct reading *r, struct snapshot *s,
		       const struct jval *j)
{
	size_t i;

	if (!j || j->kind != J_ARRAY)
		return bad(r, "'hosts' is missing");
	for (i = 0; i < j->n; i++) {
		struct snap_host h = {.name = jstr(jget(j->v[i], "name")),
				      .kernel = jstr(jget(j->v[i], "kernel"))};
		uint64_t cpus;

		if (!h.name || !h.kernel)
			return bad(r, "a host has no name or kernel");
		if (!read_u64(r, j->v[i], "cpus", &cpus) ||
		    !read_u64(r, j->v[i], "start_ns", &h.start_ns) ||
		    !read_u64(r, j->v[i], "end_ns", &h.end_ns))
			return false;
		h.cpus = (unsigned)cpus;
		vec_push(r->a, &s->hosts, h);
	}
	return true;
}

static bool read_losses(struct reading *r, struct snapshot *s,
			const struct jval *j)
{
	size_t i;

	if (!j || j->kind != J_ARRAY)
		return bad(r, "'ledger' is missing");
	for (i = 0; i < j->n; i++) {
		struct snap_loss l = {.probe = jstr(jget(j->v[i], "probe"))};

		if (!l.probe)
			return bad(r, "a row of the ledger has no probe");
#define LOSS(name, is_new, is_outcome)                                        \
	if ((!is_new || jget(j->v[i], #name)) &&                              \
	    !read_u64(r, j->v[i], #name, &l.name))                            \
		return false;
#include "out/loss.def"
#undef LOSS
		vec_push(r->a, &s->losses, l);
	}
	return true;
}

/* The version before anything else: another one may have other members. */
static bool read_all(struct reading *r, struct snapshot *s,
		     const struct jval *top)
{
	const struct jval *aggs = jget(top, "aggregates");
	const char *hash = jstr(jget(top, "script_hash"));
	uint64_t version;
	size_t i, k;

	if (!juint(jget(top, "tally_snapshot"), &version))
		return bad(r, "this is not a tally snapshot");
	if (version != SNAPSHOT_VERSION)
		return bad(r, arena_printf(
				  r->a,
				  "version %" PRIu64
				  " of the format; this tally reads version %d",
				  version, SNAPSHOT_VERSION));
	s->script = jstr(jget(top, "script"));
	if (!s->script || !hash || strlen(hash) != 16 ||
	    strspn(hash, "0123456789abcdef") != 16)
		return bad(r, "'script' or 'script_hash' is wrong");
	s->script_hash = strtoull(hash, NULL, 16);
	if (!read_hosts(r, s, jget(top, "hosts")) ||
	    !read_losses(r, s, jget(top, "ledger")))
		return false;
	if (!aggs || aggs->kind != J_ARRAY)
		return bad(r, "'aggregates' is missing");
	for (i = 0; i < aggs->n; i++) {
		struct snap_agg agg = {0};

		if (!read_agg(r, aggs->v[i], &agg))
			return false;
		r->what = NULL;
		for (k = 0; k < s->aggs.n; k++)
			if (strcmp(s->aggs.v[k].name, agg.name) == 0)
				return bad(r, "an aggregate is there twice");
		vec_push(r->a, &s->aggs, agg);
	}
	return true;
}

/*
 * After sorting: the same key twice would break merging. Only numbers are
 * compared where both are numbers; the types of a column are the same in all
 * rows.
 */
static bool check_unique(struct reading *r, const struct snapshot *s)
{
	unsigned i, k, c;

	for (i = 0; i < s->aggs.n; i++) {
		const struct snap_agg *agg = &s->aggs.v[i];

		for (k = 1; k < agg->rows.n; k++) {
			const struct snap_key *x = agg->rows.v[k - 1].key,
					      *y = agg->rows.v[k].key;

			for (c = 0; c < agg->nkeys; c++)
				if (x[c].num != y[c].num ||
				    (x[c].str && strcmp(x[c].str, y[c].str)))
					break;
			if (c == agg->nkeys)
				return bad(r, "a key is there twice");
		}
	}
	return true;
}

struct snapshot *snapshot_read(struct arena *a, const char *text, size_t n,
			       const char **ret_why)
{
	struct snapshot *s = arena_new_of(a, struct snapshot);
	struct reading r = {.a = a};
	const char *why;
	unsigned line;
	struct jval *top = jread(a, text, n, &line, &why);

	if (!top) {
		*ret_why = arena_printf(a, "line %u: %s", line, why);
		return NULL;
	}
	if (!read_all(&r, s, top)) {
		*ret_why = r.why;
		return NULL;
	}
	snapshot_sort(s);
	if (!check_unique(&r, s)) {
		*ret_why = r.why;
		return NULL;
	}
	return s;
}
