/* SPDX-License-Identifier: MIT */
/* Counts of each probe, from its rows and from the kernel. */
#include "run/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "run/kern.h"
#include "run/state.h"
#include "stat/extract.h"

/* Field by field, since the rows have a struct for each probe and CPU. */
static void add_counts(struct probe_counts *into, const struct probe_counts *c)
{
	into->hits += c->hits;
	into->lock_skips += c->lock_skips;
	into->nest_skips += c->nest_skips;
	into->map_full += c->map_full;
	into->ring_full += c->ring_full;
	into->errors += c->errors;
	into->stopped += c->stopped;
	into->unplaced += c->unplaced;
}

static void add_times(struct probe_times *into, const struct probe_times *t)
{
	into->n += t->n;
	into->ns += t->ns;
	if (t->most > into->most)
		into->most = t->most;
	if (t->least_inv > into->least_inv)
		into->least_inv = t->least_inv;
}

/* NULL: a simulated run, or a probe without a program. */
static const struct kern_prog *prog_of(const struct session *s,
				       const struct probe *p)
{
	unsigned i;

	for (i = 0; s->kern && i < s->kern->nprogs; i++)
		if (s->kern->progs[i].probe == p)
			return &s->kern->progs[i];
	return NULL;
}

static int link_fd_of(const struct kern_prog *k)
{
	return k && k->attached ? k->at.link_fd : -1;
}

/*
 * Entries that the kernel's kprobe layer skipped, as bpf_link_info tells since
 * 6.7: newer than the headers, so by its offsets (struct bpf_link_info in the
 * kernel's include/uapi/linux/bpf.h). 0 where the kernel does not tell.
 */
static uint64_t kprobe_misses(const struct kern_prog *k)
{
	enum { TYPE_OFF = 0, EVENT_TYPE_OFF = 16, MULTI_OFF = 32,
	       EVENT_OFF = 48, LINK_PERF = 7, LINK_MULTI = 8,
	       EVENT_KPROBE = 3, EVENT_KRETPROBE = 4 };
	union {
		uint8_t b[128];
		uint64_t align;
	} info = { { 0 } };
	uint32_t size = sizeof(info), type, event;
	uint64_t missed = 0;
	int fd = link_fd_of(k);

	/*
	 * Older kernels fill in less and set size: what they lack is not read.
	 */
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, info.b, &size))
		return 0;
	memcpy(&type, info.b + TYPE_OFF, sizeof(type));
	memcpy(&event, info.b + EVENT_TYPE_OFF, sizeof(event));
	if (type == LINK_MULTI && size >= MULTI_OFF + sizeof(missed))
		memcpy(&missed, info.b + MULTI_OFF, sizeof(missed));
	else if (type == LINK_PERF && size >= EVENT_OFF + sizeof(missed) &&
		 (event == EVENT_KPROBE || event == EVENT_KRETPROBE))
		memcpy(&missed, info.b + EVENT_OFF, sizeof(missed));
	return missed;
}

void ledger_read(struct session *s, const struct probe *p,
		 struct ledger_row *ret)
{
	const struct kern_prog *k = prog_of(s, p);
	const struct plan *plan = s->g->plan;
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	uint64_t due = 0;
	unsigned row;

	*ret = (struct ledger_row){ .probe = p };
	if (k && k->attached && p->family->due)
		due = p->family->due(p, &k->at);
	for (row = 0; row < plan->nrows; row++) {
		const uint8_t *r = s->store->rows +
				   (size_t)row * plan->row_size;

		add_counts(&ret->n, (const struct probe_counts *)
			   (r + plan->counts_off) + p->index);
		if (plan->timed)
			add_times(&ret->t, (const struct probe_times *)
				  (r + plan->times_off) + p->index);
	}
	ret->n.lock_skips += s->half_skips[p->index];
	ret->n.map_full += s->store->late_full[p->index];
	/*
	 * A handler that skips counts the hit first, so this does not go below
	 * 0 but in a row that is torn; identity_holds() tells.
	 */
	ret->handled = ret->n.hits - ret->n.lock_skips - ret->n.nest_skips;
	ret->entered = ret->n.hits + ret->n.stopped;
	ret->misses = kprobe_misses(k);
	ret->late_cpus = k ? k->nlate : 0;
	/*
	 * Misses by recursion: the kernel does not run a program inside itself.
	 */
	if (k && !bpf_obj_get_info_by_fd(k->prog_fd, &info, &size)) {
		ret->misses += info.recursion_misses;
		ret->run_cnt = info.run_cnt;
	}
	/* What recursion explains is among those that were due. */
	if (due > ret->entered + ret->misses)
		ret->misses = due - ret->entered;
}

/*
 * Not map_full: those samples are in totals ("other"). Not errors: they are
 * told one by one.
 */
static uint64_t ledger_lost(const struct ledger_row *r)
{
	return r->n.lock_skips + r->n.nest_skips + r->n.ring_full + r->misses +
	       r->n.unplaced;
}

/* Appends "N what" to the list in buf; nothing for 0. */
static void say(char *buf, size_t size, uint64_t n, const char *what)
{
	size_t used = strlen(buf);

	if (n && used < size)
		snprintf(buf + used, size - used, "%s%" PRIu64 " %s",
			 used ? ", " : "", n, what);
}

/*
 * CPUs that came while the probe ran: what happened there before its events
 * were opened is missing, and nobody knows how much that was. Seconds since
 * probes were attached.
 */
static void report_late(struct session *s, const struct kern_prog *k)
{
	char list[768] = "";
	unsigned i;

	for (i = 0; i < k->late.n; i++) {
		const struct late_cpu *l = &k->late.v[i];
		size_t used = strlen(list);

		if (l->why)
			snprintf(list + used, sizeof(list) - used,
				 "%sCPU %u not at all (%s)", i ? ", " : "",
				 l->cpu, l->why);
		else
			snprintf(list + used, sizeof(list) - used,
				 "%sCPU %u from %.4f s on", i ? ", " : "",
				 l->cpu, (double)l->at_ns / 1e9);
	}
	say(list, sizeof(list), k->nlate - k->late.n, "times more");
	session_note(s, "WARNING: probe %s: CPUs came online while it ran; "
		     "counted there: %s", k->probe->pp, list);
}

/*
 * What did not fit the event buffer. The programs count it as one, so where a
 * handler sends both, either may be what is missing.
 */
static const char *unsent(const struct code *code)
{
	if (!(code->sends & 1u << REC_RESUME))
		return "had no room in the event buffer for what they print "
		       "(-s MIB makes it larger)";
	if (!(code->sends & 1u << REC_PRINT))
		return "were not done to their end: the event buffer had no "
		       "room to hand their rest to tally (-s MIB makes it "
		       "larger)";
	return "had no room in the event buffer for what they print, or for "
	       "handing their rest to tally: then it was not done (-s MIB "
	       "makes it larger)";
}

/* Why events of this probe are not in the results, or "". */
static void causes(const struct ledger_row *r, const struct code *code,
		   char *buf, size_t size)
{
	buf[0] = 0;
	say(buf, size, r->misses, r->probe->family->due ?
	    "were skipped by the kernel, which was in a handler or in the bpf "
	    "system call on that CPU, or late" :
	    "were skipped by the kernel, which was in a handler or in the bpf "
	    "system call on that CPU");
	say(buf, size, r->n.lock_skips, "gave up waiting for globals that "
	    "another handler held (-t says which)");
	say(buf, size, r->n.nest_skips, "interrupted another handler of this "
	    "script on that CPU");
	say(buf, size, r->n.unplaced, "samples may be missing in a @min, @max "
	    "or distinct count that all CPUs raised at once");
	say(buf, size, r->n.ring_full, unsent(code));
}

/* The line that the reference prints for -t, with ours in it. */
static void report_hits(struct session *s, const struct ledger_row *r)
{
	const struct span *at = &r->probe->span;

	if (!r->n.hits)
		return;
	/* The library's own work is of interest to who asks for times. */
	if (at->src && at->src->is_library && !s->c->set.timing)
		return;
	fprintf(stderr, "%s, (%s:%u:%u), hits: %" PRIu64 ", handled: %" PRIu64,
		r->probe->pp, at->src ? at->src->name : "", at->line, at->col,
		r->n.hits, r->handled);
	if (r->t.n)
		fprintf(stderr, ", nsecs: %" PRIu64 "min/%" PRIu64 "avg/%"
			PRIu64 "max", ~r->t.least_inv, r->t.ns / r->t.n,
			r->t.most);
	fprintf(stderr, ", from: %s, index: %u\n",
		r->probe->derivation ? r->probe->derivation : r->probe->pp,
		r->probe->index);
}

/* All that programs and tally count must fit what the kernel counts (with -t):
 * entries = handled + skips + those after the end. The probes go on being hit
 * while this is read, so the kernel's number lies between two readings. */
static bool identity_holds(struct session *s, const struct ledger_row *r)
{
	struct ledger_row later;

	if (r->n.lock_skips + r->n.nest_skips > r->n.hits)
		return false;
	/* Otherwise somebody else let it count, for a part of the time. */
	if (!s->kern || s->kern->stats_fd < 0)
		return true;
	/*
	 * Handlers of syscall.* are jumped to by one program for all of them,
	 * which is the one that the kernel counts.
	 */
	if (!r->run_cnt && !strcmp(r->probe->family->name, "syscall"))
		return true;
	ledger_read(s, r->probe, &later);
	return r->entered <= r->run_cnt && r->run_cnt <= later.entered;
}

/* What the cell's extractors say, as in the automatic printing of globals. */
static void say_values(const struct plan_global *g, const uint64_t *cell,
		       char *buf, size_t size)
{
	const char *name;
	unsigned op;
	int64_t v;

	buf[0] = 0;
	for (op = 0; op < STAT_QUANTILES; op++) {
		size_t used = strlen(buf);

		/* What is asked of quantiles is the script's matter. */
		if (op == STAT_QUANTILE || !(g->var->agg.ops & 1u << op) ||
		    stat_extract(&g->cell, cell, (enum stat_op)op, 0, &v,
				 NULL) != STAT_OK)
			continue;
		name = stat_op_name((enum stat_op)op);
		snprintf(buf + used, size - used, "%s%s=%" PRId64,
			 used ? " " : ": ", name, v);
	}
}

/*
 * Samples in the other cells of arrays: so many since the start, and the cells
 * as they are now, which deletions of the array have emptied.
 */
static void report_other(struct session *s)
{
	char values[512];
	unsigned g;

	for (g = 0; g < s->g->plan->nglobals; g++) {
		const struct plan_global *pg = &s->g->plan->globals[g];
		const uint64_t *cell;

		if (!store_is_agg(pg) || !s->store->other_events[g])
			continue;
		values[0] = 0;
		cell = store_agg_other(s->store, g);
		if (cell)
			say_values(pg, cell, values, sizeof(values));
		session_note(s, "WARNING: array %s was full: %" PRIu64
			     " samples of further keys are in no element%s; a "
			     "larger [size] or -DMAXMAPENTRIES makes room",
			     pg->var->name, s->store->other_events[g], values);
	}
}

/* -t: whose lock others waited for in vain; a lock is of one global or more. */
static void report_locks(const struct session *s, uint64_t nested)
{
	const struct control *c = (const struct control *)s->store->control;
	const struct plan *p = s->g->plan;
	unsigned group, g, n;

	for (group = 0; group < LOCK_GROUPS; group++) {
		if (!c->lock[group][1])
			continue;
		fputs("Skipped due to global '", stderr);
		for (g = n = 0; g < p->nglobals; g++)
			if (p->globals[g].lock_group == group)
				fprintf(stderr, "%s%s", n++ ? ", " : "",
					p->globals[g].var->name);
		fprintf(stderr, "' lock timeout: %" PRIu64 "\n",
			c->lock[group][1]);
	}
	if (nested)
		fprintf(stderr, "Skipped due to reentrancy: %" PRIu64 "\n",
			nested);
}

void ledger_report(struct session *s)
{
	uint64_t nested = 0;
	bool all = s->c->set.timing || s->o->verbose, lost = false;
	struct ledger_row r;
	char why[768];
	unsigned i;

	if (all)
		fputs("----- probe hit report:\n", stderr);
	for (i = 0; i < s->prog->probes.n; i++) {
		/* Elided ones have no code at all. */
		if (!s->kernel_code[i] && !s->host_code[i])
			continue;
		ledger_read(s, s->prog->probes.v[i], &r);
		nested += r.n.nest_skips;
		if (all)
			report_hits(s, &r);
		/* What tally runs itself is not lost without its notice. */
		if (!s->kernel_code[i])
			continue;
		/*
		 * A contradiction is a bug of ours; hiding it would leave the
		 * user with numbers that nobody stands for.
		 */
		if (!identity_holds(s, &r))
			session_note(s, "WARNING: the counters of probe %s "
				     "contradict each other: %" PRIu64
				     " entered, %" PRIu64 " by the kernel's "
				     "count", r.probe->pp, r.entered,
				     r.run_cnt);
		if (r.late_cpus) {
			lost = true;
			if (!s->o->no_warnings)
				report_late(s, prog_of(s, r.probe));
		}
		if (!ledger_lost(&r))
			continue;
		lost = true;
		if (s->o->no_warnings)
			continue;
		causes(&r, s->kernel_code[i], why, sizeof(why));
		session_note(s, "WARNING: probe %s: of %" PRIu64 " events, %s",
			     r.probe->pp, r.n.hits + r.misses, why);
	}
	if (!s->o->no_warnings)
		report_other(s);
	lost |= s->kern && counters_report(s);
	/*
	 * Handlers of tally's own, and those that an error ended where errors
	 * are neither printed nor fatal.
	 */
	lost |= s->skipped || (s->c->set.suppress_errors && s->errors);
	/* A failure of its own kind has precedence. */
	if (s->c->set.timing)
		report_locks(s, nested);
	if (lost && s->o->strict && !s->status)
		s->status = EXIT_LOSS;
}
