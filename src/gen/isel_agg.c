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

#include "stat/grid.h"

/* The plan of the aggregate that the instruction is about. */
static const struct plan_global *global(const struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

/* r5 = bank + off, unless base + off can be used as it is. */
static void use_bank(struct emit *e, struct cell_at *at, int tmp)
{
	int base = emit_pseudo(e, PS_BANK, tmp);

	/* the offset of the last word of the cell must fit, too */
	if (at->off + at->cell->off[CF_COUNT] + 4096 <= INT16_MAX) {
		at->base = base;
		return;
	}
	asm_mov(e->as, R5, base);
	emit_add(e, R5, (int32_t)at->off);
	at->base = R5;
	at->off = 0;
}

/*
 * One slot per feeding program, so nobody else writes it but the program itself
 * where it can be preempted.
 */
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
 * its bank; t: 8 bytes for the bank's number. Goes to `none` if there is none.
 * Asked again after a call: cheaper than keeping it. */
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
	asm_mov(e->as, R1, R0);
}

/* Where in RODATA n zero bytes lie: a new element's value. */
static uint32_t zeroes(struct emit *e, uint32_t n)
{
	return plan_rodata(e->c, e->plan, arena_alloc(e->c->a, n), n);
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
static void known_full(struct emit *e, uint32_t map, unsigned other)
{
	if (global(e)->full_off == UINT32_MAX || map != global(e)->map)
		return;
	full_word(e);
	asm_load(e->as, 8, R0, R1, 0);
	asm_jifi(e->as, BPF_JNE, R0, 0, other);
}

/* An insertion failed, r0 says how. On top of another handler it may also have
 * found free elements in use by that one. */
static void note_full(struct emit *e, uint32_t map, unsigned other)
{
	if (global(e)->full_off != UINT32_MAX && map == global(e)->map &&
	    e->f->probe->prog != PROG_PERF_EVENT) {
		asm_jifi32(e->as, BPF_JNE, R0, -E2BIG, other);
		full_word(e);
		asm_storei(e->as, 8, R1, 0, 1);
	}
	asm_jmp(e->as, other);
}

/* A key more in the map: when half of it is full, the host is to drain it. */
static void count_key(struct emit *e, uint32_t map)
{
	const struct plan_global *g = global(e);
	uint32_t off = g->fill_off + (map == g->grid_map ? 16 : 0);
	uint32_t half = e->plan->maps.v[map].max_entries / 2;
	unsigned below = asm_label(e->as);

	if (!g->early) /* only where keys decide when to drain */
		return;
	asm_value(e->as, R1, MAP_CONTROL, off);
	asm_mov(e->as, R2, emit_pseudo(e, PS_BIDX, R2));
	asm_alui(e->as, BPF_AND, R2, 1);
	asm_alui(e->as, BPF_LSH, R2, 3);
	asm_alu(e->as, BPF_ADD, R1, R2);
	emit_ticket(e, R1, 0);
	asm_jifi(e->as, BPF_JLT, R0, (int32_t)half, below);
	asm_value(e->as, R1, MAP_CONTROL, offsetof(struct control, drain));
	asm_storei(e->as, 4, R1, 0, 1);
	/* The host looks at that word now and then; the first key over the
	 * half wakes it. */
	asm_jifi(e->as, BPF_JNE, R0, (int32_t)half, below);
	asm_map(e->as, R1, MAP_RING);
	asm_imm(e->as, R2, sizeof(struct record));
	asm_imm(e->as, R3, 0);
	asm_call(e->as, KH_RING_RESERVE);
	asm_jifi(e->as, BPF_JEQ, R0, 0, below);
	asm_imm(e->as, R1, REC_DRAIN | e->f->probe->index << 16);
	asm_store(e->as, 8, R0, 0, R1);
	asm_mov(e->as, R1, R0);
	isel_submit(e, true);
	asm_bind(e->as, below);
}

/* The key for a helper: its address in reg. */
static void key_addr(struct emit *e, int reg, struct key_at key)
{
	if (!key.saved) {
		emit_tmp_addr(e, reg, key.tmp);
		return;
	}
	emit_restore_ptr(e, reg);
	emit_add(e, reg, (int32_t)key.off);
}

/*
 * See isel.h. Found, mostly: one look-up. Else inserted and looked up once
 * more, as an insertion does not tell where the value is.
 */
void agg_find_or_make(struct emit *e, uint32_t map, struct key_at key,
		      uint32_t t, unsigned none)
{
	unsigned hit = asm_label(e->as), created = asm_label(e->as);
	unsigned again = asm_label(e->as);

	find_map(e, map, t, none);
	key_addr(e, R2, key);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JNE, R0, 0, hit);
	known_full(e, map, none);
	find_map(e, map, t, none);
	key_addr(e, R2, key);
	asm_value(e->as, R3, MAP_RODATA,
		  zeroes(e, e->plan->maps.v[map].value_size));
	asm_imm(e->as, R4, BPF_NOEXIST);
	asm_call(e->as, KH_MAP_UPDATE);
	asm_jifi32(e->as, BPF_JEQ, R0, 0, created);
	/* somebody else made it meanwhile */
	asm_jifi32(e->as, BPF_JEQ, R0, -EEXIST, again);
	note_full(e, map, none);
	asm_bind(e->as, created);
	count_key(e, map);
	asm_bind(e->as, again);
	find_map(e, map, t, none);
	key_addr(e, R2, key);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JEQ, R0, 0, none);
	asm_bind(e->as, hit);
}

/*
 * r5 = this CPU's row, and map_full counted in it: one sample, or as many as
 * the cell at the saved pointer has. Found here once more: kept from the
 * prologue on it would cost the way that is taken nearly always.
 */
static void count_full(struct emit *e, bool saved)
{
	const struct plan *p = e->plan;
	uint32_t off = p->counts_off + e->f->probe->index *
		       (uint32_t)sizeof(struct probe_counts) +
		       (uint32_t)offsetof(struct probe_counts, map_full);

	asm_call(e->as, KH_CPU);
	asm_alui(e->as, BPF_AND, R0, (int32_t)p->nrows - 1);
	asm_alui(e->as, BPF_MUL, R0, (int32_t)p->row_size);
	asm_value(e->as, R5, MAP_ROWS, 0);
	asm_alu(e->as, BPF_ADD, R5, R0);
	asm_mov(e->as, R1, R5);
	emit_add(e, R1, (int32_t)off);
	if (saved) {
		emit_restore_ptr(e, R2);
		asm_load(e->as, 8, R0, R2,
			 (int)global(e)->part.off[CF_COUNT]);
	} else {
		asm_imm(e->as, R0, 1);
	}
	asm_atomic(e->as, BPF_ADD, R1, 0, R0);
}

/* The program's number, where shards are the programs'; else 0. */
static uint32_t own_shard(const struct emit *e)
{
	const struct plan_global *g = global(e);

	return g->by_program ? g->slot[e->f->probe->index] : 0;
}

void agg_other_cell(struct emit *e, bool saved)
{
	count_full(e, saved);
	asm_mov(e->as, R2, emit_pseudo(e, PS_BIDX, R2));
	asm_alui(e->as, BPF_AND, R2, 1); /* for the verifier */
	asm_alui(e->as, BPF_MUL, R2, (int32_t)e->plan->bank_size);
	asm_alu(e->as, BPF_ADD, R5, R2);
	emit_add(e, R5, (int32_t)(e->plan->bank_off + global(e)->other_off +
				  own_shard(e) * global(e)->cell.size));
}

/* The array is full (or busy): the sample goes to "other". */
static void add_other(struct emit *e)
{
	const struct plan_global *g = global(e);
	struct cell_at at = {
		.cell = &g->cell, .base = R5, .atomic = g->atomic};

	/* the script wants an error instead (STP_STRICT_OVERFLOW) */
	if (e->c->set.limit[LIMIT_STP_STRICT_OVERFLOW] && e->ins->target[1]) {
		count_full(e, false);
		asm_jmp(e->as, emit_block(e, e->ins->target[1]));
		return;
	}
	agg_other_cell(e, false);
	cell_emit(e, at, &e->ins->args[e->ins->nargs - 1]);
	emit_ok(e);
}

/*
 * Taken before the look-up: helpers lose registers, and the CPU cannot change
 * within the handler's program but by preemption, which any shard stands.
 */
void agg_note_shard(struct emit *e, uint32_t t)
{
	struct mem m;

	if (global(e)->by_program)
		return;
	asm_call(e->as, KH_CPU);
	m = emit_tmp_mem(e, t, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
}

void agg_pick_cell(struct emit *e, uint32_t t)
{
	const struct plan_global *g = global(e);
	struct mem m;

	asm_mov(e->as, R5, R0);
	if (g->by_program) {
		emit_add(e, R5, (int32_t)(own_shard(e) * g->part.size));
	} else if (g->shards > 1) {
		m = emit_tmp_mem(e, t, R2);
		asm_load(e->as, 8, R2, m.base, m.off);
		asm_alui(e->as, BPF_AND, R2, (int32_t)g->shards - 1);
		asm_alui(e->as, BPF_MUL, R2, (int32_t)g->part.size);
		asm_alu(e->as, BPF_ADD, R5, R2);
	}
	if (!g->live) /* in live mode both banks' cells are in one value */
		return;
	asm_mov(e->as, R2, emit_pseudo(e, PS_BIDX, R2));
	asm_alui(e->as, BPF_AND, R2, 1); /* for the verifier */
	asm_alui(e->as, BPF_MUL, R2, (int32_t)(g->shards * g->part.size));
	asm_alu(e->as, BPF_ADD, R5, R2);
}

/* Finds the counters of the sample's octave, which are kept as the saved
 * pointer; low: which of them. The key's last 8 bytes are the octave. */
static void find_octave(struct emit *e, const struct plan_global *g,
			uint32_t key, uint32_t low, uint32_t t, unsigned none)
{
	const struct ir_val *v = &e->ins->args[e->ins->nargs - 1];
	struct mem m;

	cell_emit_grid_number(e, v);
	asm_mov(e->as, R3, R2);
	asm_alui(e->as, BPF_AND, R3, GRID_SUB - 1);
	m = emit_tmp_mem(e, low, R1);
	asm_store(e->as, 8, m.base, m.off, R3);
	asm_alui(e->as, BPF_RSH, R2, GRID_SUB_BITS);
	m = emit_tmp_mem(e, key, R1);
	asm_store(e->as, 8, m.base, m.off + (int)g->key.size, R2);
	agg_find_or_make(e, g->grid_map, (struct key_at){.tmp = key}, t, none);
	emit_save_ptr(e, R0);
}

/* Once the cell is fed: then the whole sample is in. */
static void count_octave(struct emit *e, uint32_t low)
{
	struct mem m = emit_tmp_mem(e, low, R2);

	asm_load(e->as, 8, R2, m.base, m.off);
	asm_alui(e->as, BPF_AND, R2, GRID_SUB - 1);
	asm_alui(e->as, BPF_LSH, R2, 3);
	emit_restore_ptr(e, R1);
	asm_alu(e->as, BPF_ADD, R1, R2);
	asm_imm(e->as, R2, 1);
	asm_atomic(e->as, BPF_ADD, R1, 0, R2);
}

/* Counters first, then the cell: where there is no room for one of them, all
 * of the sample goes to "other". */
static void add_keyed(struct emit *e)
{
	const struct plan_global *g = global(e);
	bool grid = g->grid_map != UINT32_MAX;
	uint32_t t = emit_tmp(e, 8), low = grid ? emit_tmp(e, 8) : 0;
	uint32_t shard = g->shards > 1 ? emit_tmp(e, 8) : 0;
	uint32_t key = isel_key(e, 0, 0);
	unsigned other = asm_label(e->as), done = asm_label(e->as);
	struct cell_at at = {
		.cell = &g->part, .base = R5, .atomic = g->atomic};

	if (g->shards > 1)
		agg_note_shard(e, shard);
	if (grid) {
		emit_tmp(e, 8); /* follows the key */
		find_octave(e, g, key, low, t, other);
	}
	agg_find_or_make(e, g->map, (struct key_at){.tmp = key}, t, other);
	agg_pick_cell(e, shard);
	cell_emit(e, at, &e->ins->args[e->ins->nargs - 1]);
	if (grid)
		count_octave(e, low);
	if (e->ins->target[0])
		asm_jmp(e->as, emit_block(e, e->ins->target[0]));
	else
		asm_jmp(e->as, done);
	asm_bind(e->as, other);
	add_other(e);
	asm_bind(e->as, done);
}

void isel_agg(struct emit *e)
{
	if (e->ins->op != OP_SADD)
		isel_live(e);
	else if (hot_has(e))
		isel_hot(e);
	else if (global(e)->key.n)
		add_keyed(e);
	else
		add_scalar(e);
}
