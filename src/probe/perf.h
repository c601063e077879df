/* SPDX-License-Identifier: MIT */
/* Events of perf_event_open(2): with a program, or only counted. */
#ifndef PROBE_PERF_H
#define PROBE_PERF_H

#include <linux/perf_event.h>

#include "probe/family.h"

/* struct probe.data of timer.profile, perf.* and of counters. */
struct sampler {
	uint32_t type;
	uint64_t config;
	uint64_t every; /* counts, or samples a second; 0: only counts */
	bool is_freq;
};

/* The type of perf.type(N), whose argument m has. 0, or -1 having refused. */
int perf_check_type(struct compile *c, const struct match *m);
/* Opens attr on a CPU, for all processes (pid -1). The event's descriptor, or a
 * negative errno. */
int perf_open(struct perf_event_attr *attr, unsigned cpu);
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
/*
 * Why perf_event_open(2) refused an event of s, and what helps. That depends on
 * the event's kind as much as on the error.
 */
const char *perf_explain(struct compile *c, const struct sampler *s, int err,
			 unsigned cpu);
/*
 * counter.c: starts the counter p on a CPU. Its descriptor, or a negative errno
 * with *ret_why set.
 */
int counter_open(struct compile *c, const struct probe *p, unsigned cpu,
		 const char **ret_why);
/* Does it still count? Those of a CPU that went offline never will again. */
bool counter_alive(int fd);

#endif
