/* SPDX-License-Identifier: MIT */
/* What cannot be lowered for the kernel although the language has it: there a
 * kernel handler goes on on the host (ir/opt_split.c). */
#include "front/regex.h"
#include "gen/isel.h"

bool gen_kernel_can(const struct ir_func *f, const struct ir_ins *i)
{
	switch (i->op) {
	case OP_MATCH:
		return regex_dfa(i->re);
	case OP_SPRINT:
		return sprint_can(i->fmt);
	case OP_BCALL:
	case OP_BCALLE:
		return text_can(f, i);
	default:
		return true;
	}
}
