/* SPDX-License-Identifier: MIT */
/* Where a call's arguments and result are in struct pt_regs (x86-64). */
#ifndef TYPES_REGS_H
#define TYPES_REGS_H

#include <stdint.h>

enum { REGS_NARGS = 6 };

/* Byte offsets of di, si, dx, cx, r8, r9. */
static const uint32_t regs_arg[REGS_NARGS] = {112, 104, 96, 88, 72, 64};
enum { REGS_RESULT = 80 /* ax */ };

#endif
