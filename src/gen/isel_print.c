/* SPDX-License-Identifier: MIT */
/*
 * Printing: operands go to a record laid out by the format; text is made of it
 * on the host. A kernel handler writes the record in place in the ring buffer.
 */
#include "gen/isel.h"

#include <stddef.h>

/* BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP. */
enum { RB_NO_WAKEUP = 1, RB_FORCE_WAKEUP = 2 };

/* The header is one word, so one store fills it. */
void isel_reserve(struct emit *e, uint16_t kind, uint32_t id, uint32_t payload,
		  unsigned *ret_full)
{
	struct record head = {
		.kind = kind,
		.probe = (uint16_t)e->f->probe->index,
		.id = id,
	};
	unsigned ok = asm_label(e->as);
	int64_t word = head.kind | (int64_t)head.probe << 16 |
		       (int64_t)((uint64_t)head.id << 32);

	e->code->sends |= 1u << kind;
	*ret_full = asm_label(e->as);
	asm_map(e->as, R1, MAP_RING);
	/* records of 8-byte words keep the next one aligned */
	asm_imm(e->as, R2, (int64_t)sizeof(head) + round8(payload));
	asm_imm(e->as, R3, 0);
	asm_call(e->as, KH_RING_RESERVE);
	asm_jifi(e->as, BPF_JNE, R0, 0, ok);
	emit_count(e, offsetof(struct probe_counts, ring_full), R1, R2);
	asm_jmp(e->as, *ret_full);
	asm_bind(e->as, ok);
	asm_imm(e->as, R1, word);
	asm_store(e->as, 8, R0, 0, R1);
}

/*
 * The host looks at the ring on its own, so that prints need not wake it;
 * errors and exit() do.
 */
void isel_submit(struct emit *e, bool wake)
{
	asm_imm(e->as, R2, wake ? RB_FORCE_WAKEUP : RB_NO_WAKEUP);
	asm_call(e->as, KH_RING_SUBMIT);
}

/*
 * A helper call loses r0, the record's address: then it is kept in the frame.
 */
static bool any_calls(struct emit *e)
{
	const struct ir_fmt *f = e->ins->fmt;

	for (unsigned i = 0; i < f->nargs; i++)
		if (f->is_str[i] &&
		    emit_string_calls(e, &e->ins->args[i], f->width[i]))
			return true;
	return false;
}

/* Operand i into its place: m is where the format has it. */
static void field(struct emit *e, struct mem m, unsigned i)
{
	const struct ir_fmt *f = e->ins->fmt;
	const struct ir_val *v = &e->ins->args[i];

	if (f->is_str[i])
		emit_put_string(e, m, v, f->width[i]);
	else if (emit_is_imm(v))
		asm_storei(e->as, 8, m.base, m.off, (int32_t)v->num);
	else
		asm_store(e->as, 8, m.base, m.off, emit_use(e, v, R2));
}

/* Nothing is printed when the ring is full; the counter tells the user. */
static void print_kernel(struct emit *e)
{
	const struct ir_fmt *f = e->ins->fmt;
	bool calls = any_calls(e);
	unsigned full;

	isel_reserve(e, REC_PRINT, f->id, f->size, &full);
	if (calls)
		emit_save_ptr(e, R0);
	for (unsigned i = 0; i < f->nargs; i++) {
		if (calls && i)
			emit_restore_ptr(e, R0);
		field(e, (struct mem){R0, (int)sizeof(struct record) +
					      (int)f->off[i]}, i);
	}
	if (calls)
		emit_restore_ptr(e, R1);
	else
		asm_mov(e->as, R1, R0);
	isel_submit(e, false);
	asm_bind(e->as, full);
}

/* On the host the operands are in a temporary, laid out as in a record. */
static void print_host(struct emit *e)
{
	const struct ir_fmt *f = e->ins->fmt;
	uint32_t t = emit_tmp(e, f->size ? f->size : 8);

	for (unsigned i = 0; i < f->nargs; i++) {
		struct mem m = emit_tmp_mem(e, t, R1);

		m.off += (int)f->off[i];
		field(e, m, i);
	}
	asm_imm(e->as, R1, f->id);
	emit_tmp_addr(e, R2, t);
	if (e->ins->op == OP_PRINT) {
		asm_call(e->as, HOST_PRINT);
		return;
	}
	emit_dst_addr(e, R3);
	asm_imm(e->as, R4, emit_dst_width(e));
	asm_call(e->as, HOST_SPRINT);
}

void isel_print(struct emit *e)
{
	if (!e->kernel)
		print_host(e);
	else if (e->ins->op == OP_PRINT)
		print_kernel(e);
	else
		isel_sprint(e);
}
