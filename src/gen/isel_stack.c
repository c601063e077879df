/* SPDX-License-Identifier: MIT */
/*
 * Stacks. backtrace() is a string of addresses, since scripts use it as a key,
 * take it apart and print it: the kernel walks the stack (by ORC; that of a
 * process by frame pointers) and its own formatter writes the text. Names are
 * looked up on the host.
 */
#include "gen/isel.h"

enum {
	ADDRESS = 20,	      /* " 0x", 16 digits, NUL */
	USER_STACK = 1 << 8,  /* BPF_F_USER_STACK */
	SKIP_MASK = 0xff,     /* BPF_F_SKIP_FIELD_MASK */
};

static bool of_user(const struct emit *e)
{
	return e->ins->builtin->id == BI_UBACKTRACE ||
	       e->ins->builtin->id == BI_USTACK;
}

unsigned gen_own_frames(enum prog_kind k)
{
	switch (k) {
	case PROG_RAW_TP:
	case PROG_TP_BTF:
	case PROG_FENTRY:
	case PROG_FEXIT:
		/*
		 * the program and the trampoline or tracepoint that called it
		 */
		return 2;
	default:
		return 0;
	}
}

/* A user stack has none of them. */
static int32_t own_frames(const struct emit *e)
{
	return of_user(e) ? 0 : (int32_t)gen_own_frames(e->f->probe->prog);
}

static uint32_t rodata_text(struct emit *e, const char *s, uint32_t n)
{
	return plan_rodata(e->c, e->plan, (const uint8_t *)s, n);
}

/* Appends address i, which is at byte 8 * i of frames, unless it is not there:
 * then control goes to done. */
static void append(struct emit *e, unsigned i, uint32_t frames, uint32_t size,
		   uint32_t pos, unsigned done)
{
	/* "0x%llx" behind a blank but for the first */
	uint32_t fmt = rodata_text(e, " 0x%llx", 8);
	uint32_t room = emit_dst_width(e) - ADDRESS;
	struct mem m = emit_tmp_mem(e, size, R1);

	asm_load(e->as, 8, R4, m.base, m.off);
	asm_jifi(e->as, BPF_JLE, R4, (int32_t)i * 8, done);
	/* A frame pointer chain often ends in a return address of 0. */
	m = emit_tmp_mem(e, frames, R1);
	asm_load(e->as, 8, R4, m.base, m.off + (int)i * 8);
	asm_jifi(e->as, BPF_JEQ, R4, 0, done);
	m = emit_tmp_mem(e, pos, R1);
	asm_load(e->as, 8, R4, m.base, m.off);
	/*
	 * no room for one more Otherwise the verifier walks all that follows
	 * once per number of digits.
	 */
	asm_jifi(e->as, BPF_JGT, R4, (int32_t)room, done);
	emit_dst_addr(e, R1);
	asm_alu(e->as, BPF_ADD, R1, R4);
	asm_imm(e->as, R2, ADDRESS);
	asm_value(e->as, R3, MAP_RODATA, fmt + (i == 0));
	emit_tmp_addr(e, R4, frames);
	emit_add(e, R4, (int32_t)i * 8);
	asm_imm(e->as, R5, 8);
	asm_call(e->as, KH_SNPRINTF);
	/* r0: bytes with the NUL; never out of range, but the verifier must
	 * be told. */
	asm_alui(e->as, BPF_SUB, R0, 1);
	asm_jifi(e->as, BPF_JGE, R0, ADDRESS, done);
	m = emit_tmp_mem(e, pos, R1);
	asm_load(e->as, 8, R2, m.base, m.off);
	asm_alu(e->as, BPF_ADD, R2, R0);
	/* one walk for all lengths */
	emit_opaque(e, R2, R0);
	m = emit_tmp_mem(e, pos, R1);
	asm_store(e->as, 8, m.base, m.off, R2);
}

static void backtrace(struct emit *e)
{
	uint32_t w = emit_dst_width(e);
	unsigned n = (unsigned)e->c->set.limit[LIMIT_MAXBACKTRACE];
	uint32_t frames, size, pos;
	unsigned done = asm_label(e->as);
	struct mem m;

	/* words behind the text must be 0, as in every string */
	emit_zero_dst(e, emit_mem(e, e->ins->dst, R1), w);
	if (w < ADDRESS)
		return;
	/* The shortest address is "0x" and a digit. */
	if (n > w / 4)
		n = w / 4;
	frames = emit_tmp(e, n * 8);
	size = emit_tmp(e, 8);
	pos = emit_tmp(e, 8);
	m = emit_tmp_mem(e, pos, R1);
	asm_storei(e->as, 8, m.base, m.off, 0);
	asm_mov(e->as, R1, emit_pseudo(e, PS_CTX, R1));
	emit_tmp_addr(e, R2, frames);
	asm_imm(e->as, R3, n * 8);
	asm_imm(e->as, R4, of_user(e) ? USER_STACK : own_frames(e));
	asm_call(e->as, KH_GET_STACK);
	/* an error, or nothing at all */
	asm_jifi32(e->as, BPF_JSLE, R0, 0, done);
	m = emit_tmp_mem(e, size, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
	for (unsigned i = 0; i < n; i++)
		append(e, i, frames, size, pos, done);
	asm_bind(e->as, done);
}

/*
 * One address: the kernel skips those before it. Entry n of the stack, or 0
 * where it ends.
 */
static void address(struct emit *e)
{
	uint32_t t = emit_tmp(e, 8);
	unsigned none = asm_label(e->as), done = asm_label(e->as);
	struct mem m;

	emit_load(e, R4, &e->ins->args[0]);
	/* the kernel takes 8 bits of entries to skip */
	asm_jifi(e->as, BPF_JGT, R4, SKIP_MASK - own_frames(e), none);
	emit_add(e, R4, own_frames(e));
	if (of_user(e))
		asm_alui(e->as, BPF_OR, R4, USER_STACK);
	asm_mov(e->as, R1, emit_pseudo(e, PS_CTX, R1));
	emit_tmp_addr(e, R2, t);
	asm_imm(e->as, R3, 8);
	asm_call(e->as, KH_GET_STACK);
	asm_jifi32(e->as, BPF_JSLE, R0, 0, none);
	m = emit_tmp_mem(e, t, R1);
	asm_load(e->as, 8, R0, m.base, m.off);
	asm_jmp(e->as, done);
	asm_bind(e->as, none);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, done);
	emit_put(e, R0);
}

bool isel_stack(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_BACKTRACE:
	case BI_UBACKTRACE:
		backtrace(e);
		return true;
	case BI_STACK:
	case BI_USTACK:
		address(e);
		return true;
	default:
		return false;
	}
}
