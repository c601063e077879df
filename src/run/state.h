/* SPDX-License-Identifier: MIT */
/*
 * A session's state: everything a run needs, reachable from one place. Probe
 * families see it when they attach.
 */
#ifndef RUN_STATE_H
#define RUN_STATE_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/compile.h"
#include "base/map.h"
#include "run/child.h"
#include "run/output.h"
#include "run/session.h"
#include "run/timers.h"
#include "sema/program.h"

struct files;  /* run/files.h */
struct kern;   /* run/kern.h: what is loaded into the kernel */
struct peek;   /* run/peek.h: reads the kernel's memory */
struct vm_who;

enum state {
	STATE_STARTING,	/* begin probes run */
	STATE_RUNNING,
	STATE_STOPPING,	/* exit(), a signal, the end of -c: end probes follow */
	STATE_FAILED,	/* too many errors or skips: error probes follow */
};

/* One clock for timers and for what handlers read. */
struct session_clock {
	bool is_virtual;
	int64_t now_ns;	     /* virtual: CLOCK_MONOTONIC as scripts see it */
	int64_t wall_off_ns; /* virtual: added to now_ns gives the wall clock */
};

struct session {
	/* Owned by the caller, for longer than the session: */
	struct compile *c;
	struct gen *g;
	struct program *prog;
	const struct run_options *o;

	enum state state;
	int status;		/* exit status so far */
	uint64_t errors, skipped; /* of the host and of simulated probes */
	int comm_off; /* comm_find(): -1 for 0; 0: not asked yet */
	signed char preempts; /* preempt_here(): 1, -1; 0: not asked yet */
	/* The kernel refuses global functions: in other handlers; in those that
	 * hold off the scheduler. */
	bool no_global[2];
	uint64_t *half_skips;	/* by probe index: kernel probes on the host */

	struct store *store; /* memory or kernel, see open_machines() */
	struct vm *vm; /* runs host handlers, and kernel ones under --events */
	const struct code **host_code, **kernel_code; /* by probe index */
	struct vm_hooks hooks; /* what the VM asks, answered in run/hooks.c */
	struct output out;
	struct session_clock clock;
	struct timers timers;
	struct child child;
	struct rlimit open_files; /* as it was; rlim_cur 0: not changed */
	struct kern *kern;	/* NULL: nothing runs in the kernel */
	struct peek *peek;	/* NULL: no host handler has read as yet */
	bool no_peek;		/* the kernel refuses it */
	int peek_err;		/* why */
	bool said_blind;	/* that has been told */

	int64_t start_wall_ns;	/* when the probes started */

	int epoll_fd, timer_fd, signal_fd; /* -1: not open */
	int64_t armed_ns;	/* deadline timer_fd is set to */
	unsigned signals;	/* received */
	bool no_note;		/* it was said that a handler was ended */
	int64_t signal_ns;	/* when the first came while a handler ran */
	bool loop_open; /* loop_close() has something to close */

	struct files *files;	/* of procfs and input probes; NULL: none */
	struct map *warned;	/* texts of warn(); NULL: none yet */
	struct vm_who *self;	/* tally's own identity, made when asked for */
	struct events *events;	/* --events, or NULL */
	const struct vm_event *event; /* simulated one being handled */
};

/* The clock as scripts see it. ns; virtual under --events. */
int64_t session_now(const struct session *s);
/* CLOCK_REALTIME likewise. */
int64_t session_wall(const struct session *s);
/* exit(): the state goes to STOPPING unless it is there or beyond. */
void session_stop(struct session *s);
/* The limit of errors or skips is exceeded. */
void session_fail(struct session *s);
static inline bool session_live(const struct session *s)
{
	return s->state <= STATE_RUNNING;
}
/* One line on stderr, after what stdout has been given so far. */
void session_note(struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Runs a host probe's handler. false: a bug was found and reported. Kicked
 * timers run in the kernel instead.
 */
bool session_handle(struct session *s, const struct probe *p);

/* --- run/hooks.c: what handlers ask of the session ----------------------- */
void hooks_init(struct session *s);
/* An uncaught error: prints the line, counts it. */
void hooks_error(struct session *s, const char *line);
/* Prints it only: an error that a kernel program has counted itself. */
void hooks_error_line(struct session *s, const char *line);
void hooks_warn(struct session *s, const char *text);
/*
 * Ends the session, with a message, when n skips are more than MAXSKIPPED.
 * true: it did.
 */
bool hooks_too_many_skips(struct session *s, uint64_t n);

/* --- run/record.c -------------------------------------------------------- */
/* Handles one record that a kernel handler sent; n: bytes of it. */
void record_take(struct session *s, const struct record *r, size_t n);

/* --- run/loop.c ---------------------------------------------------------- */
/* Signals and timers; 0 or a negative errno. */
int loop_open(struct session *s);
/* Runs until the state is no longer RUNNING. */
void loop_run(struct session *s);
void loop_close(struct session *s);
/* Takes signals that have come, without waiting. */
void loop_signals(struct session *s);
/* From here on a signal kills; what was printed is written before. */
void loop_let_die(struct session *s);

/* --- run/vmrun.c --------------------------------------------------------- */
/* Runs all of --events: kernel probes in the VM, on the events' clock. */
void vmrun_events(struct session *s);
/* Reads the file. 0, or the exit status with the message printed. */
int vmrun_open(struct session *s);
/* Errors and skips that simulated kernel code counted. */
void vmrun_stop(struct session *s);

#endif
