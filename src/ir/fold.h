/* SPDX-License-Identifier: MIT */
/* The parts of the fold pass; each returns whether it changed something. tmp
 * lives for one round. */
#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/ir.h"
#include "ir/util.h"

/* Definitions and uses of each register, and its only definition. */
struct reg_use {
	unsigned defs, uses;
	struct ir_ins *def;
	struct ir_block *block; /* of def */
};
/* Parameters count as defined once, by no instruction. */
struct reg_use *reg_uses(struct arena *a, const struct ir_func *f);

/* Each takes one step of a round (opt_fold.c): the next one profits from it. */
bool fold_copies(struct arena *tmp, struct ir_func *f);
bool fold_numbers(struct compile *c, struct ir_func *f);
bool fold_branches(struct compile *c, struct ir_func *f);
bool fold_blocks(struct compile *c, struct arena *tmp, struct ir_func *f);
bool fold_dead(struct arena *tmp, struct ir_func *f);

#endif
