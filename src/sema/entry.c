/* SPDX-License-Identifier: MIT */
/*
 * @entry(e) in a .return handler: e as it was when the function was entered.
 *
 * A probe on the function's entry stores e in an array, by thread and by where
 * the call's frame is, which recursion and coroutines keep apart; the return
 * handler takes it out again first thing. Both are made here, as syntax, before
 * names are resolved:
 *
 *	entry:	value[tid(), register("sp")] = e
 *	return:	frame = register("sp") - 8
 *		if (!([tid(), frame] in value)) next
 *		v = value[tid(), frame]
 *		delete value[tid(), frame]
 *
 * No depth is counted: the kernel may miss returns (too many at once), after
 * which a count would pair each call with another one's value for ever. What a
 * missed return leaves behind is overwritten by the next call from there.
 * System calls have no frames and do not nest: there the thread is enough.
 *
 * A call that was under way when the probes were attached, or whose entry was
 * skipped, has no value. Its return is not handled: with 0 for the time at the
 * entry, one read() that waits for a key would be a sample of 50 years.
 */
#include <string.h>

#include "sema/sema.h"

/* What belongs to one return probe. */
struct entry_set {
	struct probe *ret;
	const char *frame; /* the return handler's local; NULL: no frames */
	struct span at;
	VEC(struct entry_value) list;
};

/* --- syntax --------------------------------------------------------------- */

struct build {
	struct sema *s;
	struct arena *a;
	struct span at;
};

static struct node *name(struct build *b, const char *text)
{
	struct node *n = node_new(b->a, N_NAME, b->at);

	n->u.name.name = text;
	return n;
}

static struct node *number(struct build *b, int64_t v)
{
	struct node *n = node_new(b->a, N_NUM, b->at);

	n->type = TY_LONG;
	n->u.num = v;
	return n;
}

static struct node *builtin_call(struct build *b, const char *what,
				 enum builtin_id id)
{
	struct node *n = node_new(b->a, N_CALL, b->at);

	n->u.call.name = str_internz(b->s->c->str, what);
	n->u.call.builtin = builtin_at(id);
	return n;
}

/* register("sp") */
static struct node *stack_pointer(struct build *b)
{
	struct node *n = builtin_call(b, "register", BI_REGISTER);
	struct node *sp = node_new(b->a, N_STR, b->at);

	sp->type = TY_STRING;
	sp->u.str = str_internz(b->s->c->str, "sp");
	vec_push(b->a, &n->u.call.args, sp);
	return n;
}

/* array[tid()], or array[tid(), frame] */
static struct node *element(struct build *b, const char *array,
			    struct node *frame)
{
	struct node *n = node_new(b->a, N_INDEX, b->at);

	n->u.index.name = array;
	vec_push(b->a, &n->u.index.keys, builtin_call(b, "tid", BI_TID));
	if (frame)
		vec_push(b->a, &n->u.index.keys, frame);
	return n;
}

static struct node *assign(struct build *b, struct node *left,
			   struct node *right)
{
	struct node *n = node_new(b->a, N_ASSIGN, b->at);
	struct node *stmt = node_new(b->a, N_EXPR, b->at);

	n->u.binary.op = OPER_SET;
	n->u.binary.a = left;
	n->u.binary.b = right;
	stmt->u.unary.a = n;
	return stmt;
}

static struct node *remove_element(struct build *b, struct node *a)
{
	struct node *n = node_new(b->a, N_DELETE, b->at);

	n->u.unary.a = a;
	return n;
}

/* if (!([tid()] in array)) next, with the keys of where, an element of it */
static struct node *need_entry(struct build *b, struct node *where)
{
	struct node *in = node_new(b->a, N_IN, b->at);
	struct node *no = node_new(b->a, N_UNARY, b->at);
	struct node *n = node_new(b->a, N_IF, b->at);

	in->u.in.keys = where->u.index.keys;
	in->u.in.array = name(b, where->u.index.name);
	no->u.unary.op = OPER_NOT;
	no->u.unary.a = in;
	n->u.ternary.a = no;
	n->u.ternary.b = node_new(b->a, N_NEXT, b->at);
	return n;
}

/* At the return the return address has left the stack (on x86). */
static struct node *frame_of_return(struct build *b)
{
	struct node *n = node_new(b->a, N_BINARY, b->at);

	n->u.binary.op = OPER_SUB;
	n->u.binary.a = stack_pointer(b);
	n->u.binary.b = number(b, 8);
	return n;
}

/* --- names ---------------------------------------------------------------- */

/*
 * A dot is in no script's names. s->decls grows with each array, so n is new.
 */
static const char *fresh(struct sema *s, const char *what, unsigned n)
{
	return str_internz(s->c->str, arena_printf(s->c->a, "%s.%u", what, n));
}

/*
 * A global that no script can name. Not one that wraps: making room is a task
 * for the host, and this is done in the kernel.
 */
static const char *hidden_array(struct sema *s, const char *what,
				const struct span *at)
{
	struct decl_global *g = arena_new_of(s->c->a, struct decl_global);

	g->name = fresh(s, what, s->decls);
	g->is_private = true;
	g->span = *at;
	g->src = sema_source_of(at);
	sema_add_global(s, g)->is_library = true;
	return g->name;
}

/* --- the return handler --------------------------------------------------- */

/* true: e is a parameter, which an fexit program still sees unchanged. */
static bool still_there(const struct scope *sc, const struct node *e)
{
	return sc->probe->prog == PROG_FEXIT && e->kind == N_TARGET &&
	       !e->u.target.parts.n && e->u.target.name[0] == '$' &&
	       e->u.target.name[1] != '$';
}

/* Functions of the library in two steps, of which the first reads. */
static const struct step {
	const char *name, *first, *second;
} steps[] = {
	{"user_string_quoted", "_user_raw", "_raw_quoted"},
	{"kernel_string_quoted", "_kernel_raw", "_raw_quoted"},
	{"__quoted", "__raw", "_raw_quoted"},
};

static struct node *entry_of(struct arena *a, struct node *e)
{
	struct node *n = node_new(a, N_ENTRY, e->span);

	n->u.unary.a = e;
	return n;
}

/*
 * What only the host can do it does too late for the entry, often after the
 * return. It need not be done there: f(e) as it was is f of what e was. True: n
 * is such a call now, with its arguments taken at the entry.
 */
static bool compute_later(struct scope *sc, struct node *n)
{
	struct arena *a = sc->s->c->a;
	struct node *call = n->u.unary.a;
	const struct builtin *b;
	unsigned i;

	if (call->kind != N_CALL)
		return false;
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct node *last;

		if (call->u.call.args.n != 1 ||
		    strcmp(call->u.call.name, steps[i].name))
			continue;
		last = node_new(a, N_CALL, n->span);
		last->u.call.name = str_internz(sc->s->c->str, steps[i].second);
		call->u.call.name = str_internz(sc->s->c->str, steps[i].first);
		vec_push(a, &last->u.call.args, entry_of(a, call));
		*n = *last;
		return true;
	}
	b = builtin_find(call->u.call.name, call->u.call.args.n);
	if (!b || (b->flags & (BF_PURE | BF_HOST)) != (BF_PURE | BF_HOST))
		return false;
	for (i = 0; i < call->u.call.args.n; i++) {
		struct node **arg = &call->u.call.args.v[i];

		if ((*arg)->kind != N_NUM && (*arg)->kind != N_STR)
			*arg = entry_of(a, *arg);
	}
	*n = *call;
	return true;
}

bool entry_replace(struct scope *sc, struct node *n)
{
	struct sema *s = sc->s;
	struct entry_set *set = sc->entries;
	struct entry_value v = {0};

	if (!sc->probe || !sc->probe->is_return || sc->in_cond) {
		diags_hold(s->c->diag);
		complain(s->c, ENTRY_NONE, &n->span);
		target_bad(n, diags_held(s->c->diag));
		return true;
	}
	if (still_there(sc, n->u.unary.a)) {
		*n = *n->u.unary.a;
		return false;
	}
	/* The value waits for the handler, and a function is none. */
	if (sc->fn) {
		diags_hold(s->c->diag);
		complain(s->c, ENTRY_FUNCTION, &n->span, sc->fn->name);
		target_bad(n, diags_held(s->c->diag));
		return true;
	}
	if (compute_later(sc, n))
		return false;
	if (!set) {
		set = arena_new_of(s->c->a, struct entry_set);
		set->ret = sc->probe;
		set->at = n->span;
		/* others do not have the stack pointer */
		if (sc->probe->prog == PROG_KPROBE)
			set->frame = fresh(s, "frame", s->decls);
		sc->entries = set;
	}
	v.expr = n->u.unary.a;
	/* All parts are of one file: a library does not see the script's. */
	v.array = hidden_array(s, "entry", &set->at);
	v.local = fresh(s, "at_entry", s->decls);
	vec_push(s->c->a, &set->list, v);
	n->kind = N_NAME;
	n->u.name.name = v.local;
	n->u.name.var = NULL;
	return false;
}

static struct node *return_part(struct build *b, struct entry_set *set)
{
	struct node *blk = node_new(b->a, N_BLOCK, b->at);
	struct node *check;
	unsigned i;

	if (set->frame)
		vec_push(b->a, &blk->u.block.stmts,
			 assign(b, name(b, set->frame), frame_of_return(b)));
	/* One handler stores all of them: where the last is, all are. */
	check = need_entry(b, element(b, set->list.v[set->list.n - 1].array,
				      set->frame ? name(b, set->frame)
						 : NULL));
	vec_push(b->a, &blk->u.block.stmts, check);
	for (i = 0; i < set->list.n; i++) {
		struct entry_value *v = &set->list.v[i];
		struct node *k = set->frame ? name(b, set->frame) : NULL;
		/* a node must not be in two places of the tree */
		struct node *k2 = set->frame ? name(b, set->frame) : NULL;

		v->use = arena_new_of(b->a, struct entry_use);
		v->use->check = check;
		v->use->is_last = i + 1 == set->list.n;
		v->use->take = assign(b, name(b, v->local),
				      element(b, v->array, k));
		v->use->forget = remove_element(b, element(b, v->array, k2));
		vec_push(b->a, &blk->u.block.stmts, v->use->take);
		vec_push(b->a, &blk->u.block.stmts, v->use->forget);
		vec_push(b->a, &b->s->entries, v->use);
	}
	return blk;
}

/* The expressions are cloned: several probes may stand for one point. */
static struct node *entry_part(struct build *b, const struct entry_set *set)
{
	struct node *blk = node_new(b->a, N_BLOCK, b->at);
	unsigned i;

	for (i = 0; i < set->list.n; i++) {
		const struct entry_value *v = &set->list.v[i];
		struct node *k = set->frame ? stack_pointer(b) : NULL;
		struct node *store = assign(b, element(b, v->array, k),
					    node_clone(b->a, v->expr));

		vec_push(b->a, &v->use->stores, store);
		vec_push(b->a, &blk->u.block.stmts, store);
	}
	return blk;
}

/* A resolved point as it could be written: pp() shows system calls by what the
 * library calls them. */
static const char *as_written(struct compile *c, const char *pp)
{
	static const char prefix[] = "syscall.";

	if (strncmp(pp, prefix, sizeof(prefix) - 1))
		return pp;
	pp += sizeof(prefix) - 1;
	return arena_printf(c->a, "__syscall(\"%.*s\")",
			    (int)strcspn(pp, "."), pp);
}

/*
 * The point without .return and what follows it. Parsed from pp(), since the
 * written point may have wildcards or be an alias'.
 */
static struct point *entry_point(struct sema *s, const struct probe *ret)
{
	struct compile *c = s->c;
	const char *pp = as_written(c, ret->pp);
	struct source *src;
	struct point *pt;
	unsigned i;

	src = source_new(c->a, "<entry>", pp, strlen(pp), 0);
	src->is_library = 1;
	pt = parse_point_text(c, src);
	if (!pt)
		return NULL;
	for (i = 0; i < pt->parts.n; i++) {
		pt->parts.v[i].span = ret->span;
		pt->parts.v[i].arg_span = ret->span;
		if (!strcmp(pt->parts.v[i].name, "return"))
			pt->parts.n = i;
	}
	pt->span = ret->span;
	return pt;
}

/*
 * The return part goes before the handler, and the entry probes to the end of
 * the program, which resolve_new() goes through.
 */
void entry_finish(struct scope *sc)
{
	struct entry_set *set = sc->entries;
	struct sema *s = sc->s;
	struct build b = {.s = s, .a = s->c->a};
	struct node *body, *first;
	probe_list out = {0};
	struct point *pt;
	unsigned i;

	if (!set)
		return;
	b.at = set->at;
	first = return_part(&b, set);
	resolve_operand(sc, first);
	body = node_new(b.a, N_BLOCK, sc->probe->body->span);
	vec_push(b.a, &body->u.block.stmts, first);
	vec_push(b.a, &body->u.block.stmts, sc->probe->body);
	sc->probe->body = body;
	pt = entry_point(s, set->ret);
	if (!pt)
		return;
	/* What may be missing at the return may be missing at the entry. */
	pt->optional = set->ret->written->optional;
	probe_resolve(s->c, pt, NULL, 0, false, &out);
	for (i = 0; i < out.n; i++) {
		struct probe *p = out.v[i];

		p->written = pt;
		p->pn = set->ret->pn;
		p->is_entry = true;
		p->span = set->ret->span;
		p->derivation = set->ret->derivation;
		p->body = entry_part(&b, set);
		if (set->ret->cond)
			p->cond = node_clone(b.a, set->ret->cond);
		vec_push(b.a, &s->p->probes, p);
	}
}

/* What is left of a set: check looks for its last value, or is not needed. */
static void trim_check(struct node *check, const struct entry_use *left)
{
	const struct node *from;
	struct node *in;

	if (!left) {
		check->kind = N_EMPTY;
		return;
	}
	from = left->take->u.unary.a->u.binary.b;
	in = check->u.ternary.a->u.unary.a;
	in->u.in.array->u.name.name = from->u.index.name;
	in->u.in.array->u.name.var = from->u.index.var;
}

bool entry_trim(struct sema *s, bool (*acts)(void *ctx, struct node *e),
		void *ctx)
{
	const struct entry_use *left = NULL;
	bool changed = false;
	unsigned i, k;

	for (i = 0; i < s->entries.n; i++) {
		struct entry_use *u = s->entries.v[i];

		if (u->take->kind != N_EMPTY) {
			left = u;
		} else if (u->forget->kind != N_EMPTY) {
			u->forget->kind = N_EMPTY;
			changed = true;
			for (k = 0; k < u->stores.n; k++) {
				struct node *store = u->stores.v[k];

				if (!acts(ctx, store->u.unary.a->u.binary.b))
					store->kind = N_EMPTY;
			}
		}
		if (u->is_last) {
			if (u->check->kind != N_EMPTY)
				trim_check(u->check, left);
			left = NULL;
		}
	}
	return changed;
}

struct node *entry_place(struct scope *sc, const struct span *at)
{
	struct build b = {.s = sc->s, .a = sc->s->c->a, .at = *at};
	struct node *n;

	if (sc->trial)
		return number(&b, 0);
	n = node_new(b.a, N_ENTRY, *at);
	n->u.unary.a = builtin_call(&b, "uaddr", BI_UADDR);
	resolve_operand(sc, n);
	return n;
}

/* Asks the family of the entry in silence. */
bool entry_reaches(struct scope *sc, const struct node *n)
{
	struct compile *c = sc->s->c;
	probe_list out = {0};
	struct point *pt;

	if (!sc->probe || !sc->probe->is_return)
		return false;
	pt = entry_point(sc->s, sc->probe);
	if (!pt)
		return false;
	probe_resolve(c, pt, NULL, 0, true, &out);
	return out.n && out.v[0]->family->target &&
	       !out.v[0]->family->target(c, out.v[0], node_clone(c->a, n),
					 true);
}
