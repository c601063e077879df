/* SPDX-License-Identifier: MIT */
/*
 * Aggregates in live mode (a kernel handler reads them): their two banks are
 * never emptied, so that the sum of both is right at any time. After a flip the
 * bank that rests is copied; what the host sees is the copies of both banks,
 * which together describe the instant of the flip, and the host's own samples:
 * they are in a cell of their own, which nobody but the host writes.
 */
#ifndef STORE_LIVE_H
#define STORE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct live;

/* size: elements; 0 of a scalar. live_free() accepts NULL. */
struct live *live_new(const struct plan_global *g, uint32_t size);
void live_free(struct live *l);
/* Another capacity: settled_limit(). */
void live_limit(struct live *l, uint32_t size);
/* A copy of what rests now begins. deletes: how often programs deleted from
 * it so far: copies made before a deletion are worth nothing. */
void live_begin(struct live *l, unsigned bank, uint64_t deletes);
/* The cells of a key (NULL: scalar) in both banks, n of each, bank 0 first and
 * size bytes from the first of one to the first of the other. */
void live_copy(struct live *l, const void *key, const uint8_t *cells,
	       unsigned n, size_t size);
void live_copy_other(struct live *l, const uint8_t *cells, size_t size);
/* The host's own cell of an element. */
void live_copy_host(struct live *l, const void *key, const uint64_t *cell);
/* A sample of the host that went to that cell. */
void live_add(struct live *l, const void *key, int64_t v);
/* That cell as of the last copy and what was added since, or NULL. */
const uint64_t *live_host(const struct live *l, const void *key);
/* A sample of the host that is where programs do not see it. key NULL: there is
 * no room for its element. */
void live_add_apart(struct live *l, const void *key, int64_t v);
/* Has a program deleted something since the copy began, or is at it? */
bool live_torn(const struct live *l, uint64_t deletes);
/* A sample of the host that is in its own cell of bank 0, too: the copy must
 * have it before that bank rests again. */
void live_add_cell(struct live *l, int64_t v);
/* key NULL: all. */
void live_del(struct live *l, const void *key);
/* The sum of all. */
void live_show(struct live *l, struct settled *ret);

#endif
