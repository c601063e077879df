/* SPDX-License-Identifier: MIT */
/*
 * What comes before the first instruction: only what the function uses.
 *
 *   kernel handler  the row of this CPU, the stop word and the bank (one load),
 *                   the hits counter, a scratch slot; with -t the time
 *   loop body       the address of the handler's frame
 *   host function   parameters from the argument block
 */
#include "gen/isel.h"

#include <assert.h>
#include <stddef.h>

/* To wherever r lives; r may be a pseudo register. r4 or r5 may be lost. */
static void put_home(struct emit *e, uint32_t r, int reg)
{
	const struct home *h = &e->homes[r];

	if (h->kind == HOME_REG) {
		asm_mov(e->as, h->reg, reg);
	} else if (h->kind != HOME_NONE) {
		struct mem m = emit_mem(e, r, reg == R4 ? R5 : R4);

		asm_store(e->as, 8, m.base, m.off, reg);
	}
}

static bool used(struct emit *e, enum pseudo p)
{
	return e->homes[e->nregs + p].kind != HOME_NONE;
}

static void put_pseudo(struct emit *e, enum pseudo p, int reg)
{
	put_home(e, e->nregs + p, reg);
}

/*
 * By a shift where the size is a power of two, as those of many rows and banks
 * are.
 */
static void scale(struct emit *e, int reg, uint32_t by)
{
	if (by & (by - 1))
		asm_alui(e->as, BPF_MUL, reg, (int32_t)by);
	else if (by > 1)
		asm_alui(e->as, BPF_LSH, reg, __builtin_ctz(by));
}

/* r1 = this CPU's row. The mask comes last and in 64 bits: kernel 6.1 forgets
 * the bounds otherwise. */
void prologue_row(struct emit *e)
{
	asm_call(e->as, KH_CPU);
	/* rows are a power of two, for this mask */
	asm_alui(e->as, BPF_AND, R0, (int32_t)e->plan->nrows - 1);
	scale(e, R0, e->plan->row_size);
	asm_value(e->as, R1, MAP_ROWS, 0);
	asm_alu(e->as, BPF_ADD, R1, R0);
}

/*
 * Adds 1 to a counter; r1 is the row. Clobbers r2, r3. Like emit_count(), which
 * needs the row's place that is made only later.
 */
void prologue_count(struct emit *e, uint32_t field)
{
	uint32_t off = e->plan->counts_off +
		       e->f->probe->index *
			   (uint32_t)sizeof(struct probe_counts) +
		       field;
	int row = R1;

	if (off > INT16_MAX) {
		asm_mov(e->as, R3, R1);
		emit_add(e, R3, (int32_t)off);
		row = R3;
		off = 0;
	}
	if (e->f->probe->guard == GUARD_PREEMPTIBLE) {
		asm_imm(e->as, R2, 1);
		asm_atomic(e->as, BPF_ADD, row, (int)off, R2);
		return;
	}
	asm_load(e->as, 8, R2, row, (int)off);
	asm_alui(e->as, BPF_ADD, R2, 1);
	asm_store(e->as, 8, row, (int)off, R2);
}

/*
 * Claims one of the row's scratch slots. r1 is the row. Which slot it is, the
 * verifier does not know, so that it walks the handler once, not once per slot.
 * Clobbers r0, r2, r3, r5.
 */
static void claim_scratch(struct emit *e, unsigned none)
{
	const struct plan *p = e->plan;
	unsigned got = asm_label(e->as);
	int scr = e->root->scr_off;

	/* tried one by one: the first is free but for nested handlers */
	for (uint32_t s = 0; s < p->scratch_slots; s++) {
		asm_mov(e->as, R3, R1);
		emit_add(e, R3, (int32_t)(p->scratch_off +
					  s * p->scratch_size));
		asm_imm(e->as, R0, 0);
		asm_imm(e->as, R2, 1);
		emit_swap(e, R3, 0, R2, R5);
		asm_imm(e->as, R2, s);
		asm_jifi(e->as, BPF_JEQ, R0, 0, got);
	}
	asm_jmp(e->as, none);
	asm_bind(e->as, got);
	emit_opaque(e, R2, R0);
	/* never: for the verifier */
	asm_jifi(e->as, BPF_JGE, R2, (int32_t)p->scratch_slots, none);
	asm_mov(e->as, R3, R1);
	emit_add(e, R3, (int32_t)p->scratch_off);
	asm_alui(e->as, BPF_MUL, R2, (int32_t)p->scratch_size);
	asm_alu(e->as, BPF_ADD, R3, R2);
	emit_add(e, R3, 8);
	asm_store(e->as, 8, FP, scr, R3);
}

/*
 * The bank's number is in the upper half of r0. Its number and the stop word
 * are one load, so a handler cannot see one bank and the stop of another.
 */
static void find_bank(struct emit *e)
{
	if (!used(e, PS_BANK) && !used(e, PS_BIDX))
		return;
	asm_alui(e->as, BPF_RSH, R0, 32);
	asm_alui(e->as, BPF_AND, R0, 1);
}

/* PS_BANK includes the row: one addition for each access is saved. */
static void place_bank(struct emit *e)
{
	if (used(e, PS_BIDX))
		put_pseudo(e, PS_BIDX, R0);
	if (!used(e, PS_BANK))
		return;
	scale(e, R0, e->plan->bank_size);
	asm_alu(e->as, BPF_ADD, R0, R1);
	put_pseudo(e, PS_BANK, R0);
}

/* In the kernel r2 is an unknown zero: these are variables of loops or set
 * elsewhere, too. */
static void zero(struct emit *e, uint32_t r)
{
	const struct home *h = &e->homes[r];
	const struct ir_reg *reg = &e->f->regs.v[r];
	uint32_t n = reg->is_str ? reg->width : 8;
	struct mem m;

	if (h->kind == HOME_REG && e->kernel) {
		asm_mov(e->as, h->reg, R2);
	} else if (h->kind == HOME_REG) {
		asm_imm(e->as, h->reg, 0);
	} else if (h->kind == HOME_FRAME && e->kernel) {
		for (uint32_t i = 0; i < n; i += 8)
			asm_store(e->as, 8, FP, h->off + (int)i, R2);
	} else if (h->kind != HOME_NONE) {
		m = emit_mem(e, r, R1);
		emit_zero(e, m, n);
	}
}

static bool any_zero(const struct emit *e)
{
	for (uint32_t r = 0; !e->body && r < e->nregs; r++)
		if (e->f->regs.v[r].shared)
			return true;
	return e->zero_regs_n > 0;
}

/*
 * Registers that bodies share start at 0 in the handler; all others only where
 * they may be read first.
 */
static void zero_all(struct emit *e)
{
	if (e->kernel && any_zero(e))
		emit_unknown_zero(e, R2);
	for (uint32_t r = 0; !e->body && r < e->nregs; r++)
		if (e->f->regs.v[r].shared)
			zero(e, r);
	for (uint32_t i = 0; i < e->zero_regs_n; i++)
		if (!e->f->regs.v[e->zero_regs[i]].shared)
			zero(e, e->zero_regs[i]);
}

static void kernel_handler(struct emit *e)
{
	/* The order is that of the cost: a stopped session pays the least. */
	e->stopped_label = asm_label(e->as);
	e->none_label = asm_label(e->as);
	if (used(e, PS_CTX))
		put_pseudo(e, PS_CTX, R1);
	if (e->plan->timed) {
		asm_call(e->as, KH_KTIME);
		asm_store(e->as, 8, FP, e->root->time_off, R0);
	}
	prologue_row(e);
	asm_value(e->as, R2, MAP_CONTROL, 0);
	asm_load(e->as, 8, R0, R2, offsetof(struct control, stop));
	asm_jifi32(e->as, BPF_JNE, R0, 0, e->stopped_label);
	/* counted from here on, whatever becomes of the handler */
	prologue_count(e, offsetof(struct probe_counts, hits));
	find_bank(e);
	if (e->code->needs_scratch) {
		/* r0 is needed for the claim */
		asm_mov(e->as, R4, R0);
		claim_scratch(e, e->none_label);
		asm_mov(e->as, R0, R4);
	}
	if (used(e, PS_ROW))
		put_pseudo(e, PS_ROW, R1);
	place_bank(e);
	if (e->root->act_used && e->root->exit_used) {
		asm_imm(e->as, R0, 0);
		/* only a loop's count must be unknown to the verifier */
		emit_opaque(e, R0, R2);
		asm_store(e->as, 8, FP, e->root->act_off, R0);
	} else if (e->root->act_used) {
		asm_storei(e->as, 8, FP, e->root->act_off, 0);
	}
	zero_all(e);
}

/* Adds r2 to the word at r1 + off. Clobbers r0. */
static void add_time(struct emit *e, int off)
{
	if (e->f->probe->guard == GUARD_PREEMPTIBLE) {
		asm_atomic(e->as, BPF_ADD, R1, off, R2);
		return;
	}
	asm_load(e->as, 8, R0, R1, off);
	asm_alu(e->as, BPF_ADD, R0, R2);
	asm_store(e->as, 8, R1, off, R0);
}

/*
 * Raises the word at r1 + off to r2. Clobbers r0, r3, r4. A program that may be
 * preempted by itself tries again when it was; it takes TIME_TRIES longer runs
 * in a row, each between two instructions of this, to lose a value.
 */
static void raise_time(struct emit *e, int off)
{
	enum { TIME_TRIES = 8 };
	unsigned done = asm_label(e->as), again = asm_label(e->as);

	asm_load(e->as, 8, R0, R1, off);
	if (e->f->probe->guard != GUARD_PREEMPTIBLE) {
		asm_jif(e->as, BPF_JGE, R0, R2, done);
		asm_store(e->as, 8, R1, off, R2);
		asm_bind(e->as, done);
		return;
	}
	asm_imm(e->as, R4, TIME_TRIES);
	asm_bind(e->as, again);
	asm_jif(e->as, BPF_JGE, R0, R2, done);
	asm_mov(e->as, R3, R0);
	/* r0 becomes what was there: unchanged when the exchange worked */
	asm_atomic(e->as, BPF_CMPXCHG, R1, off, R2);
	asm_jif(e->as, BPF_JEQ, R0, R3, done);
	asm_alui(e->as, BPF_SUB, R4, 1);
	asm_jifi(e->as, BPF_JNE, R4, 0, again);
	asm_bind(e->as, done);
}

/*
 * The handler is over, so all registers are free. The row is looked for again:
 * that costs less than its place in the frame of every handler, and it is not
 * in the time. A program does not move to another CPU while it runs.
 */
static void take_time(struct emit *e)
{
	uint32_t off = e->plan->times_off + e->f->probe->index *
		       (uint32_t)sizeof(struct probe_times);

	asm_call(e->as, KH_KTIME);
	asm_load(e->as, 8, R6, FP, e->root->time_off);
	asm_alu(e->as, BPF_SUB, R0, R6);
	asm_mov(e->as, R6, R0);
	prologue_row(e);
	emit_add(e, R1, (int32_t)off);
	asm_imm(e->as, R2, 1);
	add_time(e, offsetof(struct probe_times, n));
	asm_mov(e->as, R2, R6);
	add_time(e, offsetof(struct probe_times, ns));
	raise_time(e, offsetof(struct probe_times, most));
	asm_alui(e->as, BPF_XOR, R2, -1);
	raise_time(e, offsetof(struct probe_times, least_inv));
}

/* Out of the way: what the prologue jumps to, and the way out of a handler that
 * holds a scratch slot or is timed. r1 is the row in the first two. */
void prologue_tail(struct emit *e)
{
	asm_bind(e->as, e->stopped_label);
	prologue_count(e, offsetof(struct probe_counts, stopped));
	asm_imm(e->as, R0, 0);
	asm_exit(e->as);
	if (e->code->needs_scratch) {
		asm_bind(e->as, e->none_label);
		prologue_count(e, offsetof(struct probe_counts, nest_skips));
		asm_imm(e->as, R0, 0);
		asm_exit(e->as);
	}
	if (!e->out_used)
		return;
	asm_bind(e->as, e->out_label);
	if (e->code->needs_scratch) {
		asm_load(e->as, 8, R1, FP, e->root->scr_off);
		asm_imm(e->as, R0, 0);
		/* gives the slot back: its word is 8 bytes before */
		if (e->c->set.lacks.fetch)
			asm_store(e->as, 8, R1, -8, R0);
		else
			asm_atomic(e->as, BPF_XCHG, R1, -8, R0);
	}
	if (e->plan->timed)
		take_time(e);
	asm_imm(e->as, R0, 0);
	asm_exit(e->as);
}

/* r1: the argument block, r2: where a string result goes. */
static void host_function(struct emit *e)
{
	/* lowering reserved PROLOGUE_TMP for it (gen.c) */
	uint32_t t = emit_tmp(e, 16);
	struct mem m = emit_tmp_mem(e, t, R3);

	asm_store(e->as, 8, m.base, m.off, R1);
	asm_store(e->as, 8, m.base, m.off + 8, R2);
	/* Strings first, while r3 to r5 are free: copying needs them. */
	for (uint32_t r = 0; r < e->f->nparams; r++) {
		/* isel_copy_to_dst() asks for the instruction's result */
		struct ir_ins fake = {.dst = r, .has_dst = true};

		if (!e->f->regs.v[r].is_str || e->homes[r].kind == HOME_NONE)
			continue;
		asm_load(e->as, 8, R1, m.base, m.off);
		asm_load(e->as, 8, R1, R1, (int)r * 8);
		e->ins = &fake;
		isel_copy_to_dst(e, R1, e->f->regs.v[r].width);
		e->ins = NULL;
	}
	if (used(e, PS_RET)) {
		asm_load(e->as, 8, R2, m.base, m.off + 8);
		put_pseudo(e, PS_RET, R2);
	}
	asm_load(e->as, 8, R1, m.base, m.off);
	for (uint32_t r = 0; r < e->f->nparams; r++) {
		if (e->f->regs.v[r].is_str || e->homes[r].kind == HOME_NONE)
			continue;
		/* r3 to r5 may already be homes */
		if (e->homes[r].kind == HOME_REG) {
			asm_load(e->as, 8, e->homes[r].reg, R1, (int)r * 8);
			continue;
		}
		asm_load(e->as, 8, R0, R1, (int)r * 8);
		asm_store(e->as, 8, FP, e->homes[r].off, R0);
	}
	zero_all(e);
}

/* A loop body's context is the handler's frame. */
void prologue_emit(struct emit *e)
{
	if (e->body) {
		put_pseudo(e, PS_ROOT, turns_context(e));
		zero_all(e);
	} else if (e->kernel) {
		kernel_handler(e);
	} else if (e->f->kind == IR_FUNCTION) {
		host_function(e);
	} else {
		zero_all(e);
	}
}
