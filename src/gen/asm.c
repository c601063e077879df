/* SPDX-License-Identifier: MIT */
/* The instruction builder. */
#include "gen/asm.h"

#include <assert.h>

enum { UNBOUND = UINT32_MAX };

void asm_init(struct assembler *as)
{
	*as = (struct assembler){.a = arena_new(), .loc = UINT32_MAX};
}

void asm_reserve(struct assembler *as, unsigned ninsns)
{
	assert(!as->insns.n);
	as->insns.v = arena_array(as->a, struct bpf_insn, ninsns);
	as->locs.v = arena_array(as->a, uint32_t, ninsns);
	as->insns.cap = as->locs.cap = ninsns;
}

void asm_free(struct assembler *as)
{
	arena_free(as->a);
	as->a = NULL;
}

static struct bpf_insn *add(struct assembler *as, int code, int dst, int src,
			    int off, int32_t imm)
{
	struct bpf_insn in = {
		.code = (uint8_t)code,
		.dst_reg = (uint8_t)(dst & 15),
		.src_reg = (uint8_t)(src & 15),
		.off = (int16_t)off,
		.imm = imm,
	};

	if (as->counting) {
		as->insns.n++;
		as->last = in;
		return &as->last;
	}
	vec_push(as->a, &as->insns, in);
	vec_push(as->a, &as->locs, as->loc);
	return &as->insns.v[as->insns.n - 1];
}

unsigned asm_label(struct assembler *as)
{
	vec_push(as->a, &as->labels, UNBOUND);
	return as->labels.n - 1;
}

void asm_bind(struct assembler *as, unsigned label)
{
	assert(as->labels.v[label] == UNBOUND);
	as->labels.v[label] = as->insns.n;
}

static void fix(struct assembler *as, unsigned label, bool func)
{
	struct asm_fixup f = {as->insns.n, label, func};

	if (!as->counting)
		vec_push(as->a, &as->fixups, f);
}

void asm_entry(struct assembler *as, unsigned label)
{
	vec_push(as->a, &as->entries, label);
}

/* no instruction, no dependency on one */
void asm_mov(struct assembler *as, int dst, int src)
{
	if (dst == src)
		return;
	as->written |= 1u << dst;
	add(as, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void asm_mov32(struct assembler *as, int dst, int src)
{
	as->written |= 1u << dst;
	add(as, BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void imm64(struct assembler *as, int dst, int kind, int32_t lo,
		  int32_t hi)
{
	as->written |= 1u << dst;
	add(as, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, lo);
	add(as, 0, 0, 0, 0, hi);
}

/* Each form is the shortest that gives all 64 bits. */
void asm_imm(struct assembler *as, int dst, int64_t imm)
{
	if (imm >= INT32_MIN && imm <= INT32_MAX) {
		as->written |= 1u << dst;
		add(as, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, (int32_t)imm);
	} else if (imm >= 0 && imm <= UINT32_MAX) {
		/* 32-bit moves clear the upper half */
		as->written |= 1u << dst;
		add(as, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, (int32_t)imm);
	} else {
		imm64(as, dst, 0, (int32_t)imm, (int32_t)(imm >> 32));
	}
}

void asm_alu(struct assembler *as, int op, int dst, int src)
{
	as->written |= 1u << dst;
	add(as, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

void asm_alui(struct assembler *as, int op, int dst, int32_t imm)
{
	as->written |= 1u << dst;
	add(as, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

void asm_neg(struct assembler *as, int dst)
{
	as->written |= 1u << dst;
	add(as, BPF_ALU64 | BPF_NEG, dst, 0, 0, 0);
}

void asm_swap64(struct assembler *as, int dst)
{
	as->written |= 1u << dst;
	add(as, BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 64);
}

static int width(int size)
{
	switch (size) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	default:
		assert(size == 8);
		return BPF_DW;
	}
}

void asm_load(struct assembler *as, int size, int dst, int base, int off)
{
	as->written |= 1u << dst;
	add(as, BPF_LDX | BPF_MEM | width(size), dst, base, off, 0);
}

void asm_store(struct assembler *as, int size, int base, int off, int src)
{
	add(as, BPF_STX | BPF_MEM | width(size), base, src, off, 0);
}

void asm_storei(struct assembler *as, int size, int base, int off, int32_t imm)
{
	add(as, BPF_ST | BPF_MEM | width(size), base, 0, off, imm);
}

/* A fetching operation writes a register: the dry run has to see it. */
void asm_atomic(struct assembler *as, int op, int base, int off, int src)
{
	if (op == BPF_CMPXCHG)
		as->written |= 1u << R0;
	else if (op & BPF_FETCH)
		as->written |= 1u << src;
	add(as, BPF_STX | BPF_ATOMIC | BPF_DW, base, src, off, op);
}

void asm_jmp(struct assembler *as, unsigned label)
{
	fix(as, label, false);
	add(as, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

void asm_jif(struct assembler *as, int op, int dst, int src, unsigned label)
{
	fix(as, label, false);
	add(as, BPF_JMP | op | BPF_X, dst, src, 0, 0);
}

void asm_jifi(struct assembler *as, int op, int dst, int32_t imm,
	      unsigned label)
{
	fix(as, label, false);
	add(as, BPF_JMP | op | BPF_K, dst, 0, 0, imm);
}

void asm_jifi32(struct assembler *as, int op, int dst, int32_t imm,
		unsigned label)
{
	fix(as, label, false);
	add(as, BPF_JMP32 | op | BPF_K, dst, 0, 0, imm);
}

void asm_call(struct assembler *as, int helper)
{
	as->written |= 0x3f; /* r0 to r5 */
	add(as, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void asm_exit(struct assembler *as)
{
	add(as, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Relocations are remembered before the instruction that they are for. */
static void relocate(struct assembler *as, enum reloc_kind kind, uint32_t map,
		     uint32_t off, uint32_t func)
{
	struct reloc r = {as->insns.n, kind, map, off, func};

	if (!as->counting)
		vec_push(as->a, &as->relocs, r);
}

void asm_map(struct assembler *as, int dst, uint32_t map)
{
	relocate(as, RELOC_MAP, map, 0, 0);
	imm64(as, dst, BPF_PSEUDO_MAP_FD, 0, 0);
}

void asm_value(struct assembler *as, int dst, uint32_t map, uint32_t off)
{
	relocate(as, RELOC_VALUE, map, off, 0);
	imm64(as, dst, BPF_PSEUDO_MAP_VALUE, 0, (int32_t)off);
}

void asm_func(struct assembler *as, int dst, uint32_t func, unsigned label)
{
	relocate(as, RELOC_FUNC, 0, 0, func);
	fix(as, label, true);
	imm64(as, dst, BPF_PSEUDO_FUNC, 0, 0);
}

void asm_comm(struct assembler *as, int dst)
{
	relocate(as, RELOC_COMM, 0, 0, 0);
	imm64(as, dst, 0, 0, 0);
}

void asm_turns(struct assembler *as, int dst)
{
	relocate(as, RELOC_TURNS, 0, 0, 0);
	asm_imm(as, dst, TURNS_MOST);
}

/*
 * A call only where the kernel has the function; the loader puts it in the
 * place of this instruction, which is right without it.
 */
void asm_kfunc(struct assembler *as, enum kfunc f)
{
	relocate(as, RELOC_KFUNC, 0, 0, f);
	as->written |= 0x3f; /* r0 to r5 */
	asm_imm(as, R0, 0);
}

void asm_call_func(struct assembler *as, uint32_t func)
{
	as->written |= 0x3f;
	relocate(as, RELOC_FUNC, 0, 0, func);
	add(as, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

void asm_call_label(struct assembler *as, unsigned label)
{
	as->written |= 0x3f;
	fix(as, label, true);
	add(as, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}
