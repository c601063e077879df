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

/* Without one, $x has no meaning here. */
static bool has_family(const struct scope *sc)
{
	return sc->probe && sc->probe->family && sc->probe->family->target;
}

/* @cast, @var: of every probe. */
static bool is_free(const struct node *n)
{
	return n->u.target.name && n->u.target.name[0] == '@';
}

/* Only pointers say something about a value that is assigned; an array is one
 * to its first element. */
static const struct ctype *pointer_type(struct sema *s, const struct access *a)
{
	const struct ctype *t = a ? ctype_strip(a->type) : NULL;

	if (!t || t->kind != CT_ARRAY)
		return t && t->kind == CT_PTR ? a->type : NULL;
	t = ctype_fill(t)->to;
	if (!ctype_is_user(t) &&
	    (a->user || (a->steps.n && vec_last(&a->steps).user)))
		t = ctype_in_user_space(s->c, t);
	return t ? ctype_pointer_to(s->c, t) : NULL;
}

/* --- what values point to ------------------------------------------------- */

/*
 * of expressions in expressions; circles of variables are found by `visiting`
 */
enum { CTYPE_DEPTH = 64 };

static const struct ctype *value_type(struct sema *s, const struct node *n);

static bool same_type(const struct ctype *a, const struct ctype *b)
{
	a = ctype_strip(ctype_strip(a)->to);
	b = ctype_strip(ctype_strip(b)->to);
	return a == b || (a && b && a->owner == b->owner && a->id == b->id);
}

static const struct ctype *var_type(struct sema *s, struct var *v)
{
	const struct ctype *t = NULL;

	if (!v || v->mixed_ctypes || v->ctype)
		return v && !v->mixed_ctypes ? v->ctype : NULL;
	if (v->made_by && !v->visiting) {
		v->visiting = true;
		t = value_type(s, v->made_by);
		v->visiting = false;
	}
	return t;
}

/* A call's result: asking resolves the function. */
static const struct ctype *call_type(struct sema *s, const struct node *n)
{
	const struct builtin *b = n->u.call.builtin;
	struct function *f = n->u.call.fn;
	const struct ctype *t;

	if (b && b->id == BI_TASK_CURRENT) {
		t = types_find(s->c, "task_struct");
		return t ? ctype_pointer_to(s->c, t) : NULL;
	}
	if (!f)
		return NULL;
	resolve_function(s, f);
	return f->mixed_ctypes ? NULL : f->ctype;
}

static const struct ctype *type_of(struct sema *s, const struct node *n)
{
	const struct ctype *t;

	switch (n->kind) {
	case N_TARGET:
	case N_ARROW:
		return pointer_type(s, n->u.target.access);
	case N_ADDRESS:
		n = n->u.unary.a;
		return n->kind == N_TARGET || n->kind == N_ARROW
			   ? pointer_type(s, n->u.target.access)
			   : NULL;
	case N_NAME:
		return var_type(s, n->u.name.var);
	case N_INDEX:
		return var_type(s, n->u.index.var);
	case N_CALL:
		return call_type(s, n);
	case N_ASSIGN:
		return value_type(s, n->u.binary.op == OPER_SET
					 ? n->u.binary.b
					 : n->u.binary.a);
	case N_TERNARY:
		t = value_type(s, n->u.ternary.b);
		return t ? t : value_type(s, n->u.ternary.c);
	default:
		return NULL;
	}
}

/* The pointer type of a value, when it is known. */
static const struct ctype *value_type(struct sema *s, const struct node *n)
{
	const struct ctype *t = NULL;

	if (s->ctype_depth++ < CTYPE_DEPTH)
		t = type_of(s, n);
	s->ctype_depth--;
	return t;
}

/* Values whose type is looked for when somebody wants it: some are not known as
 * yet, and task_current() does not open the kernel's types for nothing. */
static bool waits(const struct node *n)
{
	switch (n->kind) {
	case N_CALL:
	case N_TERNARY:
		return true;
	case N_NAME:
		return n->u.name.var && !n->u.name.var->ctype;
	case N_INDEX:
		return n->u.index.var && !n->u.index.var->ctype;
	case N_ARROW:
		return !n->u.target.access;
	case N_ADDRESS:
		return n->u.unary.a->kind == N_ARROW &&
		       !n->u.unary.a->u.target.access;
	default:
		return false;
	}
}

void target_assigned(struct sema *s, struct var *v, const struct node *value)
{
	const struct ctype *t;

	if (!v)
		return;
	if (waits(value)) {
		if (!v->made_by)
			v->made_by = value;
		return;
	}
	t = value_type(s, value);
	if (!t)
		return;
	v->pointer_like = true;
	if (!v->ctype)
		v->ctype = t;
	else if (!same_type(v->ctype, t))
		v->mixed_ctypes = true;
}

void target_returned(struct sema *s, struct function *f,
		     const struct node *value)
{
	const struct ctype *t = value_type(s, value);

	if (!t)
		return;
	if (!f->ctype)
		f->ctype = t;
	else if (!same_type(f->ctype, t))
		f->mixed_ctypes = true;
}

/* --- expressions ---------------------------------------------------------- */

/* Is this the handler of a probe of user space? */
static bool in_program(const struct scope *sc)
{
	return sc->probe && sc->probe->guard == GUARD_PREEMPTIBLE;
}

static int resolve_free(struct scope *sc, struct node *n, bool quiet)
{
	return probe_cast(sc->s->c, sc->probe, n, quiet);
}

/* &@var("x") of the kernel, not of a program: known without a type. */
static bool is_var_address(const struct scope *sc, const struct node *n)
{
	const struct node *a = n->kind == N_ADDRESS ? n->u.unary.a : NULL;

	if (!a || a->kind != N_TARGET || a->u.target.parts.n ||
	    strcmp(a->u.target.name, "@var"))
		return false;
	return a->u.target.module ? !strchr(a->u.target.module, '/')
				  : !in_program(sc);
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

/* A $variable that does not exist is 0 under --skip-badvars. */
static void skip_bad(struct node *n)
{
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = 0;
}

/*
 * An arrow on a variable that has no type yet waits until everything is
 * resolved.
 */
static int resolve_arrow(struct scope *sc, struct node *n, bool quiet)
{
	struct sema *s = sc->s;
	const struct ctype *t = value_type(s, n->u.target.base);

	if (t)
		return probe_arrow(s->c, n, t, quiet);
	if (sc->trial)
		complain(s->c, ARROW_UNKNOWN, &n->span);
	else
		vec_push(s->c->a, &s->late, n);
	return 0;
}

static int resolve_address(struct scope *sc, struct node *n, bool quiet)
{
	const struct node *a = n->u.unary.a;
	struct sema *s = sc->s;

	if (sc->trial || a->kind != N_ARROW || a->u.target.access)
		return probe_address(s->c, n, quiet);
	vec_push(s->c->a, &s->late, n);
	return 0;
}

/* false: its type is still not known. */
static bool retry(struct sema *s, struct node *n)
{
	bool quiet = s->c->set.skip_badvars;
	const struct ctype *t;
	int rc;

	if (n->kind == N_ADDRESS) {
		if (!n->u.unary.a->u.target.access)
			return false;
		rc = probe_address(s->c, n, quiet);
	} else {
		t = value_type(s, n->u.target.base);
		if (!t)
			return false;
		rc = probe_arrow(s->c, n, t, quiet);
	}
	if (rc && quiet)
		skip_bad(n);
	return true;
}

/* --- mistakes that wait --------------------------------------------------- */

bool target_bad(struct node *n, struct diag_held *held)
{
	if (!held)
		return false;
	memset(&n->u, 0, sizeof(n->u));
	n->kind = N_TARGET;
	n->type = TY_LONG;
	n->u.target.name = "$";
	n->u.target.bad = held;
	return true;
}

/* Of a target expression, which keeps its operands: what they do is done. */
static void note_bad(struct node *n, struct diag_held *held)
{
	if (!held)
		return;
	if (n->kind == N_TARGET || n->kind == N_ARROW)
		n->u.target.bad = held;
	else
		target_bad(n, held);
}

static bool is_bad(const struct node *n)
{
	return (n->kind == N_TARGET || n->kind == N_ARROW) && n->u.target.bad;
}

/* Of what n goes on from, there is nothing more to say. */
static bool starts_bad(struct node *n)
{
	const struct node *from = n->kind == N_ARROW   ? n->u.target.base
				  : n->kind == N_ADDRESS ? n->u.unary.a
							 : NULL;

	if (!from || !is_bad(from))
		return false;
	*n = *from;
	return true;
}

static void say_bad(struct node *n, void *ctx)
{
	struct diags **d = ctx;

	if (is_bad(n))
		diags_say(*d, n->u.target.bad);
}

void target_say_bad(struct sema *s)
{
	walk_program(s->p, say_bad, &s->c->diag);
}

/* Each round may give types to variables on which others wait. */
void target_late(struct sema *s)
{
	unsigned i, left, before;

	do {
		before = s->late.n;
		for (i = left = 0; i < before; i++) {
			struct node *n = s->late.v[i];

			diags_hold(s->c->diag);
			if (!starts_bad(n) && !retry(s, n))
				s->late.v[left++] = n;
			note_bad(n, diags_held(s->c->diag));
		}
		s->late.n = left;
	} while (left && left < before);
	for (i = 0; i < s->late.n; i++) {
		struct node *n = s->late.v[i];

		if (s->c->set.skip_badvars) {
			skip_bad(n);
			continue;
		}
		/* & says nothing: its operand is in the list, too */
		diags_hold(s->c->diag);
		if (n->kind == N_ARROW)
			complain(s->c, ARROW_UNKNOWN, &n->span);
		note_bad(n, diags_held(s->c->diag));
	}
	s->late.n = 0;
}

/*
 * $param in a .return handler that only its entry has is @entry($param). Tried
 * in silence with a copy, since a failed try leaves nodes half changed.
 */
static bool becomes_entry(struct scope *sc, struct node *n)
{
	struct arena *a = sc->s->c->a;
	struct node *copy;

	if (n->kind != N_TARGET || is_free(n) || !has_family(sc) ||
	    !sc->probe->is_return ||
	    !resolve_target(sc, node_clone(a, n), true) ||
	    !entry_reaches(sc, n))
		return false;
	if (sc->trial) {
		n->type = TY_LONG;
		return true;
	}
	copy = node_clone(a, n);
	n->kind = N_ENTRY;
	n->type = TY_UNKNOWN;
	memset(&n->u, 0, sizeof(n->u));
	n->u.unary.a = copy;
	resolve_operand(sc, n);
	return true;
}

/*
 * @var in a .return handler of a program: the handler runs in the caller, which
 * may be of another file, so that the program counter does not say where the
 * variable was loaded. The function's entry does; the family uses it as base.
 */
static void place_var(struct scope *sc, struct node *n)
{
	struct node *copy;

	if (n->kind != N_TARGET || strcmp(n->u.target.name, "@var") ||
	    n->u.target.base || !in_program(sc) || !sc->probe->is_return ||
	    sc->in_cond)
		return;
	copy = node_clone(sc->s->c->a, n);
	copy->u.target.base = node_new(sc->s->c->a, N_NUM, n->span);
	if (resolve_target(sc, copy, true))
		return;
	/* Text ($) is made of several reads from it. */
	if (copy->u.target.access->base == ACC_VALUE ||
	    copy->u.target.access->base == ACC_TEXT)
		n->u.target.base = entry_place(sc, &n->span);
}

bool target_waits(const struct scope *sc, const struct node *n)
{
	return is_var_address(sc, n);
}

/* skip_badvars: with --skip-badvars mistakes are silent and the value is 0. */
static void resolve_any(struct scope *sc, struct node *n)
{
	bool quiet = sc->s->c->set.skip_badvars && !sc->trial;
	int rc;

	if (becomes_entry(sc, n))
		return;
	place_var(sc, n);
	n->type = TY_LONG;
	switch (n->kind) {
	case N_TARGET:
		rc = resolve_target(sc, n, quiet);
		break;
	case N_ARROW:
		rc = resolve_arrow(sc, n, quiet);
		break;
	default:
		rc = is_var_address(sc, n)
			 ? probe_var_address(sc->s->c, n, quiet)
			 : resolve_address(sc, n, quiet);
		break;
	}
	if (rc && quiet)
		skip_bad(n);
	if (n->type == TY_UNKNOWN)
		n->type = TY_LONG;
}

void target_resolve(struct scope *sc, struct node *n)
{
	if (starts_bad(n))
		return;
	diags_hold(sc->s->c->diag);
	resolve_any(sc, n);
	note_bad(n, diags_held(sc->s->c->diag));
}

bool target_returnval(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	struct node *t;

	if (!has_family(sc) || !sc->probe->is_return ||
	    sc->probe->prog == PROG_KPROBE)
		return false;
	t = node_new(c->a, N_TARGET, n->span);
	t->u.target.name = str_internz(c->str, "$return");
	if (resolve_target(sc, t, true))
		return false;
	*n = *t;
	return true;
}

/*
 * Tries it on a copy, with messages held back, and looks whether there were
 * any.
 */
bool target_defined(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	struct node *copy = node_clone(c->a, n);
	bool was = sc->trial;
	unsigned since;

	if (n->kind == N_ATWORD && (!strcmp(n->u.atword.word, "@enum") ||
				    !strcmp(n->u.atword.word, "@const")))
		return word_defined(sc, n);
	if (n->kind == N_ENTRY)
		return n->u.unary.a->kind == N_TARGET &&
		       entry_reaches(sc, n->u.unary.a);
	since = diags_mute(c->diag);
	sc->trial = true;
	resolve_operand(sc, copy);
	sc->trial = was;
	return !diags_unmute(c->diag, since);
}
