/* SPDX-License-Identifier: MIT */
/* What families share: making a probe, refusing a point, near names. */
#ifndef PROBE_FAMILY_H
#define PROBE_FAMILY_H

#include "base/compile.h"
#include "probe/probe.h"

/* A new probe for what m matched; pp and pn are the point's text. Everything
 * else is zero: the family fills in place, prog, guard, ... */
struct probe *family_probe(struct compile *c, const struct match *m);
/*
 * Reports "while resolving probe point" with the given cause, unless the point
 * is optional. Returns what expand() is to return: -1, or 0 when optional.
 */
int family_refuse(struct compile *c, const struct match *m, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));
/*
 * Opens the perf event of a place in code, where it hits on all CPUs. pid: in
 * that process; 0: in all. The descriptor, or a negative errno.
 */
struct perf_event_attr;
int family_open_event(struct perf_event_attr *attr, long pid);
/*
 * Gives an open perf event its program and starts it. fd may be the negative
 * errno of what should have opened it. The event's descriptor, or a negative
 * errno with the event closed.
 */
int family_start_event(int fd, int prog_fd);
/*
 * A number from a file of sysfs, which holds it in the form of a scanf format
 * with one %u. 0, or a negative errno.
 */
int family_sysfs(const char *path, const char *format, unsigned *ret);
/*
 * Keeps the at most five names nearest to name, best first, in ret. Suggestions
 * for a name that was not found. The list is kept sorted while names come in,
 * so that the 100 000 symbols of a kernel need no memory of their own.
 */
enum { NEAR_MAX = 5 };
struct near {
	/* not copied: lives as long as the caller's names */
	const char *name[NEAR_MAX];
	unsigned dist[NEAR_MAX]; /* edit distances, ascending */
	unsigned n;
};
/*
 * name is not copied. One that is in the list already is left out (symbols
 * repeat).
 */
void near_add(struct near *ret, const char *want, const char *name);
/* "a, b, c" */
const char *near_text(struct compile *c, const struct near *n);
/* Appends them to a list, best first: what family.suggest() has to do. */
void near_list(struct compile *c, const struct near *n, name_list *out);

#endif
