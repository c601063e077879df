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

/* A field of an event's record, "const char * filename"; arena text. */
struct trace_field {
	const char *type, *name;
};
typedef VEC(struct trace_field) trace_fields;

/*
 * The fields of an event, those that all events have too, in order. 0, or a
 * negative errno: -ENOENT where tracefs is not mounted or has no such event.
 */
int tracefs_fields(struct compile *c, const char *system, const char *event,
		   trace_fields *ret);

#endif
