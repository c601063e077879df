/* SPDX-License-Identifier: MIT */
/*
 * Calls: which functions of the script and of the library a call may run, or
 * which built-in one. Functions of one name and arity form a chain of
 * overloads.
 */
#include <string.h>

#include "front/foreign.h"
#include "sema/sema.h"

static bool has_next(struct node *n);

static int child_has_next(struct node **child, void *ctx)
{
	(void)ctx;
	return *child && has_next(*child);
}

static bool has_next(struct node *n)
{
	return n->kind == N_NEXT || node_each_child(n, child_has_next, NULL);
}

/* The functions that were made of declarations: for p's handler alone, or
 * (NULL) for all. */
static struct map *made_for(struct sema *s, const struct probe *p)
{
	struct map *m = map_get_num(s->fn_of, (uintptr_t)p);

	if (!m) {
		m = map_new(s->c->a);
		map_set_num(s->fn_of, (uintptr_t)p, m);
	}
	return m;
}

/* One struct function for each declaration, made at its first use. */
static struct function *function_of(struct sema *s, struct decl_function *d,
				    struct probe *p)
{
	struct map *made = made_for(s, p);
	struct function *f = map_get_num(made, (uintptr_t)d);
	struct compile *c = s->c;
	unsigned i;

	if (f)
		return f;
	f = arena_new_of(c->a, struct function);
	f->name = d->name;
	f->span = d->span;
	f->src = d->src;
	f->type = d->type;
	f->type_span = d->span;
	/* the library's come after the script's of the same priority */
	f->priority = d->priority >= 0 ? d->priority : d->src->is_library;
	f->is_library = d->src->is_library;
	f->is_private = d->is_private;
	f->is_used = true;
	f->decl = d;
	f->probe = p;
	/* the declaration stays as it was parsed, for --dump=ast */
	f->body = node_clone(c->a, d->body);
	f->uses_next = has_next(f->body);
	for (i = 0; i < d->params.n; i++) {
		struct var *v = arena_new_of(c->a, struct var);

		v->name = d->params.v[i].name;
		v->span = d->params.v[i].span;
		v->type_span = v->span;
		v->type = d->params.v[i].type;
		v->is_param = v->is_written = true;
		v->index = i;
		vec_push(c->a, &f->params, v);
	}
	map_set_num(made, (uintptr_t)d, f);
	vec_push(c->a, &s->p->functions, f);
	return f;
}

/*
 * A function whose body calls a built-in: the end of a chain of overloads, so
 * that `next` in a script's function reaches the built-in that it hides.
 */
static struct function *bridge_to(struct sema *s, const struct builtin *b,
				  const struct decl_function *like)
{
	struct compile *c = s->c;
	const char *key;
	struct decl_function *d;
	struct node *call, *stmt;
	unsigned i, n = builtin_nargs(b);
	struct function *f;

	key = arena_printf(c->a, "%s/%u", b->name, n);
	f = map_get(s->bridges, key);
	if (f)
		return f;
	d = arena_new_of(c->a, struct decl_function);
	d->name = like->name;
	d->type = builtin_type(b);
	d->priority = 1;
	d->span = like->span;
	d->src = like->src;
	call = node_new(c->a, N_CALL, like->span);
	call->u.call.name = d->name;
	call->u.call.builtin = b;
	for (i = 0; i < n; i++) {
		struct decl_param p = {.type = builtin_arg(b, i),
				       .span = like->span};
		struct node *arg = node_new(c->a, N_NAME, like->span);

		p.name = arena_printf(c->a, "__arg%u", i + 1);
		p.name = str_internz(c->str, p.name);
		vec_push(c->a, &d->params, p);
		arg->u.name.name = p.name;
		vec_push(c->a, &call->u.call.args, arg);
	}
	stmt = node_new(c->a, d->type ? N_RETURN : N_EXPR, like->span);
	stmt->u.unary.a = call;
	d->body = node_new(c->a, N_BLOCK, like->span);
	vec_push(c->a, &d->body->u.block.stmts, stmt);
	f = function_of(s, d, NULL);
	f->is_library = true;
	map_set(s->bridges, key, f);
	return f;
}

/*
 * Functions of that name and arity which a file sees, in order of priority. A
 * script's function hides the library's for the library as well; what is built
 * in (b) it hides only for the script.
 */
static void candidates(struct sema *s, const char *name, unsigned nargs,
		       const struct source *from, const struct builtin *b,
		       fn_decl_list *out)
{
	struct name_fns *nf = map_get(s->fns, name);
	struct decl_function *d;
	bool own = false;
	unsigned i, j;

	for (i = 0; nf && i < nf->list.n; i++) {
		d = nf->list.v[i];
		if (d->params.n == nargs && d->is_private && d->src == from)
			own = true;
	}
	for (i = 0; nf && i < nf->list.n; i++) {
		d = nf->list.v[i];
		if (d->params.n != nargs || (d->is_private && d->src != from))
			continue;
		if (own && !d->is_private)
			continue;
		if (b && from->is_library && !d->src->is_library)
			continue;
		vec_push(s->c->a, out, d);
	}
#define PRIO(d) ((d)->priority >= 0 ? (d)->priority : (d)->src->is_library)
	for (i = 1; i < out->n; i++) {
		d = out->v[i];
		for (j = i; j > 0 && PRIO(out->v[j - 1]) > PRIO(d); j--)
			out->v[j] = out->v[j - 1];
		out->v[j] = d;
	}
#undef PRIO
}

/* Appends nothing where the name is unknown; the index tells. */
static void load_function(struct sema *s, const char *name)
{
	file_list files = {0};
	unsigned i;

	tapset_need(s->lib, TAPSET_FUNCTION, name, &files);
	for (i = 0; i < files.n; i++)
		sema_add_file(s, files.v[i]);
}

static void near_one(void *ctx, const char *name)
{
	near_names_add(ctx, name);
}

/* Words that are followed by "(" and are no functions to the grammar. */
static void near_words(struct near_names *nn)
{
	static const char *const words[] = {
	    "print", "println", "printd", "printdln", "printf", "print_char",
	    "sprint", "sprintln", "sprintd", "sprintdln", "sprintf", "foreach",
	    "while", "return",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_distance(nn->want, words[i]) <= 2)
			near_names_add(nn, words[i]);
}

static const char *similar_functions(struct sema *s, const char *want)
{
	struct near_names nn = {.want = want, .max = 5};
	const char *name;
	unsigned i;

	if (!near_names_worth(s, BI_MAX + map_count(s->fns)))
		return "";
	for (i = 0; i < BI_MAX; i++)
		if (!(builtin_at(i)->flags & BF_INTERNAL))
			near_names_add(&nn, builtin_at(i)->name);
	for (i = 0; i < map_count(s->fns); i++) {
		map_at(s->fns, i, &name);
		near_names_add(&nn, name);
	}
	near_words(&nn);
	tapset_names(s->lib, TAPSET_FUNCTION, near_one, &nn);
	return near_names_text(s->c, &nn);
}

/* Either the number of arguments is wrong, or the name is. */
static void no_function(struct sema *s, struct node *n)
{
	struct compile *c = s->c;
	struct name_fns *nf = map_get(s->fns, n->u.call.name);
	const char *here;
	struct diag *d;
	unsigned i;

	if (nf && nf->list.n) {
		d = complain(c, ARITY_CALL, &n->span, n->u.call.name,
			     nf->list.v[0]->params.n);
		diag_note(c->diag, d, &nf->list.v[0]->span, "defined here");
		return;
	}
	for (i = 0; i < BI_MAX; i++) {
		const struct builtin *b = builtin_at(i);

		if (!strcmp(b->name, n->u.call.name)) {
			complain(c, ARITY_CALL, &n->span, b->name,
				 builtin_nargs(b));
			return;
		}
	}
	d = complain(c, NO_FUNCTION, &n->span, n->u.call.name,
		     similar_functions(s, n->u.call.name));
	here = foreign_word(n->u.call.name);
	if (here)
		diag_help(c->diag, d, "here it is %s", here);
}

/* fold_program() asks for matched(), the dumps for all. */
void resolve_builtin(struct sema *s, const struct builtin *b)
{
	s->builtins[b->id / 64] |= 1ull << (b->id % 64);
}

/* --- functions that look at the probe ------------------------------------- */

/*
 * A function that names $variables (or @perf, @entry), or calls one that does,
 * means those of the handler that calls it: it is made anew for each probe, as
 * if its text stood there. All others are made once.
 */
struct looks {
	struct sema *s;
	struct map *seen;
	fn_decl_list todo; /* each once */
	bool found;
};

static void look_at(struct looks *l, struct decl_function *d)
{
	if (map_get_num(l->seen, (uintptr_t)d))
		return;
	map_set_num(l->seen, (uintptr_t)d, d);
	vec_push(l->s->c->a, &l->todo, d);
}

static void look_at_call(struct looks *l, const struct node *n)
{
	const struct source *from = sema_source_of(&n->span);
	const char *name = n->u.call.name;
	unsigned nargs = n->u.call.args.n;
	const struct builtin *b = builtin_find(name, nargs);
	fn_decl_list fns = {0};

	candidates(l->s, name, nargs, from, b, &fns);
	if (!fns.n && !b) {
		load_function(l->s, name);
		candidates(l->s, name, nargs, from, b, &fns);
	}
	for (unsigned i = 0; i < fns.n; i++)
		look_at(l, fns.v[i]);
}

static void look(struct node *n, void *ctx)
{
	struct looks *l = ctx;

	if (n->kind == N_TARGET)
		l->found |= n->u.target.name[0] == '$';
	else if (n->kind == N_ATWORD)
		l->found |= !strcmp(n->u.atword.word, "@perf");
	else if (n->kind == N_ENTRY)
		l->found = true;
	else if (n->kind == N_CALL)
		look_at_call(l, n);
}

/* Remembered; of one that does not look none that it may call does. */
static bool looks_at_probe(struct sema *s, struct decl_function *d)
{
	static const char yes[] = "yes", no[] = "no";
	struct looks l = {.s = s, .seen = map_new(s->c->a)};
	const char *known = map_get_num(s->looks, (uintptr_t)d);

	if (known)
		return known == yes;
	look_at(&l, d);
	for (unsigned i = 0; i < l.todo.n && !l.found; i++)
		if (map_get_num(s->looks, (uintptr_t)l.todo.v[i]) == yes)
			l.found = true;
		else
			walk_nodes(l.todo.v[i]->body, look, &l);
	for (unsigned i = 0; i < (l.found ? 1 : l.todo.n); i++)
		map_set_num(s->looks, (uintptr_t)l.todo.v[i],
			    (void *)(l.found ? yes : no));
	return l.found;
}

/* The script's own behind the i-th, which has no `next`. */
static void unreached(struct sema *s, const fn_decl_list *l, unsigned i)
{
	struct diag *d;

	if (++i == l->n || l->v[i]->src->is_library)
		return;
	d = complain(s->c, OVERLOAD_UNREACHED, &l->v[i]->span, l->v[i]->name);
	diag_note(s->c->diag, d, &l->v[i - 1]->span,
		  "this one is tried first, and has no next");
}

/*
 * Links the chain of overloads that a call may run. Stops at one that has no
 * `next`: those behind it are never reached.
 */
static struct function *chain(struct sema *s, fn_decl_list *l,
			      const struct builtin *b, struct probe *p)
{
	struct function *head = NULL, *last = NULL;
	struct probe *of = NULL;
	unsigned i;

	/* One that looks is enough: the links of a chain are its members'. */
	for (i = 0; p && i < l->n && !of; i++) {
		if (looks_at_probe(s, l->v[i]))
			of = p;
		if (!has_next(l->v[i]->body))
			break;
	}
	for (i = 0; i < l->n; i++) {
		struct function *f = function_of(s, l->v[i], of);

		if (!head)
			head = f;
		else
			last->overload = f;
		last = f;
		if (!f->uses_next) {
			unreached(s, l, i);
			return head;
		}
	}
	if (b && last)
		last->overload = bridge_to(s, b, l->v[0]);
	return head;
}

/* Order: a script's function hides the library's and what is built in. */
void resolve_call(struct scope *sc, struct node *n)
{
	struct sema *s = sc->s;
	const struct source *from = sema_source_of(&n->span);
	unsigned nargs = n->u.call.args.n;
	const struct builtin *b;
	fn_decl_list l = {0};
	unsigned i;

	for (i = 0; i < nargs; i++)
		resolve_operand(sc, n->u.call.args.v[i]);
	if (n->u.call.builtin) /* a bridge's */
		return resolve_builtin(s, n->u.call.builtin);
	if (sc->in_cond) {
		complain(s->c, COND_CALL, &n->span);
		return;
	}
	b = builtin_find(n->u.call.name, nargs);
	if (b && (b->flags & BF_INTERNAL) && !from->is_library) {
		complain(s->c, BUILTIN_INTERNAL, &n->span, b->name);
		return;
	}
	candidates(s, n->u.call.name, nargs, from, b, &l);
	if (!l.n && b && b->flags & BF_GURU && !s->c->set.guru) {
		complain(s->c, GURU_FUNCTION, &n->span);
		return;
	}
	if (!l.n && !b) {
		load_function(s, n->u.call.name);
		candidates(s, n->u.call.name, nargs, from, b, &l);
	/*
	 * The script's last one goes on by `next`: to the library's, if there
	 * is one.
	 */
	} else if (l.n && !l.v[0]->src->is_library &&
		   has_next(l.v[l.n - 1]->body)) {
		load_function(s, n->u.call.name);
		l.n = 0;
		candidates(s, n->u.call.name, nargs, from, b, &l);
	}
	if (l.n) {
		n->u.call.fn = chain(s, &l, b, sc->probe);
		for (i = 0; i < nargs; i++)
			target_assigned(s, n->u.call.fn->params.v[i],
					n->u.call.args.v[i]);
	} else if (b && b->id == BI_RETURNVAL && target_returnval(sc, n)) {
		return;
	} else if (b) {
		n->u.call.builtin = b;
		resolve_builtin(s, b);
	} else {
		no_function(s, n);
	}
}
