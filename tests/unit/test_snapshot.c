/* SPDX-License-Identifier: MIT */
/* Snapshots: what is written is read back, merging is exact in any grouping,
 * and what is wrong with a file is said. */
#include <stdlib.h>

#include "base/arena.h"
#include "out/snapshot.h"

#include "test.h"

#define ALL_OPS ((1u << STAT_MAX_OP) - 1)

static struct snapshot *make(struct arena *a, const char *host, int64_t from,
			     int64_t to)
{
	struct snapshot *s = arena_new_of(a, struct snapshot);
	struct snap_agg agg = {.name = "lat",
			       .nkeys = 2,
			       .key_is_str = {true, false},
			       .ops = ALL_OPS,
			       .hist = HIST_LOG};
	struct snap_host h = {host, "6.1", 10, 20, 4};
	struct snap_loss loss = {
	    .probe = "timer.profile", .hits = 7, .handled = 6, .ring_full = 1,
	    .late_cpus = 2};
	int64_t v;
	unsigned r;

	s->script = "x.stp";
	s->script_hash = snapshot_hash("text", 4);
	vec_push(a, &s->hosts, h);
	vec_push(a, &s->losses, loss);
	snapshot_layout(&agg);
	for (v = from; v < to; v++) {
		struct snap_row row = {
		    .key = {{0, v % 3 ? "b" : "a\"\n"}, {v % 5 - 2, NULL}}};

		for (r = 0; r < agg.rows.n; r++)
			if (!strcmp(agg.rows.v[r].key[0].str, row.key[0].str) &&
			    agg.rows.v[r].key[1].num == row.key[1].num)
				break;
		if (r == agg.rows.n) {
			row.cell = arena_alloc(a, agg.layout.size);
			vec_push(a, &agg.rows, row);
		}
		cell_add(&agg.layout, agg.rows.v[r].cell, (v - 50) * v * v);
	}
	vec_push(a, &s->aggs, agg);
	snapshot_sort(s);
	return s;
}

static char *text_of(struct arena *a, const struct snapshot *s)
{
	char *text = NULL, *copy;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	CHECK_EQ(snapshot_write(s, f), 0);
	fclose(f);
	copy = arena_strndup(a, text, n);
	free(text);
	return copy;
}

static struct snapshot *reread(struct arena *a, const struct snapshot *s)
{
	char *text = text_of(a, s);
	const char *why = "";
	struct snapshot *t = snapshot_read(a, text, strlen(text), &why);

	CHECK_STR(t ? "read" : why, "read");
	return t;
}

TEST(what_is_written_is_read)
{
	struct arena *a = arena_new();
	struct snapshot *s = make(a, "one", -100, 200);

	CHECK_STR(text_of(a, reread(a, s)), text_of(a, s));
	arena_free(a);
}

TEST(merging_is_exact_and_associative)
{
	struct arena *a = arena_new();
	struct snapshot *whole = make(a, "h", 0, 300), *x, *y, *z, *p, *q;
	const char *why = "";

	x = make(a, "h", 0, 90);
	y = make(a, "h", 90, 111);
	z = make(a, "h", 111, 300);
	p = reread(a, x);
	CHECK(snapshot_merge(a, p, y, &why));
	CHECK(snapshot_merge(a, p, z, &why));
	q = reread(a, z);
	x = reread(a, x);
	CHECK(snapshot_merge(a, x, y, &why));
	CHECK(snapshot_merge(a, q, x, &why));
	CHECK_STR(text_of(a, q), text_of(a, p));
	CHECK_EQ(p->hosts.n, 3);
	CHECK_EQ(p->losses.v[0].hits, 21);
	CHECK_EQ(p->losses.v[0].late_cpus, 6);
	/* One run has one host and its own ledger; the rest is the same. */
	p->hosts.n = 1;
	p->losses.v[0] = whole->losses.v[0];
	CHECK_STR(text_of(a, p), text_of(a, whole));
	arena_free(a);
}

TEST(too_many_samples_are_not_merged)
{
	struct arena *a = arena_new();
	struct snapshot *x = make(a, "h", 0, 90), *y = make(a, "h", 0, 90);
	const char *why = "";

	x->aggs.v[0].rows.v[0].cell[0] = UINT64_MAX;
	CHECK(!snapshot_merge(a, x, y, &why));
	CHECK(strstr(why, "too many samples"));
	arena_free(a);
}

static void check_refused(const char *from, const char *to, const char *want)
{
	struct arena *a = arena_new();
	char *text = text_of(a, make(a, "one", 0, 20)),
	     *at = strstr(text, from);
	const char *why = NULL;
	char *changed;

	CHECK(at != NULL);
	changed = arena_printf(a, "%.*s%s%s", (int)(at - text), text, to,
			       at + strlen(from));
	CHECK(!snapshot_read(a, changed, strlen(changed), &why));
	CHECK(why && strstr(why, want));
	if (why && !strstr(why, want))
		printf("# said: %s\n", why);
	arena_free(a);
}

TEST(bad_files_are_refused)
{
	struct arena *a = arena_new();
	char *text = text_of(a, make(a, "one", 0, 20));
	const char *why;
	size_t n;

	/* Cut anywhere, a file is refused. */
	for (n = 0; n + 2 < strlen(text); n += 37)
		CHECK(!snapshot_read(a, text, n, &why));
	check_refused("\"tally_snapshot\": 1", "\"tally_snapshot\": 2",
		      "version 2 of the format");
	check_refused("\"tally_snapshot\"", "\"other\"",
		      "not a tally snapshot");
	check_refused("@median", "@mdn", "unknown operator");
	check_refused("\"64\": 1", "\"64\": 2", "do not add up");
	check_refused("\"64\": 1", "\"640\": 1", "bad bucket");
	check_refused("\"min\": ", "\"min\": 1.5", "'min'");
	check_refused("\"kind\": \"log\"",
		      "\"kind\": \"linear\", \"low\": 0, \"high\": 1000000000, "
		      "\"width\": 0",
		      "buckets");
	/* A variance of what no samples can have added up to. */
	check_refused("\"squares\": \"0x00000000", "\"squares\": \"0x7fffffff",
		      "no samples");
	check_refused("\"sum\": \"0xffff", "\"sum\": \"0x7fff", "no samples");
	arena_free(a);
}

TEST(different_runs_do_not_merge)
{
	struct arena *a = arena_new();
	struct snapshot *x = make(a, "one", 0, 20), *y = make(a, "two", 0, 20);
	const char *why = "";

	y->script_hash++;
	CHECK(!snapshot_merge(a, x, y, &why));
	CHECK(strstr(why, "different scripts") != NULL);
	y->script_hash--;
	y->aggs.v[0].ops = 1;
	CHECK(!snapshot_merge(a, x, y, &why));
	CHECK(strstr(why, "lat") != NULL);
	CHECK_EQ(x->hosts.n, 1);
	arena_free(a);
}
