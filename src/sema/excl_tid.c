/* SPDX-License-Identifier: MIT */
/*
 * Keys that are tid(): a thread has its elements for itself where every access
 * has its tid at the same place of the key.
 */
#include "sema/excl.h"

static bool is_tid_call(const struct node *n)
{
	return n->kind == N_CALL && n->u.call.builtin &&
	       n->u.call.builtin->id == BI_TID;
}

/* tid(), or a local that is only ever assigned tid() and has been by now. */
static bool is_tid(struct excl *x, const struct node *n)
{
	const struct var *v;
	unsigned i;

	if (is_tid_call(n))
		return true;
	v = n->kind == N_NAME ? n->u.name.var : NULL;
	if (!v || v->is_global || v->is_param)
		return false;
	if (map_get_num(x->tid_locals, (uintptr_t)v) != v)
		return false;
	for (i = 0; i < x->assigned.n; i++)
		if (x->assigned.v[i] == v)
			return true;
	return false;
}

/* Notes locals that are assigned tid() and nothing else. */
static void note_assign(struct node *n, void *ctx)
{
	struct excl *x = ctx;
	struct var *v = NULL;
	bool tid = false;
	unsigned i;

	if (n->kind == N_ASSIGN) {
		v = node_var(n->u.binary.a);
		tid = n->u.binary.op == OPER_SET && is_tid_call(n->u.binary.b);
	} else if (n->kind == N_INCDEC) {
		v = node_var(n->u.incdec.a);
	} else if (n->kind == N_DELETE) {
		v = node_var(n->u.unary.a);
	} else if (n->kind == N_FOREACH) {
		/* a key of an array is anything */
		for (i = 0; i < n->u.foreach.keys.n; i++)
			map_set_num(x->tid_locals,
				    (uintptr_t)node_var(n->u.foreach.keys.v[i]),
				    x);
		if (n->u.foreach.value)
			v = node_var(n->u.foreach.value);
	}
	if (!v || v->is_global)
		return;
	if (!tid || map_get_num(x->tid_locals, (uintptr_t)v))
		map_set_num(x->tid_locals, (uintptr_t)v, x);
	else
		map_set_num(x->tid_locals, (uintptr_t)v, v);
}

void excl_note_tids(struct excl *x)
{
	x->tid_locals = map_new(x->c->a);
	walk_program(x->p, note_assign, x);
}

unsigned excl_tid_keys(struct excl *x, const struct node *n)
{
	const node_list *keys = n->kind == N_INDEX ? &n->u.index.keys
						   : &n->u.in.keys;
	unsigned i, bits = 0;

	if (n->kind != N_INDEX && n->kind != N_IN)
		return 0;
	for (i = 0; i < keys->n; i++)
		if (is_tid(x, keys->v[i]))
			bits |= 1u << i;
	return bits;
}
