/* SPDX-License-Identifier: MIT */
/* The session's answers to handlers: output, errors, identity, the clock. */
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/files.h"
#include "run/kern.h"
#include "run/peek.h"

/* Texts of warn() that are told apart; later ones are printed each time. */
enum { WARNINGS_REMEMBERED = 1024 };

/* The session's end of vm_hooks: ctx is the session. */
static void hook_out(void *ctx, const char *text, size_t n)
{
	struct session *s = ctx;

	output_write(&s->out, text, n);
	/* Nobody reads any more: going on would only cost. */
	if (s->out.broken)
		session_stop(s);
}

static void hook_exit(void *ctx)
{
	session_stop(ctx);
}

void hooks_error_line(struct session *s, const char *text)
{
	const struct settings *set = &s->c->set;
	int max = (int)set->limit[LIMIT_MAXSTRINGLEN] - 1;

	if (set->suppress_errors)
		return;
	/* The whole line is a string of the language: cut like one. */
	session_note(s, "%.*s", max, text);
}

/*
 * Errors of host handlers and of simulated ones; those of kernel programs are
 * counted by the programs (take_error).
 */
void hooks_error(struct session *s, const char *text)
{
	const struct settings *set = &s->c->set;

	hooks_error_line(s, text);
	s->errors++;
	/*
	 * Suppressed errors neither print nor end the session, as the reference
	 * has it.
	 */
	if (!set->suppress_errors &&
	    s->errors > (uint64_t)set->limit[LIMIT_MAXERRORS])
		session_fail(s);
}

static void hook_error(void *ctx, const struct probe *p, const char *text)
{
	char *line;

	if (asprintf(&line, "ERROR: %s", text) < 0)
		return;
	hooks_error(ctx, line);
	free(line);
}

/* Each text once, unless -v: a handler may warn a million times a second. */
void hooks_warn(struct session *s, const char *text)
{
	size_t n = strlen(text);

	if (s->o->no_warnings)
		return;
	if (n && text[n - 1] == '\n')
		n--;
	if (s->o->verbose < 1) {
		if (!s->warned)
			s->warned = map_new(s->c->a);
		if (map_get_bytes(s->warned, text, n))
			return;
		if (map_count(s->warned) < WARNINGS_REMEMBERED)
			map_set_bytes(s->warned, text, n, s);
	}
	session_note(s, "WARNING: %.*s", (int)n, text);
}

static void hook_warn(void *ctx, const char *text)
{
	hooks_warn(ctx, text);
}

/* false: within the limit, or already told. */
bool hooks_too_many_skips(struct session *s, uint64_t n)
{
	const struct settings *set = &s->c->set;

	if (set->suppress_errors || s->state == STATE_FAILED ||
	    n <= (uint64_t)set->limit[LIMIT_MAXSKIPPED])
		return false;
	session_note(s, "ERROR: Skipped too many probes, check MAXSKIPPED or "
		     "try again with tally -t for more details.");
	session_fail(s);
	return true;
}

/*
 * A host handler, or the host half of a kernel probe's, that did not get its
 * lock. The half's own probe is charged with it: it was counted as a hit.
 */
static void hook_skip(void *ctx, const struct probe *p)
{
	struct session *s = ctx;

	if (p->place == PLACE_KERNEL)
		s->half_skips[p->index]++;
	hooks_too_many_skips(s, ++s->skipped);
}

/* As far as /proc tells; comm stays "" otherwise. */
static void parent_name(char *comm, size_t size)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, comm, size - 1);
	close(fd);
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = 0;
}

/* Tally's own identity. Under --events a fixed one: results do not depend on
 * who runs the test. */
static struct vm_who *make_self(struct session *s)
{
	struct vm_who *w = arena_new_of(s->c->a, struct vm_who);

	memcpy(w->comm, "tally", sizeof("tally"));
	if (s->clock.is_virtual) {
		w->pid = w->tid = w->pgrp = 1000;
		w->ppid = w->sid = 1;
		memcpy(w->pcomm, "init", sizeof("init"));
		return w;
	}
	w->pid = (uint32_t)getpid();
	w->tid = (uint32_t)gettid();
	w->ppid = (uint32_t)getppid();
	w->pgrp = (uint32_t)getpgrp();
	w->sid = (uint32_t)getsid(0);
	w->uid = getuid();
	w->euid = geteuid();
	w->gid = getgid();
	w->egid = getegid();
	parent_name(w->pcomm, sizeof(w->pcomm));
	return w;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int64_t session_now(const struct session *s)
{
	return s->clock.is_virtual ? s->clock.now_ns
				   : clock_ns(CLOCK_MONOTONIC);
}

int64_t session_wall(const struct session *s)
{
	return s->clock.is_virtual ? s->clock.now_ns + s->clock.wall_off_ns
				   : clock_ns(CLOCK_REALTIME);
}

/*
 * The identity does not change while tally runs, but the CPU and the clocks do.
 */
static void hook_who(void *ctx, struct vm_who *ret)
{
	struct session *s = ctx;
	int cpu;

	if (!s->self)
		s->self = make_self(s);
	*ret = *s->self;
	ret->mono_ns = session_now(s);
	if (s->clock.is_virtual) {
		ret->wall_ns = ret->mono_ns + s->clock.wall_off_ns;
		return;
	}
	ret->wall_ns = clock_ns(CLOCK_REALTIME);
	cpu = sched_getcpu();
	ret->cpu = cpu < 0 ? 0 : (uint32_t)cpu;
}

static void hook_record(void *ctx, const struct record *r, size_t n)
{
	record_take(ctx, r, n);
}

/* system(): its output goes where tally's does, so what was printed before is
 * written before. The process between leaves nobody to be waited for. */
/*
 * One write is one line there, whoever else writes. A trace that is not mounted
 * says so once.
 */
static void hook_kernel_line(void *ctx, int level, const char *text)
{
	struct session *s = ctx;
	static const char *const names[] = {
	    "/dev/kmsg", "/sys/kernel/tracing/trace_marker",
	    "/sys/kernel/debug/tracing/trace_marker",
	};
	unsigned first = level < 0, last = level < 0 ? 2 : 0;
	/* the log takes 1024 bytes with what the kernel puts before them */
	char line[1000];
	int fd = -1, n;

	for (unsigned i = first; i <= last && fd < 0; i++)
		fd = open(names[i], O_WRONLY | O_CLOEXEC);
	if (level < 0)
		n = snprintf(line, sizeof(line), "%s\n", text);
	else
		n = snprintf(line, sizeof(line), "<%d>%s\n", level, text);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	if (fd < 0 || write(fd, line, (size_t)n) < 0)
		session_note(s, "WARNING: cannot write to %s: %s", names[first],
			     strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void hook_command(void *ctx, const char *cmd)
{
	struct session *s = ctx;
	sigset_t none;
	pid_t pid;

	output_flush(&s->out);
	pid = fork();
	if (pid < 0) {
		session_note(s, "WARNING: system(): %s", strerror(errno));
		return;
	}
	if (pid) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	if (fork())
		_exit(0);
	if (s->open_files.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &s->open_files);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	_exit(127);
}

static void hook_switch_file(void *ctx)
{
	struct session *s = ctx;

	output_flush(&s->out);
	output_rotate(&s->out);
}

static const char *hook_value(void *ctx, size_t *ret_n)
{
	return files_value(ctx, ret_n);
}

static void hook_set_value(void *ctx, const char *text, size_t n, bool append)
{
	files_set_value(ctx, text, n, append);
}

/* The process of -c or -x: target() in the script. */
static int64_t hook_target(void *ctx)
{
	struct session *s = ctx;

	return s->child.pid ? s->child.pid : s->o->pid;
}

/*
 * A handler that was running when the first signal came may finish its report,
 * but not keep the session from ending. A second signal ends it at once. Asked
 * by the VM now and then in loops: true makes the handler end.
 */
static bool hook_interrupted(void *ctx)
{
	enum { LENIENCE_NS = 1000000000 };
	struct session *s = ctx;
	unsigned before = s->signals;
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	loop_signals(s);
	if (s->signals > before)
		s->signal_ns = now;
	if (s->signals < 2 &&
	    (!s->signal_ns || now - s->signal_ns <= LENIENCE_NS))
		return false;
	if (!s->no_note)
		session_note(s, "WARNING: a handler was still running: its "
			     "output ends here");
	s->no_note = true;
	if (!s->status)
		s->status = EXIT_FAILED;
	return true;
}

/* Opened at the first read: few scripts have host handlers that do. */
static struct peek *open_peek(struct session *s)
{
	/* A simulated run sees nothing but its events. */
	if (!s->peek && !s->no_peek && s->c->set.runtime == RUNTIME_BPF)
		s->peek = peek_open(&s->peek_err);
	s->no_peek = !s->peek;
	return s->peek;
}

/* Nothing can be read, whatever the address: that is said once, as the fault
 * that the script sees does not tell it from a wrong pointer. */
static void say_blind(struct session *s)
{
	if (s->said_blind || s->c->set.runtime != RUNTIME_BPF)
		return;
	s->said_blind = true;
	if (s->peek_err == -EPERM || privilege_locked_down())
		privilege_explain(s, "read the kernel's memory");
	else
		session_note(s, "ERROR: this kernel runs no program on "
			     "request (since Linux 5.10), so begin, end and "
			     "timers cannot read its memory: %s",
			     strerror(-s->peek_err));
}

static int hook_read_kernel(void *ctx, uint64_t addr, void *dst, size_t n)
{
	struct peek *p = open_peek(ctx);

	if (!p)
		say_blind(ctx);
	return p ? peek_read(p, addr, dst, n) : -EFAULT;
}

static uint64_t hook_task(void *ctx)
{
	struct peek *p = open_peek(ctx);

	return p ? peek_task(p) : 0;
}

void hooks_init(struct session *s)
{
	s->hooks = (struct vm_hooks){
		.ctx = s,
		.out = hook_out,
		.exit = hook_exit,
		.error = hook_error,
		.warn = hook_warn,
		.skip = hook_skip,
		.who = hook_who,
		.record = hook_record,
		.target = hook_target,
		.interrupted = hook_interrupted,
		.read_kernel = hook_read_kernel,
		.task = hook_task,
		.command = hook_command,
		.switch_file = hook_switch_file,
		.kernel_line = hook_kernel_line,
		.value = hook_value,
		.set_value = hook_set_value,
	};
}
