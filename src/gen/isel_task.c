/* SPDX-License-Identifier: MIT */
/*
 * Built-ins that walk from the current task through kernel structures, by the
 * offsets of the running kernel's BTF, and those that look at pt_regs.
 */
#include "gen/isel.h"

#include <string.h>

#include "types/regs.h"
#include "types/types.h"

enum { REGS_CS = 136 /* x86-64: whether it was user code */ };

/* Reports that the built-in has nothing to look at. */
static void not_here(struct emit *e, const char *why)
{
	struct span at = emit_span(e);

	if (e->dry)
		complain(e->c, NOT_HERE, &at, e->ins->builtin->name, why);
	e->failed = true;
}

/* r0 = pointer or number behind a chain of members of task_struct; 0 when a
 * step faults. The last entry of off is added but not loaded when `address`. */
static void walk(struct emit *e, const char *chain, bool address)
{
	uint32_t off[CHAIN_MAX], t = emit_tmp(e, 8);
	int size = 8, n = types_chain(e->c, "task_struct", chain, off, &size);
	unsigned fault = asm_label(e->as), done = asm_label(e->as);
	struct mem m;

	if (n <= 0) {
		not_here(e, arena_printf(
		    e->c->a, "the kernel's BTF does not tell where "
		    "task_struct has %s", chain));
		return;
	}
	asm_call(e->as, KH_TASK);
	/* a pointer at each step but the last, whose size BTF tells */
	for (int i = 0; i < n - address; i++) {
		int bytes = i + 1 < n ? 8 : size < 0 ? -size : size;

		asm_mov(e->as, R3, R0);
		emit_add(e, R3, (int32_t)off[i]);
		emit_tmp_addr(e, R1, t);
		asm_imm(e->as, R2, bytes);
		asm_call(e->as, KH_READ_KERNEL);
		asm_jifi32(e->as, BPF_JNE, R0, 0, fault);
		m = emit_tmp_mem(e, t, R1);
		asm_load(e->as, bytes, R0, m.base, m.off);
	}
	if (address)
		emit_add(e, R0, (int32_t)off[n - 1]);
	asm_jmp(e->as, done);
	asm_bind(e->as, fault);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, done);
}

static void number(struct emit *e, const char *chain)
{
	walk(e, chain, false);
	emit_put(e, R0);
}

/* comm has 16 bytes, NUL included. A fault leaves the "" that is there. */
static void parent_name(struct emit *e)
{
	uint32_t w = emit_dst_width(e);

	emit_zero_dst(e, emit_mem(e, e->ins->dst, R1), w);
	walk(e, "real_parent.comm", true);
	asm_mov(e->as, R3, R0);
	emit_dst_addr(e, R1);
	asm_imm(e->as, R2, w < 16 ? w : 16);
	asm_call(e->as, KH_READ_KERNEL_STR);
}

/* The context is a struct pt_regs. */
static bool has_regs(const struct emit *e)
{
	return e->f->probe->prog == PROG_KPROBE ||
	       e->f->probe->prog == PROG_PERF_EVENT;
}

static void from_regs(struct emit *e, uint32_t off)
{
	int dst = emit_dst(e, R0);

	asm_load(e->as, 8, dst, emit_pseudo(e, PS_CTX, R0), (int)off);
	emit_put(e, dst);
}

/*
 * The n-th argument, from 1; bits 32: the low half, sign-extended or not. A
 * constant number only: a variable one would need a table in memory.
 */
static void argument(struct emit *e, int bits, bool sign)
{
	const struct ir_val *v = &e->ins->args[0];
	enum prog_kind k = e->f->probe->prog;
	/* contexts of words: argument n is word n - 1 */
	bool words = k == PROG_FENTRY || k == PROG_FEXIT || k == PROG_RAW_TP ||
		     k == PROG_TP_BTF;
	int off;

	if (v->kind != VAL_NUM || v->num < 1 || v->num > REGS_NARGS) {
		not_here(e, "the number of an argument is 1 to 6");
		return;
	}
	if (!words && !has_regs(e)) {
		not_here(e, "it has no arguments");
		return;
	}
	if (e->f->probe->is_inlined) {
		not_here(e, "the function was inlined there, so that its "
			    "arguments are in no agreed registers (read them "
			    "by name, or leave inlined copies out with .call)");
		return;
	}
	/* registers of the System V ABI */
	off = words ? (int)(v->num - 1) * 8 : (int)regs_arg[v->num - 1];
	asm_load(e->as, 8, R0, emit_pseudo(e, PS_CTX, R0), off);
	if (bits == 32 && sign) {
		asm_alui(e->as, BPF_LSH, R0, 32);
		asm_alui(e->as, BPF_ARSH, R0, 32);
	} else if (bits == 32) {
		asm_mov32(e->as, R0, R0);
	}
	emit_put(e, R0);
}

/* A probe without registers is one of the kernel's own code: 0. */
static void user_mode(struct emit *e)
{
	if (!has_regs(e)) {
		asm_imm(e->as, R0, 0);
	} else {
		asm_load(e->as, 8, R0, emit_pseudo(e, PS_CTX, R0), REGS_CS);
		asm_alui(e->as, BPF_RSH, R0, 1);
		asm_alui(e->as, BPF_AND, R0, 1);
	}
	emit_put(e, R0);
}

/*
 * Byte offset in pt_regs of a register by its name, or -1. The names that
 * systemtap's register() takes, without those of segments.
 */
static int register_off(const char *name)
{
	static const struct {
		const char *name;
		int off;
	} regs[] = {
		{"r15", 0}, {"r14", 8}, {"r13", 16}, {"r12", 24}, {"rbp", 32},
		{"bp", 32}, {"rbx", 40}, {"bx", 40}, {"r11", 48}, {"r10", 56},
		{"r9", 64}, {"r8", 72}, {"rax", 80}, {"ax", 80}, {"rcx", 88},
		{"cx", 88}, {"rdx", 96}, {"dx", 96}, {"rsi", 104}, {"si", 104},
		{"rdi", 112}, {"di", 112}, {"orig_rax", 120}, {"rip", 128},
		{"ip", 128}, {"cs", 136}, {"flags", 144}, {"rsp", 152},
		{"sp", 152}, {"ss", 160},
	};

	for (unsigned i = 0; i < sizeof(regs) / sizeof(*regs); i++)
		if (!strcmp(regs[i].name, name))
			return regs[i].off;
	return -1;
}

static void named_register(struct emit *e)
{
	const struct ir_val *v = &e->ins->args[0];
	int off = v->kind == VAL_STR ? register_off(v->str) : -1;

	if (off < 0 || !has_regs(e)) {
		not_here(e, off < 0 ? "there is no register of that name" :
				      "it has no registers");
		return;
	}
	from_regs(e, (uint32_t)off);
}

/* Built-ins that need pt_regs. */
static bool registers(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_INT_ARG:
	case BI_S32_ARG:
		argument(e, 32, true);
		return true;
	case BI_UINT_ARG:
	case BI_U32_ARG:
		argument(e, 32, false);
		return true;
	case BI_LONG_ARG ... BI_POINTER_ARG:
	case BI_S64_ARG:
	case BI_U64_ARG:
		argument(e, 64, true);
		return true;
	case BI_RETURNVAL:
		if (!has_regs(e))
			not_here(e, "it has no registers");
		else
			from_regs(e, REGS_RESULT);
		return true;
	case BI_ADDR: /* of the probe, kernel's or user's */
	case BI_UADDR:
		if (!has_regs(e))
			not_here(e, "it has no registers");
		else
			from_regs(e, REGS_IP);
		return true;
	case BI_REGISTER:
	case BI_U_REGISTER:
		named_register(e);
		return true;
	case BI_USER_MODE:
		user_mode(e);
		return true;
	default:
		return false;
	}
}

bool isel_task(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_PPID:
		number(e, "real_parent.tgid");
		return true;
	case BI_PGRP:
		number(e, "signal.pids[2].numbers[0].nr");
		return true;
	case BI_SID:
		number(e, "signal.pids[3].numbers[0].nr");
		return true;
	case BI_EUID:
		number(e, "cred.euid.val");
		return true;
	case BI_EGID:
		number(e, "cred.egid.val");
		return true;
	case BI_PEXECNAME:
		parent_name(e);
		return true;
	default:
		return registers(e);
	}
}
