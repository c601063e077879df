/* SPDX-License-Identifier: MIT */
/*
 * What an instruction's byte says, beyond what every linux/bpf.h of the
 * supported systems defines, and the machine's own codes.
 */
#ifndef VM_OP_H
#define VM_OP_H

#include <linux/bpf.h>

enum {
	MODE_MEMSX = 0x80, /* LDX: sign-extending load */
	CODE_LDDW = BPF_LD | BPF_IMM | BPF_DW,
	CODE_CALL = BPF_JMP | BPF_CALL, /* a helper: imm */
	CODE_EXIT = BPF_JMP | BPF_EXIT,
	CODE_JA32 = BPF_JMP32 | BPF_JA, /* distance in imm */
	/* Bytes that no instruction has, put in by image.c. */
	CODE_LOCAL = 0x8d, /* call of this image's instruction off */
	CODE_FAR = 0x9d,   /* call of ir function imm's code */
	/* Kinds of `sub`. */
	SUB_SDIV = 1, /* DIV, MOD: signed */
};

#endif
