/* SPDX-License-Identifier: MIT */
/* Events of perf_event_open(2) that have a program. */
#ifndef PROBE_PERF_H
#define PROBE_PERF_H

#include <linux/perf_event.h>

#include "probe/family.h"

/*
 * Opens attr on each online CPU, for all processes, with the program: all of
 * them or none, into ret->on. 0, or a negative errno and the CPU that refused
 * (not for -EIO, where the CPUs are not known).
 */
int perf_attach_cpus(struct compile *c, struct perf_event_attr *attr,
		     int prog_fd, struct attach *ret, unsigned *ret_cpu);
/* The event on a CPU, alive or not, or -1. */
int perf_event_on(const struct attach *at, unsigned cpu);
/*
 * Opens attr on one CPU instead of what there is in at->on. 0, or a negative
 * errno: -ENODEV where the CPU is offline.
 */
int perf_attach_cpu(struct compile *c, struct perf_event_attr *attr,
		    int prog_fd, unsigned cpu, struct attach *at);

#endif
