/* SPDX-License-Identifier: MIT */
/*
 * Where all memory lives. Reasons for the containers are in
 * docs/design/aggregates.md; in short, per-CPU maps while an element times the
 * CPUs is small, and nothing in the kernel that kernel probes do not touch.
 */
#include "ir/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/map.h"
#include "ir/util.h"
#include "stat/grid.h"

enum {
	PERCPU_BYTES = 1024,	 /* element * CPUs: PERCPU_HASH pays */
	BANK_BYTES = 64 << 20,	 /* more in a bank's map: drained early */
	ENTRIES_MIN = 4096,	 /* but not with fewer entries than that */
	SHARDS_MAX = 8,
	SHARD_BYTES = 1024,	 /* all shards of an element */
	HOT_WAYS = 16,		 /* hot entries of a program and a CPU */
	HOT_BYTES = 2048,	 /* of all of them: in the first-level cache */
	HOT_KEY = 64,		 /* bytes of a key worth comparing */
	HOT_BANK = 1 << 20,	 /* bytes of all programs and CPUs */
	LIVE_CELL = 4096,	 /* of which kernel handlers read fields */
	VALUE_MAX = 4 * 1024 * 1024 - 4096, /* the kernel's, with the key */
	LINE = 64,
	SCRATCH_SLOTS = 3,	 /* task, interrupt, NMI */
	SCRATCH_MAX = 64 * 1024,
	NUMBERS_ON_STACK = 160,	 /* bytes: more may push others off it */
	RING_IDLE = 64 * 1024,	 /* errors and exit() only */
	RING_BUSY = 1024 * 1024,
};

/* What kernel code does with a global. */
struct use {
	bool touched;	/* at all */
	bool fed;	/* by <<< */
	bool preempted;	/* by a probe that runs on top of itself */
	unsigned nprobes; /* that feed it */
	bool host_fed;	/* by <<< of handlers that run on the host */
	uint8_t *feeds;	/* by probe index */
};

struct planner {
	struct compile *c;
	struct ir *ir;
	struct plan *p;
	struct use *use; /* by global index */
	bool busy_ring;
	bool loops;	/* handlers have loops, or wait for locks in one */
	uint32_t scratch;
};

/* unit need not be a power of two. */
static uint32_t round_to(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Possible CPUs, not those online: one may come online during the run. */
static unsigned count_cpus(void)
{
	struct cpus possible;
	unsigned n = 0;

	/* CPU numbers index the rows: the last one counts. */
	if (cpus_read("possible", &possible))
		n = cpus_end(&possible);
	if (!n) {
		long conf = sysconf(_SC_NPROCESSORS_CONF);

		n = conf > 0 ? (unsigned)conf : 1;
	}
	return n < CPUS_MAX ? n : CPUS_MAX;
}

/* --- what the code does --------------------------------------------------- */

/* Who feeds what decides about cells, banks and atomic additions. */
static void scan_ins(struct planner *k, const struct ir_func *f,
		     const struct ir_ins *i)
{
	struct use *u;

	if (i->op == OP_PRINT || i->op == OP_RESUME)
		k->busy_ring = true;
	if (i->op == OP_LOOP || i->op == OP_LOCK)
		k->loops = true;
	if (!i->global)
		return;
	u = &k->use[i->global->index];
	u->touched = true;
	if (i->op != OP_SADD || !f->probe)
		return;
	u->fed = true;
	if (!u->feeds[f->probe->index]) {
		u->feeds[f->probe->index] = 1;
		u->nprobes++;
	}
	if (f->probe->guard == GUARD_PREEMPTIBLE)
		u->preempted = true;
}

/*
 * Bytes of temporaries an instruction may need for key, value or record. An
 * upper bound: gen/ may need less.
 */
static uint32_t temporaries(const struct ir_func *f, const struct ir_ins *i)
{
	uint32_t n = i->has_dst ? f->regs.v[i->dst].width : 0;

	if (i->fmt)
		n += i->fmt->size + 64;
	if (i->global) {
		for (int k = 0; k < i->global->arity; k++)
			n += i->global->key_width[k];
		n += i->global->width + 64;
	}
	for (unsigned k = 0; k < i->nargs; k++)
		n += val_width(f, &i->args[k]) + 8;
	/* all counts and an account */
	if (i->builtin && i->builtin->id >= BI_PERF_READ &&
	    i->builtin->id <= BI_PERF_DROP)
		n += 64 + 2 * 8 * COUNTERS_MAX;
	return n;
}

/* Live aggregates have a cell for the host's own samples. */
static void scan_host(struct planner *k, const struct ir_func *f)
{
	for (struct ir_block *b = f->blocks; b; b = b->next)
		for (struct ir_ins *i = b->first; i; i = i->next)
			if (i->op == OP_SADD)
				k->use[i->global->index].host_fed = true;
}

/* Also finds the most scratch memory that a handler needs. */
static void scan(struct planner *k)
{
	unsigned nprobes = k->ir->prog->probes.n;

	for (unsigned g = 0; g < k->p->nglobals; g++)
		k->use[g].feeds = arena_alloc(k->c->a, nprobes + 1);
	for (unsigned n = 0; n < k->ir->funcs.n; n++) {
		const struct ir_func *f = k->ir->funcs.v[n];
		uint32_t strings = 0, numbers = 0, most = 0;

		if (f->place != PLACE_KERNEL) {
			scan_host(k, f);
			continue;
		}
		for (unsigned r = 0; r < f->regs.n; r++)
			if (f->regs.v[r].is_str)
				strings += f->regs.v[r].width;
			else
				numbers += 8;
		/* Numbers go there only when the stack is full of them. */
		if (numbers > NUMBERS_ON_STACK)
			strings += numbers;
		for (struct ir_block *b = f->blocks; b; b = b->next) {
			for (struct ir_ins *i = b->first; i; i = i->next) {
				uint32_t t = temporaries(f, i);

				scan_ins(k, f, i);
				most = t > most ? t : most;
			}
		}
		/* Loop bodies take theirs from the same slot: a sum is safe. */
		if (f->kind == IR_LOOP_BODY)
			k->scratch += most + (numbers > NUMBERS_ON_STACK ?
						  numbers : 0);
		else if (strings + most > k->scratch)
			k->scratch = strings + most;
	}
}

/* --- globals -------------------------------------------------------------- */

/*
 * Keys one after the other, numbers 8 bytes, strings at their width, all of it
 * zero-padded: equal keys are equal bytes.
 */
static void plan_keys(struct plan_key *key, const struct var *v)
{
	key->n = v->arity > 0 ? (unsigned)v->arity : 0;
	for (unsigned i = 0; i < key->n; i++) {
		key->is_str[i] = v->key_type[i] == TY_STRING;
		key->width[i] = key->is_str[i] && v->key_width[i] ?
				v->key_width[i] : 8;
		key->off[i] = key->size;
		key->size += key->width[i];
	}
}

static uint32_t add_map(struct planner *k, struct plan_map m)
{
	vec_push(k->c->a, &k->p->maps, m);
	return k->p->maps.n - 1;
}

/* Kernel names have 15 bytes at most. */
static const char *map_name(struct planner *k, const struct var *v)
{
	return arena_strndup(k->c->a, v->name, 15);
}

bool plan_reads(enum stat_op op)
{
	return op == STAT_COUNT || op == STAT_SUM || op == STAT_MIN ||
	       op == STAT_MAX || op == STAT_AVG;
}

static struct cell layout_of(const struct var *v)
{
	return cell_layout(v->agg.ops, v->agg.hist, v->agg.lo, v->agg.hi,
			   v->agg.step);
}

bool plan_is_live(const struct var *v)
{
	/* Only the host can drop the oldest key of a wrapping array; and where
	 * all cells of all CPUs are large, handlers cannot walk them. */
	return v->type == TY_STATS && v->mode == AGG_LIVE && !v->wrap &&
	       layout_of(v).size <= LIVE_CELL;
}

/* Copies of a shared cell, so that many CPUs do not wait for one cache line. */
static unsigned shards(unsigned ncpus, uint32_t cell)
{
	unsigned n = 1;

	while (n < SHARDS_MAX && n * 8 <= ncpus && n * 2 * cell <= SHARD_BYTES)
		n *= 2;
	return n;
}

/* Halves a map's entries until a bank is not senselessly large: the totals on
 * the host keep what it has no room for. */
static bool shrink(const struct planner *k, struct plan_map *m)
{
	uint32_t asked = m->max_entries;

	while (m->max_entries / 2 >= ENTRIES_MIN &&
	       plan_hash_bytes(m, m->inner, k->p->ncpus) > BANK_BYTES)
		m->max_entries /= 2;
	return m->max_entries < asked;
}

/* Two words by which programs know that there is no room. */
static void plan_full(struct plan *p, struct plan_global *g)
{
	g->full_off = p->control_size;
	p->control_size += 16;
}

/*
 * The octaves of the grid that the keys' samples touch. A key's samples are
 * mostly within a few octaves, so six are planned for each.
 */
static void plan_grid(struct planner *k, struct plan_global *g)
{
	uint64_t n = (uint64_t)g->entries * PLAN_OCTAVES;
	struct plan_map m = {
		.name = map_name(k, g->var), .key_size = g->key.size + 8,
		.value_size = GRID_SUB * 8, .global = g->var,
		.kind = PM_BANKS, .inner = PM_HASH,
		.max_entries = n < INT32_MAX ? (uint32_t)n : INT32_MAX,
	};

	shrink(k, &m);
	g->grid_map = add_map(k, m);
	g->early = true;
}

/*
 * A hot entry is written by plain loads and stores, so only by programs that
 * cannot run on top of themselves; and it is flushed by adding word by word,
 * which buckets are too many for. A full array that is to be an error must be
 * noticed at the sample, not at the flush.
 */
static bool can_be_hot(const struct planner *k, const struct plan_global *g)
{
	const struct cell *l = &g->part;

	return !g->live && g->grid_map == UINT32_MAX && !l->has[CF_HIST] &&
	       !l->has[CF_HLL] && g->key.size <= HOT_KEY &&
	       !k->c->set.limit[LIMIT_STP_STRICT_OVERFLOW];
}

static void plan_hot(struct planner *k, struct plan_global *g,
		     const struct use *u)
{
	struct plan *p = k->p;
	const struct program *prog = k->ir->prog;
	unsigned n = prog->probes.n, nhot = 0, ways = HOT_WAYS;
	bool *hot = arena_array(k->c->a, bool, n + 1);

	g->hot = arena_array(k->c->a, uint32_t, n + 1);
	memset(g->hot, 0xff, sizeof(*g->hot) * (n + 1));
	if (!can_be_hot(k, g))
		return;
	g->hot_size = g->part.size + g->key.size;
	for (unsigned i = 0; i < n; i++) {
		hot[i] = u->feeds[i] &&
			 prog->probes.v[i]->guard != GUARD_PREEMPTIBLE;
		nhot += hot[i];
	}
	/* fewer where keys are long, or programs and CPUs many */
	while (ways && (ways * g->hot_size > HOT_BYTES ||
			(uint64_t)ways * g->hot_size * nhot * p->nrows >
				HOT_BANK))
		ways /= 2;
	if (!nhot)
		ways = 0;
	g->hot_ways = ways;
	for (unsigned i = 0; ways && i < n; i++)
		if (hot[i])
			g->hot[i] = 0; /* place_hot() */
}

/* Behind all cells of all globals: those that are few and small stay close to
 * each other, and within reach of an instruction's offset. */
static void place_hot(struct planner *k)
{
	struct plan *p = k->p;

	for (unsigned n = 0; n < p->nglobals; n++) {
		struct plan_global *g = &p->globals[n];

		for (unsigned i = 0; g->hot_ways && i < k->ir->prog->probes.n;
		     i++) {
			if (g->hot[i] == UINT32_MAX)
				continue;
			g->hot[i] = p->bank_size;
			p->bank_size += g->hot_ways * g->hot_size;
		}
	}
}

/* Which of its words tell a carry, or keep the larger of two? */
static bool fetches(const struct cell *l)
{
	return l->has[CF_SUM_HI] || l->has[CF_MIN] || l->has[CF_MAX] ||
	       l->has[CF_SQ] || l->has[CF_HLL];
}

/*
 * Without fetching atomics a cell of such words belongs to one program and one
 * CPU, whatever memory that takes.
 */
static void share_out(struct planner *k, struct plan_global *g,
		      const struct use *u)
{
	g->by_program = true;
	g->shards = 0;
	for (unsigned i = 0; i < k->ir->prog->probes.n; i++)
		if (u->feeds[i])
			g->slot[i] = g->shards++;
	if (!g->shards)
		g->shards = 1;
}

static void explain_keyed(struct planner *k, struct plan_global *g,
			  const struct use *u, bool percpu)
{
	g->why = arena_printf(k->c->a, "%s%s, %u shard%s: %u bytes on %u CPUs; "
		"%s%s%s%s%s", g->live ? "live: kernel handlers read it; " : "",
		percpu ? "per-CPU hash" : "shared hash", g->shards,
		g->shards > 1 ? "s" : "", g->part.size, k->p->ncpus,
		g->host_cell ? "a cell for what the host feeds; " : "",
		g->early ? "drained early; " : "",
		g->grid_map != UINT32_MAX ? "grid by octaves; " : "",
		g->hot_ways ? "last keys in rows; " : "",
		g->by_program ? "plain adds: a cell per probe and CPU" :
		!percpu ? "atomic: CPUs share elements" :
		u->preempted ? "atomic: a feeding probe can be preempted" :
		u->nprobes > 1 ? "atomic: several probes feed it" :
		"plain adds: one probe that never runs on itself");
}

/* A keyed aggregate that kernel probes touch. */
static bool plan_keyed(struct planner *k, struct plan_global *g,
		       const struct use *u)
{
	const struct var *v = g->var;
	struct plan *p = k->p;
	bool percpu;
	struct plan_map m = {
		.name = map_name(k, v), .key_size = g->key.size,
		.global = g->var, .max_entries = g->entries,
	};

	g->part = g->live ? g->cell : cell_without_grid(&g->cell);
	/*
	 * Per-CPU elements need no atomic additions and share no cache line,
	 * but each takes the memory of all CPUs.
	 */
	percpu = (uint64_t)g->part.size * p->ncpus <= PERCPU_BYTES && !g->live;
	if (k->c->set.lacks.fetch && !g->live && fetches(&g->part)) {
		share_out(k, g, u);
		percpu = true;
	}
	if (g->key.size + g->part.size > VALUE_MAX) {
		complain(k->c, VALUE_TOO_BIG, &v->span, v->name,
			 g->key.size + g->part.size, (unsigned)VALUE_MAX);
		return false;
	}
	if (!g->by_program)
		g->shards = percpu ? 1 : shards(p->ncpus, g->part.size);
	g->host_cell = g->live && u->host_fed;
	m.value_size = g->part.size * plan_cells(g);
	m.inner = percpu ? PM_PERCPU_HASH : PM_HASH;
	m.kind = g->live ? PM_HASH : PM_BANKS;
	if (!g->live) {
		plan_full(p, g);
		g->early = shrink(k, &m) || v->wrap;
	}
	g->map = add_map(k, m);
	if (g->part.size < g->cell.size)
		plan_grid(k, g);
	g->atomic = !g->by_program &&
		    (!percpu || u->nprobes > 1 || u->preempted);
	if (g->early) {
		p->early = true;
		g->fill_off = p->control_size;
		p->control_size += 4 * 8;
	}
	plan_hot(k, g, u);
	explain_keyed(k, g, u, percpu);
	return true;
}

/*
 * A scalar has cells in the rows, one for each program that feeds it; an array
 * has a map, and one "other" cell in each row.
 */
static bool plan_aggregate(struct planner *k, struct plan_global *g,
			   const struct use *u)
{
	struct plan *p = k->p;
	const struct var *v = g->var;
	unsigned nprobes = k->ir->prog->probes.n;

	g->cell = layout_of(v);
	g->part = g->cell;
	g->grid_map = UINT32_MAX;
	/* Totals have room for as many keys, whatever the map holds. */
	g->entries = v->size ? (uint32_t)v->size :
		     (uint32_t)k->c->set.limit[LIMIT_MAXMAPENTRIES];
	g->shards = 1;
	g->live = plan_is_live(v) && u->touched;
	if (g->live) {
		g->deletes_off = p->control_size;
		p->control_size += 8;
	}
	/* All ones: UINT32_MAX, no cell. */
	g->slot = arena_array(k->c->a, uint32_t, nprobes + 1);
	memset(g->slot, 0xff, sizeof(*g->slot) * (nprobes + 1));
	g->other_off = UINT32_MAX;
	if (g->key.n) {
		if (!u->touched) {
			g->why = "host memory: no kernel probe uses it";
			return true;
		}
		if (!plan_keyed(k, g, u))
			return false;
		g->other_off = p->bank_size;
		p->bank_size += g->cell.size * (g->by_program ? g->shards : 1);
		return true;
	}
	for (unsigned i = 0; i < nprobes; i++) {
		if (!u->feeds[i])
			continue;
		g->slot[i] = p->bank_size;
		p->bank_size += g->cell.size;
	}
	if (g->live && u->host_fed) {
		g->slot[nprobes] = p->bank_size;
		p->bank_size += g->cell.size;
	}
	g->atomic = u->preempted;
	g->why = !g->live && !u->fed ? "host memory: no kernel probe feeds it" :
		 arena_printf(k->c->a, "%sa cell per probe and CPU; %s",
			      g->live ? "live: kernel handlers sum " : "",
			      u->preempted ? "atomic where the probe can be "
					     "preempted" :
			      "plain adds: no other program writes it");
	return true;
}

static void plan_plain_array(struct planner *k, struct plan_global *g,
			     const struct use *u)
{
	const struct var *v = g->var;
	struct plan_map m = {
		.name = map_name(k, v), .kind = PM_HASH,
		.key_size = g->key.size, .global = g->var,
		.value_size = sizeof(struct plain_value) + g->value_width,
		.max_entries = v->size ? v->size :
			       k->c->set.limit[LIMIT_MAXMAPENTRIES],
	};

	if (!u->touched) {
		g->why = "host memory: no kernel probe uses it";
		return;
	}
	g->map = add_map(k, m);
	plan_full(k->p, g);
	g->why = "shared hash";
}

/* Scalars are words of CONTROL, in the order of the globals. */
static bool plan_one(struct planner *k, struct var *v)
{
	struct plan_global *g = &k->p->globals[v->index];
	const struct use *u = &k->use[v->index];

	g->var = v;
	g->map = g->full_off = UINT32_MAX;
	g->lock_group = UINT32_MAX;
	if (k->ir->lock_of && k->ir->lock_of[v->index])
		g->lock_group =
		    (unsigned)__builtin_ctz(k->ir->lock_of[v->index]);
	g->other_off = UINT32_MAX;
	g->value_width = v->type == TY_STRING && v->width ? v->width : 8;
	plan_keys(&g->key, v);
	if (v->type == TY_STATS)
		return plan_aggregate(k, g, u);
	if (g->key.n) {
		plan_plain_array(k, g, u);
		return true;
	}
	g->off = k->p->control_size;
	k->p->control_size += round_to(g->value_width, 8);
	if (g->lock_group != UINT32_MAX) {
		g->frozen_off = k->p->control_size;
		k->p->control_size += round_to(g->value_width, 8);
	}
	g->why = "a word of the shared page";
	return true;
}

/* --- all of it ------------------------------------------------------------ */

/*
 * Offsets inside a row, each area on a cache line: what one CPU writes is not
 * near what another one does.
 */
static void place_rows(struct plan *p, uint32_t scratch)
{
	uint32_t n = p->scratch_off;

	p->scratch_size = scratch ? round_to(scratch, LINE) + LINE : 0;
	if (p->scratch_size > SCRATCH_MAX)
		p->scratch_size = SCRATCH_MAX;
	p->scratch_slots = p->scratch_size ? SCRATCH_SLOTS : 0;
	n += p->scratch_slots * (p->scratch_size + 8);
	p->bank_off = round_to(n, LINE);
	p->bank_size = round_to(p->bank_size, LINE);
	p->row_size = round_to(p->bank_off + 2 * p->bank_size, LINE);
	if (!p->row_size)
		p->row_size = LINE;
	p->maps.v[MAP_ROWS].value_size = p->row_size * p->nrows;
}

static void plan_rows(struct planner *k)
{
	struct plan *p = k->p;

	unsigned n = k->ir->prog->probes.n;

	p->counts_off = 0;
	p->times_off = n * (uint32_t)sizeof(struct probe_counts);
	p->scratch_off = p->times_off;
	/* The clock of a file of events stands still while a handler runs. */
	p->timed = k->c->set.timing && k->c->set.runtime != RUNTIME_VM;
	if (p->timed)
		p->scratch_off += round_to(n * sizeof(struct probe_times),
					   LINE);
	place_rows(p, k->scratch);
	p->maps.v[MAP_CONTROL].value_size = p->control_size;
}

void plan_shrink_scratch(struct plan *p, uint32_t needed)
{
	const struct plan_map *rows = &p->maps.v[MAP_ROWS];
	uint64_t before = plan_map_bytes(p, rows);

	if (needed + LINE >= p->scratch_size)
		return;
	place_rows(p, needed);
	p->total_bytes -= before - plan_map_bytes(p, rows);
}

/*
 * The first four maps are in every plan, in this order: their numbers are
 * constants. Sizes are filled in as they become known.
 */
static void plan_areas(struct planner *k)
{
	static const struct plan_map area[MAP_FIRST_ARRAY] = {
		[MAP_CONTROL] = {.name = "control", .kind = PM_ARRAY_MMAP},
		[MAP_ROWS] = {.name = "rows", .kind = PM_ARRAY_MMAP},
		[MAP_RODATA] = {.name = "rodata", .kind = PM_ARRAY_RDONLY},
		[MAP_RING] = {.name = "ring", .kind = PM_RINGBUF},
	};

	for (unsigned i = 0; i < MAP_FIRST_ARRAY; i++) {
		struct plan_map m = area[i];

		m.key_size = i == MAP_RING ? 0 : 4;
		m.max_entries = 1;
		if (i == MAP_RODATA)
			m.value_size = 8;
		if (i == MAP_RING)
			m.max_entries = k->p->ring_bytes;
		add_map(k, m);
	}
}

/* Accounts are bounded as arrays are: a full map is told to the script. */
static void plan_counters(struct planner *k)
{
	uint32_t n = k->ir->prog->counters.n;
	struct plan_map events = {
		.name = "perf_events", .kind = PM_PERF_EVENTS, .key_size = 4,
		.value_size = 4, .max_entries = n * k->p->ncpus,
	};
	struct plan_map accounts = {
		.name = "perf_accounts", .kind = PM_HASH, .key_size = 8,
		.value_size = (uint32_t)sizeof(struct perf_account) + 8 * n,
		.max_entries =
			(uint32_t)k->c->set.limit[LIMIT_MAXMAPENTRIES],
	};

	k->p->perf_map = k->p->accounts_map = UINT32_MAX;
	/* an event file says what they are at */
	if (!n || k->c->set.runtime == RUNTIME_VM)
		return;
	k->p->perf_map = add_map(k, events);
	k->p->accounts_map = add_map(k, accounts);
}

/*
 * Each round of a loop counts a statement at least, so as many rounds as
 * MAXACTION allows are enough; waiting for a lock takes its 1 ms in some
 * 20,000. An element takes 8 bytes.
 */
static void plan_turns(struct planner *k)
{
	enum { LEAST = 1 << 15, MOST = 1 << 20 };
	int64_t n = k->c->set.limit[LIMIT_MAXACTION_INTERRUPTIBLE];
	struct plan_map m = {
		.name = "turns", .kind = PM_TURNS, .key_size = 4,
		.value_size = 8,
	};

	k->p->turns_map = UINT32_MAX;
	if (!k->loops || !k->c->set.lacks.loop || k->c->set.lacks.each)
		return;
	m.max_entries = n < LEAST ? LEAST : n < MOST ? (uint32_t)n + 1 : MOST;
	k->p->turns_map = add_map(k, m);
}

/*
 * nrows is rounded up to a power of two, so that a program finds its row with a
 * mask the verifier understands.
 */
struct plan *plan_make(struct compile *c, struct ir *ir, unsigned ncpus)
{
	struct plan *p = arena_new_of(c->a, struct plan);
	struct planner k = {.c = c, .ir = ir, .p = p};
	bool ok = true;

	p->ncpus = ncpus ? ncpus : count_cpus();
	for (p->nrows = 1; p->nrows < p->ncpus;)
		p->nrows *= 2;
	p->nglobals = ir->prog->globals.n;
	p->globals = arena_array(c->a, struct plan_global, p->nglobals + 1);
	p->control_size = sizeof(struct control);
	k.use = arena_array(c->a, struct use, p->nglobals + 1);
	scan(&k);
	p->ring_bytes = k.busy_ring ? RING_BUSY : RING_IDLE;
	plan_areas(&k);
	for (unsigned i = 0; i < p->nglobals; i++)
		ok &= plan_one(&k, ir->prog->globals.v[i]);
	plan_counters(&k);
	plan_turns(&k);
	place_hot(&k);
	plan_rows(&k);
	return ok && plan_fits(c, p) ? p : NULL;
}

/*
 * Equal bytes are stored once: the same literal or table is often used by
 * several handlers.
 */
uint32_t plan_rodata(struct compile *c, struct plan *p, const void *bytes,
		     uint32_t n)
{
	uint32_t off, size = round_to(n ? n : 1, 8);
	uintptr_t known; /* offset + 1 */

	if (!p->rodata_at)
		p->rodata_at = map_new(c->a);
	known = (uintptr_t)map_get_bytes(p->rodata_at, bytes, n);
	if (known)
		return (uint32_t)known - 1;
	off = p->rodata_size;
	map_set_bytes(p->rodata_at, bytes, n, (void *)((uintptr_t)off + 1));
	if (off + size > p->rodata_cap) {
		uint32_t cap = p->rodata_cap ? p->rodata_cap * 2 : 4096;

		while (cap < off + size)
			cap *= 2;
		p->rodata = arena_grow(c->a, p->rodata, off, cap);
		p->rodata_cap = cap;
	}
	memcpy(p->rodata + off, bytes, n);
	p->rodata_size = off + size;
	p->maps.v[MAP_RODATA].value_size = p->rodata_size;
	return off;
}
