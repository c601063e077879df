/* SPDX-License-Identifier: MIT */
/*
 * What the probe sees: words of its context, registers, and memory of the
 * kernel and of processes through the probe_read helpers.
 */
#include "gen/isel.h"

#include <assert.h>

/* Sign-extends or clears what was loaded with size bytes (negative: signed). */
static void fit(struct emit *e, int reg, int64_t size)
{
	int bits = (int)(size < 0 ? -size : size) * 8;

	if (size >= 0 || bits == 64)
		return;
	/* sign extension, for lack of movsx before 6.6 */
	asm_alui(e->as, BPF_LSH, reg, 64 - bits);
	asm_alui(e->as, BPF_ARSH, reg, 64 - bits);
}

/* off is in bytes, from the start of the context; size as in fit(). */
static void from_context(struct emit *e, int off, int64_t size)
{
	int dst = emit_dst(e, R0);

	asm_load(e->as, (int)(size < 0 ? -size : size), dst,
		 emit_pseudo(e, PS_CTX, R0), off);
	fit(e, dst, size);
	emit_put(e, dst);
}

/* Bytes at the address in r3 to temporary t. r0: 0, or they are cleared. */
static void read_call(struct emit *e, int helper, int64_t size, uint32_t t)
{
	emit_tmp_addr(e, R1, t);
	asm_imm(e->as, R2, size < 0 ? -size : size);
	asm_call(e->as, helper);
}

/* r0 = the number that was read; size as in fit(). */
static void read_result(struct emit *e, int64_t size, uint32_t t)
{
	struct mem m = emit_tmp_mem(e, t, R1);

	asm_load(e->as, (int)(size < 0 ? -size : size), R0, m.base, m.off);
	fit(e, R0, size);
}

/* With a second target a fault goes there; without one it gives 0. */
static void load_memory(struct emit *e, int helper)
{
	int64_t size = e->ins->args[1].num;
	uint32_t t = emit_tmp(e, 8);

	emit_load(e, R3, &e->ins->args[0]);
	read_call(e, helper, size, t);
	/* helpers return an int: 32 bits count */
	if (e->ins->target[1])
		asm_jifi32(e->as, BPF_JNE, R0, 0,
			   emit_block(e, e->ins->target[1]));
	read_result(e, size, t);
	emit_put(e, R0);
	emit_ok(e);
}

/* A pointer the verifier knows can be followed by a load; others are read by
 * the helper, which clears what it cannot read. Either way a fault gives 0. */
static void load_trusted(struct emit *e)
{
	int64_t packed = e->ins->args[1].num;
	int64_t size = (int8_t)(packed & 0xff);
	int32_t off = (int32_t)(packed >> 8);
	uint32_t t;
	enum prog_kind k = e->f->probe ? e->f->probe->prog : PROG_NONE;

	if ((k == PROG_TP_BTF || k == PROG_FENTRY || k == PROG_FEXIT) &&
	    off >= INT16_MIN && off <= INT16_MAX) {
		int dst = emit_dst(e, R0);
		int base = emit_use(e, &e->ins->args[0], R0);

		asm_load(e->as, (int)(size < 0 ? -size : size), dst, base,
			 off);
		fit(e, dst, size);
		emit_put(e, dst);
		return;
	}
	emit_load(e, R3, &e->ins->args[0]);
	emit_add(e, R3, off);
	t = emit_tmp(e, 8);
	read_call(e, KH_READ_KERNEL, size, t);
	read_result(e, size, t);
	emit_put(e, R0);
}

/*
 * On the host: the number at an address, through the VM. HOST_FAILED has to be
 * asked because every number is a valid result.
 */
static void host_read(struct emit *e, bool user)
{
	uint32_t t = emit_tmp(e, 8);
	struct mem m;

	emit_load(e, R1, &e->ins->args[0]);
	asm_imm(e->as, R2, e->ins->args[1].num);
	asm_imm(e->as, R3, user);
	asm_imm(e->as, R4, emit_loc(e));
	asm_call(e->as, HOST_READ_MEM);
	if (e->ins->target[1]) {
		m = emit_tmp_mem(e, t, R1);
		/* kept over the call that asks for failure */
		asm_store(e->as, 8, m.base, m.off, R0);
		asm_call(e->as, HOST_FAILED);
		asm_jifi(e->as, BPF_JNE, R0, 0,
			 emit_block(e, e->ins->target[1]));
		m = emit_tmp_mem(e, t, R1);
		asm_load(e->as, 8, R0, m.base, m.off);
	}
	emit_put(e, R0);
	emit_ok(e);
}

void isel_ctx(struct emit *e)
{
	const struct ir_val *a = e->ins->args;

	if (!e->kernel) {
		if (e->ins->op == OP_KLD || e->ins->op == OP_ULD)
			host_read(e, e->ins->op == OP_ULD);
		else
			assert(!"sema lets no host handler have a context");
		return;
	}
	switch (e->ins->op) {
	case OP_ARG:
		from_context(e, (int)a[0].num * 8, 8);
		break;
	case OP_REG:
		from_context(e, (int)a[0].num, 8);
		break;
	case OP_CTX:
		from_context(e, (int)a[0].num, a[1].num);
		break;
	case OP_KLD:
		load_memory(e, KH_READ_KERNEL);
		break;
	case OP_ULD:
		load_memory(e, KH_READ_USER);
		break;
	default:
		load_trusted(e);
	}
}
