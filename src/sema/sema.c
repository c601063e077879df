/* SPDX-License-Identifier: MIT */
/* The order of the passes, and what a file declares. */
#include "sema/sema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sema/exclusion.h"

const char *type_name(enum type t)
{
	static const char *const name[] = {"unknown", "long", "string",
					   "stats"};

	return name[t];
}

const struct source *sema_source_of(const struct span *at)
{
	while (at->macro)
		at = at->macro;
	return at->src;
}

bool sema_in_library(const struct node *n)
{
	const struct source *src = sema_source_of(&n->span);

	return !src || src->is_library;
}

/* --- declarations --------------------------------------------------------- */

/* Makes the entry at the first use. */
static struct name_vars *vars_named(struct sema *s, const char *name)
{
	struct name_vars *nv = map_get(s->vars, name);

	if (!nv) {
		nv = arena_new_of(s->c->a, struct name_vars);
		map_set(s->vars, name, nv);
	}
	return nv;
}

/*
 * Is there a declaration already that this one clashes with? Of one file's
 * names only the first counts; a script's name hides a library's without
 * clashing.
 */
static bool clashes(struct sema *s, const struct name_vars *nv,
		    const struct decl_global *g)
{
	struct diag *d;
	unsigned i;

	for (i = 0; i < nv->list.n; i++) {
		const struct var *v = nv->list.v[i];

		if (v->is_library != (bool)g->src->is_library)
			continue;
		if (v->src != g->src && (v->is_private || g->is_private))
			continue;
		if (v->is_private != g->is_private)
			d = complain(s->c, GLOBAL_PRIVATE, &g->span);
		else
			d = complain(s->c, GLOBAL_DUP, &g->span);
		diag_note(s->c->diag, d, &v->span, "first declared here");
		return true;
	}
	return false;
}

struct var *sema_add_global(struct sema *s, const struct decl_global *g)
{
	struct name_vars *nv = vars_named(s, g->name);
	struct var *v;

	if (clashes(s, nv, g))
		return NULL;
	v = arena_new_of(s->c->a, struct var);
	v->name = g->name;
	v->span = g->span;
	v->is_global = true;
	v->src = g->src;
	v->is_private = g->is_private;
	v->is_library = g->src->is_library;
	v->wrap = g->wrap;
	v->size = g->size;
	v->init = g->init;
	/* Until its first use; only scalars have a value to begin with. */
	v->arity = g->init.type != TY_UNKNOWN ? 0 : -1;
	v->arity_span = g->span;
	v->index = s->decls++;
	vec_push(s->c->a, &nv->list, v);
	return v;
}

/* Functions of one name are overloads: they never clash. */
static void add_function(struct sema *s, struct decl_function *d)
{
	struct name_fns *nf = map_get(s->fns, d->name);

	if (!nf) {
		nf = arena_new_of(s->c->a, struct name_fns);
		map_set(s->fns, d->name, nf);
	}
	vec_push(s->c->a, &nf->list, d);
}

/*
 * An alias' name: plain words. Components of it cannot have arguments, as what
 * follows the name is passed on.
 */
static bool good_alias(struct sema *s, const struct decl_probe *d)
{
	unsigned i, k;

	for (i = 0; i < d->names.n; i++) {
		const struct point *pt = d->names.v[i];

		for (k = 0; k < pt->parts.n; k++)
			if (pt->parts.v[k].arg.type != TY_UNKNOWN ||
			    strpbrk(pt->parts.v[k].name, "*?")) {
				complain(s->c, ALIAS_NAME,
					 &pt->parts.v[k].span);
				return false;
			}
	}
	return true;
}

/*
 * By the first component of each of its names: scripts may have thousands of
 * aliases, and each point asks for those that fit it.
 */
static void add_alias(struct sema *s, struct decl_probe *d)
{
	unsigned k;

	for (k = 0; k < d->names.n; k++) {
		struct alias_name an = {d, d->names.v[k]};
		const char *first = an.name->parts.v[0].name;
		alias_list *l = map_get(s->alias_named, first);

		if (!l) {
			l = arena_new_of(s->c->a, alias_list);
			map_set(s->alias_named, first, l);
		}
		vec_push(s->c->a, l, an);
		vec_push(s->c->a, &s->aliases, an);
	}
}

/*
 * Probes are only noted as aliases here; the others wait for
 * alias_expand_new().
 */
void sema_add_file(struct sema *s, struct file *f)
{
	unsigned i;

	vec_push(s->c->a, &s->p->files, f);
	for (i = 0; i < f->embedded.n; i++)
		complain(s->c, EMBEDDED_C, &f->embedded.v[i]->span);
	for (i = 0; i < f->globals.n; i++)
		sema_add_global(s, f->globals.v[i]);
	for (i = 0; i < f->functions.n; i++)
		add_function(s, f->functions.v[i]);
	for (i = 0; i < f->probes.n; i++) {
		struct decl_probe *d = f->probes.v[i];

		if (d->is_alias && good_alias(s, d))
			add_alias(s, d);
	}
}

/* --- the program ---------------------------------------------------------- */

/*
 * Globals that something names, in order of declaration. One that a script
 * declares and does not name may be a misspelt other one.
 */
static void collect_globals(struct sema *s)
{
	struct program *p = s->p;
	struct var **all = arena_array(s->c->a, struct var *, s->decls + 1);
	unsigned i, k;

	for (i = 0; i < map_count(s->vars); i++) {
		struct name_vars *nv = map_at(s->vars, i, NULL);

		for (k = 0; k < nv->list.n; k++)
			all[nv->list.v[k]->index] = nv->list.v[k];
	}
	for (i = 0; i < s->decls; i++) {
		struct var *v = all[i];

		if (v && v->ref_order)
			vec_push(s->c->a, &p->globals, v);
		else if (v && !v->is_library && !never_is_given(s->c, v))
			complain(s->c, ELIDE_GLOBAL, &v->span, v->name);
	}
	for (i = 0; i < p->globals.n; i++)
		p->globals.v[i]->index = i;
}

/*
 * What is left once code that does nothing is gone. Folding has decided again
 * who is read and written.
 */
static void drop_globals(struct program *p)
{
	unsigned i, k = 0;

	for (i = 0; i < p->globals.n; i++) {
		struct var *v = p->globals.v[i];

		if (!v->is_read && !v->is_written)
			continue;
		v->index = k;
		p->globals.v[k++] = v;
	}
	p->globals.n = k;
}

/* Once before folding, whose bit sets need indices, and after each change. */
static void number(struct program *p)
{
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		p->functions.v[i]->index = i;
	for (i = 0; i < p->probes.n; i++)
		p->probes.v[i]->index = i;
}

/* --- -G ------------------------------------------------------------------- */

static void bad_value(struct sema *s, const struct name_value *nv,
		      const char *why)
{
	complain(s->c, GLOBAL_VALUE, NULL, nv->name, nv->value, why);
}

/*
 * strtoll() with base 0 takes what the language takes: decimal, 0x, and octal.
 */
static void set_global(struct sema *s, struct var *v,
		       const struct name_value *nv)
{
	long long num;
	char *end;

	if (v->arity > 0 || v->type == TY_STATS) {
		bad_value(s, nv, "only scalar globals can be initialized");
		return;
	}
	v->init.type = v->type;
	if (v->type == TY_STRING) {
		v->init.str = str_internz(s->c->str, nv->value);
		return;
	}
	errno = 0;
	num = strtoll(nv->value, &end, 0);
	if (errno || end == nv->value || *end)
		bad_value(s, nv, "the variable is a number");
	v->init.num = num;
}

/* Initial values from the command line. */
static void set_globals(struct sema *s)
{
	unsigned i, k;

	for (i = 0; i < s->c->set.globals.n; i++) {
		const struct name_value *nv = &s->c->set.globals.v[i];
		struct name_vars *all = map_get(s->vars, nv->name);
		struct near_names nn = {.want = nv->name, .max = 5};
		const char *name;
		bool found = false;

		for (k = 0; all && k < all->list.n; k++) {
			struct var *v = all->list.v[k];

			/*
			 * a library's global that was never asked for is none
			 * to the user
			 */
			if (v->is_library && !v->ref_order)
				continue;
			found = true;
			/* otherwise it is gone: no mistake */
			if (v->is_read || v->is_written)
				set_global(s, v, nv);
		}
		for (k = 0; !found && k < map_count(s->vars); k++) {
			map_at(s->vars, k, &name);
			/* hidden names have a dot inside */
			if (!strchr(name, '.'))
				near_names_add(&nn, name);
		}
		if (!found)
			complain(s->c, GLOBAL_UNKNOWN, NULL, nv->name,
				 near_names_text(s->c, &nn));
	}
}

/* --- all of it ------------------------------------------------------------ */

static void fill_format(struct node *n, void *ctx)
{
	if (n->kind == N_PRINT)
		format_fill(ctx, n);
}

struct sema *sema_new(struct compile *c, struct file **files, unsigned nfiles)
{
	struct sema *s = arena_new_of(c->a, struct sema);
	unsigned i;

	s->c = c;
	s->p = arena_new_of(c->a, struct program);
	s->lib = tapset_new(c);
	s->alias_named = map_new(c->a);
	s->vars = map_new(c->a);
	s->fns = map_new(c->a);
	s->fn_of = map_new(c->a);
	s->looks = map_new(c->a);
	s->bridges = map_new(c->a);
	for (i = 0; i < nfiles; i++)
		sema_add_file(s, files[i]);
	return s;
}

/* For -L: types of an alias' variables. */
void sema_types(struct sema *s)
{
	struct program *p = s->p;

	/* Resolving names files of the library, whose probes may name more. */
	do {
		alias_expand_new(s);
		resolve_new(s);
	} while (s->expanded < p->files.n);
	target_late(s);
	collect_globals(s);
	number(p);
	infer_program(s);
}

struct program *sema_run(struct compile *c, struct file **files,
			 unsigned nfiles)
{
	struct sema *s = sema_new(c, files, nfiles);
	struct program *p = s->p;

	do {
		alias_expand_new(s);
		resolve_new(s);
	} while (s->expanded < p->files.n);
	counter_finish(s);
	target_late(s);
	if (!p->probes.n && !diags_errors(c->diag))
		complain(c, NO_PROBES, NULL);
	/* Later passes rely on names being resolved. */
	if (diags_errors(c->diag)) {
		target_say_bad(s);
		return p;
	}
	collect_globals(s);
	number(p);
	fold_program(s);
	target_say_bad(s);
	if (diags_errors(c->diag))
		return p;
	drop_globals(p);
	number(p);
	if (!p->probes.n)
		complain(c, NO_PROBES, NULL);
	infer_program(s);
	if (!diags_errors(c->diag))
		never_settle(s);
	set_globals(s);
	check_program(s);
	if (!diags_errors(c->diag))
		autoprint_add(s);
	walk_program(p, fill_format, c);
	width_program(s);
	if (log_on(&c->log, LOG_SEMA, 1))
		program_print_widths(p, stderr);
	number(p); /* autoprint has added one */
	if (!diags_errors(c->diag))
		p->exclusion = exclusion_analyse(c, p);
	return p;
}
