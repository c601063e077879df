/* SPDX-License-Identifier: MIT */
/*
 * Globals in kernel maps. CONTROL and ROWS are mapped: scalars are read and
 * written without system calls. Arrays are hashes; arrays of aggregates are
 * pairs of them in an ARRAY_OF_MAPS, indexed by control.bank.
 */
#include "store/kern_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "store/kern.h"
#include "store/sysbpf.h"

/* --- making maps --------------------------------------------------------- */

/*
 * Preallocated (no BPF_F_NO_PREALLOC): inserting allocates nothing, which would
 * cost microseconds and may fail in a handler.
 */
static int create_hash(enum map_kind kind, const struct plan_map *m)
{
	return sysbpf_map(kind == PM_PERCPU_HASH ? BPF_MAP_TYPE_PERCPU_HASH
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
	fd = sysbpf_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, m->name, 4, 4, 2, 0,
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
	fd = sysbpf_map(BPF_MAP_TYPE_ARRAY, "rodata", 4, size, 1,
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

/* The list of maps owns the descriptor, *m only the mapping. */
static int create_mapped(struct mapped *m, const char *name, size_t size)
{
	int fd, rc = mapped_open(m, name, (uint32_t)size);

	if (rc)
		return rc;
	fd = m->fd;
	m->fd = -1;
	return fd;
}

static int create_map(struct kern_store *k, unsigned i)
{
	const struct plan *p = k->s.plan;
	const struct plan_map *m = &p->maps.v[i];
	int fd;

	/* The first four are the same for every script (ir/plan.h). */
	switch (i) {
	case MAP_CONTROL:
		fd = create_mapped(&k->control, "control", p->control_size);
		k->s.control = k->control.at;
		return fd;
	case MAP_ROWS:
		fd = create_mapped(&k->rows, "rows",
				   (size_t)p->nrows * p->row_size);
		k->s.rows = k->rows.at;
		return fd;
	case MAP_RODATA:
		return create_rodata(p);
	case MAP_RING:
		return sysbpf_map(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
			      p->ring_bytes, 0, 0);
	}
	if (m->kind == PM_BANKS)
		return create_banks(k, i);
	if (m->kind == PM_PERF_EVENTS)
		return sysbpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, m->name,
				  m->key_size, m->value_size, m->max_entries,
				  0, 0);
	if (m->kind == PM_TURNS)
		return sysbpf_map(BPF_MAP_TYPE_ARRAY, m->name, m->key_size,
				  m->value_size, m->max_entries, 0, 0);
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
	mapped_close(&k->control);
	mapped_close(&k->rows);
	grace_close(&k->grace);
	for (i = 0; i < s->plan->nglobals; i++) {
		kern_add_close(&k->global[i].add);
		kern_copy_close(&k->global[i].copy);
		kern_cell_free(k->global[i].cell);
	}
	free(k->global);
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
	k->global = xcalloc(p->nglobals + 1, sizeof(*k->global));
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

/* --- what the session needs ---------------------------------------------- */

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

static const struct store_ops kern_ops = {
	.name = "kernel",
	.close = kern_close_store,
	.get = kern_array_get,
	.set = kern_array_set,
	.add = kern_array_add,
	.del = kern_array_del,
	.snapshot = kern_array_snapshot,
	.ready = kern_array_ready,
	.freeze = kern_array_freeze,
	.thaw = kern_array_thaw,
	.clear = kern_array_clear,
	.drain = kern_agg_drain,
	.live_del = kern_agg_live_del,
	.live_add = kern_agg_live_add,
};
