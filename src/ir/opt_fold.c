/* SPDX-License-Identifier: MIT */
/*
 * needs:  a checked function
 * keeps:  what the function does and in which order
 * breaks: block ids and registers that are no longer used
 */
#include "ir/pass.h"
#include "ir/util.h"

void opt_fold(struct compile *c, struct ir *ir)
{
	for (unsigned i = 0; i < ir->funcs.n; i++)
		ir_prune(c->a, ir->funcs.v[i]);
}
