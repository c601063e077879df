/* SPDX-License-Identifier: MIT */
/* The passes, in the order in which they run. */
#ifndef IR_PASS_H
#define IR_PASS_H

#include "ir/ir.h"

void opt_fold(struct compile *c, struct ir *ir);
void opt_late(struct compile *c, struct ir *ir);
void opt_split(struct compile *c, struct ir *ir);
void opt_kick(struct compile *c, struct ir *ir);
void opt_act(struct compile *c, struct ir *ir);
void opt_take(struct compile *c, struct ir *ir);
void opt_same(struct compile *c, struct ir *ir);
void opt_lock(struct compile *c, struct ir *ir);
void opt_regs(struct compile *c, struct ir *ir);
void opt_outline(struct compile *c, struct ir *ir);

#endif
