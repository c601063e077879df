/* SPDX-License-Identifier: MIT */
/* Keys of arrays: operands laid out as plan_key says, in a temporary. */
#include "gen/isel.h"

uint32_t isel_key(struct emit *e, unsigned first_arg, uint32_t wild)
{
	const struct plan_key *k =
	    &e->plan->globals[e->ins->global->index].key;
	uint32_t t = emit_tmp(e, k->size);
	unsigned arg = first_arg;

	for (unsigned i = 0; i < k->n; i++) {
		struct mem m = emit_tmp_mem(e, t, R1);
		const struct ir_val *v = &e->ins->args[arg];

		m.off += (int)k->off[i];
		if (wild & 1u << i) {
			emit_zero(e, m, round8(k->width[i]));
			continue;
		}
		arg++;
		if (k->is_str[i])
			emit_put_string(e, m, v, round8(k->width[i]));
		else if (emit_is_imm(v))
			asm_storei(e->as, 8, m.base, m.off, (int32_t)v->num);
		else
			asm_store(e->as, 8, m.base, m.off,
				  emit_use(e, v, R2));
	}
	return t;
}
