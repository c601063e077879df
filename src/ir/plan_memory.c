/* SPDX-License-Identifier: MIT */
/* How much memory a plan takes, and whether it may. */
#include <unistd.h>

#include "base/cgroup.h"
#include "ir/plan.h"

enum {
	/*
	 * Estimates: what matters is the order of magnitude before maps are
	 * made.
	 */
	HASH_OVERHEAD = 48, /* of an element of a kernel map, in bytes */
	HOST_OVERHEAD = 32, /* of an element of the totals */
	PAGE = 4096,
};

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

uint64_t plan_hash_bytes(const struct plan_map *m, enum map_kind kind,
			 unsigned ncpus)
{
	uint64_t value = round_up(m->value_size, 8);
	uint64_t one = HASH_OVERHEAD + round_up(m->key_size, 8);
	uint64_t buckets = 1;

	/* The kernel rounds the number of buckets up to a power of two. */
	while (buckets < m->max_entries)
		buckets *= 2;
	one += kind == PM_PERCPU_HASH ? 8 + value * ncpus : value;
	return one * m->max_entries + buckets * 16;
}

/* Of its values, and of what the kernel keeps with them. */
uint64_t plan_map_bytes(const struct plan *p, const struct plan_map *m)
{
	switch (m->kind) {
	case PM_RINGBUF:
		return m->max_entries;
	case PM_HASH:
	case PM_PERCPU_HASH:
		return plan_hash_bytes(m, m->kind, p->ncpus);
	case PM_BANKS:
		return 2 * plan_hash_bytes(m, m->inner, p->ncpus);
	case PM_TURNS:
		return (uint64_t)m->value_size * m->max_entries;
	default:
		return m->value_size;
	}
}

/*
 * The totals of a full array in this process. Unlike maps they grow with the
 * keys; a grid's pages that no sample touches take no memory, so it counts for
 * a page before it, and those of the octaves that a key is taken to use.
 */
static uint64_t totals_bytes(const struct plan_global *g)
{
	uint64_t cell = g->cell.size;

	if (g->cell.has[CF_GRID] && cell > 3 * PAGE)
		cell = 3 * PAGE;
	return (uint64_t)g->entries * (HOST_OVERHEAD + g->key.size + cell);
}

/*
 * From here on the control group's limit counts as well. All of it may be used:
 * a container is often made for one job.
 */
enum { ASK_GROUP = 8 << 20 };

/*
 * A quarter of the machine's memory: beyond it, measuring changes what is
 * measured.
 */
static uint64_t limit_bytes(const struct compile *c)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (c->set.limit[LIMIT_MEMORY_MIB])
		return (uint64_t)c->set.limit[LIMIT_MEMORY_MIB] << 20;
	if (pages <= 0 || size <= 0)
		return UINT64_MAX;
	return (uint64_t)pages * (uint64_t)size / 4;
}

static uint64_t mib(uint64_t bytes)
{
	return round_up(bytes, 1 << 20) >> 20;
}

/*
 * The largest global is the one the message points at: making that smaller
 * helps most.
 */
bool plan_fits(struct compile *c, struct plan *p)
{
	const struct var *big = NULL;
	uint64_t most = 0, n, needed;
	struct diag *d;

	p->total_bytes = p->host_bytes = 0;
	for (unsigned i = 0; i < p->maps.n; i++)
		p->total_bytes += plan_map_bytes(p, &p->maps.v[i]);
	for (unsigned i = 0; i < p->nglobals; i++) {
		const struct plan_global *g = &p->globals[i];

		n = 0;
		if (g->map != UINT32_MAX)
			n = plan_map_bytes(p, &p->maps.v[g->map]);
		/* What only the host uses is limited by its elements alone. */
		if (g->map != UINT32_MAX && g->var->type == TY_STATS) {
			p->host_bytes += totals_bytes(g);
			n += totals_bytes(g);
		}
		if (n > most) {
			most = n;
			big = g->var;
		}
	}
	p->limit_bytes = limit_bytes(c);
	needed = p->total_bytes + p->host_bytes;
	/* A small script, as nearly all are, need not ask. */
	if (needed > ASK_GROUP && !c->set.limit[LIMIT_MEMORY_MIB]) {
		n = cgroup_memory();
		if (n < p->limit_bytes)
			p->limit_bytes = n;
	}
	if (needed <= p->limit_bytes)
		return true;
	d = complain(c, MEMORY_LIMIT, big ? &big->span : &(struct span){0},
		     (unsigned long long)mib(needed),
		     (unsigned long long)(p->limit_bytes >> 20));
	diag_help(c->diag, d, "give the array a size, or raise the limit: "
		  "-DMEMORY_MIB=%llu", (unsigned long long)mib(needed));
	return false;
}
