/* SPDX-License-Identifier: MIT */
/*
 * The instruction builder: appends eBPF instructions, patches jumps to labels,
 * remembers relocations and the place in the script of each instruction.
 */
#ifndef GEN_ASM_H
#define GEN_ASM_H

#include "gen/code.h"

/* Registers by their roles in the calling convention. */
enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

/*
 * A jump whose distance is known only when all instructions have their places.
 */
struct asm_fixup {
	uint32_t insn;
	unsigned label;
	bool func; /* ld_imm64 of a callback: the distance goes into imm */
};

struct assembler {
	struct arena *a;
	VEC(struct bpf_insn) insns;
	VEC(uint32_t) locs; /* one for each instruction: in ir.locs */
	VEC(uint32_t) labels; /* instruction, or UINT32_MAX while unbound */
	VEC(struct asm_fixup) fixups;
	/* ascending by instruction, as they are made */
	VEC(struct reloc) relocs;
	VEC(unsigned) entries; /* labels that are entered from outside */
	bool counting;	    /* a dry run: insns.n counts, nothing is kept */
	struct bpf_insn last; /* of a dry run */
	uint32_t loc;	    /* of the instructions being made */
	uint32_t written;   /* bit per register, since it was cleared */
	bool long_jumps;    /* the machine has jumps of 32 bits: the host */
	bool far_jump;	    /* a jump does not fit its 16 bits */
};

/*
 * Everything grows in an arena of its own, which asm_free() ends: what is kept
 * is copied before. UINT32_MAX as loc until the first statement.
 */
void asm_init(struct assembler *as);
void asm_free(struct assembler *as);
/* Room for so many; a guess that is wrong costs time only. */
void asm_reserve(struct assembler *as, unsigned ninsns);
/*
 * A label is an index that goes with the assembler; it is bound once, at the
 * place where the next instruction will be.
 */
unsigned asm_label(struct assembler *as);
void asm_bind(struct assembler *as, unsigned label);
/* The code is entered at the label, too, not only by its own jumps. */
void asm_entry(struct assembler *as, unsigned label);
/*
 * layout.c: leaves out what cannot be reached, then patches all jumps; all
 * labels that are used must be bound. Labels move with their instructions;
 * far_jump is set where a jump does not reach its target. Instructions and
 * their places are in `a` from then on.
 */
void asm_finish(struct assembler *as, struct arena *a);

/*
 * dst = src; dst = imm (one or two instructions). imm needs the two-word form
 * only outside of 32 bits.
 */
void asm_mov(struct assembler *as, int dst, int src);
void asm_imm(struct assembler *as, int dst, int64_t imm);
/* The upper half of dst becomes 0, as after every 32-bit operation. */
void asm_mov32(struct assembler *as, int dst, int src);
/* dst op= src, 64 bits: BPF_ADD ... */
void asm_alu(struct assembler *as, int op, int dst, int src);
/* dst op= imm; imm fits 32 bits. */
void asm_alui(struct assembler *as, int op, int dst, int32_t imm);
void asm_neg(struct assembler *as, int dst);
/* Byte swap of 64 bits to big endian: strings compare as numbers then. */
void asm_swap64(struct assembler *as, int dst);
/* size in bytes: 1, 2, 4, 8. off is in bytes and must fit 16 bits. */
void asm_load(struct assembler *as, int size, int dst, int base, int off);
void asm_store(struct assembler *as, int size, int base, int off, int src);
void asm_storei(struct assembler *as, int size, int base, int off,
		int32_t imm);
/* *(u64 *)(base + off) op src; op: BPF_ADD, BPF_OR | BPF_FETCH, BPF_XCHG,
 * BPF_CMPXCHG (expected value in r0, old value to r0) ... */
void asm_atomic(struct assembler *as, int op, int base, int off, int src);
/*
 * op is the condition for going to the label: BPF_JEQ, BPF_JSLT, ... Any
 * distance can be asked for; far_jump tells when it was too far.
 */
void asm_jmp(struct assembler *as, unsigned label);
void asm_jif(struct assembler *as, int op, int dst, int src, unsigned label);
void asm_jifi(struct assembler *as, int op, int dst, int32_t imm,
	      unsigned label);
/* Compares the low 32 bits: helper results of kernels before 6.4. */
void asm_jifi32(struct assembler *as, int op, int dst, int32_t imm,
		unsigned label);
/*
 * Helper numbers are the kernel's, or from HOST_FIRST the host's. r0 to r5 are
 * lost.
 */
void asm_call(struct assembler *as, int helper);
void asm_exit(struct assembler *as);
/* dst = the map's descriptor; the address of element 0 of map, plus off. */
void asm_map(struct assembler *as, int dst, uint32_t map);
void asm_value(struct assembler *as, int dst, uint32_t map, uint32_t off);
/* dst = address of the subprogram of ir function func, at label. */
void asm_func(struct assembler *as, int dst, uint32_t func, unsigned label);
/*
 * Calls the ir function func of another code (host). Resolved when the probe is
 * loaded, by its relocation.
 */
void asm_call_func(struct assembler *as, uint32_t func);
/* dst = offset of comm in task_struct, or 0: not known. */
void asm_comm(struct assembler *as, int dst);
/* dst = rounds that a loop may have. */
void asm_turns(struct assembler *as, int dst);
/* Calls a function of the kernel, where there is one. */
void asm_kfunc(struct assembler *as, enum kfunc f);
/* Calls a subprogram of this code. */
void asm_call_label(struct assembler *as, unsigned label);

#endif
