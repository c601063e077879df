/* SPDX-License-Identifier: MIT */
/*
 * $value of procfs and input probes is no variable of a program but text that
 * the session holds: setting and reading it are calls of built-in functions.
 */
#include "sema/sema.h"

#include <string.h>

static bool is_value(const struct scope *sc, const struct node *n)
{
	return n->kind == N_TARGET && sc->probe &&
	       sc->probe->value != VALUE_NONE && n->u.target.name &&
	       !strcmp(n->u.target.name, "$value");
}

/* It is a string. false: reported. */
static bool is_plain(struct scope *sc, const struct node *n)
{
	if (!n->u.target.parts.n)
		return true;
	if (n->u.target.parts.v[0].kind == TP_MEMBER)
		complain(sc->s->c, VALUE_STRUCT, &n->span);
	else
		complain(sc->s->c, VALUE_ARRAY, &n->span);
	return false;
}

/* arg NULL: without one. */
static void becomes_call(struct scope *sc, struct node *n, enum builtin_id id,
			 struct node *arg)
{
	n->kind = N_CALL;
	memset(&n->u, 0, sizeof(n->u));
	n->u.call.builtin = builtin_at(id);
	n->u.call.name = n->u.call.builtin->name;
	if (arg)
		vec_push(sc->s->c->a, &n->u.call.args, arg);
}

/*
 * An assignment that is wrong becomes a call all the same, so that nothing else
 * is reported about it.
 */
bool value_assign(struct scope *sc, struct node *n)
{
	struct node *a = n->u.binary.a, *b = n->u.binary.b;
	enum oper op = n->u.binary.op;

	if (!is_value(sc, a))
		return false;
	if (!is_plain(sc, a))
		;
	else if (sc->probe->value == VALUE_GIVEN)
		complain(sc->s->c, VALUE_FIXED, &a->span);
	else if (op != OPER_SET && op != OPER_CONCAT)
		complain(sc->s->c, VALUE_UNREAD, &a->span);
	becomes_call(sc, n, op == OPER_SET ? BI_VALUE_SET : BI_VALUE_ADD, b);
	return true;
}

bool value_read(struct scope *sc, struct node *n)
{
	if (!is_value(sc, n))
		return false;
	if (sc->in_cond)
		complain(sc->s->c, COND_TARGET, &n->span);
	else if (is_plain(sc, n) && sc->probe->value == VALUE_SET)
		complain(sc->s->c, VALUE_UNREAD, &n->span);
	becomes_call(sc, n, BI_VALUE, NULL);
	return true;
}
