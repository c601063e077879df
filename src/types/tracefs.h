/* SPDX-License-Identifier: MIT */
/* What tracefs says about tracepoints. Read only when a script needs it. */
#ifndef TYPES_TRACEFS_H
#define TYPES_TRACEFS_H

#include "base/compile.h"

/* One line of available_events; arena text. */
struct trace_event {
	const char *system, *name;
};
typedef VEC(struct trace_event) trace_events;

/*
 * 0, or a negative errno: -ENOENT where tracefs is not mounted. Adds to *ret;
 * in the order of the file, which is that of registration.
 */
int tracefs_events(struct compile *c, trace_events *ret);

#endif
