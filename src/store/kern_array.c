/* SPDX-License-Identifier: MIT */
/*
 * Plain arrays in kernel hashes. Programs change elements in place while the
 * host works on them; what the bpf system call cannot do without losing their
 * changes is left to small programs (kern_add.h, kern_copy.h).
 */
#include "store/kern_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "store/htab.h"
#include "store/kern_map.h"

static const struct plan_global *array_of(struct store *s, unsigned g,
					  int *ret_fd)
{
	const struct plan_global *pg = &s->plan->globals[g];

	*ret_fd = s->map_fd[pg->map];
	return pg;
}

/* Zeroed, for one element of the map; free() it. */
static struct plain_value *element_new(const struct plan_global *pg)
{
	return xcalloc(1, sizeof(struct plain_value) + pg->value_width);
}

/* The map's value has a stamp in front of the value proper. */
static uint64_t next_stamp(struct store *s)
{
	struct control *c = (struct control *)s->control;

	return __atomic_fetch_add(&c->stamp, 1, __ATOMIC_RELAXED);
}

/*
 * Drops the oldest element of a wrapping array. Reads the whole map: a wrapping
 * array of the host's is small, and this is once an insertion.
 */
static int evict_oldest(struct store *s, unsigned g)
{
	int fd;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct kern_rows rows;
	const struct plain_value *e;
	const uint8_t *oldest = NULL;
	uint64_t stamp = UINT64_MAX;
	size_t i;
	int rc;

	rc = kern_map_read(fd, pg->key.size,
			   sizeof(struct plain_value) + pg->value_width, &rows);
	if (rc)
		return rc;
	for (i = 0; i < rows.n; i++) {
		e = (const struct plain_value *)kern_rows_value(&rows, i);
		if (e->stamp < stamp) {
			stamp = e->stamp;
			oldest = kern_rows_key(&rows, i);
		}
	}
	rc = oldest ? bpf_map_delete_elem(fd, oldest) : -ENOENT;
	kern_rows_free(&rows);
	/* Gone already: somebody made room. */
	return rc == -ENOENT ? 0 : rc;
}

/* Writes an element; a new one gets the next stamp. */
static int put(struct store *s, unsigned g, const void *key,
	       struct plain_value *e, bool exists)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);

	if (!exists)
		e->stamp = next_stamp(s);
	rc = bpf_map_update_elem(fd, key, e, BPF_ANY);
	if (rc == -E2BIG && pg->var->wrap && !evict_oldest(s, g))
		rc = bpf_map_update_elem(fd, key, e, BPF_ANY);
	return rc;
}

/*
 * Puts a new element in the place of an old one. Only for strings, whose bytes
 * no program changes in place.
 */
static int set_whole(struct store *s, unsigned g, const void *key,
		    const void *value)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct plain_value *e = element_new(pg);

	rc = bpf_map_lookup_elem(fd, key, e);
	memcpy(e->value, value, pg->value_width);
	rc = put(s, g, key, e, !rc);
	free(e);
	return rc;
}

/* Reads and overwrites: what programs add in between is lost. Only for kernels
 * that cannot run a program on request (before 5.10). */
static int add_slowly(struct store *s, unsigned g, const void *key,
		      int64_t delta, int64_t *ret_old)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct plain_value *e = element_new(pg);
	int64_t v = 0;

	rc = bpf_map_lookup_elem(fd, key, e);
	if (!rc)
		memcpy(&v, e->value, sizeof(v));
	if (ret_old)
		*ret_old = v;
	v = (int64_t)((uint64_t)v + (uint64_t)delta);
	memcpy(e->value, &v, sizeof(v));
	rc = put(s, g, key, e, !rc);
	free(e);
	return rc;
}

/* A new element whose value is delta; -EEXIST: a program was faster. */
static int add_new(struct store *s, unsigned g, const void *key, int64_t delta)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct plain_value *e = element_new(pg);

	e->stamp = next_stamp(s);
	memcpy(e->value, &delta, sizeof(delta));
	rc = bpf_map_update_elem(fd, key, e, BPF_NOEXIST);
	if (rc == -E2BIG && pg->var->wrap && !evict_oldest(s, g))
		rc = bpf_map_update_elem(fd, key, e, BPF_NOEXIST);
	free(e);
	return rc;
}

/*
 * A missing element is made with BPF_NOEXIST; when a program made it in
 * between, it is there now and is tried again. -ENOTSUP as kern_add_run().
 */
static int change(struct store *s, unsigned g, const void *key, bool set,
		  int64_t v, int64_t *ret_old)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);

	do {
		rc = kern_add_run(&kern_of(s)->global[g].add, fd, key,
				  pg->key.size, set, v, ret_old);
		if (rc != -ENOENT)
			return rc;
		if (ret_old)
			*ret_old = 0;
		rc = add_new(s, g, key, v);
	} while (rc == -EEXIST);
	return rc;
}

int kern_array_add(struct store *s, unsigned g, const void *key, int64_t delta,
		   int64_t *ret_old)
{
	int rc = change(s, g, key, false, delta, ret_old);

	return rc == -ENOTSUP ? add_slowly(s, g, key, delta, ret_old) : rc;
}

int kern_array_set(struct store *s, unsigned g, const void *key,
		   const void *value)
{
	int64_t v;
	int rc;

	if (s->plan->globals[g].var->type != TY_LONG)
		return set_whole(s, g, key, value);
	memcpy(&v, value, sizeof(v));
	rc = change(s, g, key, true, v, NULL);
	return rc == -ENOTSUP ? set_whole(s, g, key, value) : rc;
}

int kern_array_del(struct store *s, unsigned g, const void *key)
{
	int fd;

	array_of(s, g, &fd);
	return bpf_map_delete_elem(fd, key);
}

/* Elements as a map has them, to be put in order of creation. */
struct stamped {
	const uint8_t *key;
	const struct plain_value *value;
};

/*
 * Equal stamps: made by programs at the same moment. By key then, so that the
 * order does not depend on the hash.
 */
static int by_stamp(const void *a, const void *b, void *ctx)
{
	const struct plan_global *pg = ctx;
	const struct stamped *p = a, *q = b;

	if (p->value->stamp != q->value->stamp)
		return p->value->stamp < q->value->stamp ? -1 : 1;
	return memcmp(p->key, q->key, pg->key.size);
}

static uint8_t *in_order(const struct plan_global *pg, struct stamped *v,
			 size_t n)
{
	size_t i, each = pg->key.size + pg->value_width;
	uint8_t *elems = xcalloc(n + 1, each), *out = elems;

	qsort_r(v, n, sizeof(*v), by_stamp, (void *)pg);
	for (i = 0; i < n; i++, out += each) {
		memcpy(out, v[i].key, pg->key.size);
		memcpy(out + pg->key.size, v[i].value->value, pg->value_width);
	}
	return elems;
}

static uint32_t map_value_size(const struct store *s,
			       const struct plan_global *pg)
{
	return s->plan->maps.v[pg->map].value_size;
}

int kern_array_ready(struct store *s, unsigned g)
{
	int fd;
	const struct plan_global *pg = array_of(s, g, &fd);

	return kern_copy_open(&kern_of(s)->global[g].copy, fd, pg->key.size,
			      map_value_size(s, pg),
			      s->plan->maps.v[pg->map].max_entries);
}

/* By a program that copies; -1: there is none. */
static int64_t snapshot_copy(struct store *s, unsigned g, uint8_t **ret)
{
	struct kern_copy *c = &kern_of(s)->global[g].copy;
	const struct plan_global *pg = &s->plan->globals[g];
	size_t each = pg->key.size + map_value_size(s, pg);
	const uint8_t *at;
	struct stamped *v;
	int64_t n, i;

	if (kern_of(s)->global[g].frozen.on)
		n = kern_of(s)->global[g].frozen.n;
	else
		n = kern_array_ready(s, g) ? -1 : kern_copy_run(c);
	if (n < 0)
		return -1;
	v = xcalloc((size_t)n + 1, sizeof(*v));
	at = kern_copy_elems(c);
	for (i = 0; i < n; i++, at += each) {
		v[i].key = at;
		v[i].value = (const struct plain_value *)(at + pg->key.size);
	}
	*ret = in_order(pg, v, (size_t)n);
	free(v);
	return n;
}

int64_t kern_array_snapshot(struct store *s, unsigned g, uint8_t **ret)
{
	int64_t n = snapshot_copy(s, g, ret);
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct kern_rows rows;
	struct stamped *v;
	size_t i;

	if (n >= 0)
		return n;
	rc = kern_map_read(fd, pg->key.size, map_value_size(s, pg), &rows);
	if (rc) {
		kern_rows_free(&rows);
		return rc;
	}
	v = xcalloc(rows.n + 1, sizeof(*v));
	for (i = 0; i < rows.n; i++) {
		v[i].key = kern_rows_key(&rows, i);
		v[i].value = (const struct plain_value *)
			kern_rows_value(&rows, i);
	}
	*ret = in_order(pg, v, rows.n);
	n = (int64_t)rows.n;
	free(v);
	kern_rows_free(&rows);
	return n;
}

int kern_array_freeze(struct store *s, unsigned g)
{
	struct frozen *f = &kern_of(s)->global[g].frozen;

	f->n = kern_array_ready(s, g)
	       ? -1 : kern_copy_run(&kern_of(s)->global[g].copy);
	f->on = f->n >= 0;
	return f->on ? 0 : -ENOTSUP;
}

void kern_array_thaw(struct store *s)
{
	struct kern_store *k = kern_of(s);
	unsigned g;

	for (g = 0; g < s->plan->nglobals; g++) {
		if (k->global[g].frozen.table)
			htab_free(k->global[g].frozen.table);
		k->global[g].frozen = (struct frozen){ 0 };
	}
}

/* From the copy, by a table of it. */
static int frozen_get(struct store *s, unsigned g, const void *key, void *value)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct frozen *f = &kern_of(s)->global[g].frozen;
	size_t value_size = map_value_size(s, pg);
	const uint8_t *at;
	bool is_new;
	int64_t i;

	if (!f->table) {
		f->table = htab_new(pg->key.size, (uint32_t)value_size,
				    (uint32_t)f->n);
		at = kern_copy_elems(&kern_of(s)->global[g].copy);
		for (i = 0; i < f->n; i++, at += pg->key.size + value_size)
			memcpy(htab_add(f->table, at, &is_new),
			       at + pg->key.size, value_size);
	}
	at = htab_find(f->table, key);
	if (!at)
		return -ENOENT;
	memcpy(value, ((const struct plain_value *)at)->value, pg->value_width);
	return 0;
}

int kern_array_get(struct store *s, unsigned g, const void *key, void *value)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct plain_value *e;

	if (kern_of(s)->global[g].frozen.on)
		return frozen_get(s, g, key, value);
	e = element_new(pg);
	rc = bpf_map_lookup_elem(fd, key, e);
	if (!rc)
		memcpy(value, e->value, pg->value_width);
	free(e);
	return rc;
}

int kern_array_clear(struct store *s, unsigned g)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct kern_rows rows;

	/* Programs that use the array wait for its lock, if there are any. */
	if (pg->lock_group != UINT32_MAX && !kern_array_ready(s, g) &&
	    !kern_copy_clear(&kern_of(s)->global[g].copy))
		return 0;
	rc = kern_map_read(fd, pg->key.size, map_value_size(s, pg), &rows);
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

