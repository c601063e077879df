/* SPDX-License-Identifier: MIT */
/* What exclusion.bpf.c and exclusion.c share: settings, counters, the log. */
#ifndef BENCH_EXCLUSION_H
#define BENCH_EXCLUSION_H

#include <linux/types.h>

/* Rows, and entries of the log of one CPU: powers of two. */
#define ROWS 64
#define LOG_MAX 65536
/* The number of the system call that the handlers take for an event. */
#define EVENT_CALL 7000

enum scheme {
	NO_LOCK,   /* control: loses updates */
	ADD_READ,  /* 2018, as written: add, separate read, run if it is 1 */
	ADD_FETCH, /* 2018 with an addition that returns the old value */
	SPIN,      /* cmpxchg; then up to settings.spins looks */
	OWNER,     /* tally's: cmpxchg, owner check, looks until a deadline */
	NO_OWNER,  /* the same without the owner check */
};

/* Known to the verifier: what a scheme does not use is not in its program. */
struct settings {
	__u32 scheme, spins, log;
	__u64 patience; /* ns, of OWNER */
};

/* Of one CPU. The task's half is written by one handler, the interrupt's by
 * the other, so plain additions do. */
struct row {
	__u64 events, runs, skips;
	__u64 irq_events, irq_runs, irq_skips, irq_wait, irq_wait_max;
	__u64 logged, random;
	__u64 pad[6];
};

struct shared {
	__u64 lock;
	__u64 pad1[15];
	__u64 count; /* what the lock guards: lost updates show */
	__u64 pad2[15];
	/* Of the handler: length of the section and mean pause before an
	 * event, in units of work, and events per call. */
	__u32 section, pause, batch, pad3;
	__u64 pad4[14];
	struct row row[ROWS];
};

/* An attempt, from before it until it was given up or released. */
struct attempt {
	__u64 from, to;
};
/* In `to`: it ran. */
#define RAN (1ull << 63)

struct log_of_cpu {
	struct attempt a[LOG_MAX];
};

#endif
