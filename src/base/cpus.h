/* SPDX-License-Identifier: MIT */
/* Sets of CPUs, as the files below /sys/devices/system/cpu hold them. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* More than any kernel is made for; numbers beyond are left out. */
enum { CPUS_MAX = 4096 };

struct cpus {
	uint64_t bits[CPUS_MAX / 64];
};

/* "0-3,6" and a newline or nothing behind it. false: it is something else. */
bool cpus_parse(const char *list, struct cpus *ret);
/* name: "online", "possible" ... false: no such file, or no list in it. */
bool cpus_read(const char *name, struct cpus *ret);
/* Nothing for a number beyond CPUS_MAX. */
void cpus_add(struct cpus *set, unsigned cpu);
bool cpus_has(const struct cpus *set, unsigned cpu);
unsigned cpus_count(const struct cpus *set);
/* The highest number + 1, 0 for none: CPU numbers index tables. */
unsigned cpus_end(const struct cpus *set);

#endif
