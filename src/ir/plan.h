/* SPDX-License-Identifier: MIT */
/*
 * The memory plan: where every global, cell, counter and map of a program
 * lives. Made once from the ir; gen compiles against it, store creates it (in
 * the kernel or in memory), run and out read by it.
 *
 * Areas
 *   CONTROL  map 0, mmapable array of 1 element: struct control, then the
 *            scalar globals.
 *   ROWS     map 1, mmapable array of 1 element: nrows rows of row_size bytes,
 *            one per possible CPU, nrows a power of two. A row holds, at fixed
 *            offsets: per-probe counters (struct probe_counts), with -t their
 *            times (struct probe_times), scratch slots, then two banks
 *            of aggregate cells. Rows are 64-byte aligned.
 *   RODATA   map 2, frozen array of 1 element: literals and tables.
 *   RING     map 3, ring buffer: records to the host.
 *   4...     one or more per array.
 */
#ifndef IR_PLAN_H
#define IR_PLAN_H

#include "ir/ir.h"
#include "sema/exclusion.h"
#include "stat/cell.h"

enum { MAP_CONTROL, MAP_ROWS, MAP_RODATA, MAP_RING, MAP_FIRST_ARRAY };

/*
 * First bytes of the CONTROL map. 64-byte lines for what probes write.
 * Programs, the VM and the session all read and write it, so its layout is
 * fixed. Fields that handlers write are not on the line of those that all of
 * them read.
 */
struct control {
	uint32_t stop;		/* 1: handlers return at once */
	uint32_t bank;		/* 0 or 1: the bank that probes write */
	uint32_t exiting;	/* exit() was called */
	uint32_t drain;		/* 1: a map fills up, drain it */
	uint64_t start_wall_ns;	/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t target_pid;
	uint64_t pad1[4];
	uint64_t errors;	/* uncaught, in kernel probes; atomic */
	uint64_t skipped;
	uint64_t stamp;		/* of the last plain element made */
	uint64_t vain;		/* monotonic ns: a full wait for a lock ended
				 * in vain; gen/isel_lock.c */
	/* Perf counters (gen/isel_perf.c): times that a thread ran or read
	 * where they could not be had; threads that found no room at their
	 * beginning. */
	uint64_t perf_gaps, perf_late;
	uint64_t pad2[2];
	/* A line each, lock[group][0]: 0 or LOCK_HOST if it is tally's, and in
	 * the low half 1 + the CPU of the holder; [1]: how many waited for it
	 * in vain. */
	uint64_t lock[LOCK_GROUPS][8];
};

#define LOCK_HOST (1ull << 32)

/* Per probe and CPU, plain adds by that probe's program only (atomic if
 * GUARD_PREEMPTIBLE). */
struct probe_counts {
	uint64_t hits;	     /* handler entered */
	uint64_t lock_skips; /* gave up a lock */
	uint64_t nest_skips; /* on top of a holder, or no scratch slot */
	uint64_t map_full;   /* samples to "other", or overflow */
	uint64_t ring_full;  /* records that did not fit */
	uint64_t errors;     /* run-time errors */
	uint64_t stopped;    /* entered after stop was set */
	uint64_t unplaced;   /* extremes or HLL ranks too contended to raise */
};

/*
 * -t: what the probe's handler took on a CPU, in ns of CLOCK_MONOTONIC, which
 * does not go back. All words start at 0, so the least is kept as the most of
 * its inverse.
 */
struct probe_times {
	uint64_t n;	   /* runs that were timed */
	uint64_t ns;	   /* of all of them */
	uint64_t most;
	uint64_t least_inv; /* UINT64_MAX - ns */
};

enum map_kind {
	PM_ARRAY_MMAP,	/* ARRAY of 1 element, BPF_F_MMAPABLE */
	PM_ARRAY_RDONLY,
	PM_RINGBUF,
	PM_HASH,	/* preallocated */
	PM_PERCPU_HASH, /* preallocated */
	PM_BANKS,	/* ARRAY_OF_MAPS of 2 maps of `inner` kind */
	PM_PERF_EVENTS,	/* PERF_EVENT_ARRAY */
	PM_TURNS,	/* ARRAY, whose elements only count */
};

/* A map to be made. The four areas have key_size 4 and one element. */
struct plan_map {
	const char *name; /* of the global, cut to 15 bytes */
	enum map_kind kind, inner;
	uint32_t key_size, value_size, max_entries;
	struct var *global; /* or NULL */
};

/* Layout of an array's key: same in kernel maps and in memory. */
struct plan_key {
	unsigned n;
	bool is_str[KEYS_MAX];
	uint32_t off[KEYS_MAX], width[KEYS_MAX];
	uint32_t size; /* multiple of 8 */
};

/* Value of a plain array's element in a map. */
struct plain_value {
	uint64_t stamp;	  /* order of creation, from control.stamp */
	uint8_t value[];  /* int64_t, or string of the global's width */
};

/*
 * What a thread has counted of the perf counters; gen/isel_perf.c. The key is
 * its number, in 8 bytes.
 */
struct perf_account {
	uint64_t state; /* 0: does not run, 1 + CPU: runs there, or below */
	uint64_t base[]; /* by number of the counter, program.counters */
};
enum {
	PERF_ACCOUNT_GAP = -1, /* runs, uncounted */
	PERF_ACCOUNT_NEW = -2, /* runs, is to be begun */
};

/*
 * A global's place. Which fields are used depends on what it is; the others are
 * 0 or UINT32_MAX.
 */
struct plan_global {
	struct var *var;
	uint32_t off;	      /* scalars: in CONTROL */
	uint32_t frozen_off;  /* locked ones: for ir_func.frozen, a copy */
	struct plan_key key;  /* arrays */
	uint32_t value_width; /* arrays: bytes of the value proper */
	uint32_t map;	      /* arrays: index of the plan_map */
	struct cell cell;     /* aggregates: fields and their offsets */
	/*
	 * Keyed aggregates: the part of the cell that is in the map's values:
	 * all of it, or all but the quantile grid. That is 59 KB, of which an
	 * element touches little, so it has a map of its own: of the keys, then
	 * the number of GRID_SUB buckets (an octave), to their counters.
	 */
	struct cell part;
	uint32_t grid_map;    /* or UINT32_MAX */
	/* The map may fill up before the totals do: the host is told to drain
	 * early. Offsets in CONTROL of the keys in each bank of its map and of
	 * the grid's, two words each. */
	bool early;
	uint32_t fill_off;
	uint32_t entries;     /* keys the totals have room for */
	/* Keyed aggregates: several programs, or preemptible ones, add to a
	 * cell. */
	bool atomic;
	/*
	 * Kernel handlers read it (plan_is_live()): its banks are never
	 * emptied, their sum is what a handler sees at any time.
	 */
	bool live;
	/* Maps: cells in an element's value. Live: a cell per bank. Shards:
	 * a cell for each of so many groups of CPUs, a power of two. */
	unsigned shards;
	/*
	 * Where the kernel has no atomics that fetch, shards are not of CPUs
	 * but of programs: slot[] is a program's number among those that feed
	 * it, and "other" is as many cells.
	 */
	bool by_program;
	/*
	 * Live arrays that handlers on the host feed: an element's value has
	 * one more cell, the last, which only the host writes. Programs read
	 * it as they read their own, and deleting the element takes it along.
	 */
	bool host_cell;
	/*
	 * Live: offset in CONTROL of a word that programs increment before and
	 * after each deletion, so that a copy made meanwhile is noticed.
	 */
	uint32_t deletes_off;
	/*
	 * Arrays in maps: offset in CONTROL of two words by which programs know
	 * that there is no room without trying again; UINT32_MAX: none.
	 * Plain: how often elements were freed, and 1 + that number when an
	 * insertion failed. Aggregates: for each bank, whether one did.
	 */
	uint32_t full_off;
	const char *why;      /* -v: why this container and these updates */
	/* scalar aggregates: offset of the cell in a row's bank, per program;
	 * the last one, in row 0 only, is fed by the host (live ones) */
	uint32_t *slot;	      /* by probe index; UINT32_MAX: no */
	/* Arrays of aggregates: the "other" cell, one per row and bank. */
	uint32_t other_off;
	/*
	 * Hot entries: cells of the keys that a program met last on a CPU, in
	 * the row's bank; a hit needs no map. An entry is a cell of layout
	 * `part`, then its key; empty ones are all zeroes. hot[probe index] is
	 * the offset of the program's first of hot_ways entries, a power of
	 * two, each of hot_size bytes; UINT32_MAX: it has none.
	 */
	uint32_t *hot;
	unsigned hot_ways;    /* 0: no program has any */
	uint32_t hot_size;
	unsigned lock_group;  /* or UINT_MAX */
};

/* Everything about a program's memory; in the compilation's arena. */
struct plan {
	unsigned ncpus;	      /* possible CPUs */
	unsigned nrows;	      /* power of two >= ncpus */
	uint32_t row_size;
	uint32_t counts_off;  /* struct probe_counts[nprobes] */
	/* -t: handlers time themselves; struct probe_times[nprobes] */
	bool timed;
	uint32_t times_off;
	/* A slot is an 8-byte owner word, then scratch_size bytes. */
	uint32_t scratch_off, scratch_size;
	unsigned scratch_slots;
	/* Bank b of row r: rows + r * row_size + bank_off + b * bank_size. */
	uint32_t bank_off, bank_size;
	uint32_t control_size; /* struct control and scalar globals */
	struct plan_global *globals;  /* by var->index */
	unsigned nglobals;
	VEC(struct plan_map) maps;
	uint8_t *rodata;	      /* filled by gen as it meets literals */
	uint32_t rodata_size, rodata_cap;
	struct map *rodata_at;	      /* where each literal is */
	uint32_t ring_bytes;
	/* Of @perf: an event for each counter (by number) and CPU; accounts.
	 * UINT32_MAX: no counters. */
	uint32_t perf_map, accounts_map;
	/* Without bpf_loop() a loop is a walk over the elements of a map: as
	 * many as it may have rounds. UINT32_MAX: no loops, or not so. */
	uint32_t turns_map;
	bool early;		      /* some aggregate may ask for drains */
	uint64_t total_bytes;	      /* kernel memory of all maps */
	uint64_t host_bytes;	      /* totals, when all arrays are full */
	uint64_t limit_bytes;	      /* of both together */
};

/* Cells in the value of a keyed aggregate's map element, bank after bank, then
 * shard after shard; then the host's. */
static inline unsigned plan_cells(const struct plan_global *g)
{
	return g->shards * (g->live ? 2 : 1) + g->host_cell;
}

/* Bytes from the start of the value to the host's cell. */
static inline uint32_t plan_host_off(const struct plan_global *g)
{
	return (plan_cells(g) - g->host_cell) * g->cell.size;
}

/* May kernel handlers read this aggregate where they run? Otherwise what comes
 * from the first reading on continues on the host. */
bool plan_is_live(const struct var *v);
/* Does the kernel have what an extractor needs (64-bit arithmetic)? */
bool plan_reads(enum stat_op op);

/* ncpus 0: ask the system. Reports what does not fit; NULL then. */
struct plan *plan_make(struct compile *c, struct ir *ir, unsigned ncpus);
/* --dump=plan: areas, maps, widths, memory. */
void plan_print(const struct plan *p, FILE *f);
/* -v: entries x CPUs x cell of each aggregate and array, how it is kept and
 * updated, and why. */
void plan_print_memory(const struct plan *p, unsigned nprobes, FILE *f);
/*
 * Once all handlers are laid out and none is lowered: how much of a scratch
 * slot the largest of them needs. The plan's own figure is a bound that knows
 * nothing of what lives when: two to ten times as much, for each CPU.
 */
void plan_shrink_scratch(struct plan *p, uint32_t needed);
/* Offset of bytes in RODATA (8-byte aligned, shared with equal bytes). */
uint32_t plan_rodata(struct compile *c, struct plan *p, const void *bytes,
		     uint32_t n);

/* --- memory (plan_memory.c) ----------------------------------------------- */

enum { PLAN_OCTAVES = 6 /* of its grid, that a key is taken to use */ };

/* What the kernel allocates for a hash of that kind. */
uint64_t plan_hash_bytes(const struct plan_map *m, enum map_kind kind,
			 unsigned ncpus);
uint64_t plan_map_bytes(const struct plan *p, const struct plan_map *m);
/* Sets the plan's sums; false: over the limit, which is reported. */
bool plan_fits(struct compile *c, struct plan *p);

/* Records in the ring buffer. All start with this header. */
enum record_kind {
	REC_PRINT = 1, REC_RESUME, REC_ERROR, REC_EXIT, REC_WARN, REC_LOG,
	REC_DRAIN /* see control.drain: now */
};
struct record {
	uint16_t kind;
	uint16_t probe;	  /* index */
	uint32_t id;	  /* PRINT: format; RESUME: point; ERROR: loc */
	uint8_t payload[];
};
/* Payload of REC_RESUME: who hit the probe, then the live registers (numbers 8
 * bytes, strings their width) in the order of RESUME's operands. */
struct record_ctx {
	uint64_t pid_tgid, uid_gid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu, pad;
	char comm[16];
	uint8_t live[];
};

#endif
