/* SPDX-License-Identifier: MIT */
/*
 * Waiting: one epoll set for signals, the earliest timer, the watched process
 * and the ring buffer.
 */
#include "run/state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "run/files.h"
#include "run/hotplug.h"
#include "run/kern.h"

/* What became readable: epoll_event.data. */
enum source_kind {
	SRC_SIGNAL, SRC_TIMER, SRC_CHILD, SRC_RING, SRC_CPUS,
	SRC_FILES /* and beyond: the n-th of run/files.c */
};

/* Handlers send records without waking us; how long these may wait: short
 * while there are some, longer when there were none. */
enum { POLL_MIN_MS = 10, POLL_MAX_MS = 100 };

/* 0 or a negative errno. */
static int watch(struct session *s, int fd, enum source_kind kind)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = kind };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Those that ask a program to end. */
static void end_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/*
 * Blocked and read from a descriptor: no handler of a signal runs in the middle
 * of anything. SIGUSR2 starts the next output file.
 */
static int open_signals(struct session *s)
{
	sigset_t set;

	end_signals(&set);
	sigaddset(&set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	/* A reader that goes away is seen as an error of write(). */
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? -errno : watch(s, s->signal_fd, SRC_SIGNAL);
}

/* What was opened before an error is closed by loop_close(). */
int loop_open(struct session *s)
{
	int rc;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	s->loop_open = true;
	rc = open_signals(s);
	if (!rc && s->child.pidfd >= 0)
		rc = watch(s, s->child.pidfd, SRC_CHILD);
	/*
	 * Watched though nobody is woken by records: libbpf's descriptor does
	 * become readable when a program asks for it (REC_EXIT, REC_DRAIN).
	 */
	if (!rc && s->kern && s->kern->ring_fd >= 0)
		rc = watch(s, s->kern->ring_fd, SRC_RING);
	if (!rc && hotplug_fd(s) >= 0)
		rc = watch(s, hotplug_fd(s), SRC_CPUS);
	return rc ? rc : files_watch(s, SRC_FILES);
}

void loop_let_die(struct session *s)
{
	sigset_t set;

	output_flush(&s->out);
	end_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The first signal ends the session in order. A second one ends the handler
 * that runs, too, and what was printed is written; then the default action is
 * back. */
void loop_signals(struct session *s)
{
	struct signalfd_siginfo info;

	if (s->signal_fd < 0)
		return;
	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/* What was printed before the signal goes to the old file. */
		if (info.ssi_signo == SIGUSR2) {
			output_flush(&s->out);
			output_rotate(&s->out);
			continue;
		}
		session_stop(s);
		if (++s->signals > 1)
			loop_let_die(s);
	}
}

/*
 * Sets timer_fd to the earliest deadline. Absolute: a late wake-up does not
 * move the next one.
 */
static int arm(struct session *s)
{
	struct itimerspec when = { 0 };
	int64_t at = timers_next(&s->timers);

	/* INT64_MAX: no timer; the old setting, if any, is past. */
	if (at == s->armed_ns || at == INT64_MAX)
		return 0;
	if (s->timer_fd < 0) {
		s->timer_fd = timerfd_create(CLOCK_MONOTONIC,
					     TFD_CLOEXEC | TFD_NONBLOCK);
		if (s->timer_fd < 0)
			return -errno;
		watch(s, s->timer_fd, SRC_TIMER);
	}
	when.it_value.tv_sec = at / 1000000000;
	when.it_value.tv_nsec = at % 1000000000;
	if (timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		return -errno;
	s->armed_ns = at;
	return 0;
}

/* What is due now; handlers that take long make later ones late, not lost. */
static void run_timers(struct session *s)
{
	const struct probe *p;
	int64_t at, now = session_now(s);
	uint64_t count;

	/* Only to make it unreadable; how often it expired does not matter. */
	if (read(s->timer_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		session_stop(s);
	s->armed_ns = 0;
	/* timers_take() puts repeating ones back, beyond `now`: this ends. */
	while (session_live(s) && timers_take(&s->timers, now, &p, &at)) {
		if (!p)
			session_stop(s);
		else if (!session_handle(s, p))
			session_fail(s);
	}
}

static int next_idle(const struct session *s, int idle)
{
	/* Maps that fill up are to be emptied in time. */
	if (s->kern->taken || s->g->plan->early)
		return POLL_MIN_MS;
	return idle < POLL_MAX_MS / 2 ? 2 * idle : POLL_MAX_MS;
}

static bool is_among(const struct epoll_event *ev, int n, enum source_kind kind)
{
	int i;

	for (i = 0; i < n; i++)
		if (ev[i].data.u32 == kind)
			return true;
	return false;
}

void loop_run(struct session *s)
{
	struct epoll_event ev[8];
	bool more = false;
	/* -1: without kernel probes nothing has to be polled for. */
	int i, n, rc, idle = s->kern ? POLL_MIN_MS : -1;

	while (s->state == STATE_RUNNING) {
		rc = arm(s);
		if (rc) {
			session_note(s, "ERROR: cannot set a timer: %s",
				     strerror(-rc));
			session_fail(s);
			return;
		}
		/* With more to take, only a look at what else is ready. */
		n = epoll_wait(s->epoll_fd, ev, 8, more ? 0 : idle);
		/* Records first: timers then read what they led to. */
		if (s->kern) {
			more = kern_poll(s);
			idle = next_idle(s, idle);
		}
		/* Before handlers, which may take long. */
		hotplug_turn(s, is_among(ev, n, SRC_CPUS));
		for (i = 0; i < n; i++) {
			switch (ev[i].data.u32) {
			/* SRC_RING, SRC_CPUS need no case: they were read. */
			case SRC_SIGNAL:
				loop_signals(s);
				break;
			case SRC_TIMER:
				if (session_live(s))
					run_timers(s);
				break;
			case SRC_CHILD:
				/*
				 * The end of the command ends the session, as
				 * in the reference.
				 */
				child_reap(&s->child);
				session_stop(s);
				break;
			default:
				if (ev[i].data.u32 >= SRC_FILES)
					files_handle(s, ev[i].data.u32 -
							SRC_FILES);
				break;
			}
		}
		/*
		 * Once a turn, so that a pipe's reader sees lines as they come.
		 */
		output_flush(&s->out);
		if (s->out.broken)
			session_stop(s);
	}
}

void loop_close(struct session *s)
{
	if (!s->loop_open)
		return;
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->timer_fd >= 0)
		close(s->timer_fd);
	close(s->epoll_fd);
	s->loop_open = false;
}
