/* SPDX-License-Identifier: MIT */
/*
 * Settled totals of one aggregate: what all drains and the host's own samples
 * have added up to. A key beyond the capacity is counted in the "other" cell,
 * so totals always add up; a wrapping array drops its oldest key instead.
 */
#ifndef STORE_SETTLED_H
#define STORE_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/plan.h"

struct settled;

/* g stays the plan's. size: capacity in keys; ignored for a scalar. */
struct settled *settled_new(const struct plan_global *g, uint32_t size);
/* Another capacity; keys it already has stay. */
void settled_limit(struct settled *t, uint32_t size);
void settled_free(struct settled *t);
/* One sample. key NULL: scalar. -E2BIG: it went to "other". */
int settled_add(struct settled *t, const void *key, int64_t v);
/* One sample of a key for which there is no room. */
void settled_add_other(struct settled *t, int64_t v);
/* A cell's worth of samples; an empty cell changes nothing. */
int settled_merge(struct settled *t, const void *key, const uint64_t *cell);
/* Likewise, of the part that kernel maps have (plan_global.part). */
int settled_merge_part(struct settled *t, const void *key,
		       const uint64_t *part);
/* GRID_SUB counters of one octave of the key's grid; after its part. */
void settled_merge_octave(struct settled *t, const void *key, uint64_t octave,
			  const uint64_t *counts);
/* Samples of keys that found no room elsewhere (in a kernel map). */
void settled_merge_other(struct settled *t, const uint64_t *cell);
/* Adds all of from, which is of the same aggregate. */
void settled_merge_all(struct settled *t, const struct settled *from);
/* The cell, or NULL without samples. Valid until the next change. */
const uint64_t *settled_cell(const struct settled *t, const void *key);
/* The "other" cell, or NULL without samples. */
const uint64_t *settled_other(const struct settled *t);
/* 0, or -ENOENT. */
int settled_del(struct settled *t, const void *key);
void settled_clear(struct settled *t);
/* Elements; 0 for a scalar. */
unsigned settled_count(const struct settled *t);
/* Keys in order of first insertion; *ret is owned by t, valid until the next
 * change. */
unsigned settled_keys(struct settled *t, const uint8_t ***ret);
/* Samples that went to "other" since it was last asked. */
uint64_t settled_take_other(struct settled *t);
/* Has the cell a sample? */
bool cell_used(const struct cell *l, const uint64_t *cell);

#endif
