/* SPDX-License-Identifier: MIT */
/*
 * Aggregates in the kernel. A scalar's cell is a slot of this program in the
 * active bank of this CPU's row. An array's cells are values of the bank's map:
 * created by inserting zeroes, then fed in place, so no sample ever travels in
 * an inserted value and no race between two creators loses one.
 */
#include "gen/isel.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

static const struct plan_global *global(struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

/* r5 = bank + off, unless base + off can be used as it is. */
static void use_bank(struct emit *e, struct cell_at *at, int tmp)
{
	int base = emit_pseudo(e, PS_BANK, tmp);

	if (at->off + at->cell->off[CF_COUNT] + 4096 <= INT16_MAX) {
		at->base = base;
		return;
	}
	asm_mov(e->as, R5, base);
	emit_add(e, R5, (int32_t)at->off);
	at->base = R5;
	at->off = 0;
}

static void add_scalar(struct emit *e)
{
	const struct plan_global *g = global(e);
	struct cell_at at = {
		.cell = &g->cell,
		.off = e->plan->bank_off + g->slot[e->f->probe->index],
		.atomic = e->f->probe->guard == GUARD_PREEMPTIBLE,
	};

	assert(g->slot[e->f->probe->index] != UINT32_MAX);
	use_bank(e, &at, cell_is_light(&g->cell) ? R0 : R5);
	cell_emit(e, at, &e->ins->args[e->ins->nargs - 1]);
	emit_ok(e);
}

/* r1 = the map that holds the active bank's cells: itself, or the inner map of
 * its bank, which is saved; t: 8 bytes for the bank's number. Goes to
 * `none` if there is none. */
static void find_map(struct emit *e, uint32_t map, uint32_t t, unsigned none)
{
	struct mem m;

	if (e->plan->maps.v[map].kind != PM_BANKS) {
		asm_map(e->as, R1, map);
		return;
	}
	m = emit_tmp_mem(e, t, R1);
	asm_store(e->as, 8, m.base, m.off, emit_pseudo(e, PS_BIDX, R2));
	emit_tmp_addr(e, R2, t);
	asm_map(e->as, R1, map);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JEQ, R0, 0, none);
	emit_save_ptr(e, R0);
	asm_mov(e->as, R1, R0);
}

/* Once more, after a call. */
static void same_map(struct emit *e, uint32_t map)
{
	if (e->plan->maps.v[map].kind == PM_BANKS)
		emit_restore_ptr(e, R1);
	else
		asm_map(e->as, R1, map);
}

static uint32_t zeroes(struct emit *e, uint32_t n)
{
	return plan_rodata(e->c, e->plan, arena_alloc(e->c->a, n), n);
}

/* The array is full (or busy): the sample goes to "other". */
static void add_other(struct emit *e, unsigned feed)
{
	const struct plan_global *g = global(e);

	emit_count(e, offsetof(struct probe_counts, map_full), R0, R1);
	if (e->c->set.limit[LIMIT_STP_STRICT_OVERFLOW] && e->ins->target[1]) {
		asm_jmp(e->as, emit_block(e, e->ins->target[1]));
		return;
	}
	asm_mov(e->as, R5, emit_pseudo(e, PS_BANK, R5));
	emit_add(e, R5, (int32_t)(e->plan->bank_off + g->other_off));
	asm_jmp(e->as, feed);
}

/* r1 = address of the word that says that the bank is full. */
static void full_word(struct emit *e)
{
	asm_mov(e->as, R2, emit_pseudo(e, PS_BIDX, R2));
	asm_value(e->as, R1, MAP_CONTROL, global(e)->full_off);
	asm_alui(e->as, BPF_AND, R2, 1); /* for the verifier */
	asm_alui(e->as, BPF_LSH, R2, 3);
	asm_alu(e->as, BPF_ADD, R1, R2);
}

/* Goes to `other` if an insertion into this bank has failed before: trying
 * again would cost a microsecond a sample. */
static void known_full(struct emit *e, unsigned other)
{
	if (global(e)->full_off == UINT32_MAX)
		return;
	full_word(e);
	asm_load(e->as, 8, R0, R1, 0);
	asm_jifi(e->as, BPF_JNE, R0, 0, other);
}

/* An insertion failed, r0 says how. On top of another handler it may also have
 * found free elements in use by that one. */
static void note_full(struct emit *e, unsigned other)
{
	if (global(e)->full_off != UINT32_MAX &&
	    e->f->probe->prog != PROG_PERF_EVENT) {
		asm_jifi32(e->as, BPF_JNE, R0, -E2BIG, other);
		full_word(e);
		asm_storei(e->as, 8, R1, 0, 1);
	}
	asm_jmp(e->as, other);
}

/* r5 = the cell to feed of the element at r0: of this bank and shard. */
static void pick_cell(struct emit *e, const struct plan_global *g)
{
	int bank;

	if (g->shards > 1) {
		emit_save_ptr(e, R0);
		asm_call(e->as, KH_CPU);
		asm_alui(e->as, BPF_AND, R0, (int32_t)g->shards - 1);
		asm_alui(e->as, BPF_MUL, R0, (int32_t)g->cell.size);
		emit_restore_ptr(e, R5);
		asm_alu(e->as, BPF_ADD, R5, R0);
	} else {
		asm_mov(e->as, R5, R0);
	}
	if (!g->live)
		return;
	bank = emit_pseudo(e, PS_BIDX, R2);
	asm_mov(e->as, R2, bank);
	asm_alui(e->as, BPF_AND, R2, 1); /* for the verifier */
	asm_alui(e->as, BPF_MUL, R2, (int32_t)(g->shards * g->cell.size));
	asm_alu(e->as, BPF_ADD, R5, R2);
}

static void add_keyed(struct emit *e)
{
	const struct plan_global *g = global(e);
	uint32_t inner = emit_tmp(e, 8), key = isel_key(e, 0, 0);
	unsigned hit = asm_label(e->as), feed = asm_label(e->as);
	unsigned other = asm_label(e->as), created = asm_label(e->as);
	struct cell_at at = {
		.cell = &g->cell, .base = R5, .atomic = g->atomic};

	find_map(e, g->map, inner, other);
	emit_tmp_addr(e, R2, key);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JNE, R0, 0, hit);
	known_full(e, other);
	same_map(e, g->map);
	emit_tmp_addr(e, R2, key);
	asm_value(e->as, R3, MAP_RODATA,
		  zeroes(e, e->plan->maps.v[g->map].value_size));
	asm_imm(e->as, R4, BPF_NOEXIST);
	asm_call(e->as, KH_MAP_UPDATE);
	asm_jifi32(e->as, BPF_JEQ, R0, 0, created);
	asm_jifi32(e->as, BPF_JEQ, R0, -EEXIST, created);
	note_full(e, other);
	asm_bind(e->as, created);
	same_map(e, g->map);
	emit_tmp_addr(e, R2, key);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JNE, R0, 0, hit);
	asm_bind(e->as, other);
	add_other(e, feed);
	asm_bind(e->as, hit);
	pick_cell(e, g);
	asm_bind(e->as, feed);
	cell_emit(e, at, &e->ins->args[e->ins->nargs - 1]);
	emit_ok(e);
}

void isel_agg(struct emit *e)
{
	if (e->ins->op != OP_SADD)
		isel_live(e);
	else if (global(e)->key.n)
		add_keyed(e);
	else
		add_scalar(e);
}
