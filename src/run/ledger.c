/* SPDX-License-Identifier: MIT */
/* Counts of each probe, from its rows and from the kernel. */
#include "run/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "run/kern.h"
#include "run/state.h"

static void add_counts(struct probe_counts *into, const struct probe_counts *c)
{
	into->hits += c->hits;
	into->lock_skips += c->lock_skips;
	into->nest_skips += c->nest_skips;
	into->map_full += c->map_full;
	into->ring_full += c->ring_full;
	into->errors += c->errors;
	into->stopped += c->stopped;
}

static int prog_fd_of(const struct session *s, const struct probe *p)
{
	unsigned i;

	for (i = 0; s->kern && i < s->kern->nprogs; i++)
		if (s->kern->progs[i].probe == p)
			return s->kern->progs[i].prog_fd;
	return -1;
}

void ledger_read(struct session *s, const struct probe *p,
		 struct ledger_row *ret)
{
	const struct plan *plan = s->g->plan;
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	unsigned row;
	int fd = prog_fd_of(s, p);

	*ret = (struct ledger_row){ .probe = p };
	for (row = 0; row < plan->nrows; row++)
		add_counts(&ret->n, (const struct probe_counts *)
			   (s->store->rows + (size_t)row * plan->row_size +
			    plan->counts_off) + p->index);
	ret->n.lock_skips += s->half_skips[p->index];
	ret->handled = ret->n.hits - ret->n.lock_skips - ret->n.nest_skips;
	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size)) {
		ret->misses = info.recursion_misses;
		ret->run_ns = info.run_time_ns;
		ret->run_cnt = info.run_cnt;
	}
}

uint64_t ledger_lost(const struct ledger_row *r)
{
	return r->n.lock_skips + r->n.nest_skips + r->n.ring_full + r->misses;
}

static void say(char *buf, size_t size, uint64_t n, const char *what)
{
	size_t used = strlen(buf);

	if (n && used < size)
		snprintf(buf + used, size - used, "%s%" PRIu64 " %s",
			 used ? ", " : "", n, what);
}

/* Why events of this probe are not in the results, or "". */
static void causes(const struct ledger_row *r, char *buf, size_t size)
{
	buf[0] = 0;
	say(buf, size, r->misses, "skipped by the kernel (it was in a probe "
	    "or in the bpf system call on that CPU)");
	say(buf, size, r->n.lock_skips, "gave up waiting for globals");
	say(buf, size, r->n.nest_skips, "found another handler interrupted "
	    "on that CPU");
	say(buf, size, r->n.ring_full, "records had no room in the event "
	    "buffer (-s makes it larger)");
}

static void report_hits(struct session *s, const struct ledger_row *r)
{
	const struct span *at = &r->probe->span;

	if (!r->n.hits)
		return;
	fprintf(stderr, "%s, (%s:%u:%u), hits: %" PRIu64 ", handled: %" PRIu64,
		r->probe->pp, at->src ? at->src->name : "", at->line, at->col,
		r->n.hits, r->handled);
	if (r->run_cnt)
		fprintf(stderr, ", nsecs: %" PRIu64 "avg",
			r->run_ns / r->run_cnt);
	fprintf(stderr, ", from: %s, index: %u\n",
		r->probe->derivation ? r->probe->derivation : r->probe->pp,
		r->probe->index);
}

/* Scalar counters can only disagree when a program and tally disagree about
 * where they are: that would make every other number doubtful. */
static bool identity_holds(const struct ledger_row *r)
{
	return r->n.lock_skips + r->n.nest_skips <= r->n.hits;
}

void ledger_report(struct session *s)
{
	bool all = s->o->timing || s->o->verbose, lost = false;
	struct ledger_row r;
	char why[512];
	unsigned i;

	if (all)
		fputs("----- probe hit report:\n", stderr);
	for (i = 0; i < s->prog->probes.n; i++) {
		if (!s->kernel_code[i])
			continue;
		ledger_read(s, s->prog->probes.v[i], &r);
		if (all)
			report_hits(s, &r);
		if (!identity_holds(&r))
			session_note(s, "WARNING: the counters of probe %s "
				     "contradict each other", r.probe->pp);
		if (!ledger_lost(&r))
			continue;
		lost = true;
		if (s->o->no_warnings)
			continue;
		causes(&r, why, sizeof(why));
		session_note(s, "WARNING: probe %s: of %" PRIu64 " events, %s",
			     r.probe->pp, r.n.hits + r.misses, why);
	}
	if (lost && s->o->strict && !s->status)
		s->status = EXIT_LOSS;
}
