/* SPDX-License-Identifier: MIT */
/*
 * The half of a session that runs in the kernel: programs, links, the ring
 * buffer. Nothing here is pinned: when the last descriptor is closed, by
 * whatever end of the process, the kernel forgets all of it.
 */
#ifndef RUN_KERN_H
#define RUN_KERN_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"
#include "run/hotplug.h"

struct session;
struct code;
struct ring_buffer;
struct hotplug;

/* One kernel probe. */
struct kern_prog {
	struct probe *probe; /* owned by gen */
	const struct code *code;
	int prog_fd; /* -1 until loaded */
	struct attach at; /* what the family opened to attach it */
	bool attached;
	VEC(struct late_cpu) late; /* the first of nlate */
	unsigned nlate;
};

/* In the compilation's arena; its descriptors are kern_close()'s. */
struct kern {
	struct kern_prog *progs; /* in the order of the script */
	unsigned nprogs;
	struct ring_buffer *ring;
	int ring_fd;	/* epoll descriptor; -1: no program sends records */
	unsigned taken;	/* records of this turn */
	int stats_fd;	/* while open the kernel counts and times programs */
	struct hotplug *hotplug; /* NULL: nothing depends on CPUs */
	/* Of the plan's perf_map, by its keys; -1: none. NULL: no counters. */
	int *counter_fd;
	bool over_limit; /* reported: more skips than MAXSKIPPED */
};

/*
 * Makes maps and loads all programs, in s->store and s->kern. Returns 0 or the
 * exit status, having said what was refused and what would help.
 */
int kern_open(struct session *s);
/* Attaches all. The same. */
int kern_attach(struct session *s);
/* counters.c: starts those that @perf reads; 0 or the exit status. */
int counters_start(struct session *s);
/* The same on a CPU that has come online. */
void counters_came(struct session *s, unsigned cpu);
void counters_close(struct session *s);
/* Says what their values lack; true: something. */
bool counters_report(struct session *s);
/* Runs the handler of a timer whose time has come. false: it was refused, which
 * has been reported. */
bool kern_kick(struct session *s, const struct probe *p);
/* No handler starts after it, none is running, their records are taken. */
void kern_stop(struct session *s);
/* Detaches; slow for some kinds of probe, so after everything is printed. */
void kern_close(struct session *s);
/* Takes what the ring buffer holds, and notices exit() and skips. Returns
 * true when there is more. */
bool kern_poll(struct session *s);

/* run/load.c: loads n programs; 0 or the exit status, message printed. */
int load_progs(struct session *s, struct kern_prog *progs, unsigned n);
/* run/reject.c: says in the script's words why the kernel refused. err:
 * negative errno; log: the verifier's. Returns the exit status. */
int reject_explain(struct session *s, struct kern_prog *p, int err,
		   const char *log);
/* run/privilege.c: what stands in the way of doing `what`, and what helps. */
void privilege_explain(struct session *s, const char *what);
/* No program may read the kernel's memory. */
bool privilege_locked_down(void);

/* run/ring.c. 0 or a negative errno. */
int ring_open(struct session *s);
/* true: there may be more. */
bool ring_poll(struct session *s);
void ring_close(struct session *s);

#endif
