/* SPDX-License-Identifier: MIT */
/*
 * $variables go to the probe's family, @cast, -> and & to what types/ offers.
 * What a script variable points to is noted as it is assigned, so that
 * v->field works on it.
 */
#include <string.h>

#include "sema/sema.h"
#include "types/ctype.h"
#include "types/types.h"

static bool has_family(const struct scope *sc)
{
	return sc->probe && sc->probe->family && sc->probe->family->target;
}

static bool is_free(const struct node *n)
{
	return n->u.target.name && n->u.target.name[0] == '@';
}

static const struct ctype *pointer_type(const struct access *a)
{
	const struct ctype *t = a ? a->type : NULL;

	return t && ctype_strip(t)->kind == CT_PTR ? t : NULL;
}

/* The pointer type of a value, when it is known. */
static const struct ctype *value_type(const struct node *n)
{
	switch (n->kind) {
	case N_TARGET:
	case N_ARROW:
		return pointer_type(n->u.target.access);
	case N_NAME:
		return n->u.name.var ? n->u.name.var->ctype : NULL;
	case N_INDEX:
		return n->u.index.var ? n->u.index.var->ctype : NULL;
	case N_ASSIGN:
		return value_type(n->u.binary.op == OPER_SET ? n->u.binary.b
							     : n->u.binary.a);
	case N_TERNARY:
		return value_type(n->u.ternary.b);
	default:
		return NULL;
	}
}

void target_assigned(struct var *v, const struct node *value)
{
	const struct ctype *t = value_type(value);

	if (!v || !t)
		return;
	v->pointer_like = true;
	if (!v->ctype)
		v->ctype = t;
}

static int resolve_free(struct scope *sc, struct node *n, bool quiet)
{
	return probe_cast(sc->s->c, n, quiet);
}

static int resolve_target(struct scope *sc, struct node *n, bool quiet)
{
	struct compile *c = sc->s->c;

	if (is_free(n))
		return resolve_free(sc, n, quiet);
	if (has_family(sc))
		return sc->probe->family->target(c, sc->probe, n, quiet);
	if (!quiet)
		complain(c, TARGET_NONE, &n->span);
	return -1;
}

static int resolve_arrow(struct scope *sc, struct node *n, bool quiet)
{
	const struct ctype *t = value_type(n->u.target.base);

	if (t)
		return probe_arrow(sc->s->c, n, t, quiet);
	if (!quiet)
		complain(sc->s->c, ARROW_UNKNOWN, &n->span);
	return -1;
}

/* A $variable that does not exist is 0 under --skip-badvars. */
static void skip_bad(struct node *n)
{
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = 0;
}

/* $param in a .return handler that only its entry has is @entry($param). */
static bool becomes_entry(struct scope *sc, struct node *n)
{
	struct arena *a = sc->s->c->a;
	struct node *copy;

	if (n->kind != N_TARGET || is_free(n) || !has_family(sc) ||
	    !sc->probe->is_return ||
	    !resolve_target(sc, node_clone(a, n), true) ||
	    !entry_reaches(sc, n))
		return false;
	copy = node_clone(a, n);
	n->kind = N_ENTRY;
	n->type = TY_UNKNOWN;
	memset(&n->u, 0, sizeof(n->u));
	n->u.unary.a = copy;
	resolve_operand(sc, n);
	return true;
}

void target_resolve(struct scope *sc, struct node *n)
{
	bool quiet = sc->s->c->set.skip_badvars;
	int rc;

	if (becomes_entry(sc, n))
		return;
	n->type = TY_LONG;
	switch (n->kind) {
	case N_TARGET:
		rc = resolve_target(sc, n, quiet);
		break;
	case N_ARROW:
		rc = resolve_arrow(sc, n, quiet);
		break;
	default:
		rc = probe_address(sc->s->c, n, quiet);
		break;
	}
	if (rc && quiet)
		skip_bad(n);
	if (n->type == TY_UNKNOWN)
		n->type = TY_LONG;
}

static bool constant(struct compile *c, const struct node *n, int64_t *ret)
{
	const struct node *a =
	    n->u.atword.args.n ? n->u.atword.args.v[0] : NULL;

	return a && a->kind == N_STR && types_constant(c, a->u.str, ret);
}

void target_constant(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	const char *missing;
	struct diag *d;
	int64_t v = 0;

	if (!constant(c, n, &v)) {
		d = complain(c, NO_CONSTANT, &n->span, n->u.atword.word);
		missing = types_missing(c);
		if (missing)
			diag_note(c->diag, d, NULL, "%s", missing);
	}
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = v;
}

bool target_defined(struct scope *sc, struct node *n)
{
	struct node *copy = node_clone(sc->s->c->a, n);
	int64_t value;

	switch (n->kind) {
	case N_TARGET:
		return !resolve_target(sc, copy, true);
	case N_ARROW:
		if (copy->u.target.base->kind == N_NAME)
			resolve_operand(sc, copy->u.target.base);
		return !resolve_arrow(sc, copy, true);
	case N_ADDRESS:
		return target_defined(sc, n->u.unary.a);
	case N_ATWORD:
		return constant(sc->s->c, n, &value);
	default:
		return false;
	}
}
