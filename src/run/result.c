/* SPDX-License-Identifier: MIT */
/* From the store and the ledger to a snapshot. */
#include "run/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "out/export.h"
#include "run/ledger.h"
#include "run/state.h"
#include "stat/extract.h"

/* The plan's bytes to numbers and strings. */
static void copy_key(struct arena *a, const struct plan_key *k,
		     const uint8_t *from, struct snap_key *ret)
{
	unsigned i;

	for (i = 0; i < k->n; i++) {
		const char *at = (const char *)from + k->off[i];

		if (k->is_str[i])
			ret[i].str = arena_strndup(a, at,
						   strnlen(at, k->width[i]));
		else
			memcpy(&ret[i].num, at, sizeof(ret[i].num));
	}
}

/*
 * The store's own cell, not a copy: with quantiles each would be 59 KB, of
 * which the store has touched few pages. Nothing changes totals after the last
 * drain.
 */
static uint64_t *cell_of(const uint64_t *cell)
{
	return (uint64_t *)(uintptr_t)cell;
}

static void add_row(struct arena *a, struct snap_agg *agg,
		    const struct plan_global *g, const uint8_t *key,
		    const uint64_t *cell)
{
	struct snap_row row = { 0 };

	/* No cell, no sample: such a key is not written. */
	if (!cell)
		return;
	if (key)
		copy_key(a, &g->key, key, row.key);
	row.cell = cell_of(cell);
	vec_push(a, &agg->rows, row);
}

static void take_agg(struct session *s, unsigned g, struct snapshot *snap)
{
	const struct plan_global *pg = &s->g->plan->globals[g];
	const struct agg_spec *spec = &pg->var->agg;
	struct arena *a = s->c->a;
	struct snap_agg agg = {
		.name = pg->var->name, .nkeys = pg->key.n, .ops = spec->ops,
		.hist = spec->hist, .lo = spec->lo, .hi = spec->hi,
		.step = spec->step,
	};
	const uint64_t *other;
	const uint8_t **keys;
	unsigned i, n;

	for (i = 0; i < pg->key.n; i++)
		agg.key_is_str[i] = pg->key.is_str[i];
	/*
	 * The same function made the plan's layout from the same operators. A
	 * disagreement would be a bug; writing numbers in wrong places is worse
	 * than leaving them out.
	 */
	if (!snapshot_layout(&agg) || agg.layout.size != pg->cell.size)
		return;
	if (!pg->key.n) {
		add_row(a, &agg, pg, NULL, store_agg_cell(s->store, g, NULL));
	} else {
		n = store_agg_keys(s->store, g, &keys);
		for (i = 0; i < n; i++)
			add_row(a, &agg, pg, keys[i],
				store_agg_cell(s->store, g, keys[i]));
		other = store_agg_other(s->store, g);
		if (other)
			agg.other = cell_of(other);
	}
	vec_push(a, &snap->aggs, agg);
}

static void take_losses(struct session *s, struct snapshot *snap)
{
	struct ledger_row r;
	unsigned i;

	for (i = 0; i < s->prog->probes.n; i++) {
		if (!s->kernel_code[i])
			continue;
		ledger_read(s, s->prog->probes.v[i], &r);
		vec_push(s->c->a, &snap->losses, ((struct snap_loss){
			.probe = r.probe->pp, .hits = r.n.hits,
			.handled = r.handled, .misses = r.misses,
			.lock_skips = r.n.lock_skips,
			.nest_skips = r.n.nest_skips,
			.map_full = r.n.map_full, .ring_full = r.n.ring_full,
			.errors = r.n.errors, .unplaced = r.n.unplaced,
			.late_cpus = r.late_cpus }));
	}
}

/* Who measured, and when. Simulated events have no machine. */
static void take_host(struct session *s, struct snapshot *snap)
{
	struct utsname u;
	struct snap_host h = { .name = "events", .kernel = "vm", .cpus = 1 };

	h.start_ns = (uint64_t)s->start_wall_ns;
	h.end_ns = (uint64_t)session_wall(s);
	if (!s->clock.is_virtual && !uname(&u)) {
		h.name = arena_strndup(s->c->a, u.nodename, sizeof(u.nodename));
		h.kernel = arena_strndup(s->c->a, u.release,
					 sizeof(u.release));
		h.cpus = s->g->plan->ncpus;
	}
	vec_push(s->c->a, &snap->hosts, h);
}

/* The first source is the script; library files come after it. */
static struct snapshot *result_take(struct session *s)
{
	struct snapshot *snap = arena_new_of(s->c->a, struct snapshot);
	const struct source *src = s->c->sources.v[0];
	unsigned g;
	int rc = store_drain(s->store);

	/* What was drained before is there all the same. */
	if (rc)
		session_note(s, "WARNING: cannot read the last samples: %s",
			     strerror(-rc));
	snap->script = src->name;
	snap->script_hash = snapshot_hash(src->text, src->len);
	take_host(s, snap);
	take_losses(s, snap);
	for (g = 0; g < s->g->plan->nglobals; g++)
		if (store_is_agg(&s->g->plan->globals[g]))
			take_agg(s, g, snap);
	snapshot_sort(snap);
	return snap;
}

/* --- files and texts ------------------------------------------------------ */

static void failed(struct session *s, int err)
{
	session_note(s, "ERROR: cannot write '%s': %s", s->o->snapshot,
		     strerror(err));
	if (!s->status)
		s->status = EXIT_FAILED;
}

/* A pipe, /dev/stdout, ...: something to write to, and not to be replaced. */
static bool is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int result_check(const struct session *s)
{
	const char *path = s->o->snapshot;
	struct stat st;
	char *dir, *slash;
	bool there;

	if (!path)
		return 0;
	if (!*path)
		return -ENOENT;
	there = !stat(path, &st);
	if (there && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (there && !S_ISREG(st.st_mode))
		return access(path, W_OK) ? -errno : 0;
	/* A new file is made there and takes the place of an old one. */
	dir = arena_strndup(s->c->a, path, strlen(path));
	slash = strrchr(dir, '/');
	if (slash)
		slash[1] = 0;
	return access(slash ? dir : ".", W_OK | X_OK) ? -errno : 0;
}

/*
 * A whole new file or the old one: never half of one. It is written next to the
 * old one and then renamed: a process that reads the path sees either.
 */
static void write_snapshot(struct session *s, const struct snapshot *snap)
{
	const char *path = s->o->snapshot;
	bool direct = is_device(path);
	const char *tmp = direct ? path : arena_printf(s->c->a, "%s.%d", path,
						       (int)getpid());
	FILE *f = fopen(tmp, "we");
	int err;

	if (!f) {
		failed(s, errno);
		return;
	}
	errno = 0;
	err = snapshot_write(snap, f) ? errno ? errno : EIO : 0;
	/* Before the rename: after a power cut the new name must not stand for
	 * an empty file. */
	if (!err && !direct && fsync(fileno(f)))
		err = errno;
	/* Not every file system can. */
	if (err == EINVAL || err == EROFS)
		err = 0;
	if (fclose(f) && !err)
		err = errno;
	if (!err && !direct && rename(tmp, path))
		err = errno;
	if (!err)
		return;
	if (!direct)
		unlink(tmp);
	failed(s, err);
}

/* Of all handlers that were timed, in the kernel and in tally. */
static void take_times(struct session *s, struct export_end *end)
{
	struct ledger_row r;
	unsigned i;

	end->timed = s->c->set.timing;
	for (i = 0; end->timed && i < s->prog->probes.n; i++) {
		if (!s->kernel_code[i] && !s->host_code[i])
			continue;
		ledger_read(s, s->prog->probes.v[i], &r);
		if (r.t.n)
			vec_push(s->c->a, &end->times, ((struct export_time){
				.probe = r.probe->pp, .index = r.probe->index,
				.n = r.t.n, .least = ~r.t.least_inv,
				.sum = r.t.ns, .most = r.t.most }));
	}
}

static void write_format(struct session *s, const struct snapshot *snap)
{
	struct export_end end = {
		.errors = s->errors, .skipped = s->skipped,
		.status = s->status,
	};
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return;
	take_times(s, &end);
	if (s->o->format == FORMAT_JSON)
		export_json(snap, &end, f);
	else
		export_metrics(snap, f);
	fclose(f);
	output_raw(&s->out, text, n);
	free(text);
}

/* Do all sums of an aggregate fit the numbers of the language? */
static bool sums_fit(struct session *s, unsigned g)
{
	const struct plan_global *pg = &s->g->plan->globals[g];
	const uint8_t **keys;
	unsigned i, n, warn = 0;
	int64_t sum;

	if (!pg->key.n) {
		stat_extract(&pg->cell, store_agg_cell(s->store, g, NULL),
			     STAT_SUM, 0, &sum, &warn);
		return !warn;
	}
	n = store_agg_keys(s->store, g, &keys);
	for (i = 0; i < n && !warn; i++)
		stat_extract(&pg->cell, store_agg_cell(s->store, g, keys[i]),
			     STAT_SUM, 0, &sum, &warn);
	return !warn;
}

/*
 * A kernel handler reads the low 64 bits of a sum: the rest is another word,
 * which it could see before or after a carry. Nobody else may have looked at
 * these totals, so this is where it is said.
 */
static void check_kernel_sums(struct session *s)
{
	bool drained = false;
	unsigned g;

	for (g = 0; g < s->g->plan->nglobals; g++) {
		const struct plan_global *pg = &s->g->plan->globals[g];

		if (!store_is_agg(pg) || !store_is_live(pg) ||
		    !pg->cell.has[CF_SUM])
			continue;
		if (!drained && store_drain(s->store))
			return;
		drained = true;
		if (sums_fit(s, g))
			continue;
		session_note(s, "WARNING: the sum of %s needs more than 64 "
			     "bits: handlers in the kernel that read its @sum "
			     "or @avg had a wrapped one", pg->var->name);
	}
}

void result_report(struct session *s)
{
	const struct snapshot *snap;

	if (!s->o->no_warnings)
		check_kernel_sums(s);

	if (!s->o->snapshot && s->o->format == FORMAT_TEXT)
		return;
	snap = result_take(s);
	if (s->o->snapshot)
		write_snapshot(s, snap);
	if (s->o->format != FORMAT_TEXT)
		write_format(s, snap);
}
