/* SPDX-License-Identifier: MIT */
/* The kernel's tick, for timer.jiffies and timer.profile. */
#ifndef PROBE_TICK_H
#define PROBE_TICK_H

#include <stdint.h>

/*
 * Nanoseconds between two ticks: 1e9 / HZ. Where the clock does not tell: that
 * of 250 Hz, the commonest configuration.
 */
int64_t tick_ns(void);

#endif
