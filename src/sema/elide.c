/* SPDX-License-Identifier: MIT */
/* Code that does nothing: removed, with the warnings of the reference. */
#include "sema/sema.h"

void fold_program(struct sema *s)
{
	struct program *p = s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		fold_node(s->c, p->functions.v[i]->body);
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			fold_node(s->c, p->probes.v[i]->cond);
		fold_node(s->c, p->probes.v[i]->body);
	}
}
