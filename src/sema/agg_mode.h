/* SPDX-License-Identifier: MIT */
/* How each aggregate is kept: banked or live. */
#ifndef SEMA_AGG_MODE_H
#define SEMA_AGG_MODE_H

struct compile;
struct program;
struct call_order;

/*
 * Sets var.mode of all aggregates. After types are known, which tell who is an
 * aggregate. order is that of calls_order(); indices are final.
 */
void agg_modes(struct compile *c, struct program *p,
	       const struct call_order *order);

#endif
