/* SPDX-License-Identifier: MIT */
/*
 * Instructions written by hand, for the small programs that the host starts on
 * request. What a script compiles to is made by gen/asm.h.
 */
#ifndef STORE_INSN_H
#define STORE_INSN_H

#include <linux/bpf.h>
#include <stdint.h>

/* Code, destination, source, offset, number. */
#define INSN(c, d, s, o, i)                                                    \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),       \
			    .off = (int16_t)(o), .imm = (i) })
#define MOV_REG(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)

#endif
