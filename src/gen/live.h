/* SPDX-License-Identifier: MIT */
/*
 * Where values live: one interval of positions per register, and the layout of
 * registers and frame made from them. Instruction i (from 1, in layout order)
 * reads at position 2i and writes at 2i+1; the prologue is instruction 0.
 */
#ifndef GEN_LIVE_H
#define GEN_LIVE_H

#include "gen/emit.h"

/*
 * One interval, from the first to the last position at which the value is
 * needed: holes in it are not used. That costs registers in long handlers, and
 * saves the splitting that the scan would have to do.
 */
struct interval {
	uint32_t reg;
	uint32_t start, end; /* positions; start > end: never used */
	uint32_t weight;     /* uses, each worth 8 per loop around it */
	uint32_t hint;	     /* copied to or from; UINT32_MAX: none */
	int phys;	     /* given by regalloc; -1: memory */
};

struct live {
	struct interval *iv; /* by register, pseudo registers included */
	unsigned n;
	uint32_t npos;
	uint32_t *heavy;     /* numbers of heavy instructions, ascending */
	unsigned nheavy;
};

/* From the dry run's notes. Sets emit.zero_regs: registers that may be read
 * before they are written. */
struct live *live_find(struct emit *e);
/* Gives r3 to r9 away: fills emit.homes for those that got one. */
void regalloc_run(struct emit *e, struct live *l);
/*
 * Places all others: on the stack, or in the scratch slot when the stack
 * (limit bytes) is too small. Sets emit.frame, tmp_kind, tmp_off and
 * code.needs_scratch. Returns false, reported, when neither has room.
 */
bool frame_layout(struct emit *e, struct live *l, uint32_t limit);

#endif
