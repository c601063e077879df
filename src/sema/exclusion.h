/* SPDX-License-Identifier: MIT */
/*
 * Which handlers need a lock around the globals they share, and why. Rules:
 *
 * 1. begin, end, error and never handlers never run together with others.
 *    Host handlers run one after the other.
 * 2. A global is *quiet* when all accesses to it, by handlers that can run
 *    together, commute: all read, all only add, all only feed, or all use a
 *    key that is tid(), in the kernel, where the thread waits. Accesses to
 *    quiet globals can be put in any order.
 * 3. A handler that touches the other globals at most once on any path, in one
 *    step, is atomic as it stands.
 * 4. Any other handler locks all such globals that it touches, and then so
 *    does everybody who touches one of them.
 *
 * By Lipton's reduction every handler is then equivalent to one that ran alone.
 */
#ifndef SEMA_EXCLUSION_H
#define SEMA_EXCLUSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct compile;
struct probe;
struct program;

/* Words in struct control, a cache line each, and bits of a mask. With them the
 * area of one page that every script has is half full. */
enum { LOCK_GROUPS = 32 };

struct exclusion {
	uint32_t *lock_of;     /* by var.index: bit of its group, 0: none */
	uint32_t *probe_locks; /* by probe.index: groups its handler takes */
	unsigned ngroups;
	unsigned nshared; /* groups that share the last lock, if not 1 */
	const char **why; /* by probe.index: "no lock: ...", "lock ..." */
};

/* After sema_run() and numbering. Sets var.mode of aggregates too. */
struct exclusion *exclusion_analyse(struct compile *c, struct program *p);
/* Can its handler come upon a thread in the middle of anything? */
bool exclusion_interrupts(const struct probe *p);
/* --dump=locks, -v: a line per probe. */
void exclusion_print(const struct program *p, FILE *f);

#endif
