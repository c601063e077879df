/* SPDX-License-Identifier: MIT */
/*
 * Plain arrays in the kernel: a hash map per array, values in plain_value.
 * Hits change the value in place. A new element is inserted with BPF_NOEXIST
 * and a stamp of creation; whoever loses the race to create it finds the
 * winner's and changes that one.
 */
#include "gen/isel.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

enum { VALUE = offsetof(struct plain_value, value) };

static const struct plan_global *global(struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

static bool strings(struct emit *e)
{
	return e->ins->global->type == TY_STRING;
}

/* r0 = helper(map, key in the temporary). */
static void with_key(struct emit *e, uint32_t key, int helper)
{
	asm_map(e->as, R1, global(e)->map);
	emit_tmp_addr(e, R2, key);
	asm_call(e->as, helper);
}

/* A missing element reads as 0 or "", without being made. */
static void get(struct emit *e)
{
	uint32_t key = isel_key(e, 0, 0);
	unsigned missing = asm_label(e->as), done = asm_label(e->as);

	with_key(e, key, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JEQ, R0, 0, missing);
	if (strings(e)) {
		struct mem d;

		asm_mov(e->as, R1, R0);
		emit_add(e, R1, VALUE);
		isel_copy_to_dst(e, R1, round8(global(e)->value_width));
		asm_jmp(e->as, done);
		asm_bind(e->as, missing);
		d = emit_mem(e, e->ins->dst, R1);
		emit_zero_dst(e, d, emit_dst_width(e));
		asm_bind(e->as, done);
		return;
	}
	/* missing: r0 is 0 already */
	asm_load(e->as, 8, R0, R0, VALUE);
	asm_bind(e->as, missing);
	asm_bind(e->as, done);
	emit_put(e, R0);
}

static void has(struct emit *e)
{
	uint32_t key = isel_key(e, 0, 0);
	unsigned missing = asm_label(e->as);

	with_key(e, key, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JEQ, R0, 0, missing);
	asm_imm(e->as, R0, 1);
	asm_bind(e->as, missing);
	emit_put(e, R0);
}

/*
 * Counts what was freed: that is how a failed insertion is known to be stale
 * (known_full).
 */
static void delete(struct emit *e)
{
	uint32_t key = isel_key(e, 0, 0);

	with_key(e, key, KH_MAP_DELETE);
	asm_value(e->as, R1, MAP_CONTROL, global(e)->full_off);
	asm_imm(e->as, R0, 1);
	/* by all CPUs, for good: only equality is asked */
	asm_atomic(e->as, BPF_ADD, R1, 0, R0);
	emit_ok(e);
}

/* Value v, or 0 for NULL, to m. */
static void put_value(struct emit *e, struct mem m, const struct ir_val *v)
{
	uint32_t w = round8(global(e)->value_width);

	if (!v)
		emit_zero(e, m, w);
	else if (strings(e))
		emit_put_string(e, m, v, w);
	else if (emit_is_imm(v))
		asm_storei(e->as, 8, m.base, m.off, (int32_t)v->num);
	else
		asm_store(e->as, 8, m.base, m.off, emit_use(e, v, R2));
}

/* Goes to `full` if an insertion failed and nothing was freed since; t: 8 bytes
 * that say what was freed by now. */
static void known_full(struct emit *e, uint32_t t, unsigned full)
{
	struct mem m = emit_tmp_mem(e, t, R3);

	asm_value(e->as, R1, MAP_CONTROL, global(e)->full_off);
	asm_load(e->as, 8, R2, R1, 0);
	asm_alui(e->as, BPF_ADD, R2, 1);
	asm_load(e->as, 8, R0, R1, 8);
	asm_jif(e->as, BPF_JEQ, R0, R2, full);
	asm_store(e->as, 8, m.base, m.off, R2);
}

/* An insertion failed, r0 says how. Where a handler may run on top of another,
 * it may also have found free elements in use by that one. */
static void note_full(struct emit *e, uint32_t t, unsigned full)
{
	struct mem m;

	/* interrupts any other program, also one that holds an element */
	if (e->f->probe->prog == PROG_PERF_EVENT) {
		asm_jmp(e->as, full);
		return;
	}
	/* only "no room" is remembered */
	asm_jifi32(e->as, BPF_JNE, R0, -E2BIG, full);
	m = emit_tmp_mem(e, t, R1);
	asm_load(e->as, 8, R2, m.base, m.off);
	asm_value(e->as, R1, MAP_CONTROL, global(e)->full_off);
	asm_store(e->as, 8, R1, 8, R2);
	asm_jmp(e->as, full);
}

/*
 * Inserts the element if its key is not there yet; r0 = 0 or an error.
 * BPF_NOEXIST makes one of two that insert at the same time fail.
 */
static void insert(struct emit *e, uint32_t key, uint32_t fresh)
{
	asm_map(e->as, R1, global(e)->map);
	emit_tmp_addr(e, R2, key);
	emit_tmp_addr(e, R3, fresh);
	asm_imm(e->as, R4, BPF_NOEXIST);
	asm_call(e->as, KH_MAP_UPDATE);
}

/* No room in a wrapping array: the oldest element makes some. Its lock is held,
 * so nobody else takes the place. */
static void insert_for_oldest(struct emit *e, uint32_t key, uint32_t fresh,
			      unsigned full)
{
	asm_jifi32(e->as, BPF_JNE, R0, -E2BIG, full);
	asm_map(e->as, R1, global(e)->map);
	asm_call_label(e->as, isel_evict_label(e, global(e)->map));
	insert(e, key, fresh);
}

/*
 * r0 = address of the element's value: found, or made here with value v (NULL:
 * zero). When it was made with v, goes to `made`, else on. No room: counted,
 * and the instruction fails.
 */
static void find_or_make(struct emit *e, const struct ir_val *v, unsigned made)
{
	uint32_t key = isel_key(e, 0, 0);
	uint32_t fresh = emit_tmp(e, VALUE + global(e)->value_width);
	unsigned hit = asm_label(e->as), full = asm_label(e->as);
	unsigned again = asm_label(e->as);
	uint32_t freed = emit_tmp(e, 8);
	bool wraps = e->ins->global->wrap;
	struct mem m;

	with_key(e, key, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JNE, R0, 0, hit);
	if (!wraps)
		known_full(e, freed, full);
	asm_value(e->as, R1, MAP_CONTROL, offsetof(struct control, stamp));
	/* orders elements by creation */
	emit_ticket(e, R1, 0);
	m = emit_tmp_mem(e, fresh, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
	put_value(e, (struct mem){m.base, m.off + VALUE}, v);
	insert(e, key, fresh);
	asm_jifi32(e->as, BPF_JEQ, R0, 0, v ? made : again);
	asm_jifi32(e->as, BPF_JEQ, R0, -EEXIST, again);
	if (wraps) {
		insert_for_oldest(e, key, fresh, full);
		asm_jifi32(e->as, BPF_JEQ, R0, 0, v ? made : again);
		asm_jmp(e->as, full);
	} else {
		note_full(e, freed, full);
	}
	/*
	 * Somebody has made it meanwhile; it may be gone again, which counts as
	 * full.
	 */
	asm_bind(e->as, again);
	with_key(e, key, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JNE, R0, 0, hit);
	asm_bind(e->as, full);
	emit_count(e, offsetof(struct probe_counts, map_full), R0, R1);
	if (e->ins->target[1])
		asm_jmp(e->as, emit_block(e, e->ins->target[1]));
	else
		asm_jmp(e->as, made);
	asm_bind(e->as, hit);
}

static void set(struct emit *e)
{
	const struct ir_val *v = &e->ins->args[global(e)->key.n];
	unsigned done = asm_label(e->as);

	find_or_make(e, v, done);
	put_value(e, (struct mem){R0, VALUE}, v);
	asm_bind(e->as, done);
	emit_ok(e);
}

/* No room: the sum is nowhere, and where that is no error the result is 0. */
static void add(struct emit *e)
{
	const struct ir_val *v = &e->ins->args[global(e)->key.n];
	bool fetch = e->ins->op == OP_AXADD && e->ins->has_dst;
	unsigned full = asm_label(e->as), done = asm_label(e->as);

	find_or_make(e, NULL, full);
	if (emit_locked(e)) {
		/* 3 to 4 ns less than an atomic addition */
		emit_load(e, R1, v);
		asm_load(e->as, 8, R2, R0, VALUE);
		asm_alu(e->as, BPF_ADD, R1, R2);
		asm_store(e->as, 8, R0, VALUE, R1);
	} else if (!fetch) {
		/* others may add at the same time */
		asm_atomic(e->as, BPF_ADD, R0, VALUE, emit_use(e, v, R1));
	} else {
		if (e->c->set.lacks.fetch)
			emit_lacking(e, "using the value of an element that "
				     "is added to", "5.12");
		emit_load(e, R2, v);
		asm_atomic(e->as, BPF_ADD | BPF_FETCH, R0, VALUE, R2);
	}
	if (!fetch) {
		asm_bind(e->as, full);
		emit_ok(e);
		return;
	}
	asm_mov(e->as, R0, R2);
	asm_jmp(e->as, done);
	asm_bind(e->as, full);
	/* an element that was not made has the old value 0 */
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, done);
	emit_put(e, R0);
	emit_ok(e);
}

/* Aggregates are read by isel_live.c; <<< comes by isel_agg(). */
void isel_array(struct emit *e)
{
	if (e->ins->global->type == TY_STATS) {
		isel_live(e);
		return;
	}
	switch (e->ins->op) {
	case OP_AGET:
		get(e);
		break;
	case OP_AHAS:
		has(e);
		break;
	case OP_ADEL:
		delete(e);
		break;
	case OP_ASET:
		set(e);
		break;
	case OP_AADD:
	case OP_AXADD:
		add(e);
		break;
	default:
		/* wildcards, which ir/split.c leaves to the host */
		assert(!"an operation on arrays that the host does");
	}
}
