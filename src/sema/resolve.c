/* SPDX-License-Identifier: MIT */
/*
 * Names: each name of a handler or function body is a local, a parameter, a
 * global of the script or of the library, a script function, or a built-in.
 * Who reads and writes a variable, and with how many keys, is noted here too.
 */
#include <assert.h>
#include <string.h>

#include "front/regex.h"
#include "sema/sema.h"

/* How a name is used where it stands. */
enum use {
	USE_READ = 1,
	USE_WRITE = 2,
	USE_FEED = 4,   /* <<< */
	USE_STAT = 8,   /* operand of an extractor or histogram */
	USE_WHOLE = 16, /* an array by its name alone: any arity */
};

/* use is of the node itself; its operands have theirs. */
static void resolve(struct scope *sc, struct node *n, unsigned use);

/* --- variables ------------------------------------------------------------ */

/* A public name, or one that is private to the file it is used in. */
static bool visible(const struct var *v, const struct source *from)
{
	return v->src == from || !v->is_private;
}

/*
 * A file's own name first, whether private or not; then the script's, then the
 * library's.
 */
static struct var *find_global(struct sema *s, const char *name,
			       const struct source *from)
{
	struct name_vars *nv = map_get(s->vars, name);
	struct var *lib = NULL;
	unsigned i;

	if (!nv)
		return NULL;
	for (i = 0; i < nv->list.n; i++)
		if (nv->list.v[i]->src == from)
			return nv->list.v[i];
	for (i = 0; i < nv->list.n; i++) {
		struct var *v = nv->list.v[i];

		if (!visible(v, from))
			continue;
		/* The library does not see the script's names. */
		if (!v->is_library && !from->is_library)
			return v;
		if (v->is_library && !lib)
			lib = v;
	}
	return lib;
}

/* NULL: there is none of that name that a file (from) sees. */
static struct var *resolve_global(struct sema *s, const char *name,
				  const struct source *from)
{
	struct var *v = find_global(s, name, from);
	file_list files = {0};
	unsigned i;

	if (!v) {
		tapset_need(s->lib, TAPSET_GLOBAL, name, &files);
		for (i = 0; i < files.n; i++)
			sema_add_file(s, files.v[i]);
		if (files.n)
			v = find_global(s, name, from);
	}
	return v;
}

static struct var *new_local(struct scope *sc, const char *name,
			     const struct span *at)
{
	struct sema *s = sc->s;
	struct var *v = arena_new_of(s->c->a, struct var);

	v->name = name;
	v->span = *at;
	v->index = sc->list.v.n;
	vec_push(s->c->a, &sc->list.v, v);
	map_set(sc->locals, name, v);
	return v;
}

/*
 * A local of a library alias' prologue, too, unless the script has a global of
 * that name: then the prologue keeps its local, and the handler its global.
 */
static struct var *find_var(struct scope *sc, const char *name,
			    const struct span *at)
{
	const struct source *from = sema_source_of(at);
	struct var *v = map_get(sc->locals, name), *own;

	if (!v)
		return resolve_global(sc->s, name, from);
	if (from->is_library || !sema_source_of(&v->span)->is_library)
		return v;
	own = find_global(sc->s, name, from);
	return own && !own->is_library ? own : v;
}

/*
 * Notes the number of keys; reports one that differs from before. The first use
 * decides; later ones must agree.
 */
static void note_arity(struct scope *sc, struct var *v, unsigned n,
		       const struct span *at)
{
	struct compile *c = sc->s->c;
	struct diag *d;

	/* Too many are said to be so once. */
	if (v->arity == (int)n || (v->broken && n > KEYS_MAX))
		return;
	if (v->arity >= 0) {
		d = complain(c, ARITY, at, v->arity, (int)n);
		diag_note(c->diag, d, &v->arity_span,
			  "arity %d first inferred here", v->arity);
		if (!n)
			diag_help(c->diag, d, "elements are %s[KEY], all of "
				  "them foreach (KEY in %s)", v->name, v->name);
		return;
	}
	if (n > KEYS_MAX) {
		complain(c, TOO_MANY_KEYS, at);
		v->broken = true;
		n = KEYS_MAX;
	}
	v->arity = (int)n;
	v->arity_span = *at;
	if (!n && v->size)
		complain(c, ARITY_SIZED, &v->span);
	else if (!n && v->wrap)
		complain(c, WRAP_SCALAR, &v->span);
}

static void note_use(struct scope *sc, struct var *v, unsigned use)
{
	if (!v->ref_order)
		v->ref_order = ++sc->s->refs;
	v->is_asked |= sc->trial;
	if (use & (USE_READ | USE_STAT))
		v->is_read = true;
	if (use & (USE_WRITE | USE_FEED))
		v->is_written = true;
}

/* A name that is new is a local, of type unknown. */
static void resolve_name(struct scope *sc, struct node *n, unsigned use)
{
	struct sema *s = sc->s;
	struct var *v = find_var(sc, n->u.name.name, &n->span);

	if (sc->in_cond && !v) {
		complain(s->c, COND_UNDECLARED, &n->span);
		v = new_local(sc, n->u.name.name, &n->span);
	} else if (!v) {
		/* What is only fed may be left out: infer looks at the rest. */
		if (use & USE_STAT)
			complain(s->c, STAT_LOCAL, &n->span);
		v = new_local(sc, n->u.name.name, &n->span);
	}
	n->u.name.var = v;
	if (v->is_global && !(use & USE_WHOLE))
		note_arity(sc, v, 0, &n->span);
	note_use(sc, v, use);
}

static void resolve_list(struct scope *sc, node_list *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		resolve(sc, l->v[i], USE_READ);
}

/* The keys may hold wildcards when wild is set. */
static void resolve_keys(struct scope *sc, node_list *keys, bool wild)
{
	unsigned i;

	for (i = 0; i < keys->n; i++) {
		if (keys->v[i]->kind != N_WILD)
			resolve(sc, keys->v[i], USE_READ);
		else if (!wild)
			complain(sc->s->c, WILDCARD, &keys->v[i]->span);
	}
}

/*
 * The array of `in`, delete and foreach, or one that must be global. What is
 * not there is reported, and a stand-in returned so that the rest can be looked
 * at.
 */
static struct var *array_named(struct scope *sc, const char *name,
			       unsigned nkeys, const struct span *at)
{
	struct var *v = find_var(sc, name, at);

	if (v && v->is_global)
		return v;
	/* A prologue may have a scalar of that name: no array is local. */
	if (v)
		v = resolve_global(sc->s, name, sema_source_of(at));
	if (v)
		return v;
	complain(sc->s->c, NO_ARRAY, at, nkeys, name);
	v = arena_new_of(sc->s->c->a, struct var);
	v->name = name;
	v->span = *at;
	v->is_global = true;
	v->arity = -1;
	v->broken = true;
	v->src = at->src;
	return v;
}

static void resolve_index(struct scope *sc, struct node *n, unsigned use)
{
	struct var *v;

	v = array_named(sc, n->u.index.name, n->u.index.keys.n, &n->span);
	n->u.index.var = v;
	note_arity(sc, v, n->u.index.keys.n, &n->span);
	note_use(sc, v, use);
	resolve_keys(sc, &n->u.index.keys, use & USE_WHOLE);
}

/* Left side of an assignment. */
static void resolve_lvalue(struct scope *sc, struct node *n, unsigned use,
			   const struct span *op)
{
	struct compile *c = sc->s->c;
	struct diag *d;

	if (sc->in_cond)
		complain(c, COND_WRITE, op);
	switch (n->kind) {
	case N_NAME:
	case N_INDEX:
		resolve(sc, n, use);
		break;
	case N_TARGET:
	case N_ARROW:
		d = complain(c, TARGET_WRITE, &n->span);
		if (!sc->probe || n->kind != N_TARGET ||
		    n->u.target.parts.n || n->u.target.name[0] != '$')
			break;
		diag_help(c->diag, d, "a variable of the script has no $: %s",
			  n->u.target.name + 1);
		break;
	default:
		d = complain(c, NOT_LVALUE, op);
		diag_note(c->diag, d, &n->span, "this cannot be assigned to");
		if (n->kind == N_CONCAT)
			diag_help(c->diag, d, "a.b joins two texts; a member "
				  "is a->b");
		else if (op->text && !strcmp(op->text, "="))
			diag_help(c->diag, d, "== compares");
		break;
	}
}

/* --- expressions ---------------------------------------------------------- */

/*
 * Before anything is resolved: a branch that @defined excludes must not be
 * reported.
 */
static bool has_defined(struct node *n);

static int child_has_defined(struct node **child, void *ctx)
{
	(void)ctx;
	return *child && has_defined(*child);
}

static bool has_defined(struct node *n)
{
	return n->kind == N_DEFINED ||
	       node_each_child(n, child_has_defined, NULL);
}

static int child_defined(struct node **child, void *ctx);

/* Replaces each @defined by 1 or 0. */
static void decide_defined(struct scope *sc, struct node *n)
{
	if (n->kind != N_DEFINED) {
		node_each_child(n, child_defined, sc);
		return;
	}
	n->u.num = target_defined(sc, n->u.unary.a);
	n->kind = N_NUM;
	n->type = TY_LONG;
}

static int child_defined(struct node **child, void *ctx)
{
	if (*child)
		decide_defined(ctx, *child);
	return 0;
}

/*
 * An if or ?: whose condition asks @defined: when that decides it, only the
 * branch that is left is looked at at all. Returns true when n was replaced.
 */
static bool prune(struct scope *sc, struct node *n)
{
	struct node *cond = n->u.ternary.a, *keep;
	int64_t v;

	if (!has_defined(cond))
		return false;
	decide_defined(sc, cond);
	fold_node(sc->s->c, cond);
	if (!fold_number(cond, &v))
		return false;
	keep = v ? n->u.ternary.b : n->u.ternary.c;
	if (keep)
		*n = *keep;
	else
		n->kind = N_EMPTY;
	return true;
}

static void resolve_foreach(struct scope *sc, struct node *n)
{
	struct node *arr = n->u.foreach.array;
	unsigned i, nkeys = n->u.foreach.keys.n;
	struct compile *c = sc->s->c;

	if (arr->kind == N_HIST) {
		resolve(sc, arr, USE_READ);
		if (nkeys != 1)
			complain(c, ARITY, &arr->span, 1, (int)nkeys);
	} else {
		struct var *v =
		    array_named(sc, arr->u.name.name, nkeys, &arr->span);

		arr->u.name.var = v;
		note_arity(sc, v, nkeys, &arr->span);
		if (n->u.foreach.slice.n)
			note_arity(sc, v, n->u.foreach.slice.n, &arr->span);
		note_use(sc, v, USE_READ);
	}
	resolve_keys(sc, &n->u.foreach.slice, true);
	if (n->u.foreach.limit)
		resolve(sc, n->u.foreach.limit, USE_READ);
	if (n->u.foreach.sort_param)
		resolve(sc, n->u.foreach.sort_param, USE_READ);
	for (i = 0; i < nkeys; i++)
		resolve(sc, n->u.foreach.keys.v[i], USE_WRITE);
	if (n->u.foreach.value)
		resolve(sc, n->u.foreach.value, USE_WRITE);
	resolve(sc, n->u.foreach.body, 0);
}

/*
 * A whole array or aggregate by its name, a scalar, or elements by keys with
 * wildcards.
 */
static void resolve_delete(struct scope *sc, struct node *n)
{
	struct node *a = n->u.unary.a;
	struct var *v;

	switch (a->kind) {
	case N_NAME:
		v = find_var(sc, a->u.name.name, &a->span);
		if (v && v->is_global) {
			a->u.name.var = v;
			note_use(sc, v, USE_WRITE);
		} else {
			resolve(sc, a, USE_WRITE);
		}
		break;
	case N_INDEX:
		resolve(sc, a, USE_WRITE | USE_WHOLE);
		break;
	default:
		complain(sc->s->c, BAD_DELETE, &a->span);
		break;
	}
}

static void resolve_assign(struct scope *sc, struct node *n, bool is_stmt)
{
	enum oper op = n->u.binary.op;
	unsigned use = USE_WRITE;

	if (value_assign(sc, n)) /* $value = ... */
		return resolve_call(sc, n);
	/* A sum that nobody looks at does not count as reading the variable. */
	if (op == OPER_FEED)
		use = USE_FEED;
	else if (op != OPER_SET && !is_stmt)
		use |= USE_READ;
	resolve_lvalue(sc, n->u.binary.a, use, &n->span);
	resolve(sc, n->u.binary.b, USE_READ);
	if (op != OPER_SET)
		return;
	/* Pointers' types go along with plain assignments only. */
	if (n->u.binary.a->kind == N_NAME)
		target_assigned(sc->s, n->u.binary.a->u.name.var,
				n->u.binary.b);
	else if (n->u.binary.a->kind == N_INDEX)
		target_assigned(sc->s, n->u.binary.a->u.index.var,
				n->u.binary.b);
}

static void resolve_in(struct scope *sc, struct node *n)
{
	struct node *arr = n->u.in.array;
	unsigned nkeys = n->u.in.keys.n;
	struct var *v;

	resolve_keys(sc, &n->u.in.keys, true);
	if (arr->kind == N_HIST) {
		resolve(sc, arr, USE_READ);
		if (nkeys != 1)
			complain(sc->s->c, ARITY, &arr->span, 1, (int)nkeys);
		return;
	}
	v = array_named(sc, arr->u.name.name, nkeys, &arr->span);
	arr->u.name.var = v;
	note_arity(sc, v, nkeys, &arr->span);
	note_use(sc, v, USE_READ);
}

/* A bare value has no samples. */
static void resolve_stat_operand(struct scope *sc, struct node *a)
{
	if (a->kind == N_NAME || a->kind == N_INDEX)
		resolve(sc, a, USE_STAT);
	else
		complain(sc->s->c, TYPE_INVALID, &a->span, "long");
}

/*
 * Patterns are compiled here, so that mistakes in them are reported with the
 * names'.
 */
static void resolve_match(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	const char *msg;
	unsigned pos;

	resolve(sc, n->u.match.a, USE_READ);
	n->u.match.re = regex_compile(c, n->u.match.pattern,
				      str_len(n->u.match.pattern), &pos, &msg);
	if (!n->u.match.re)
		complain(c, REGEX_BAD, &n->u.match.pattern_span, pos, msg);
}

/*
 * @kderef(size, address) is the built-in that reads memory. The arguments
 * change places: the word has the size first.
 */
static void resolve_deref(struct scope *sc, struct node *n, enum builtin_id id)
{
	node_list args = n->u.atword.args;
	struct node *size;

	if (args.n != 2) {
		complain(sc->s->c, ARITY_CALL, &n->span, n->u.atword.word, 2u);
		return;
	}
	resolve_list(sc, &args);
	size = args.v[0];
	args.v[0] = args.v[1];
	args.v[1] = size;
	memset(&n->u, 0, sizeof(n->u));
	n->kind = N_CALL;
	n->u.call.builtin = builtin_at(id);
	n->u.call.name = n->u.call.builtin->name;
	n->u.call.args = args;
	resolve_builtin(sc->s, n->u.call.builtin);
}

static void resolve_atword(struct scope *sc, struct node *n)
{
	const char *word = n->u.atword.word;

	if (!strcmp(word, "@probewrite")) {
		/* Outside an alias there is no handler to ask about. */
		n->kind = N_NUM;
		n->type = TY_LONG;
		n->u.num = 0;
		return;
	}
	if (!strcmp(word, "@kderef") || !strcmp(word, "@uderef")) {
		resolve_deref(sc, n,
			      word[1] == 'k' ? BI_KERNEL_READ : BI_USER_READ);
	} else if (!strcmp(word, "@enumname") || strstr(word, "register")) {
		word_resolve(sc, n);
	} else { /* of literals only: nothing is lost with them */
		diags_hold(sc->s->c->diag);
		word_resolve(sc, n);
		target_bad(n, diags_held(sc->s->c->diag));
	}
}

static void resolve_try(struct scope *sc, struct node *n)
{
	resolve(sc, n->u.try.body, 0);
	if (n->u.try.name)
		resolve(sc, n->u.try.name, USE_WRITE);
	if (n->u.try.catcher)
		resolve(sc, n->u.try.catcher, 0);
}

static int child_resolve(struct node **child, void *ctx)
{
	if (*child)
		resolve(ctx, *child, USE_READ);
	return 0;
}

static void resolve_target(struct scope *sc, struct node *n)
{
	if (sc->in_cond) {
		complain(sc->s->c, COND_TARGET, &n->span);
		return;
	}
	if (!target_waits(sc, n))
		node_each_child(n, child_resolve, sc);
	target_resolve(sc, n);
}

/* use matters for variables only. */
static void resolve(struct scope *sc, struct node *n, unsigned use)
{
	struct node *a;

	switch (n->kind) {
	case N_NAME:
		resolve_name(sc, n, use);
		break;
	case N_INDEX:
		resolve_index(sc, n, use);
		break;
	case N_CALL:
		resolve_call(sc, n);
		break;
	case N_INCDEC:
		resolve_lvalue(sc, n->u.incdec.a, USE_READ | USE_WRITE,
			       &n->span);
		break;
	case N_ASSIGN:
		resolve_assign(sc, n, false);
		break;
	case N_EXPR:
		a = n->u.unary.a;
		if (a->kind == N_ASSIGN)
			/* the value of the assignment is not used */
			resolve_assign(sc, a, true);
		else if (a->kind == N_INCDEC)
			resolve_lvalue(sc, a->u.incdec.a, USE_WRITE, &a->span);
		else
			resolve(sc, a, USE_READ);
		break;
	case N_IF:
	case N_TERNARY:
		if (prune(sc, n))
			/* n is now the branch that is left */
			resolve(sc, n, use);
		else
			node_each_child(n, child_resolve, sc);
		break;
	case N_IN:
		resolve_in(sc, n);
		break;
	case N_MATCH:
		resolve_match(sc, n);
		break;
	case N_STAT:
		resolve_stat_operand(sc, n->u.stat.a);
		if (n->u.stat.param)
			resolve(sc, n->u.stat.param, USE_READ);
		break;
	case N_HIST:
		resolve_stat_operand(sc, n->u.hist.a);
		break;
	case N_TARGET:
	case N_ARROW:
	case N_ADDRESS:
		if (value_read(sc, n))
			resolve_call(sc, n);
		else
			resolve_target(sc, n);
		break;
	case N_ENTRY:
		if (!entry_replace(sc, n))
			resolve(sc, n, use);
		break;
	case N_DEFINED:
		decide_defined(sc, n);
		break;
	case N_ATWORD:
		resolve_atword(sc, n);
		break;
	case N_EMBEDDED:
		complain(sc->s->c, EMBEDDED_C, &n->span);
		break;
	case N_WILD:
		complain(sc->s->c, WILDCARD, &n->span);
		break;
	case N_FOREACH:
		resolve_foreach(sc, n);
		break;
	case N_DELETE:
		resolve_delete(sc, n);
		break;
	case N_TRY:
		resolve_try(sc, n);
		break;
	case N_RETURN:
		node_each_child(n, child_resolve, sc);
		if (sc->fn && n->u.unary.a)
			target_returned(sc->s, sc->fn, n->u.unary.a);
		break;
	default:
		node_each_child(n, child_resolve, sc);
		break;
	}
}

/* --- bodies --------------------------------------------------------------- */

static void scope_init(struct scope *sc, struct sema *s)
{
	memset(sc, 0, sizeof(*sc));
	sc->s = s;
	sc->locals = map_new(s->c->a);
}

void resolve_operand(struct scope *sc, struct node *n)
{
	resolve(sc, n, USE_READ);
}

/* The condition first: it must not see the handler's locals. */
static void resolve_probe(struct sema *s, struct probe *p)
{
	struct scope sc;
	unsigned i;

	scope_init(&sc, s);
	sc.probe = p;
	if (p->cond) {
		sc.in_cond = true;
		resolve(&sc, p->cond, USE_READ);
		sc.in_cond = false;
	}
	resolve(&sc, p->body, 0);
	entry_finish(&sc);
	for (i = 0; i < sc.list.v.n; i++)
		vec_push(s->c->a, &p->locals, sc.list.v.v[i]);
}

void resolve_function(struct sema *s, struct function *f)
{
	struct scope sc;
	unsigned i;

	if (f->is_resolved)
		return;
	f->is_resolved = true;
	scope_init(&sc, s);
	sc.fn = f;
	sc.probe = f->probe;
	for (i = 0; i < f->params.n; i++) {
		map_set(sc.locals, f->params.v[i]->name, f->params.v[i]);
		vec_push(s->c->a, &sc.list.v, f->params.v[i]);
	}
	resolve(&sc, f->body, 0);
	for (i = 0; i < sc.list.v.n; i++)
		vec_push(s->c->a, &f->locals, sc.list.v.v[i]);
}

/* Resolving adds functions and (for @entry) probes: until there is no more. */
void resolve_new(struct sema *s)
{
	struct program *p = s->p;

	while (s->probes_resolved < p->probes.n ||
	       s->resolved < p->functions.n) {
		if (s->probes_resolved < p->probes.n)
			resolve_probe(s, p->probes.v[s->probes_resolved++]);
		else
			resolve_function(s, p->functions.v[s->resolved++]);
	}
}

struct var *resolve_hidden_local(struct sema *s, struct probe *p,
				 const char *name, enum type type)
{
	struct var *v = arena_new_of(s->c->a, struct var);

	v->name = name;
	v->span = p->span;
	v->type = type;
	v->index = p->locals.n;
	v->is_read = v->is_written = true;
	vec_push(s->c->a, &p->locals, v);
	return v;
}
