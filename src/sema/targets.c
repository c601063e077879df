/* SPDX-License-Identifier: MIT */
/* $variables, @cast, @var, ->, @entry, &: handed to the probe's family. */
#include "sema/sema.h"

static bool has_family(const struct scope *sc)
{
	return sc->probe && sc->probe->family && sc->probe->family->target;
}

void target_resolve(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;

	switch (n->kind) {
	case N_TARGET:
		n->type = TY_LONG;
		if (!has_family(sc))
			complain(c, TARGET_NONE, &n->span);
		else
			sc->probe->family->target(c, sc->probe, n, false);
		break;
	case N_ARROW:
		n->type = TY_LONG;
		complain(c, NOT_YET, &n->span, "->");
		break;
	case N_ENTRY:
		n->type = TY_LONG;
		complain(c, NOT_YET, &n->span, "@entry");
		break;
	default:
		n->type = TY_LONG;
		complain(c, NOT_YET, &n->span, "&");
		break;
	}
}

bool target_defined(struct scope *sc, struct node *n)
{
	struct node *copy;

	if (n->kind != N_TARGET)
		return false;
	if (!has_family(sc))
		return false;
	copy = node_clone(sc->s->c->a, n);
	return !sc->probe->family->target(sc->s->c, sc->probe, copy, true);
}
