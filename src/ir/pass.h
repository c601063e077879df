/* SPDX-License-Identifier: MIT */
/* The passes, in the order in which they run. */
#ifndef IR_PASS_H
#define IR_PASS_H

#include "ir/ir.h"

void opt_fold(struct compile *c, struct ir *ir);

#endif
