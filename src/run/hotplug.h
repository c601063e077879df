/* SPDX-License-Identifier: MIT */
/*
 * CPUs that come online while probes run. What samples has an event on each
 * CPU, which the kernel ends when that CPU goes offline: each time a CPU comes,
 * an event is opened for it, and the ledger says from when on it counts.
 */
#ifndef RUN_HOTPLUG_H
#define RUN_HOTPLUG_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* A CPU came while a program had to hit on it. */
struct late_cpu {
	unsigned cpu;
	int64_t at_ns; /* its event was open, since probes were attached */
	const char *why; /* it could not be; NULL: it was */
};

/* In the ledger by name; others are counted. */
enum { LATE_SHOWN = 4 };

/* Before anything is attached. Opens nothing where nothing samples. */
void hotplug_open(struct session *s);
/* CPUs that came until now are seen by what is attached from here on. */
void hotplug_start(struct session *s);
/* Readable when a CPU may have come; -1: nothing to wait for. */
int hotplug_fd(const struct session *s);
/* Each turn of the loop. told: hotplug_fd() is readable. */
void hotplug_turn(struct session *s, bool told);
/* The end: CPUs that have come and were not seen are said to be missing. */
void hotplug_stop(struct session *s);
void hotplug_close(struct session *s);

#endif
