/* SPDX-License-Identifier: MIT */
/* Instructions of the VM, written by hand. */
#ifndef TESTS_INSN_H
#define TESTS_INSN_H

#include "vm/op.h"

#define INSN(c, d, s, o, i)                                                    \
	((struct bpf_insn){.code = (c),                                        \
			   .dst_reg = (d),                                     \
			   .src_reg = (s),                                     \
			   .off = (o),                                         \
			   .imm = (i)})
#define MOV(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOVX(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define EXIT INSN(CODE_EXIT, 0, 0, 0, 0)
#define LDDW(d, v)                                                             \
	INSN(CODE_LDDW, d, 0, 0, (int32_t)(uint32_t)(uint64_t)(v)),            \
	    INSN(0, 0, 0, 0, (int32_t)((uint64_t)(v) >> 32))
#define CALL(i) INSN(CODE_CALL, 0, 0, 0, i)

#endif
