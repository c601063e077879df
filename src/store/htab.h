/* SPDX-License-Identifier: MIT */
/*
 * A hash of fixed-size keys to fixed-size values that stay where they are while
 * they exist (the VM hands their addresses to programs) and that is walked in
 * order of insertion. It backs plain arrays, simulated kernel maps and settled
 * totals.
 */
#ifndef STORE_HTAB_H
#define STORE_HTAB_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of entries, as the walk hands them out, are below this. */
struct htab;

enum { HTAB_NONE = UINT32_MAX };

/* max: entries it may hold. Sizes in bytes; both may be 0. */
struct htab *htab_new(uint32_t key_size, uint32_t value_size, uint32_t max);
/* NULL is accepted. Everything that was handed out dies with it. */
void htab_free(struct htab *h);
uint32_t htab_count(const struct htab *h);
/* Another max; entries beyond it stay. */
void htab_limit(struct htab *h, uint32_t max);
/* The value, or NULL. */
uint8_t *htab_find(const struct htab *h, const void *key);
/* Finds or creates: a created value is zero. NULL: full. The
 * value's address holds until its key is deleted or the table is cleared. */
uint8_t *htab_add(struct htab *h, const void *key, bool *ret_new);
/* False: there was none. */
bool htab_del(struct htab *h, const void *key);
/* All entries become free; addresses of their values are no longer good. */
void htab_clear(struct htab *h);
/*
 * Walk in order of insertion: for (e = htab_first(h); e != HTAB_NONE; e =
 * htab_next(h, e)). Deleting the entry it stands on ends the walk.
 */
uint32_t htab_first(const struct htab *h);
uint32_t htab_next(const struct htab *h, uint32_t e);
const uint8_t *htab_key(const struct htab *h, uint32_t e);
uint8_t *htab_value(const struct htab *h, uint32_t e);
/* The live value that addr lies in: its start; NULL: none. For checked access
 * from programs. */
uint8_t *htab_owner(const struct htab *h, uint64_t addr);

#endif
