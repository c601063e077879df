/* SPDX-License-Identifier: MIT */
/*
 * Globals in kernel maps. CONTROL and ROWS are mapped: scalars are read and
 * written without system calls. Arrays are hashes; arrays of aggregates are
 * pairs of them in an ARRAY_OF_MAPS, indexed by control.bank.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "stat/cell.h"
#include "stat/grid.h"
#include "store/grace.h"
#include "store/htab.h"
#include "store/kern.h"
#include "store/kern_add.h"
#include "store/kern_cell.h"
#include "store/kern_copy.h"
#include "store/kern_map.h"
#include "store/live.h"
#include "store/settled.h"
#include "store/sysbpf.h"

/* An array as it was at an instant. */
struct frozen {
	bool on;
	int64_t n;	    /* elements in its kern_copy */
	struct htab *table; /* of them; NULL: nobody asked for one yet */
};

struct kern_store {
	struct store s;
	int (*bank_fd)[2];	/* PM_BANKS: the two inner maps, by plan map */
	size_t control_size, rows_size; /* of the mappings */
	struct grace grace;
	/* By global: kern_add.h; 0 not asked for yet. */
	int *add_prog, *set_prog;
	struct kern_cell **cell; /* by global; NULL: not asked for yet */
	struct kern_copy *copy; /* by global */
	struct frozen *frozen;	/* by global */
	bool quiet; /* no program runs any more: drains do not wait */
};

static struct kern_store *kern_of(struct store *s)
{
	return (struct kern_store *)s;
}

/* Mappings are made of whole pages. */
static size_t page_up(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

/* --- making maps --------------------------------------------------------- */

/*
 * inner_fd: of an array of maps, one map of the kind it will hold; else 0. The
 * descriptor or a negative errno.
 */
static int create(enum bpf_map_type type, const char *name, uint32_t key,
		  uint32_t value, uint32_t entries, uint32_t flags,
		  int inner_fd)
{
	struct rlimit lim = { RLIM_INFINITY, RLIM_INFINITY };
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	attr.map_flags = flags;
	attr.inner_map_fd = inner_fd > 0 ? (uint32_t)inner_fd : 0;
	sysbpf_name(attr.map_name, name);
	fd = sysbpf(BPF_MAP_CREATE, &attr);
	/* Kernels before 5.11 charge maps to RLIMIT_MEMLOCK. */
	if (fd == -EPERM && !setrlimit(RLIMIT_MEMLOCK, &lim))
		fd = sysbpf(BPF_MAP_CREATE, &attr);
	return fd;
}

/*
 * Preallocated (no BPF_F_NO_PREALLOC): inserting allocates nothing, which would
 * cost microseconds and may fail in a handler.
 */
static int create_hash(enum map_kind kind, const struct plan_map *m)
{
	return create(kind == PM_PERCPU_HASH ? BPF_MAP_TYPE_PERCPU_HASH
					     : BPF_MAP_TYPE_HASH,
		      m->name, m->key_size, m->value_size, m->max_entries, 0,
		      0);
}

/* Both inner maps are alike; handlers choose by control.bank. */
static int create_banks(struct kern_store *k, unsigned i)
{
	const struct plan_map *m = &k->s.plan->maps.v[i];
	uint32_t key;
	int fd, rc;

	for (key = 0; key < 2; key++) {
		fd = create_hash(m->inner, m);
		if (fd < 0)
			return fd;
		k->bank_fd[i][key] = fd;
	}
	fd = create(BPF_MAP_TYPE_ARRAY_OF_MAPS, m->name, 4, 4, 2, 0,
		    k->bank_fd[i][0]);
	for (key = 0; fd >= 0 && key < 2; key++) {
		rc = bpf_map_update_elem(fd, &key, &k->bank_fd[i][key],
					 BPF_ANY);
		if (rc) {
			close(fd);
			return rc;
		}
	}
	return fd;
}

/*
 * Literals: the array cannot be written by programs, nor by us any more. The
 * verifier then takes reads from it as constants, and format texts need no copy
 * on the stack.
 */
static int create_rodata(const struct plan *p)
{
	uint32_t key = 0, size = (p->rodata_size + 7) / 8 * 8;
	uint8_t *copy;
	int fd, rc;

	if (!size)
		size = 8;
	copy = xcalloc(1, size);
	if (p->rodata_size)
		memcpy(copy, p->rodata, p->rodata_size);
	fd = create(BPF_MAP_TYPE_ARRAY, "rodata", 4, size, 1,
		    BPF_F_RDONLY_PROG, 0);
	if (fd >= 0) {
		rc = bpf_map_update_elem(fd, &key, copy, BPF_ANY);
		if (!rc)
			rc = bpf_map_freeze(fd);
		if (rc) {
			close(fd);
			fd = rc;
		}
	}
	free(copy);
	return fd;
}

/*
 * One element, mapped here: programs and this process read and write the same
 * words. *ret is the mapping.
 */
static int create_mapped(const char *name, size_t size, uint8_t **ret,
			 size_t *ret_size)
{
	int fd;
	void *p;

	fd = create(BPF_MAP_TYPE_ARRAY, name, 4, (uint32_t)size, 1,
		    BPF_F_MMAPABLE, 0);
	if (fd < 0)
		return fd;
	*ret_size = page_up(size);
	p = mmap(NULL, *ret_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	*ret = p;
	return fd;
}

static int create_map(struct kern_store *k, unsigned i)
{
	const struct plan *p = k->s.plan;
	const struct plan_map *m = &p->maps.v[i];

	/* The first four are the same for every script (ir/plan.h). */
	switch (i) {
	case MAP_CONTROL:
		return create_mapped("control", p->control_size,
				     &k->s.control, &k->control_size);
	case MAP_ROWS:
		return create_mapped("rows", (size_t)p->nrows * p->row_size,
				     &k->s.rows, &k->rows_size);
	case MAP_RODATA:
		return create_rodata(p);
	case MAP_RING:
		return create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
			      p->ring_bytes, 0, 0);
	}
	if (m->kind == PM_BANKS)
		return create_banks(k, i);
	return create_hash(m->kind, m);
}

static const struct store_ops kern_ops;

/* Also of a store that is half open: what was not made is -1 or NULL. */
static void kern_close_store(struct store *s)
{
	struct kern_store *k = kern_of(s);
	unsigned i, b;

	for (i = 0; i < s->plan->maps.n; i++) {
		for (b = 0; b < 2; b++)
			if (k->bank_fd[i][b] >= 0)
				close(k->bank_fd[i][b]);
		if (s->map_fd[i] >= 0)
			close(s->map_fd[i]);
	}
	if (s->control)
		munmap(s->control, k->control_size);
	if (s->rows)
		munmap(s->rows, k->rows_size);
	grace_close(&k->grace);
	/* 0: never asked for; negative: refused. */
	for (i = 0; i < s->plan->nglobals; i++) {
		if (k->add_prog[i] > 0)
			close(k->add_prog[i]);
		if (k->set_prog[i] > 0)
			close(k->set_prog[i]);
	}
	for (i = 0; i < s->plan->nglobals; i++) {
		kern_copy_close(&k->copy[i]);
		kern_cell_free(k->cell[i]);
	}
	free(k->cell);
	free(k->copy);
	free(k->frozen);
	free(k->add_prog);
	free(k->set_prog);
	store_teardown(s);
	free(k->bank_fd);
	free(k);
}

struct store *store_kern_open(const struct plan *p, int *ret_err,
			      unsigned *ret_map)
{
	struct kern_store *k = xcalloc(1, sizeof(*k));
	unsigned i, n = p->maps.n;
	int fd;

	grace_init(&k->grace);
	k->s.ops = &kern_ops;
	store_setup(&k->s, p);
	k->add_prog = xcalloc(p->nglobals + 1, sizeof(*k->add_prog));
	k->set_prog = xcalloc(p->nglobals + 1, sizeof(*k->set_prog));
	k->cell = xcalloc(p->nglobals + 1, sizeof(*k->cell));
	k->copy = xcalloc(p->nglobals + 1, sizeof(*k->copy));
	k->frozen = xcalloc(p->nglobals + 1, sizeof(*k->frozen));
	k->s.rodata = p->rodata;
	k->bank_fd = xcalloc(n + 1, sizeof(*k->bank_fd));
	for (i = 0; i < n; i++)
		k->bank_fd[i][0] = k->bank_fd[i][1] = -1;
	for (i = 0; i < n; i++) {
		/*
		 * Descriptors are closed on exec: libbpf and the kernel see to
		 * that.
		 */
		if (i == MAP_RING && !p->ring_bytes)
			continue; /* no program sends records */
		fd = create_map(k, i);
		if (fd < 0) {
			*ret_err = fd;
			*ret_map = i;
			kern_close_store(&k->s);
			return NULL;
		}
		k->s.map_fd[i] = fd;
	}
	return &k->s;
}

/* --- plain arrays -------------------------------------------------------- */

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
 * that cannot run a program on request (before 5.14). */
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
 * between, the addition is tried again.
 */
static int kern_add(struct store *s, unsigned g, const void *key,
		    int64_t delta, int64_t *ret_old)
{
	struct kern_store *k = kern_of(s);
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);

	if (!k->add_prog[g])
		k->add_prog[g] = kern_add_load(fd, pg->key.size, false);
	if (k->add_prog[g] < 0)
		return add_slowly(s, g, key, delta, ret_old);
	do {
		rc = kern_add_run(k->add_prog[g], key, pg->key.size, delta,
				  ret_old);
		if (rc != -ENOENT)
			return rc;
		if (ret_old)
			*ret_old = 0;
		rc = add_new(s, g, key, delta);
	} while (rc == -EEXIST);
	return rc;
}

static int kern_set(struct store *s, unsigned g, const void *key,
		    const void *value)
{
	struct kern_store *k = kern_of(s);
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	int64_t v;

	if (pg->var->type != TY_LONG)
		return set_whole(s, g, key, value);
	if (!k->set_prog[g])
		k->set_prog[g] = kern_add_load(fd, pg->key.size, true);
	if (k->set_prog[g] < 0)
		return set_whole(s, g, key, value);
	memcpy(&v, value, sizeof(v));
	do {
		rc = kern_add_run(k->set_prog[g], key, pg->key.size, v, NULL);
		if (rc != -ENOENT)
			return rc;
		rc = add_new(s, g, key, v);
	} while (rc == -EEXIST);
	return rc;
}

static int kern_del(struct store *s, unsigned g, const void *key)
{
	int fd;

	array_of(s, g, &fd);
	return bpf_map_delete_elem(fd, key);
}

/*
 * Equal stamps: made by programs at the same moment. By key then, so that the
 * order does not depend on the hash.
 */
/* Elements as a map has them, to be put in order of creation. */
struct stamped {
	const uint8_t *key;
	const struct plain_value *value;
};

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

static int kern_ready(struct store *s, unsigned g)
{
	int fd;
	const struct plan_global *pg = array_of(s, g, &fd);

	return kern_copy_open(&kern_of(s)->copy[g], fd, pg->key.size,
			      map_value_size(s, pg),
			      s->plan->maps.v[pg->map].max_entries);
}

/* By a program that copies; -1: there is none. */
static int64_t snapshot_copy(struct store *s, unsigned g, uint8_t **ret)
{
	struct kern_copy *c = &kern_of(s)->copy[g];
	const struct plan_global *pg = &s->plan->globals[g];
	size_t each = pg->key.size + map_value_size(s, pg);
	const uint8_t *at;
	struct stamped *v;
	int64_t n, i;

	if (kern_of(s)->frozen[g].on)
		n = kern_of(s)->frozen[g].n;
	else
		n = kern_ready(s, g) ? -1 : kern_copy_run(c);
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

static int64_t kern_snapshot(struct store *s, unsigned g, uint8_t **ret)
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

static int kern_freeze(struct store *s, unsigned g)
{
	struct frozen *f = &kern_of(s)->frozen[g];

	f->n = kern_ready(s, g) ? -1 : kern_copy_run(&kern_of(s)->copy[g]);
	f->on = f->n >= 0;
	return f->on ? 0 : -ENOTSUP;
}

static void kern_thaw(struct store *s)
{
	struct kern_store *k = kern_of(s);
	unsigned g;

	for (g = 0; g < s->plan->nglobals; g++) {
		if (k->frozen[g].table)
			htab_free(k->frozen[g].table);
		k->frozen[g] = (struct frozen){ 0 };
	}
}

/* From the copy, by a table of it. */
static int frozen_get(struct store *s, unsigned g, const void *key, void *value)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct frozen *f = &kern_of(s)->frozen[g];
	size_t value_size = map_value_size(s, pg);
	const uint8_t *at;
	bool is_new;
	int64_t i;

	if (!f->table) {
		f->table = htab_new(pg->key.size, (uint32_t)value_size,
				    (uint32_t)f->n);
		at = kern_copy_elems(&kern_of(s)->copy[g]);
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

static int kern_get(struct store *s, unsigned g, const void *key, void *value)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct plain_value *e;

	if (kern_of(s)->frozen[g].on)
		return frozen_get(s, g, key, value);
	e = element_new(pg);
	rc = bpf_map_lookup_elem(fd, key, e);
	if (!rc)
		memcpy(value, e->value, pg->value_width);
	free(e);
	return rc;
}

static int kern_clear(struct store *s, unsigned g)
{
	int fd, rc;
	const struct plan_global *pg = array_of(s, g, &fd);
	struct kern_rows rows;

	/* Programs that use the array wait for its lock, if there are any. */
	if (pg->lock_group != UINT32_MAX && !kern_ready(s, g) &&
	    !kern_copy_clear(&kern_of(s)->copy[g]))
		return 0;
	rc = kern_map_read(fd, pg->key.size, map_value_size(s, pg), &rows);
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

/* --- aggregates ---------------------------------------------------------- */

int store_kern_grace(struct store *s)
{
	return s->ops == &kern_ops ? grace_wait(&kern_of(s)->grace) : 0;
}

void store_kern_preemptible(struct store *s)
{
	if (s->ops == &kern_ops)
		kern_of(s)->grace.preemptible = true;
}

void store_kern_quiet(struct store *s)
{
	if (s->ops == &kern_ops)
		kern_of(s)->quiet = true;
}

/* Adds the elements of a map of cells, summed over CPUs and shards. */
static void sum_cells(const struct plan_global *pg,
		      const struct kern_rows *rows, struct store_batch *b)
{
	size_t step = (size_t)pg->part.size * pg->shards, i;
	/* The last cell of rows->value_size is whole: the plan rounds to 8. */
	unsigned cpu, cpus = (unsigned)(rows->value_size / step);
	const uint8_t *v;
	uint8_t *e;

	for (i = 0; i < rows->n; i++) {
		e = b->elems + b->n++ * b->stride;
		memcpy(e, kern_rows_key(rows, i), pg->key.size);
		v = kern_rows_value(rows, i);
		for (cpu = 0; cpu < cpus; cpu++, v += step)
			store_sum_shards(pg, v, (uint64_t *)(e + pg->key.size));
	}
}

/* Bytes that reading an element's value gives. */
static size_t cells_size(const struct kern_store *k,
			 const struct plan_global *pg, enum map_kind kind)
{
	size_t size = k->s.plan->maps.v[pg->map].value_size;

	return kind == PM_PERCPU_HASH ? size * k->s.plan->ncpus : size;
}

/*
 * Moves what a bank's map and hot entries hold to the totals. Nobody adds to
 * this bank any more, so what was read is all there is, and deleting exactly
 * that empties the map.
 */
static int drain_map(struct kern_store *k, unsigned g, unsigned bank)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	int fd = k->bank_fd[pg->map][bank];
	struct store_batch b;
	struct kern_rows rows;
	int rc;

	rc = kern_map_read(fd, pg->key.size,
			   cells_size(k, pg, k->s.plan->maps.v[pg->map].inner),
			   &rows);
	if (!rc) {
		store_batch_init(&b, &k->s, g, rows.n);
		sum_cells(pg, &rows, &b);
		store_take_hot(&k->s, g, bank, &b);
		store_merge_batch(&k->s, g, &b);
	}
	if (!rc && rows.n)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

/*
 * Moves the octaves of a bank's grids. Keys are the aggregate's key and then
 * the octave's number.
 */
static int drain_grid(struct kern_store *k, unsigned g, int fd)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	struct kern_rows rows;
	const uint8_t *key;
	uint64_t octave;
	size_t i;
	int rc;

	rc = kern_map_read(fd, pg->key.size + 8, GRID_SUB * 8, &rows);
	for (i = 0; !rc && i < rows.n; i++) {
		key = kern_rows_key(&rows, i);
		memcpy(&octave, key + pg->key.size, 8);
		settled_merge_octave(k->s.settled[g], key, octave,
			(const uint64_t *)kern_rows_value(&rows, i));
	}
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

/* What sorting needs to know. */
struct key_order {
	const struct plan_key *key;
	const struct kern_rows *rows;
};

static int by_key(const void *a, const void *b, void *ctx)
{
	const struct key_order *o = ctx;

	return store_key_compare(o->key,
				 kern_rows_key(o->rows, *(const size_t *)a),
				 kern_rows_key(o->rows, *(const size_t *)b));
}

/*
 * Copies a live map in key order. So that keys that are new come in the same
 * order on every run.
 */
static int copy_map(struct kern_store *k, unsigned g)
{
	const struct plan_global *pg = &k->s.plan->globals[g];
	struct kern_rows rows;
	struct key_order o = { &pg->key, &rows };
	struct live *l = k->s.live[g];
	size_t i, *order;
	int rc;

	rc = kern_map_read(k->s.map_fd[pg->map], pg->key.size,
			   cells_size(k, pg, PM_HASH), &rows);
	if (!rc) {
		order = xcalloc(rows.n + 1, sizeof(*order));
		for (i = 0; i < rows.n; i++)
			order[i] = i;
		qsort_r(order, rows.n, sizeof(*order), by_key, &o);
		for (i = 0; i < rows.n; i++) {
			const uint8_t *key = kern_rows_key(&rows, order[i]);
			const uint8_t *v = kern_rows_value(&rows, order[i]);

			live_copy(l, key, v, pg->shards,
				  (size_t)pg->shards * pg->cell.size);
			if (pg->host_cell)
				live_copy_host(l, key, (const uint64_t *)
						       (v + plan_host_off(pg)));
		}
		free(order);
	}
	kern_rows_free(&rows);
	return rc;
}

/* One keyed aggregate's part of a drain; scalars are in the rows. */
static int drain_global(struct kern_store *k, unsigned g, unsigned bank)
{
	const struct plan *p = k->s.plan;
	const struct plan_global *pg = &p->globals[g];
	int rc;

	if (!store_is_agg(pg) || !pg->key.n || !store_has_map(&k->s, pg))
		return 0;
	/* A live map has both banks' cells in each element. */
	if (store_is_live(pg)) {
		rc = copy_map(k, g);
		if (rc || !store_live_torn(&k->s, g))
			return rc;
		store_copy_live(&k->s, g, bank);
		return copy_map(k, g);
	}
	rc = drain_map(k, g, bank);
	/* After the elements: an octave is added to its element. */
	if (!rc && pg->grid_map != UINT32_MAX)
		rc = drain_grid(k, g, k->bank_fd[pg->grid_map][bank]);
	if (pg->early)
		store_emptied(&k->s, pg, bank);
	return rc;
}

static int kern_drain(struct store *s)
{
	struct kern_store *k = kern_of(s);
	struct control *c = (struct control *)s->control;
	unsigned g, bank = c->bank & 1;
	int rc = 0;

	/* One store moves all programs and all aggregates to the other bank:
	 * what is drained describes one instant. */
	__atomic_store_n(&c->bank, bank ^ 1, __ATOMIC_SEQ_CST);
	if (!k->quiet)
		rc = store_kern_grace(s);
	/*
	 * The bank was flipped but nothing was moved: its samples wait there
	 * until the next flip but one, and are not lost.
	 */
	if (rc)
		return rc;
	store_drain_rows(s, bank);
	for (g = 0; !rc && g < s->plan->nglobals; g++)
		rc = drain_global(k, g, bank);
	return rc;
}

/*
 * A program that holds an element which is deleted meanwhile adds to memory
 * that nobody reads: such a sample came before the delete.
 */
static int kern_live_del(struct store *s, unsigned g, const void *key)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct kern_rows rows;
	int rc, fd;

	fd = s->map_fd[pg->map];
	if (key) {
		rc = bpf_map_delete_elem(fd, key);
		return rc == -ENOENT ? 0 : rc;
	}
	rc = kern_map_read(fd, pg->key.size,
			   cells_size(kern_of(s), pg, PM_HASH), &rows);
	if (!rc)
		rc = kern_map_delete(fd, &rows);
	kern_rows_free(&rows);
	return rc;
}

static int kern_live_add(struct store *s, unsigned g, const void *key,
			 const uint64_t *was, int64_t v)
{
	const struct plan_global *pg = &s->plan->globals[g];
	struct kern_cell **c = &kern_of(s)->cell[g];

	if (!*c)
		*c = kern_cell_new(s->map_fd[pg->map], pg);
	return kern_cell_add(*c, key, was, v);
}

static const struct store_ops kern_ops = {
	.name = "kernel",
	.close = kern_close_store,
	.get = kern_get,
	.set = kern_set,
	.add = kern_add,
	.del = kern_del,
	.snapshot = kern_snapshot,
	.ready = kern_ready,
	.freeze = kern_freeze,
	.thaw = kern_thaw,
	.clear = kern_clear,
	.drain = kern_drain,
	.live_del = kern_live_del,
	.live_add = kern_live_add,
};
