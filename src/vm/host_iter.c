/* SPDX-License-Identifier: MIT */
/*
 * foreach: a snapshot of the array (or the bucket indices of a histogram), put
 * in order once, then walked. The array is never changed. The limit counts
 * elements before the slice picks among them, as the language has it.
 */
#include "vm/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sema/exclusion.h"
#include "stat/extract.h"

/*
 * One foreach in progress; owned by vm->iters, freed at its end or the
 * handler's.
 */
struct vm_iter {
	const struct ir_iter *it;
	const struct plan_global *g;
	uint8_t *elems; /* key, then value; histograms: counters */
	size_t stride, value_off;
	uint32_t *order; /* element numbers as visited */
	uint32_t n, pos; /* pos: 1 + the current one; 0: before the first */
	uint64_t limit;  /* elements to look at */
	uint8_t *slice;  /* the key to agree with, or NULL */
	int64_t *rank;   /* sort by a number: by element; else NULL */
	bool exact;      /* the array is as it was: its lock is held since */
};

/* --- sorting -------------------------------------------------------------- */

/* Element i of the snapshot, not of the visiting order. */
static const uint8_t *elem(const struct vm_iter *t, uint32_t i)
{
	return t->elems + t->stride * i;
}

/* <0, 0, >0 as a should come before, with or after b. */
static int order_of(const struct vm_iter *t, uint32_t a, uint32_t b)
{
	const struct ir_iter *it = t->it;
	unsigned k = (unsigned)it->sort_key;
	int cmp;

	/* Numbers were gathered once; strings are compared where they are. */
	if (t->rank)
		cmp = t->rank[a] < t->rank[b] ? -1 : t->rank[a] > t->rank[b];
	else if (k)
		cmp = strncmp((const char *)elem(t, a) + t->g->key.off[k - 1],
			      (const char *)elem(t, b) + t->g->key.off[k - 1],
			      t->g->key.width[k - 1]);
	else
		cmp = strncmp((const char *)elem(t, a) + t->value_off,
			      (const char *)elem(t, b) + t->value_off,
			      t->g->value_width);
	return it->sort_dir < 0 ? -cmp : cmp;
}

/*
 * Stable: ties keep their order, that of insertion, descending too. Output must
 * not depend on how the sorting is done.
 */
static void merge_sort(const struct vm_iter *t, uint32_t *v, uint32_t *tmp,
		       uint32_t n)
{
	uint32_t width, lo;

	for (width = 1; width < n; width *= 2) {
		for (lo = 0; lo < n; lo += 2 * width) {
			uint32_t mid = n - lo < width ? n : lo + width;
			uint32_t hi = n - lo < 2 * width ? n : lo + 2 * width;
			uint32_t i = lo, j = mid, k = lo;

			while (i < mid && j < hi)
				tmp[k++] = order_of(t, v[i], v[j]) <= 0
					       ? v[i++]
					       : v[j++];
			while (i < mid)
				tmp[k++] = v[i++];
			while (j < hi)
				tmp[k++] = v[j++];
		}
		/* Sorted already: width * 2 may overflow. */
		memcpy(v, tmp, n * sizeof(*v));
		if (width > n / 2)
			break;
	}
}

/*
 * Numbers to sort by, where the sort is by a number. Of aggregates the
 * extractor is computed once an element, not once a comparison.
 */
static void find_ranks(struct vm *vm, struct vm_iter *t)
{
	const struct ir_iter *it = t->it;
	unsigned k = (unsigned)it->sort_key, g = it->array->index;
	bool agg = store_is_agg(t->g);
	enum stat_op op = it->sort_by_stat ? it->sort_op : STAT_COUNT;
	uint32_t i;

	if (k > t->g->key.n)
		return;
	if (k ? t->g->key.is_str[k - 1] : !agg && t->g->var->type == TY_STRING)
		return;
	t->rank = xcalloc(t->n + 1, sizeof(*t->rank));
	for (i = 0; i < t->n; i++) {
		if (k)
			memcpy(&t->rank[i], elem(t, i) + t->g->key.off[k - 1],
			       8);
		else if (!agg)
			memcpy(&t->rank[i], elem(t, i) + t->value_off, 8);
		else
			stat_extract(&t->g->cell,
				     store_agg_cell(vm->s, g, elem(t, i)), op,
				     it->sort_param, &t->rank[i], NULL);
	}
}

/* Unsorted: in the array's own order, as the store gives it. */
static void put_in_order(struct vm *vm, struct vm_iter *t)
{
	uint32_t *tmp, i;

	t->order = xcalloc(t->n + 1, sizeof(*t->order));
	for (i = 0; i < t->n; i++)
		t->order[i] = i;
	if (!t->it->sort_dir || t->it->is_hist || t->n < 2 ||
	    (unsigned)t->it->sort_key > t->g->key.n)
		return;
	find_ranks(vm, t);
	tmp = xcalloc(t->n, sizeof(*tmp));
	merge_sort(t, t->order, tmp, t->n);
	free(tmp);
}

/* --- snapshots ------------------------------------------------------------ */

/* Keys of an aggregate's elements. */
static void take_keys(struct vm *vm, struct vm_iter *t)
{
	const uint8_t **keys;
	uint32_t i;

	vm_drain(vm);
	t->n = store_agg_keys(vm->s, t->it->array->index, &keys);
	t->stride = t->value_off = t->g->key.size;
	t->elems = xmalloc((size_t)t->n * t->stride + 1);
	for (i = 0; i < t->n; i++)
		memcpy(t->elems + i * t->stride, keys[i], t->stride);
}

/* Bucket counters; an empty aggregate has them all, at 0. */
static void take_buckets(struct vm *vm, struct vm_iter *t, const uint8_t *key)
{
	const uint64_t *cell;
	int64_t v;
	uint32_t i;

	vm_drain(vm);
	cell = store_agg_cell(vm->s, t->it->array->index, key);
	t->n = t->g->cell.nbuckets;
	t->stride = 8;
	t->elems = xcalloc(t->n + 1, 8);
	for (i = 0; cell && i < t->n; i++)
		if (!stat_bucket(&t->g->cell, cell, i, &v))
			memcpy(t->elems + 8 * (size_t)i, &v, 8);
}

static bool take_plain(struct vm *vm, struct vm_iter *t)
{
	int64_t n;

	/* The compiler checks this; the machine does not rely on it. */
	if (!t->g->key.n) {
		vm_failed(vm, "%s is not an array", t->g->var->name);
		return false;
	}
	n = store_snapshot(vm->s, t->it->array->index, &t->elems);
	if (n < 0) {
		vm_failed(vm, "array %s: %s", t->g->var->name,
			  strerror((int)-n));
		t->elems = NULL;
		return false;
	}
	t->n = (uint32_t)n;
	t->value_off = t->g->key.size;
	t->stride = t->g->key.size + t->g->value_width;
	return true;
}

static bool take(struct vm *vm, struct vm_iter *t, uint64_t key_addr)
{
	const uint8_t *key = NULL;
	/*
	 * a[*, *]: there is no key then. All of the n low bits set: wild + 1 is
	 * a power of two beyond them.
	 */
	bool slice = t->it->has_slice &&
		     (t->it->wild + 1) >> t->g->key.n == 0;

	/* A histogram of one element of an array has a key; so has a slice. */
	if ((t->it->is_hist || slice) && t->g->key.n) {
		key = host_key(vm, t->g, key_addr);
		if (!key)
			return false;
	}
	if (slice) {
		t->slice = xmalloc(t->g->key.size);
		memcpy(t->slice, key, t->g->key.size);
	}
	if (t->it->is_hist)
		take_buckets(vm, t, key);
	else if (store_is_agg(t->g))
		take_keys(vm, t);
	else
		return take_plain(vm, t);
	return true;
}

/* --- the helpers ---------------------------------------------------------- */

static void iter_free(struct vm_iter *t)
{
	if (!t)
		return;
	free(t->elems);
	free(t->order);
	free(t->slice);
	free(t->rank);
	free(t);
}

/* Also those that a handler left open when it ended by an error. */
void iters_free(struct vm *vm)
{
	unsigned i;

	for (i = 0; i < vm->niters; i++)
		iter_free(vm->iters[i]);
	vm->niters = 0;
}

void iters_stale(struct vm *vm, const struct plan_global *g)
{
	unsigned i;

	for (i = 0; i < vm->niters; i++)
		if (vm->iters[i] && (!g || vm->iters[i]->g == g))
			vm->iters[i]->exact = false;
}

/* Only of a foreach whose array nobody else can change (exact). */
bool iters_value(const struct vm *vm, const struct plan_global *g,
		 const uint8_t *key, uint8_t *dst)
{
	unsigned i;

	for (i = 0; i < vm->niters; i++) {
		const struct vm_iter *t = vm->iters[i];
		const uint8_t *e;

		if (!t || t->g != g || !t->exact || !t->pos)
			continue;
		e = elem(t, t->order[t->pos - 1]);
		if (memcmp(e, key, g->key.size))
			continue;
		memcpy(dst, e + t->value_off, g->value_width);
		return true;
	}
	return false;
}

/*
 * a: iteration of the program, key (slices, histograms), limit. A handle, from
 * 1; 0 after a fault.
 */
uint64_t host_iter_new(struct vm *vm, const uint64_t *a)
{
	const struct ir *ir = vm->g->ir;
	struct vm_iter *t;
	unsigned h;

	if (a[0] >= ir->iters.n)
		return vm_failed(vm, "no iteration %llu",
				 (unsigned long long)a[0]);
	t = xcalloc(1, sizeof(*t));
	t->it = ir->iters.v[a[0]];
	t->g = vm_global(vm, t->it->array->index);
	if (!t->g || !take(vm, t, a[1])) {
		iter_free(t);
		return 0;
	}
	put_in_order(vm, t);
	/*
	 * With the array's lock in hand since before the snapshot, nobody else
	 * changes it, so the snapshot stays true until this handler does.
	 */
	t->exact = !t->it->is_hist && !store_is_agg(t->g) &&
		   t->g->lock_group < LOCK_GROUPS &&
		   vm->held & 1u << t->g->lock_group;
	t->limit = UINT64_MAX;
	if (t->it->has_limit)
		/* A negative limit shows nothing. */
		t->limit = (int64_t)a[2] < 0 ? 0 : a[2];
	/* The first free handle: nested loops are few. */
	for (h = 0; h < vm->niters && vm->iters[h]; h++)
		;
	if (h == vm->niters) {
		vm->iters = xrealloc(vm->iters, (h + 1) * sizeof(*vm->iters));
		vm->niters++;
	}
	vm->iters[h] = t;
	return h + 1;
}

static struct vm_iter *iter_at(struct vm *vm, uint64_t handle)
{
	if (handle && handle <= vm->niters && vm->iters[handle - 1])
		return vm->iters[handle - 1];
	vm_failed(vm, "no open iteration %llu", (unsigned long long)handle);
	return NULL;
}

/* 1: an element; 0: the end; 2: no element, but one that the slice left out is
 * the last that was looked at. */
/* a: handle. 1: there is a next one. */
uint64_t host_iter_next(struct vm *vm, const uint64_t *a)
{
	struct vm_iter *t = iter_at(vm, a[0]);
	uint32_t from;

	if (!t)
		return 0;
	from = t->pos;
	/*
	 * The limit counts elements looked at, also those that the slice skips.
	 */
	while (t->pos < t->n && t->pos < t->limit) {
		t->pos++;
		if (!t->slice ||
		    key_matches(&t->g->key, t->slice,
				elem(t, t->order[t->pos - 1]), t->it->wild))
			return 1;
	}
	return t->pos != from ? 2 : 0;
}

/* The current element, or NULL after vm_failed(). */
static const uint8_t *current(struct vm *vm, const struct vm_iter *t)
{
	if (t && t->pos)
		return elem(t, t->order[t->pos - 1]);
	if (t)
		vm_failed(vm, "iteration has no current element");
	return NULL;
}

/* A number to r0, a string to dst. */
static uint64_t give(struct vm *vm, const uint8_t *at, bool is_str,
		     uint32_t width, uint64_t dst)
{
	uint64_t v;
	uint8_t *to;

	if (!is_str) {
		memcpy(&v, at, 8);
		return v;
	}
	to = mem_at(vm, dst, width, true);
	if (to)
		memcpy(to, at, width);
	return 0;
}

/* a: handle, which key, where a string goes. */
uint64_t host_iter_key(struct vm *vm, const uint64_t *a)
{
	struct vm_iter *t = iter_at(vm, a[0]);
	const uint8_t *e = current(vm, t);
	unsigned k = (unsigned)a[1];

	if (!e)
		return 0;
	/* The "key" of a histogram is its bucket's index. */
	if (t->it->is_hist)
		return t->order[t->pos - 1];
	if (a[1] >= t->g->key.n)
		return vm_failed(vm, "no key %llu", (unsigned long long)a[1]);
	return give(vm, e + t->g->key.off[k], t->g->key.is_str[k],
		    t->g->key.width[k], a[2]);
}

/* a: handle, where a string goes. */
uint64_t host_iter_val(struct vm *vm, const uint64_t *a)
{
	struct vm_iter *t = iter_at(vm, a[0]);
	const uint8_t *e = current(vm, t);

	if (!e)
		return 0;
	if (t->it->is_hist)
		return give(vm, e, false, 8, 0);
	/* The value of an aggregate's element is read by extractors. */
	if (store_is_agg(t->g))
		return vm_failed(vm, "%s has no plain values", t->g->var->name);
	return give(vm, e + t->value_off, t->g->var->type == TY_STRING,
		    t->g->value_width, a[1]);
}

/* a: handle. */
uint64_t host_iter_end(struct vm *vm, const uint64_t *a)
{
	struct vm_iter *t = iter_at(vm, a[0]);

	if (!t)
		return 0;
	iter_free(t);
	vm->iters[a[0] - 1] = NULL;
	return 0;
}
