/* SPDX-License-Identifier: MIT */
/*
 * Waiting until every handler that was running has ended.
 *
 * The kernel's own way (updating a map of maps) takes 7 to 12 ms. It waits for
 * all readers of RCU: each program that we load is one from beginning to end,
 * also those of uprobes, which may be preempted (they are not sleepable, so the
 * kernel runs them under rcu_read_lock(), from 6.1 to 6.18).
 *
 * Handlers that run with preemption off (tracepoints, kprobes, perf events)
 * have ended on a CPU as soon as another thread runs there, so on a small
 * machine visiting each CPU does the same in well under a millisecond. Not done
 * where it would disturb or be wrong: real-time kernels (tracepoint handlers
 * are preemptible), isolated or tickless CPUs, CPUs this process may not run
 * on, many CPUs. Each reason is looked up again where it can change.
 */
#ifndef STORE_GRACE_H
#define STORE_GRACE_H

#include <stdbool.h>

#include "base/cpus.h"

struct grace {
	bool preemptible; /* some handler may be preempted: no visits */
	bool asked, can_visit; /* is_welcome() was called; its answer */
	struct cpus online; /* at the last wait, or when opened */
	int map, inner;	  /* map of maps; made when first needed, -1 */
};

/* Opens nothing. Before handlers are attached. */
void grace_init(struct grace *g);
/*
 * 0 or a negative errno. On return every handler that began before the call has
 * ended, and what was stored before the call is seen by every later one.
 */
int grace_wait(struct grace *g);
void grace_close(struct grace *g);

#endif
