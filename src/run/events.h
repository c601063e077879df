/* SPDX-License-Identifier: MIT */
/* The event files of --events: docs/events.md has the format. */
#ifndef RUN_EVENTS_H
#define RUN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/vm.h"

struct compile;

/*
 * Largest numbers of an event's arguments, context bytes and other words. A
 * tracepoint's record is at most a few hundred bytes.
 */
enum { EVENT_ARGS = 32, EVENT_CTX = 512, EVENT_REGS = 32 };

/* One line. Values that depend on the probe (where an argument lies) are kept
 * as written until event_context() knows the probe. */
struct event {
	int64_t time_ns; /* when, on CLOCK_MONOTONIC */
	const char *point;	/* as written */
	struct vm_who who; /* the process it happens in, but for the clocks */
	uint64_t arg[EVENT_ARGS]; /* args=, the first nargs */
	unsigned nargs;
	bool has_ret;
	uint64_t ret, period, addr; /* ret=, period=, addr= of perf events */
	struct event_word {
		const char *name; /* register, or $argument */
		uint64_t value;
	} word[EVENT_REGS];
	unsigned nwords;
	struct {
		uint32_t off, size;
		uint64_t value;
	} at[EVENT_ARGS];	/* ctx+OFF:SIZE=VALUE */
	unsigned nat;
	struct vm_event vm;	/* its memory is filled in */
};

/* A file of events and where the reader is in it. */
struct events {
	struct compile *c;
	const char *file;
	char *text; /* the whole file; lines are cut in place */
	size_t n, pos; /* bytes of text; of them read */
	unsigned line; /* the one read last, from 1 */
	/* start, wall; time of the last event */
	int64_t start_ns, wall_ns, last_ns;
	char error[256];	/* "FILE:LINE: what", after -1 */
};

/* Reads the file and its leading start and wall lines. 0, or a negative errno
 * (cannot be read), or 1 with e->error set. */
int events_open(struct events *e, struct compile *c, const char *file);
/* 1: *ret is the next event, valid until the next call; 0: no more; -1: the
 * line is wrong, see e->error. */
int events_next(struct events *e, struct event *ret);
/*
 * Makes the context that p's program gets: ctx has EVENT_CTX bytes. Returns
 * its size, or 0 with a message in e->error.
 */
size_t event_context(struct events *e, const struct event *ev,
		     struct probe *p, uint8_t *ctx);

#endif
