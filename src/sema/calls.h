/* SPDX-License-Identifier: MIT */
/* The order of functions by who calls whom, and how deep calls nest. */
#ifndef SEMA_CALLS_H
#define SEMA_CALLS_H

struct compile;
struct program;

/* Indices of program.functions, callees before their callers. Those that call
 * each other in a circle, and their callers, come last. */
struct call_order {
	unsigned *v, n;
	unsigned ncircle; /* of the last ones */
};

/* Sets call_depth, recurses and is_recursive too. Indices must be final. */
struct call_order calls_order(struct compile *c, struct program *p);

#endif
