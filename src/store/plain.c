/* SPDX-License-Identifier: MIT */
/*
 * Plain arrays for the host: those that no kernel probe touches live here, in
 * the process, whatever the store; the others are the implementation's.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/htab.h"

static const struct plan_global *global_of(const struct store *s, unsigned g)
{
	return &s->plan->globals[g];
}

/*
 * Where a host array lives; NULL: the implementation has it. Made on first use:
 * many scripts declare arrays that a run never touches.
 */
static struct htab *own_table(struct store *s, unsigned g)
{
	const struct plan_global *pg = global_of(s, g);

	if (store_has_map(s, pg))
		return NULL;
	if (!s->own[g])
		s->own[g] = htab_new(pg->key.size, pg->value_width,
				     store_capacity(s, pg));
	return s->own[g];
}

int store_get(struct store *s, unsigned g, const void *key, void *value)
{
	struct htab *h = own_table(s, g);
	const uint8_t *at;

	if (!h)
		return s->ops->get(s, g, key, value);
	at = htab_find(h, key);
	if (!at)
		return -ENOENT;
	memcpy(value, at, global_of(s, g)->value_width);
	return 0;
}

/*
 * Wrapping arrays ("global a%[8]") drop the element that was created first,
 * which is the first of the table's list.
 */
uint8_t *store_make_room(struct htab *h, bool wrap, const void *key,
			 bool *ret_new)
{
	uint8_t *at = htab_add(h, key, ret_new);

	if (!at && wrap && htab_count(h)) {
		htab_del(h, htab_key(h, htab_first(h)));
		at = htab_add(h, key, ret_new);
	}
	return at;
}

int store_set(struct store *s, unsigned g, const void *key, const void *value)
{
	const struct plan_global *pg = global_of(s, g);
	struct htab *h = own_table(s, g);
	uint8_t *at;
	bool is_new;

	if (!h)
		return s->ops->set(s, g, key, value);
	at = store_make_room(h, pg->var->wrap, key, &is_new);
	if (!at)
		return -E2BIG;
	memcpy(at, value, pg->value_width);
	return 0;
}

/*
 * As an unsigned sum: numbers of the language wrap, in C a signed sum must not.
 */
int store_add(struct store *s, unsigned g, const void *key, int64_t delta,
	      int64_t *ret_old)
{
	struct htab *h = own_table(s, g);
	uint64_t old, now;
	uint8_t *at;
	bool is_new;

	if (!h)
		return s->ops->add(s, g, key, delta, ret_old);
	at = store_make_room(h, global_of(s, g)->var->wrap, key, &is_new);
	if (!at)
		return -E2BIG;
	memcpy(&old, at, 8);
	now = old + (uint64_t)delta;
	memcpy(at, &now, 8);
	*ret_old = (int64_t)old;
	return 0;
}

/*
 * Programs that found the array full may try again. A kernel handler that met a
 * full array leaves a mark, so that the next one does not search a full map in
 * vain; the count tells that there may be room.
 */
static int freed(struct store *s, unsigned g, int rc)
{
	const struct plan_global *pg = &s->plan->globals[g];

	if (pg->full_off != UINT32_MAX)
		__atomic_fetch_add((uint64_t *)(s->control + pg->full_off), 1,
				   __ATOMIC_SEQ_CST);
	return rc;
}

int store_del(struct store *s, unsigned g, const void *key)
{
	struct htab *h = own_table(s, g);

	if (!h)
		return freed(s, g, s->ops->del(s, g, key));
	return htab_del(h, key) ? 0 : -ENOENT;
}

int store_clear(struct store *s, unsigned g)
{
	struct htab *h = own_table(s, g);

	if (!h)
		return freed(s, g, s->ops->clear(s, g));
	htab_clear(h);
	return 0;
}

int64_t store_snapshot(struct store *s, unsigned g, uint8_t **ret_elems)
{
	const struct plan_global *pg = global_of(s, g);
	struct htab *h = own_table(s, g);
	uint8_t *to;
	uint32_t e;

	if (!h)
		return s->ops->snapshot(s, g, ret_elems);
	/*
	 * + 1: malloc(0) may be NULL, which the caller would take for an error.
	 */
	to = xmalloc(htab_count(h) * (size_t)(pg->key.size + pg->value_width) +
		     1);
	*ret_elems = to;
	for (e = htab_first(h); e != HTAB_NONE; e = htab_next(h, e)) {
		memcpy(to, htab_key(h, e), pg->key.size);
		to += pg->key.size;
		memcpy(to, htab_value(h, e), pg->value_width);
		to += pg->value_width;
	}
	return htab_count(h);
}
