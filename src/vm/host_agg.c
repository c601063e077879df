/* SPDX-License-Identifier: MIT */
/* Aggregates: feeding, extractors, bucket counters. */
#include "vm/host.h"

#include <errno.h>

#include "stat/extract.h"

/* In vm.warned_stat, with STAT_WARN_*. */
enum { WARNED_APART = 0x80 };

/* The global a helper was given, with its key; NULL after vm_failed(). */
static const struct plan_global *aggregate(struct vm *vm, uint64_t g,
					   uint64_t key, const uint8_t **ret)
{
	const struct plan_global *pg = vm_global(vm, g);

	if (!pg)
		return NULL;
	if (!store_is_agg(pg)) {
		vm_failed(vm, "%s is not an aggregate", pg->var->name);
		return NULL;
	}
	*ret = host_key(vm, pg, key);
	return pg->key.n && !*ret ? NULL : pg;
}

/* Once for each array. Such samples are in reports, so nothing is lost. */
static void warn_apart(struct vm *vm, const struct plan_global *g)
{
	uint8_t *warned = &vm->warned_stat[g - vm->s->plan->globals];

	if (*warned & WARNED_APART)
		return;
	*warned |= WARNED_APART;
	vm_warn(vm,
		"handlers in the kernel do not see what handlers on the host "
		"add to %s: this kernel cannot run a program on request, "
		"which Linux 5.10 can",
		g->var->name);
}

/* a: global, key, value, place. */
uint64_t host_agg_add(struct vm *vm, const uint64_t *a)
{
	const uint8_t *key;
	const struct plan_global *g = aggregate(vm, a[0], a[1], &key);
	int err;

	if (!g)
		return 0;
	err = store_agg_add(vm->s, (unsigned)a[0], key, (int64_t)a[2]);
	if (err == -ENOTSUP)
		warn_apart(vm, g);
	if (err != -E2BIG)
		return 0;
	/*
	 * STP_STRICT_OVERFLOW makes a full array an error, as in the reference;
	 * else the sample is in "other", and that is said once.
	 */
	if (!vm_limit(vm, LIMIT_STP_STRICT_OVERFLOW)) {
		vm_warn_full(vm, (unsigned)a[0]);
		return 0;
	}
	if (g->var->size)
		return vm_raise(vm, a[3],
				"Array overflow, check size limit (%lld)",
				(long long)g->var->size);
	return vm_raise(vm, a[3], "Array overflow, check MAXMAPENTRIES");
}

/* What the extractor could not say in its number, once for each aggregate. */
static void warn_of(struct vm *vm, const struct plan_global *g, unsigned warn)
{
	uint8_t *warned = &vm->warned_stat[g - vm->s->plan->globals];

	warn &= ~(unsigned)*warned;
	*warned |= (uint8_t)warn;
	if (warn & STAT_WARN_SATURATED)
		vm_warn(vm,
			"the variance of %s is over 2^63 - 1: shown as that",
			g->var->name);
	if (warn & STAT_WARN_OVERFLOW)
		vm_warn(vm, "the sum of %s needs more than 64 bits: @sum wraps",
			g->var->name);
}

/* a: global, key, extractor, its parameter, place. */
uint64_t host_agg_get(struct vm *vm, const uint64_t *a)
{
	const uint8_t *key;
	const struct plan_global *g = aggregate(vm, a[0], a[1], &key);
	unsigned warn = 0;
	int64_t v = 0;

	if (!g)
		return 0;
	if (a[2] >= STAT_MAX_OP)
		return vm_failed(vm, "no extractor %llu",
				 (unsigned long long)a[2]);
	/* Before reading: banks hold what came since the last drain. */
	vm_drain(vm);
	if (stat_extract(&g->cell, store_agg_cell(vm->s, (unsigned)a[0], key),
			 (enum stat_op)a[2], (int64_t)a[3], &v, &warn))
		return vm_raise(vm, a[4], "empty aggregate");
	if (warn)
		warn_of(vm, g, warn);
	return (uint64_t)v;
}

/* a: global, key, index of the bucket, place. */
uint64_t host_agg_hist(struct vm *vm, const uint64_t *a)
{
	const uint8_t *key;
	const struct plan_global *g = aggregate(vm, a[0], a[1], &key);
	int64_t v = 0;
	int err;

	if (!g)
		return 0;
	if (!g->cell.nbuckets)
		return vm_failed(vm, "%s has no histogram", g->var->name);
	vm_drain(vm);
	err = stat_bucket(&g->cell, store_agg_cell(vm->s, (unsigned)a[0], key),
			  (int64_t)a[2], &v);
	if (err == STAT_BAD_INDEX)
		return vm_raise(vm, a[3], "histogram index out of range");
	if (err)
		return vm_raise(vm, a[3], "empty aggregate");
	return (uint64_t)v;
}
