/* SPDX-License-Identifier: MIT */
/*
 * Aggregates in live mode: what a kernel handler reads is the sum of all cells
 * as they are now. A scalar has one per row, bank and feeding program, an array
 * one per bank and shard in the element's value, and one of the host's.
 *
 * Registers: the cell's address in r5, rows left in r4, results in r0 and r2.
 */
#include "gen/isel.h"

#include <stddef.h>

enum { ROWS_INLINE = 8 /* more CPUs: a loop */ };

/* Does what is to be done with the cell at r5 + off; must keep r4 and r5. */
typedef void cell_visit(struct emit *e, int off);

static const struct plan_global *global(struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

/* --- where the cells are -------------------------------------------------- */

/*
 * The slot's cell at that distance from row 0 and bank 0. A program that does
 * not feed the global has no slot.
 */
static void visit_slot(struct emit *e, unsigned slot, uint32_t at,
		       cell_visit *visit)
{
	uint32_t off = global(e)->slot[slot];

	if (off == UINT32_MAX)
		return;
	asm_value(e->as, R5, MAP_ROWS, e->plan->bank_off + off + at);
	visit(e, 0);
}

/* One (bank, program) in the rows of all CPUs. */
static void visit_rows(struct emit *e, unsigned slot, uint32_t at,
		       cell_visit *visit)
{
	const struct plan *p = e->plan;
	unsigned again;

	if (p->ncpus <= ROWS_INLINE) {
		for (unsigned r = 0; r < p->ncpus; r++)
			visit_slot(e, slot, at + r * p->row_size, visit);
		return;
	}
	if (global(e)->slot[slot] == UINT32_MAX)
		return;
	again = asm_label(e->as);
	asm_value(e->as, R5, MAP_ROWS,
		  p->bank_off + global(e)->slot[slot] + at);
	asm_imm(e->as, R4, p->ncpus);
	asm_bind(e->as, again);
	/*
	 * a loop as a whole is known to the verifier: r4 counts down from a
	 * constant
	 */
	visit(e, 0);
	emit_add(e, R5, (int32_t)p->row_size);
	asm_alui(e->as, BPF_SUB, R4, 1);
	asm_jifi(e->as, BPF_JNE, R4, 0, again);
}

static void visit_scalar(struct emit *e, cell_visit *visit)
{
	unsigned n = e->g->ir->prog->probes.n;

	for (unsigned bank = 0; bank < 2; bank++) {
		uint32_t at = bank * e->plan->bank_size;

		for (unsigned i = 0; i < n; i++)
			visit_rows(e, i, at, visit);
		visit_slot(e, n, at, visit); /* the host's own */
	}
}

/* The element's cells; r5 is its value. */
static void visit_element(struct emit *e, cell_visit *visit)
{
	const struct plan_global *g = global(e);

	for (unsigned i = 0; i < plan_cells(g); i++) {
		if (i)
			emit_add(e, R5, (int32_t)g->cell.size);
		visit(e, 0);
	}
}

/* --- what is done with them ----------------------------------------------- */

static int field(struct emit *e, enum cell_field f)
{
	return (int)global(e)->cell.off[f];
}

static void add_count(struct emit *e, int off)
{
	asm_load(e->as, 8, R3, R5, off + field(e, CF_COUNT));
	asm_alu(e->as, BPF_ADD, R2, R3);
}

static void add_sum(struct emit *e, int off)
{
	asm_load(e->as, 8, R3, R5, off + field(e, CF_SUM));
	asm_alu(e->as, BPF_ADD, R0, R3);
}

static void add_count_sum(struct emit *e, int off)
{
	add_count(e, off);
	add_sum(e, off);
}

/*
 * r0 = the larger of r0 and the word. Minima and maxima are kept so that 0
 * means none: see finish().
 */
static void raise_to(struct emit *e, enum cell_field f, int off)
{
	unsigned done = asm_label(e->as);

	asm_load(e->as, 8, R3, R5, off + field(e, f));
	asm_jif(e->as, BPF_JGE, R0, R3, done);
	asm_mov(e->as, R0, R3);
	asm_bind(e->as, done);
}

static void raise_min(struct emit *e, int off)
{
	add_count(e, off);
	raise_to(e, CF_MIN, off);
}

static void raise_max(struct emit *e, int off)
{
	add_count(e, off);
	raise_to(e, CF_MAX, off);
}

/* r1 = 8 times the bucket's number. */
static void add_bucket(struct emit *e, int off)
{
	asm_mov(e->as, R3, R5);
	asm_alu(e->as, BPF_ADD, R3, R1);
	asm_load(e->as, 8, R3, R3, off + field(e, CF_HIST));
	asm_alu(e->as, BPF_ADD, R0, R3);
}

/* Only when all who feed it are locked out. */
static void empty_cell(struct emit *e, int off)
{
	emit_zero(e, (struct mem){R5, off}, global(e)->cell.size);
}

/* --- reading -------------------------------------------------------------- */

/* fails: no samples is an error, so they have to be counted along. */
static cell_visit *visit_of(int64_t op, bool fails)
{
	switch (op) {
	case STAT_SUM:
		return fails ? add_count_sum : add_sum;
	case STAT_AVG:
		return add_count_sum;
	case STAT_MIN:
		return raise_min;
	case STAT_MAX:
		return raise_max;
	default:
		return add_count;
	}
}

/* r5 = the element's value; r0 is 0 where there is none. */
static void find_element(struct emit *e, unsigned none)
{
	uint32_t key = isel_key(e, 0, 0);

	asm_map(e->as, R1, global(e)->map);
	emit_tmp_addr(e, R2, key);
	asm_call(e->as, KH_MAP_LOOKUP);
	asm_jifi(e->as, BPF_JEQ, R0, 0, none);
	asm_mov(e->as, R5, R0);
}

static void visit_all(struct emit *e, cell_visit *visit)
{
	if (global(e)->key.n)
		visit_element(e, visit);
	else
		visit_scalar(e, visit);
}

/* r0 = the extractor's value of what was summed. */
static void finish(struct emit *e)
{
	struct assembler *as = e->as;

	switch (e->ins->num) {
	case STAT_COUNT:
		asm_mov(as, R0, R2);
		break;
	case STAT_AVG: /* toward zero */
		asm_mov(as, R3, R0);
		asm_alui(as, BPF_ARSH, R3, 63);
		asm_alu(as, BPF_XOR, R0, R3);
		asm_alu(as, BPF_SUB, R0, R3);
		asm_alu(as, BPF_DIV, R0, R2);
		asm_alu(as, BPF_XOR, R0, R3);
		asm_alu(as, BPF_SUB, R0, R3);
		break;
	/* stored as ~(v ^ INT64_MIN): the smallest value is the largest word */
	case STAT_MIN:
		asm_alui(as, BPF_XOR, R0, -1);
		/* fallthrough */
	case STAT_MAX:
		/* v ^ INT64_MIN: order as unsigned numbers, and 0 below all */
		asm_imm(as, R3, INT64_MIN);
		asm_alu(as, BPF_XOR, R0, R3);
		break;
	default:
		break;
	}
}

/* No element, or no samples: 0, or the failure target. */
static void get(struct emit *e)
{
	bool fails = e->ins->target[1] != NULL;
	unsigned none = asm_label(e->as), done = asm_label(e->as);

	if (fails)
		none = emit_block(e, e->ins->target[1]);
	if (global(e)->key.n)
		find_element(e, none);
	asm_imm(e->as, R0, 0);
	asm_imm(e->as, R2, 0);
	visit_all(e, visit_of(e->ins->num, fails));
	if (fails)
		asm_jifi(e->as, BPF_JEQ, R2, 0, none);
	finish(e);
	asm_jmp(e->as, done);
	if (!fails)
		asm_bind(e->as, none); /* r0 is 0 */
	asm_bind(e->as, done);
	emit_put(e, R0);
	emit_ok(e);
}

/* The index is in range: the handler has tested it; the verifier has not. */
static void bucket(struct emit *e)
{
	const struct ir_val *v = &e->ins->args[e->ins->nargs - 1];
	unsigned none = asm_label(e->as);

	if (global(e)->key.n)
		find_element(e, none);
	emit_load(e, R1, v);
	asm_imm(e->as, R0, 0);
	asm_jifi(e->as, BPF_JGE, R1, (int32_t)global(e)->cell.nbuckets, none);
	asm_alui(e->as, BPF_LSH, R1, 3);
	visit_all(e, add_bucket);
	asm_bind(e->as, none);
	emit_put(e, R0);
	emit_ok(e);
}

static void has(struct emit *e)
{
	unsigned none = asm_label(e->as);

	find_element(e, none);
	asm_imm(e->as, R0, 1);
	asm_bind(e->as, none);
	emit_put(e, R0);
}

/* --- deleting ------------------------------------------------------------- */

/* deletes tells the host that what its copy has is of before. */
static void count_delete(struct emit *e)
{
	asm_value(e->as, R1, MAP_CONTROL, global(e)->deletes_off);
	asm_imm(e->as, R0, 1);
	asm_atomic(e->as, BPF_ADD, R1, 0, R0);
}

/*
 * The handler holds the lock that those who feed it take; the host copies
 * without it, and may do so in the middle. Counting before tells a copy that
 * began earlier, counting behind one that began between.
 */
static void delete(struct emit *e)
{
	const struct plan_global *g = global(e);

	count_delete(e);
	if (g->key.n) {
		uint32_t key = isel_key(e, 0, 0);

		asm_map(e->as, R1, g->map);
		emit_tmp_addr(e, R2, key);
		asm_call(e->as, KH_MAP_DELETE);
	} else {
		visit_scalar(e, empty_cell);
	}
	count_delete(e);
	emit_ok(e);
}

void isel_live(struct emit *e)
{
	switch (e->ins->op) {
	case OP_SGET:
		get(e);
		break;
	case OP_HGET:
		bucket(e);
		break;
	case OP_AHAS:
		has(e);
		break;
	default:
		delete(e);
	}
}
