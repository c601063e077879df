/* SPDX-License-Identifier: MIT */
/*
 * The life of a session: begin probes, the running time, end or error probes,
 * the closing lines. docs/language.md has the rules.
 */
#include "run/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "run/files.h"
#include "run/kern.h"
#include "run/ledger.h"
#include "run/peek.h"
#include "run/result.h"
#include "run/state.h"
#include "types/types.h"

void session_stop(struct session *s)
{
	if (session_live(s))
		s->state = STATE_STOPPING;
}

/* Not undone by session_stop(): a failure has precedence. */
void session_fail(struct session *s)
{
	s->state = STATE_FAILED;
}

/*
 * stdout first, so that lines stand in the order in which they came to be, also
 * when both go to one file.
 */
void session_note(struct session *s, const char *fmt, ...)
{
	va_list ap;

	output_flush(&s->out);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* The compiled handler of a probe for a place, or NULL. */
static const struct code *session_code(const struct session *s,
				       const struct probe *p, enum place place)
{
	return place == PLACE_HOST ? s->host_code[p->index]
				   : s->kernel_code[p->index];
}

/*
 * Handlers by probe: host probes' own, and kernel probes'. A kernel probe may
 * have code of both places: what its handler does on the host.
 */
static void index_codes(struct session *s)
{
	unsigned i, n = s->prog->probes.n;

	s->host_code = arena_array(s->c->a, const struct code *, n + 1);
	s->kernel_code = arena_array(s->c->a, const struct code *, n + 1);
	for (i = 0; i < s->g->codes.n; i++) {
		const struct code *code = s->g->codes.v[i];

		if (!code || code->fn->kind != IR_PROBE)
			continue;
		if (code->fn->place == PLACE_HOST)
			s->host_code[code->fn->probe->index] = code;
		else
			s->kernel_code[code->fn->probe->index] = code;
	}
}

bool session_handle(struct session *s, const struct probe *p)
{
	const struct code *code = session_code(s, p, PLACE_HOST);

	s->signal_ns = 0; /* the lenience is each handler's own */

	if (p->kicked)
		return kern_kick(s, p);
	/* No code: the handler is empty, or was found to do nothing. */
	if (!code || vm_run_probe(s->vm, code) >= 0)
		return true;
	session_note(s, "ERROR: internal: probe %s: %s", p->pp,
		     vm_fault(s->vm));
	s->status = EXIT_BUG;
	return false;
}

/* --- begin, end, error --------------------------------------------------- */

/* Lower sequence numbers first, begin(-10) before begin; then script order. */
static int by_sequence(const void *a, const void *b)
{
	const struct probe *p = *(struct probe *const *)a;
	const struct probe *q = *(struct probe *const *)b;

	if (p->sequence != q->sequence)
		return p->sequence < q->sequence ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

/* Probes of one kind in the order of running. */
static unsigned collect(struct session *s, enum host_when when,
			struct probe ***ret)
{
	struct program *prog = s->prog;
	struct probe **v = arena_array(s->c->a, struct probe *,
				       prog->probes.n + 1);
	unsigned i, n = 0;

	for (i = 0; i < prog->probes.n; i++) {
		struct probe *p = prog->probes.v[i];

		if (p->place == PLACE_HOST && p->when == when && !p->elided)
			v[n++] = p;
	}
	qsort(v, n, sizeof(*v), by_sequence);
	*ret = v;
	return n;
}

/* exit() in one of them leaves the state STARTING: the rest is not run. */
static void run_begin(struct session *s)
{
	struct probe **v;
	unsigned i, n = collect(s, WHEN_BEGIN, &v);

	for (i = 0; i < n && s->state == STATE_STARTING; i++)
		if (!session_handle(s, v[i]))
			session_fail(s);
}

/*
 * End probes until one fails; when anything failed, all error probes. As in the
 * reference: end probes see that the session ended in order.
 */
static void run_end(struct session *s)
{
	struct probe **v;
	unsigned i, n;

	n = collect(s, WHEN_END, &v);
	for (i = 0; i < n && s->state == STATE_STOPPING; i++)
		if (!session_handle(s, v[i]))
			session_fail(s);
	if (s->state != STATE_FAILED)
		return;
	n = collect(s, WHEN_ERROR, &v);
	for (i = 0; i < n && s->status != EXIT_BUG; i++)
		session_handle(s, v[i]);
}

/* --- opening ------------------------------------------------------------- */

static unsigned kernel_probes(const struct session *s)
{
	unsigned i, n = 0;

	for (i = 0; i < s->prog->probes.n; i++)
		n += s->prog->probes.v[i]->place == PLACE_KERNEL &&
		     !s->prog->probes.v[i]->elided;
	return n;
}

/*
 * Each program and each place it is attached to is an open file; most shells
 * allow 1,024. Where it may not be raised, attaching says so. Commands that the
 * script runs get the limit that tally had.
 */
static void allow_files(struct session *s)
{
	rlim_t want = 1024 + 4 * (rlim_t)kernel_probes(s);
	struct rlimit now, raised;

	if (getrlimit(RLIMIT_NOFILE, &now))
		return;
	if (now.rlim_cur >= want)
		return;
	raised.rlim_cur = want;
	raised.rlim_max = now.rlim_max > want ? now.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &raised)) {
		raised.rlim_cur = raised.rlim_max = now.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &raised))
			return;
	}
	s->open_files = now;
}

static int open_child(struct session *s)
{
	int rc = 0;

	if (s->o->cmd)
		rc = child_prepare(&s->child, s->o->cmd);
	else if (s->o->pid && !s->o->events)
		/*
		 * Under --events the process of -x is only a number to scripts.
		 */
		rc = child_find(&s->child, (pid_t)s->o->pid);
	if (!rc && s->child.pid)
		s->c->set.target_pid = s->child.pid;
	if (!rc)
		return 0;
	/* EINVAL: a number that is no pid. */
	if (rc == -ESRCH || rc == -EINVAL)
		session_note(s, "ERROR: there is no process %ld", s->o->pid);
	else
		session_note(s, "ERROR: cannot %s: %s",
			     s->o->cmd ? "start the command" :
			     "watch the process", strerror(-rc));
	return EXIT_FAILED;
}

/*
 * Memory or kernel maps, the machine, programs. 0 or the exit status, message
 * printed. The runtime was chosen by main.
 */
static int open_machines(struct session *s)
{
	bool kernel = kernel_probes(s) != 0;
	int rc;

	if (kernel && s->c->set.runtime == RUNTIME_VM && !s->o->events) {
		session_note(s, "ERROR: --runtime=vm runs kernel probes on the "
			     "events of a file: give one with --events FILE");
		return EXIT_FAILED;
	}
	if (kernel && s->c->set.runtime == RUNTIME_BPF) {
		allow_files(s);
		rc = kern_open(s);
		if (rc)
			return rc;
	} else {
		s->store = store_mem_open(s->g->plan);
	}
	store_init_globals(s->store, s->g->ir);
	((struct control *)s->store->control)->target_pid =
		(uint64_t)s->c->set.target_pid;
	s->vm = vm_new(s->c, s->g, s->store, &s->hooks);
	return 0;
}

/* Whatever it opens is closed by session_close(), also after a failure. */
static int session_open(struct session *s)
{
	int rc = output_open(&s->out, s->o);

	if (rc) {
		fprintf(stderr, "ERROR: cannot write '%s': %s\n", s->o->output,
			strerror(-rc));
		return EXIT_FAILED;
	}
	rc = result_check(s);
	if (rc) {
		fprintf(stderr, "ERROR: cannot write '%s': %s\n",
			s->o->snapshot, strerror(-rc));
		return EXIT_FAILED;
	}
	if (s->o->events) {
		rc = vmrun_open(s);
		if (rc)
			return rc;
	}
	/*
	 * The command is forked before anything is loaded, so that it inherits
	 * none of it; it waits at its gate.
	 */
	rc = open_child(s);
	if (!rc)
		rc = open_machines(s);
	if (rc)
		return rc;
	/* Handlers are made; 6 MB less while they run. */
	types_close(s->c);
	rc = files_open(s);
	if (rc)
		return rc;
	rc = loop_open(s);
	if (rc) {
		session_note(s, "ERROR: cannot wait for events: %s",
			     strerror(-rc));
		return EXIT_FAILED;
	}
	return 0;
}

/* Now, not at the start: begin probes may have taken long. */
static void start_timers(struct session *s)
{
	int64_t now = session_now(s);
	unsigned i;

	for (i = 0; i < s->prog->probes.n; i++) {
		struct probe *p = s->prog->probes.v[i];

		if ((p->place == PLACE_HOST || p->kicked) &&
		    p->when == WHEN_TIMER && !p->elided)
			timers_add(&s->timers, s->c->a, p, now);
	}
	/* -T counts from when probes run, too. */
	if (s->o->timeout_ns)
		timers_add_end(&s->timers, s->c->a, now + s->o->timeout_ns);
}

/* --- closing ------------------------------------------------------------- */

static void report_child(struct session *s)
{
	const struct child *ch = &s->child;

	if (!ch->ended || !ch->is_ours)
		return;
	if (WIFEXITED(ch->status) && WEXITSTATUS(ch->status))
		session_note(s, "WARNING: Child process exited with status %d",
			     WEXITSTATUS(ch->status));
	else if (WIFSIGNALED(ch->status))
		session_note(s, "WARNING: Child process exited with signal %d "
			     "(%s)", WTERMSIG(ch->status),
			     strsignal(WTERMSIG(ch->status)));
	else
		return;
	if (!s->status)
		s->status = EXIT_FAILED;
}

/* What the reference prints at the end, and the exit status that follows. */
static void closing_lines(struct session *s)
{
	report_child(s);
	if (s->errors || s->skipped)
		session_note(s, "WARNING: Number of errors: %" PRIu64
			     ", skipped probes: %" PRIu64, s->errors,
			     s->skipped);
	if (!s->status && s->errors && !s->c->set.suppress_errors)
		s->status = EXIT_FAILED;
	if (!s->status && s->state == STATE_FAILED)
		s->status = EXIT_FAILED;
	output_flush(&s->out);
	/* EPIPE is how `tally ... | head` ends: no error. */
	if (s->out.error && s->out.error != -EPIPE) {
		fprintf(stderr, "ERROR: cannot write the output: %s\n",
			strerror(-s->out.error));
		if (!s->status)
			s->status = EXIT_FAILED;
	}
}

static void session_close(struct session *s)
{
	/* Detaching can take long, and there is nothing left to lose. */
	if (s->loop_open)
		loop_let_die(s);
	files_close(s);
	kern_close(s);
	loop_close(s);
	child_close(&s->child);
	peek_close(s->peek);
	vm_free(s->vm);
	if (s->store)
		store_close(s->store);
	output_close(&s->out);
}

/*
 * The middle: from the begin probes to the last end probe. The order makes
 * results complete: attach, run, stop and wait, end probes, results, ledger.
 * Programs are only unloaded in session_close(), after the ledger has asked the
 * kernel about them.
 */
static void live(struct session *s)
{
	s->start_wall_ns = session_wall(s);
	run_begin(s);
	output_flush(&s->out);
	/* exit() in a begin probe: nothing is attached at all. */
	if (s->state == STATE_STARTING) {
		int rc = s->kern ? kern_attach(s) : 0;

		if (rc) {
			s->status = rc;
			return;
		}
		s->state = STATE_RUNNING;
		start_timers(s);
		/* Only now may the command run: everything listens. */
		child_release(&s->child);
		if (s->o->events)
			vmrun_events(s);
		else
			loop_run(s);
	}
	if (s->kern)
		kern_stop(s);
	if (s->events)
		vmrun_stop(s);
	run_end(s);
	closing_lines(s);
	result_report(s);
	ledger_report(s);
}

int session_run(struct compile *c, struct gen *g, const struct run_options *o)
{
	struct session s = {
		.c = c, .g = g, .prog = g->ir->prog, .o = o,
		.epoll_fd = -1, .timer_fd = -1, .signal_fd = -1,
	};

	child_init(&s.child);
	/*
	 * Random periods differ between runs, but not between runs of one event
	 * file.
	 */
	timers_init(&s.timers, o->events ? 0 : (uint64_t)session_now(&s));
	index_codes(&s);
	s.half_skips = arena_array(c->a, uint64_t, s.prog->probes.n + 1);
	hooks_init(&s);
	s.status = session_open(&s);
	if (!s.status)
		live(&s);
	session_close(&s);
	return s.status;
}
