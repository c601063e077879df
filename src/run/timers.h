/* SPDX-License-Identifier: MIT */
/*
 * When host probes run: a heap of deadlines on one clock. The clock is real
 * (CLOCK_MONOTONIC) or virtual (the events of --events).
 */
#ifndef RUN_TIMERS_H
#define RUN_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct probe;

struct deadline {
	int64_t at_ns; /* on the session's clock */
	uint32_t order; /* ties: order of the script */
	const struct probe *probe; /* NULL: -T */
	bool repeats;
};

struct timers {
	struct deadline *heap; /* in an arena; heap[0] is the earliest */
	unsigned n, cap;
	uint64_t random; /* state of the generator of .randomize */
};

/* seed: of .randomize. */
void timers_init(struct timers *t, uint64_t seed);
/* First due one period after now. */
void timers_add(struct timers *t, struct arena *a, const struct probe *p,
		int64_t now_ns);
/* A deadline without a probe: -T. */
void timers_add_end(struct timers *t, struct arena *a, int64_t at_ns);
/* The earliest deadline, or INT64_MAX. */
int64_t timers_next(const struct timers *t);
/*
 * Takes a deadline that is due at now_ns. true: *ret_probe is to run (NULL:
 * the end of -T) and was due at *ret_at. It is queued again for the first
 * multiple of its period after now_ns: a late timer runs once, not in bursts.
 */
bool timers_take(struct timers *t, int64_t now_ns,
		 const struct probe **ret_probe, int64_t *ret_at);

#endif
