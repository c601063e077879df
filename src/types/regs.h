/* SPDX-License-Identifier: MIT */
/*
 * Where a call's arguments and result are in struct pt_regs (x86-64). As the
 * kernel's asm/ptrace.h has had them since 64-bit x86 exists: what a kprobe or
 * uprobe program gets as its context.
 */
#ifndef TYPES_REGS_H
#define TYPES_REGS_H

#include <stdint.h>

/* Elsewhere the offsets below would give wrong numbers without a word. */
#ifndef __x86_64__
#error "tally knows the registers and system calls of x86-64 only"
#endif

/* More arguments than these are on the stack and not offered. */
enum { REGS_NARGS = 6 };

/* Byte offsets of di, si, dx, cx, r8, r9. */
static const uint32_t regs_arg[REGS_NARGS] = {112, 104, 96, 88, 72, 64};
enum { REGS_RESULT = 80 /* ax */, REGS_IP = 128 };

#endif
