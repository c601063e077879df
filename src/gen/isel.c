/* SPDX-License-Identifier: MIT */
/* Which file lowers which operation, on which machine. */
#include "gen/isel.h"

#include <assert.h>

/*
 * Grouped by the order of enum ir_op, which keeps operations of a kind
 * together.
 */
void isel_ins(struct emit *e)
{
	switch (e->ins->op) {
	case OP_CONST ... OP_GE:
	case OP_EXT:
	case OP_BITS:
		isel_num(e);
		break;
	case OP_SMOV ... OP_SGE:
		isel_str(e);
		break;
	case OP_JMP ... OP_RAISE:
	case OP_RESUME:
	case OP_LOOP:
		isel_ctl(e);
		break;
	case OP_GLD ... OP_GRMW:
		isel_glob(e);
		break;
	case OP_MATCH:
		if (e->kernel)
			isel_match(e);
		else
			isel_host(e);
		break;
	case OP_ACT:
		if (e->kernel)
			isel_ctl(e);
		else
			isel_host(e);
		break;
	case OP_AGET ... OP_ADEL:
		if (e->kernel)
			isel_array(e);
		else
			isel_host(e);
		break;
	case OP_SADD:
	case OP_SGET:
	case OP_HGET:
		if (e->kernel)
			isel_agg(e);
		else
			isel_host(e);
		break;
	case OP_PRINT:
	case OP_SPRINT:
		isel_print(e);
		break;
	case OP_ARG ... OP_TLD:
		isel_ctx(e);
		break;
	case OP_BCALL:
	case OP_BCALLE:
		if (e->kernel)
			isel_builtin(e);
		else
			isel_host(e);
		break;
	case OP_LOCK:
	case OP_UNLOCK:
		if (e->kernel)
			isel_lock(e);
		else
			isel_host(e);
		break;
	default:
		if (e->kernel)
			assert(!"an operation that the host does");
		else
			isel_host(e);
	}
}
