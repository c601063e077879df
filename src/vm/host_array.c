/* SPDX-License-Identifier: MIT */
/* Plain arrays; deletion and membership for aggregates too. */
#include "vm/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const uint8_t *host_key(struct vm *vm, const struct plan_global *g,
			uint64_t addr)
{
	if (!g->key.n)
		return NULL;
	return mem_at(vm, addr, g->key.size, false);
}

/* wild: bit i is set where key i is a *. */
bool key_matches(const struct plan_key *k, const uint8_t *a, const uint8_t *b,
		 uint64_t wild)
{
	unsigned i;

	for (i = 0; i < k->n; i++)
		if (!(wild >> i & 1) &&
		    /*
		     * Padded with zeros, so bytes decide for strings as well.
		     */
		    memcmp(a + k->off[i], b + k->off[i], k->width[i]))
			return false;
	return true;
}

/* A plain array that the program may use this way; NULL after vm_failed(). */
static const struct plan_global *plain_array(struct vm *vm, uint64_t g)
{
	const struct plan_global *pg = vm_global(vm, g);

	if (!pg || (pg->key.n && !store_is_agg(pg)))
		return pg;
	vm_failed(vm, "%s is not a plain array", pg->var->name);
	return NULL;
}

static uint64_t raise_full(struct vm *vm, const struct plan_global *g,
			   uint64_t loc)
{
	if (g->var->size)
		return vm_raise(vm, loc,
				"Array overflow, check size limit (%lld)",
				(long long)g->var->size);
	return vm_raise(vm, loc, "Array overflow, check MAXMAPENTRIES");
}

/* A failed operation of the store. */
static uint64_t raise_store(struct vm *vm, const struct plan_global *g,
			    uint64_t loc, int err)
{
	if (err == -E2BIG || err == -ENOMEM)
		return raise_full(vm, g, loc);
	return vm_raise(vm, loc, "array %s: %s", g->var->name, strerror(-err));
}

/*
 * a: global, key, where the value goes. 1: there is such an element; 0: the
 * value is the language's default, 0 or "".
 */
uint64_t host_arr_get(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = plain_array(vm, a[0]);
	const uint8_t *key;
	uint8_t *dst;

	if (!g)
		return 0;
	key = host_key(vm, g, a[1]);
	dst = mem_at(vm, a[2], g->value_width, true);
	if (!key || !dst)
		return 0;
	/* The element a foreach stands on needs no look-up. */
	if (iters_value(vm, g, key, dst) ||
	    !store_get(vm->s, (unsigned)a[0], key, dst))
		return 1;
	memset(dst, 0, g->value_width);
	return 0;
}

/* a: global, key, value, place. */
uint64_t host_arr_set(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = plain_array(vm, a[0]);
	const uint8_t *key, *src;
	int err;

	if (!g)
		return 0;
	key = host_key(vm, g, a[1]);
	src = mem_at(vm, a[2], g->value_width, false);
	if (!key || !src)
		return 0;
	/*
	 * Before the change: a foreach that walks this array no longer knows
	 * it.
	 */
	iters_stale(vm, g);
	err = store_set(vm->s, (unsigned)a[0], key, src);
	return err ? raise_store(vm, g, a[3], err) : 0;
}

/* a: global, key, what is added, place. The old value: n++ as an expression. */
uint64_t host_arr_add(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = plain_array(vm, a[0]);
	const uint8_t *key;
	int64_t old = 0;
	int err;

	if (!g)
		return 0;
	if (g->var->type != TY_LONG)
		return vm_failed(vm, "%s does not hold numbers", g->var->name);
	key = host_key(vm, g, a[1]);
	if (!key)
		return 0;
	iters_stale(vm, g);
	err = store_add(vm->s, (unsigned)a[0], key, (int64_t)a[2], &old);
	return err ? raise_store(vm, g, a[3], err) : (uint64_t)old;
}

/*
 * Is there an element whose keys agree? For aggregates and for wild keys.
 * Linear, for want of an index by part of a key.
 */
static bool any_match(struct vm *vm, unsigned n, const struct plan_global *g,
		      const uint8_t *key, uint64_t wild)
{
	size_t stride = g->key.size + g->value_width;
	const uint8_t **keys;
	uint8_t *elems;
	int64_t count, i;
	bool found = false;

	if (store_is_agg(g)) {
		count = store_agg_keys(vm->s, n, &keys);
		for (i = 0; i < count && !found; i++)
			found = key_matches(&g->key, keys[i], key, wild);
		return found;
	}
	count = store_snapshot(vm->s, n, &elems);
	if (count < 0)
		return false;
	for (i = 0; i < count && !found; i++)
		found = key_matches(&g->key, elems + i * stride, key, wild);
	free(elems);
	return found;
}

/* a: global, key, bits of wild keys. */
uint64_t host_arr_has(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = vm_global(vm, a[0]);
	const uint8_t *key;
	uint8_t *value;
	bool found;

	if (!g)
		return 0;
	key = host_key(vm, g, a[1]);
	if (!key)
		return g->key.n
			   ? 0
			   : vm_failed(vm, "%s is not an array", g->var->name);
	if (store_is_agg(g))
		vm_drain(vm);
	if (a[2])
		return any_match(vm, (unsigned)a[0], g, key, a[2]);
	if (store_is_agg(g))
		return store_agg_cell(vm->s, (unsigned)a[0], key) != NULL;
	/* Only whether it is there: its value is read and thrown away. */
	value = malloc(g->value_width + 1);
	found = value && !store_get(vm->s, (unsigned)a[0], key, value);
	free(value);
	return found;
}

static void del_matching(struct vm *vm, unsigned n, const struct plan_global *g,
			 const uint8_t *key, uint64_t wild)
{
	size_t stride = g->key.size + g->value_width;
	const uint8_t **keys;
	uint8_t *elems;
	int64_t count, i;

	if (store_is_agg(g)) {
		/* The list is not touched by deleting, only what it shows is
		 * freed for reuse by later insertions. */
		count = store_agg_keys(vm->s, n, &keys);
		for (i = 0; i < count; i++)
			if (key_matches(&g->key, keys[i], key, wild))
				store_agg_del(vm->s, n, keys[i]);
		return;
	}
	count = store_snapshot(vm->s, n, &elems);
	if (count < 0)
		return;
	for (i = 0; i < count; i++)
		if (key_matches(&g->key, elems + i * stride, key, wild))
			store_del(vm->s, n, elems + i * stride);
	free(elems);
}

/* a: global, key, bits of wild keys. Deleting what is not there is no error. */
uint64_t host_arr_del(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = vm_global(vm, a[0]);
	const uint8_t *key;

	if (!g)
		return 0;
	iters_stale(vm, g);
	key = host_key(vm, g, a[1]);
	if (!key && g->key.n)
		return 0;
	if (!key && !store_is_agg(g))
		return vm_failed(vm, "%s is not an array", g->var->name);
	/* What is in the banks is deleted too: it came before. */
	if (store_is_agg(g))
		vm_drain(vm);
	if (a[2])
		del_matching(vm, (unsigned)a[0], g, key, a[2]);
	else if (store_is_agg(g))
		store_agg_del(vm->s, (unsigned)a[0], key);
	else
		store_del(vm->s, (unsigned)a[0], key);
	return 0;
}

/* a: global. Of a scalar that is no aggregate there is nothing to clear. */
uint64_t host_arr_clear(struct vm *vm, const uint64_t *a)
{
	const struct plan_global *g = vm_global(vm, a[0]);

	if (!g)
		return 0;
	/* Others may have filled it again since. */
	if (host_emptied(vm, (unsigned)a[0]))
		return 0;
	iters_stale(vm, g);
	if (store_is_agg(g)) {
		vm_drain(vm);
		store_agg_clear(vm->s, (unsigned)a[0]);
	} else if (g->key.n) {
		store_clear(vm->s, (unsigned)a[0]);
	}
	return 0;
}
