/* SPDX-License-Identifier: MIT */
/*
 * A small made-up program for the tests of store/ and vm/, and for the fuzzer:
 *
 *   0 n        a number
 *   1 a[2]     numbers by (number, string of 16), at most 4; kernel map
 *   2 h%[3]    strings of 32 by string of 16; host only, wraps
 *   3 s        an aggregate with everything, fed by probe 0
 *   4 k[1]     likewise by string of 16, at most 4; two banks, per CPU
 *
 * iterations: 0 a by key 1, rising; 1 k by @count, falling; 2 buckets of s;
 * 3 a in order of creation, with limit and slice; 4 h by value, falling
 */
#ifndef TESTS_UNIT_VM_KIT_H
#define TESTS_UNIT_VM_KIT_H

#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "insn.h"
#include "store/store.h"
#include "vm/vm.h"

enum { KIT_N, KIT_A, KIT_H, KIT_S, KIT_K, KIT_GLOBALS };
enum { KIT_MAP_A = MAP_FIRST_ARRAY, KIT_MAP_K, KIT_CPUS = 2 };

struct kit {
	struct compile c;
	struct program prog;
	struct probe probe;
	struct ir ir;
	struct ir_iter iter[5];
	struct fmt fmt;
	struct ir_fmt print;
	struct plan plan;
	struct plan_global globals[KIT_GLOBALS];
	struct var var[KIT_GLOBALS];
	uint32_t slot[2];
	uint32_t hot[2];
	struct gen gen;
	struct store *store;
	struct vm *vm;
};

/* Keys as the plan lays them out. */
struct kit_key2 {
	int64_t n;
	char s[16];
};
struct kit_key1 {
	char s[16];
};

static inline struct kit_key2 kit_key2(int64_t n, const char *s)
{
	struct kit_key2 k = {.n = n};

	memcpy(k.s, s, strlen(s));
	return k;
}

static inline struct kit_key1 kit_key1(const char *s)
{
	struct kit_key1 k = {0};

	memcpy(k.s, s, strlen(s));
	return k;
}

static inline void kit_var(struct kit *k, unsigned i, const char *name,
			   enum type type, int64_t size)
{
	struct var *v = &k->var[i];

	*v = (struct var){.name = name,
			  .type = type,
			  .index = i,
			  .is_global = true,
			  .size = size,
			  .width = type == TY_STRING ? 32 : 0};
	k->globals[i] = (struct plan_global){
	    .full_off = UINT32_MAX,
	    .var = v,
	    .map = UINT32_MAX,
	    .other_off = UINT32_MAX,
	    .value_width = type == TY_STRING ? 32 : 8,
	    .lock_group = UINT32_MAX,
	    .shards = 1,
	    .grid_map = UINT32_MAX,
	};
	vec_push(k->c.a, &k->prog.globals, v);
}

static inline void kit_key(struct plan_key *k, bool number)
{
	k->n = 0;
	k->size = 0;
	if (number) {
		k->width[k->n++] = 8;
		k->size = 8;
	}
	k->is_str[k->n] = true;
	k->off[k->n] = k->size;
	k->width[k->n++] = 16;
	k->size += 16;
}

static inline void kit_globals(struct kit *k)
{
	const uint32_t all = (1u << STAT_MAX_OP) - 1;

	kit_var(k, KIT_N, "n", TY_LONG, 0);
	k->globals[KIT_N].off = sizeof(struct control);
	k->var[KIT_N].init = (struct literal){.type = TY_LONG, .num = 42};
	kit_var(k, KIT_A, "a", TY_LONG, 4);
	k->globals[KIT_A].map = KIT_MAP_A;
	kit_key(&k->globals[KIT_A].key, true);
	kit_var(k, KIT_H, "h", TY_STRING, 3);
	k->var[KIT_H].wrap = true;
	kit_key(&k->globals[KIT_H].key, false);
	kit_var(k, KIT_S, "s", TY_STATS, 0);
	k->globals[KIT_S].cell = cell_layout(all, HIST_LOG, 0, 0, 0);
	k->globals[KIT_S].slot = k->slot;
	kit_var(k, KIT_K, "k", TY_STATS, 4);
	kit_key(&k->globals[KIT_K].key, false);
	k->globals[KIT_K].cell =
	    cell_layout(1u << STAT_SUM, HIST_NONE, 0, 0, 0);
	k->globals[KIT_K].part = k->globals[KIT_K].cell;
	k->hot[1] = UINT32_MAX;
	k->globals[KIT_K].hot = k->hot;
	k->globals[KIT_K].hot_ways = 2;
	k->globals[KIT_K].map = KIT_MAP_K;
	k->globals[KIT_K].other_off = k->globals[KIT_S].cell.size;
}

static inline void kit_plan(struct kit *k)
{
	struct plan *p = &k->plan;
	const struct plan_map maps[] = {
	    {.kind = PM_ARRAY_MMAP, .key_size = 4},
	    {.kind = PM_ARRAY_MMAP, .key_size = 4},
	    {.kind = PM_ARRAY_RDONLY, .key_size = 4},
	    {.kind = PM_RINGBUF},
	    {.kind = PM_HASH,
	     .key_size = 24,
	     .value_size = 16,
	     .max_entries = 4,
	     .global = &k->var[KIT_A]},
	    {.kind = PM_BANKS,
	     .inner = PM_PERCPU_HASH,
	     .key_size = 16,
	     .value_size = k->globals[KIT_K].cell.size,
	     .max_entries = 4,
	     .global = &k->var[KIT_K]},
	};

	p->ncpus = p->nrows = KIT_CPUS;
	p->counts_off = 0;
	p->bank_off = sizeof(struct probe_counts);
	k->globals[KIT_K].hot_size =
	    k->globals[KIT_K].part.size + k->globals[KIT_K].key.size;
	p->bank_size =
	    k->globals[KIT_S].cell.size + k->globals[KIT_K].cell.size;
	k->hot[0] = p->bank_size;
	p->bank_size += 2 * k->globals[KIT_K].hot_size;
	p->row_size = (p->bank_off + 2 * p->bank_size + 63) & ~63u;
	p->control_size = sizeof(struct control) + 8;
	p->globals = k->globals;
	p->nglobals = KIT_GLOBALS;
	p->ring_bytes = 65536;
	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		vec_push(k->c.a, &p->maps, maps[i]);
}

static inline void kit_ir(struct kit *k)
{
	const struct fmt_part parts[] = {
	    {.conv = 'd', .width = -1, .prec = -1},
	    {.conv = 's', .width = 5, .prec = -1},
	};
	struct ir_iter *it = k->iter;

	it[0] = (struct ir_iter){
	    .array = &k->var[KIT_A], .sort_dir = 1, .sort_key = 1};
	it[1] = (struct ir_iter){.array = &k->var[KIT_K],
				 .sort_dir = -1,
				 .sort_by_stat = true,
				 .sort_op = STAT_COUNT};
	it[2] = (struct ir_iter){.array = &k->var[KIT_S], .is_hist = true};
	it[3] = (struct ir_iter){.array = &k->var[KIT_A],
				 .has_limit = true,
				 .has_slice = true,
				 .wild = 1};
	it[4] = (struct ir_iter){.array = &k->var[KIT_H], .sort_dir = -1};
	for (unsigned i = 0; i < 5; i++) {
		struct ir_iter *p = &it[i];

		p->id = i;
		vec_push(k->c.a, &k->ir.iters, p);
	}
	for (unsigned i = 0; i < 2; i++)
		vec_push(k->c.a, &k->fmt.parts, parts[i]);
	k->fmt.nargs = 2;
	k->print = (struct ir_fmt){.fmt = &k->fmt,
				   .nargs = 2,
				   .is_str = {false, true},
				   .width = {8, 16},
				   .off = {0, 8},
				   .size = 24};
	{
		struct ir_fmt *f = &k->print;
		struct probe *p = &k->probe;

		vec_push(k->c.a, &k->ir.fmts, f);
		vec_push(k->c.a, &k->prog.probes, p);
	}
	k->ir.prog = &k->prog;
}

static inline struct kit *kit_new(const struct vm_hooks *h)
{
	struct kit *k = calloc(1, sizeof(*k));

	k->c.a = arena_new();
	settings_init(&k->c.set);
	k->probe.pp = "test";
	k->slot[1] = UINT32_MAX;
	kit_globals(k);
	kit_plan(k);
	kit_ir(k);
	k->gen = (struct gen){.c = &k->c, .ir = &k->ir, .plan = &k->plan};
	{
		/* room for one code, which a test may run */
		struct code *none = NULL;

		vec_push(k->c.a, &k->gen.codes, none);
	}
	k->store = store_mem_open(&k->plan);
	store_init_globals(k->store, &k->ir);
	k->vm = vm_new(&k->c, &k->gen, k->store, h);
	return k;
}

static inline void kit_free(struct kit *k)
{
	vm_free(k->vm);
	store_close(k->store);
	arena_free(k->c.a);
	free(k);
}

/* Where probe 0 on a CPU would feed s in a bank; "other" of k. */
static inline uint64_t *kit_cell(struct kit *k, unsigned cpu, unsigned bank,
				 bool other)
{
	return (uint64_t *)(k->store->rows + cpu * k->plan.row_size +
			    k->plan.bank_off + bank * k->plan.bank_size +
			    (other ? k->globals[KIT_K].other_off : 0));
}

#endif
