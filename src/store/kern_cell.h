/* SPDX-License-Identifier: MIT */
/*
 * The host's own cell in the elements of a live array (ir/plan.h): user space
 * can replace an element of a hash, which would lose what programs add to it,
 * but not change a part of it. A small program that is run on request does.
 */
#ifndef STORE_KERN_CELL_H
#define STORE_KERN_CELL_H

#include <stdint.h>

#include "ir/plan.h"

struct kern_cell;

/* For a map of g's elements, which stays the caller's. Never NULL. */
struct kern_cell *kern_cell_new(int map_fd, const struct plan_global *g);
/* NULL is accepted. */
void kern_cell_free(struct kern_cell *c);
/* As store_ops.live_add. */
int kern_cell_add(struct kern_cell *c, const void *key, const uint64_t *was,
		  int64_t v);

#endif
