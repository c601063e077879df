/* SPDX-License-Identifier: MIT */
/*
 * Instructions written by hand, for programs that are too small to go through
 * gen/ or needed before it (store/hostprog.h, probe/syscall.c). What a script
 * compiles to is made by gen/asm.h.
 */
#ifndef STORE_INSN_H
#define STORE_INSN_H

#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>

/* Code, destination, source, offset, number. */
#define INSN(c, d, s, o, i)                                                    \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),       \
			    .off = (int16_t)(o), .imm = (i) })
#define MOV_REG(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ALU_REG(op, d, s) INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define ALU_IMM(op, d, i) INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
/* 64 bits: d = *(s + o); *(d + o) = s. */
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
/* Jumps over `skip` instructions (64-bit constants count as two). */
#define JUMP_IMM(op, d, i, skip) INSN(BPF_JMP | (op) | BPF_K, d, 0, skip, i)
#define JUMP_REG(op, d, s, skip) INSN(BPF_JMP | (op) | BPF_X, d, s, skip, 0)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/*
 * Two instructions. kind: BPF_PSEUDO_MAP_FD, a map by its descriptor v;
 * BPF_PSEUDO_MAP_VALUE, what is `o` bytes into its only element;
 * BPF_PSEUDO_FUNC, a callback v instructions from here.
 */
#define LOAD_64(d, kind, v, o)                                                 \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, v), INSN(0, 0, 0, 0, o)

/* Appends instructions to the n of v, whose room is the caller's business. */
#define INSN_PUT(v, n, ...)                                                    \
	do {                                                                   \
		const struct bpf_insn some_[] = { __VA_ARGS__ };               \
		memcpy((v) + (n), some_, sizeof(some_));                       \
		(n) += sizeof(some_) / sizeof(*some_);                         \
	} while (0)

#endif
