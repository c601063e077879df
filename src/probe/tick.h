/* SPDX-License-Identifier: MIT */
/* The kernel's tick, for timer.jiffies and timer.profile. */
#ifndef PROBE_TICK_H
#define PROBE_TICK_H

#include <stdint.h>

/* Nanoseconds between two ticks: 1e9 / HZ. */
int64_t tick_ns(void);

#endif
