/* SPDX-License-Identifier: MIT */
/* Opening, attaching, stopping and closing the kernel half. */
#include "run/kern.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "run/state.h"
#include "store/hostprog.h"
#include "store/kern.h"

/* --- opening ------------------------------------------------------------- */

enum { KEY_BYTES = 512 /* most in older kernels: their BPF stack */ };

/* Memory is the usual cause, so its size and what to change are said. */
static int refuse_map(struct session *s, int err, unsigned map)
{
	const struct plan *p = s->g->plan;
	const char *name = map < p->maps.n ? p->maps.v[map].name : NULL;

	if (err == -EPERM || err == -EACCES) {
		privilege_explain(s, "make maps in the kernel");
		return EXIT_REFUSED;
	}
	/* What all of a session stands on; found by its first maps. */
	if (err == -EINVAL && map < MAP_FIRST_ARRAY) {
		session_note(s, "ERROR: this kernel is too old: kernel probes "
			     "need Linux 5.8 (%s are missing)",
			     map == MAP_RING ? "ring buffers"
					     : "mapped arrays");
		session_note(s, "help: docs/kernels.md says what which kernel "
			     "can do; tally --info asks this one");
		return EXIT_REFUSED;
	}
	session_note(s, "ERROR: cannot make the kernel map of %s: %s",
		     name ? name : "the globals", strerror(-err));
	if (err == -E2BIG && p->maps.v[map].key_size > KEY_BYTES) {
		session_note(s, "help: its keys have %u bytes, of which this "
			     "kernel takes %d; shorten them: -DMAXSTRINGLEN=N",
			     p->maps.v[map].key_size, KEY_BYTES);
		return EXIT_REFUSED;
	}
	if (err == -ENOMEM || err == -E2BIG)
		session_note(s, "help: all maps together need %" PRIu64 " KiB "
			     "of kernel memory; give arrays a smaller [size], "
			     "or -DMAXMAPENTRIES=N", p->total_bytes >> 10);
	return EXIT_REFUSED;
}

/* The programs to load, in the order of the script. */
static void collect(struct session *s, struct kern *k)
{
	unsigned i;

	k->progs = arena_array(s->c->a, struct kern_prog,
			       s->prog->probes.n + 1);
	for (i = 0; i < s->prog->probes.n; i++) {
		struct probe *p = s->prog->probes.v[i];

		/*
		 * Elided ones have no effect, so the kernel need not know them.
		 */
		if (!s->kernel_code[i] || p->place != PLACE_KERNEL ||
		    p->elided)
			continue;
		k->progs[k->nprogs++] = (struct kern_prog){
			.probe = p, .code = s->kernel_code[i], .prog_fd = -1,
			.at = { .link_fd = -1, .aux_fd = -1 },
		};
	}
}

/* Does any program use the ring buffer? Making one for nothing costs more than
 * loading a small program. */
static bool sends_records(const struct session *s)
{
	unsigned i, j;

	for (i = 0; i < s->prog->probes.n; i++) {
		const struct code *code = s->kernel_code[i];

		for (j = 0; code && j < code->relocs.n; j++)
			if (code->relocs.v[j].kind == RELOC_MAP &&
			    code->relocs.v[j].map == MAP_RING)
				return true;
	}
	return false;
}

/* Handlers of tracepoints, kprobes and perf events run with preemption off. */
static bool preemptible(const struct probe *p)
{
	return p->guard == GUARD_PREEMPTIBLE || p->prog == PROG_FENTRY ||
	       p->prog == PROG_FEXIT;
}

/*
 * In a PID namespace of its own tally knows processes by other numbers than the
 * kernel's handlers: `pid() == target()` would never be true, in silence. The
 * first namespace has a fixed inode (PROC_PID_INIT_INO in the kernel's
 * include/linux/proc_ns.h). Without /proc nobody knows.
 */
static void check_namespace(struct session *s)
{
	enum { FIRST = 0xEFFFFFFCu };
	struct stat st;

	if (!s->g->reads_pid || !s->g->reads_target || s->o->no_warnings ||
	    stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST)
		return;
	session_note(s, "WARNING: tally runs in a PID namespace: target() is a "
		     "number of that one, pid() and tid() are the host's; "
		     "compare target() with ns_pid()");
}

/* On failure the session is closed by the caller, with whatever is open. */
int kern_open(struct session *s)
{
	struct kern *k = arena_new_of(s->c->a, struct kern);
	unsigned i, map;
	int rc;

	k->ring_fd = -1;
	k->stats_fd = -1;
	/*
	 * Only with -t: it costs 25 to 90 ns an event. Its count must fit ours
	 * (ledger.c); its times lack what is jumped to, so handlers take their
	 * own (gen/prologue.c).
	 */
	if (s->c->set.timing)
		k->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	s->kern = k;
	if (!sends_records(s))
		s->g->plan->ring_bytes = 0;
	s->store = store_kern_open(s->g->plan, &rc, &map);
	if (!s->store)
		return refuse_map(s, rc, map);
	collect(s, k);
	for (i = 0; i < k->nprogs; i++)
		if (preemptible(k->progs[i].probe))
			store_kern_preemptible(s->store);
	rc = load_progs(s, k->progs, k->nprogs);
	if (rc)
		return rc;
	check_namespace(s);
	hotplug_open(s);
	rc = ring_open(s);
	if (rc) {
		session_note(s, "ERROR: cannot read the event buffer: %s",
			     strerror(-rc));
		return EXIT_REFUSED;
	}
	return 0;
}

/* --- attaching ----------------------------------------------------------- */

/*
 * May the session do without this probe? One of many that a wildcard stands
 * for, or marked with a question mark. Without any other one the numbers would
 * not be what the script says they are.
 */
static bool dispensable(const struct probe *p)
{
	return (p->written && p->written->optional) ||
	       (p->pn && strpbrk(p->pn, "*?"));
}

/* 0: the session goes on without it. Else the exit status. */
static int attach_failed(struct session *s, const struct probe *p, int rc,
			 const char *why)
{
	if (!why)
		why = strerror(-rc);
	if (dispensable(p)) {
		if (!s->o->no_warnings)
			session_note(s, "WARNING: probe %s is left out: %s",
				     p->pp, why);
		return 0;
	}
	complain(s->c, ATTACH_REFUSED, &p->span, p->pp, why);
	if (rc == -EPERM || rc == -EACCES)
		privilege_explain(s, "attach to the kernel");
	return EXIT_REFUSED;
}

/*
 * The family knows how: perf event, link, or entry in a list of many (probe.h).
 */
static int attach_one(struct session *s, struct kern_prog *p)
{
	const char *why = NULL;
	int rc = p->probe->family->attach(s->c, p->probe, p->prog_fd, &p->at,
					  &why);

	if (rc)
		return attach_failed(s, p->probe, rc, why);
	p->attached = true;
	return 0;
}

/* Returns last: what their entries keep for them must be there, or the first of
 * them would find nothing. */
static unsigned attach_round(const struct probe *p)
{
	return p->goes_first ? 0 : p->is_return ? 2 : 1;
}

int kern_attach(struct session *s)
{
	struct kern *k = s->kern;
	unsigned i, round, done = 0, kicked = 0;
	int rc;

	hotplug_start(s);
	rc = counters_start(s);
	if (rc)
		return rc;
	for (round = 0; round < 3; round++)
		for (i = 0; i < k->nprogs; i++) {
			struct kern_prog *p = &k->progs[i];

			if (attach_round(p->probe) != round)
				continue;
			/* Runs on request, is attached to nothing. */
			if (p->probe->kicked) {
				kicked++;
				continue;
			}
			rc = attach_one(s, p);
			if (rc)
				return rc;
			done += p->attached;
		}
	/*
	 * A wildcard that matches only what cannot be attached is no
	 * measurement.
	 */
	if (k->nprogs > kicked && !done) {
		session_note(s, "ERROR: no probe could be attached");
		return EXIT_REFUSED;
	}
	log_say(&s->c->log, LOG_RUN, 1, "attached %u of %u kernel probes", done,
		k->nprogs - kicked);
	return 0;
}

/* --- running ------------------------------------------------------------- */

/*
 * Handlers that gave up, counted by the kernel's programs. They are told from
 * here and not from a record: when skips are many, records may be lost as well.
 */
static void check_skips(struct session *s)
{
	const struct control *c = (const struct control *)s->store->control;
	uint64_t n = __atomic_load_n(&c->skipped, __ATOMIC_RELAXED);

	if (s->kern->over_limit || s->state == STATE_FAILED ||
	    !hooks_too_many_skips(s, s->skipped + n))
		return;
	s->kern->over_limit = true;
}

/* A turn: called on each wake-up of the loop. */
bool kern_poll(struct session *s)
{
	const struct control *c = (const struct control *)s->store->control;
	bool more = ring_poll(s);

	check_skips(s);
	/* Also here, not only for REC_DRAIN: that record may have been lost. */
	if (store_drain_early(s->store) && !s->o->no_warnings)
		session_note(s, "WARNING: cannot empty the kernel's maps");
	/* The record of exit() may have found the ring buffer full. */
	if (__atomic_load_n(&c->exiting, __ATOMIC_RELAXED))
		session_stop(s);
	return more;
}

/*
 * A timer whose handler holds locks runs in the kernel, where it is neither put
 * to sleep nor pays a system call for each element (ir/opt_kick.c): started
 * from here, by BPF_PROG_TEST_RUN.
 */
bool kern_kick(struct session *s, const struct probe *p)
{
	struct hostprog prog;
	unsigned i;
	int rc = -ENOENT;

	for (i = 0; rc && i < s->kern->nprogs; i++) {
		if (s->kern->progs[i].probe != p)
			continue;
		prog.fd = s->kern->progs[i].prog_fd;
		rc = hostprog_run(&prog, NULL, 0);
		break;
	}
	if (rc)
		session_note(s, "ERROR: cannot run probe %s in the kernel: %s",
			     p->pp, strerror(-rc));
	else
		/* What it printed comes before what the next timer prints. */
		kern_poll(s);
	return !rc;
}

/*
 * In this order: the stop word makes handlers return at once, the wait lets
 * those that began earlier end, and then their records are complete.
 */
void kern_stop(struct session *s)
{
	struct control *c = (struct control *)s->store->control;
	int rc;

	__atomic_store_n(&c->stop, 1, __ATOMIC_SEQ_CST);
	rc = store_kern_grace(s->store);
	if (rc)
		session_note(s, "WARNING: cannot wait for running handlers: %s",
			     strerror(-rc));
	store_kern_quiet(s->store);
	hotplug_stop(s);
	while (kern_poll(s))
		;
	/*
	 * Counts of kernel programs become the session's, once and at the end.
	 */
	s->errors += c->errors;
	s->skipped += c->skipped;
}

static void shut(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Last attached, first detached: an entry goes after its return. */
void kern_close(struct session *s)
{
	struct kern *k = s->kern;
	unsigned i, j;

	if (!k)
		return;
	hotplug_close(s);
	ring_close(s);
	counters_close(s);
	shut(k->stats_fd);
	for (i = k->nprogs; i-- > 0;) {
		struct kern_prog *p = &k->progs[i];

		for (j = 0; j < p->at.on.n; j++)
			shut(p->at.on.v[j].fd);
		shut(p->at.link_fd);
		shut(p->at.aux_fd);
		shut(p->prog_fd);
	}
	s->kern = NULL;
}
