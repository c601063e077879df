/* SPDX-License-Identifier: MIT */
/*
 * Globals of the script that are written and never read are printed when the
 * session ends, by an end probe made here, in order of first reference.
 */
#include <stdlib.h>

#include "sema/sema.h"

struct auto_print {
	struct sema *s;
	struct compile *c;
	struct probe *p; /* the end probe */
	struct span at;  /* of the global that is being printed */
};

/*
 * The probe is syntax that a script could have: all that comes after (types,
 * plan, code) needs to know nothing of it. It is made when names and types are
 * known, so its nodes are bound and typed here.
 */

/* --- building syntax ------------------------------------------------------ */

static struct node *make(struct auto_print *ap, enum node_kind k, enum type t)
{
	struct node *n = node_new(ap->c->a, k, ap->at);

	n->type = t;
	return n;
}

static struct node *make_name(struct auto_print *ap, struct var *v)
{
	struct node *n = make(ap, N_NAME, v->type);

	n->u.name.name = v->name;
	n->u.name.var = v;
	return n;
}

/* v[k0, k1, ...], or v */
static struct node *make_element(struct auto_print *ap, struct var *v,
				 struct var **key)
{
	struct node *n;
	int i;

	if (!v->arity)
		return make_name(ap, v);
	n = make(ap, N_INDEX, v->type);
	n->u.index.name = v->name;
	n->u.index.var = v;
	for (i = 0; i < v->arity; i++)
		vec_push(ap->c->a, &n->u.index.keys, make_name(ap, key[i]));
	return n;
}

static struct node *make_stat(struct auto_print *ap, enum stat_op op,
			      struct node *a)
{
	struct node *n = make(ap, N_STAT, TY_LONG);

	n->u.stat.op = op;
	n->u.stat.a = a;
	return n;
}

/* parse_format() sees what a script's printf() would. */
static struct node *make_print(struct auto_print *ap, const char *format,
			       node_list *args)
{
	struct node *n = make(ap, N_PRINT, TY_UNKNOWN);
	struct node *stmt = make(ap, N_EXPR, TY_UNKNOWN);

	n->u.print.kind = PRINT_PRINTF;
	n->u.print.format = str_internz(ap->c->str, format);
	n->u.print.args = *args;
	parse_format(ap->c, n->u.print.format, &ap->at, &n->u.print.fmt);
	stmt->u.unary.a = n;
	return stmt;
}

static void append(struct auto_print *ap, struct node *block, struct node *n)
{
	vec_push(ap->c->a, &block->u.block.stmts, n);
}

/* --- the statements ------------------------------------------------------- */

/* In the order and the words of the reference. */
static const struct {
	enum stat_op op;
	const char *format;
} shown[] = {
    {STAT_COUNT, "@count=%d"}, {STAT_MIN, " @min=%d"}, {STAT_MAX, " @max=%d"},
    {STAT_SUM, " @sum=%d"},    {STAT_AVG, " @avg=%d"},
};

/* name, or name[k1,"k2"], and the keys to print in it. */
static const char *label(struct auto_print *ap, struct var *v, struct var **key,
			 node_list *args)
{
	const char *text = v->name;
	int i;

	for (i = 0; i < v->arity; i++) {
		bool is_str = v->key_type[i] == TY_STRING;

		text = arena_printf(ap->c->a, "%s%c%s", text, i ? ',' : '[',
				    is_str ? "\"%s\"" : "%d");
		vec_push(ap->c->a, args, make_name(ap, key[i]));
	}
	return v->arity ? arena_printf(ap->c->a, "%s]", text) : text;
}

/* The line of the reference: count, min, max, sum, avg. */
static struct node *print_stats(struct auto_print *ap, struct var *v,
				struct var **key)
{
	node_list args = {0}, none = {0};
	const char *text = label(ap, v, key, &args);
	struct node *n, *print;
	unsigned i;

	text = arena_printf(ap->c->a, "%s ", text);
	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		text = arena_printf(ap->c->a, "%s%s", text, shown[i].format);
		/* kept from now on, although no script asks */
		v->agg.ops |= 1u << shown[i].op;
		vec_push(ap->c->a, &args,
			 make_stat(ap, shown[i].op, make_element(ap, v, key)));
	}
	print = make_print(ap, arena_printf(ap->c->a, "%s\n", text), &args);
	if (v->arity)
		return print;
	/* An empty aggregate has no extremes: the count alone. */
	n = make(ap, N_IF, TY_UNKNOWN);
	n->u.ternary.a = make_stat(ap, STAT_COUNT, make_name(ap, v));
	n->u.ternary.b = print;
	n->u.ternary.c = make_print(
	    ap, arena_printf(ap->c->a, "%s @count=0x0\n", v->name), &none);
	return n;
}

static struct node *print_value(struct auto_print *ap, struct var *v,
				struct var **key)
{
	node_list args = {0};
	const char *text = label(ap, v, key, &args);
	const char *conv = "%d";

	if (v->type == TY_STRING)
		conv = "\"%s\"";
	else if (v->pointer_like)
		conv = "%#x";
	vec_push(ap->c->a, &args, make_element(ap, v, key));
	return make_print(ap, arena_printf(ap->c->a, "%s=%s\n", text, conv),
			  &args);
}

/* Arrays by descending value or @count, each key in a local of its own. */
static struct node *print_one(struct auto_print *ap, struct var *v)
{
	struct var *key[KEYS_MAX] = {0};
	struct node *n, *body;
	int i;

	for (i = 0; i < v->arity; i++) {
		key[i] = resolve_hidden_local(
		    ap->s, ap->p,
		    str_internz(ap->c->str,
				arena_printf(ap->c->a, "%s.%d", v->name, i)),
		    v->key_type[i]);
		key[i]->type = v->key_type[i];
	}
	body = v->type == TY_STATS ? print_stats(ap, v, key)
				   : print_value(ap, v, key);
	if (!v->arity)
		return body;
	n = make(ap, N_FOREACH, TY_UNKNOWN);
	for (i = 0; i < v->arity; i++)
		vec_push(ap->c->a, &n->u.foreach.keys, make_name(ap, key[i]));
	n->u.foreach.array = make_name(ap, v);
	n->u.foreach.sort_dir = -1; /* descending */
	if (v->type == TY_STATS) {
		n->u.foreach.sort_by_stat = true;
		n->u.foreach.sort_op = STAT_COUNT;
	}
	n->u.foreach.body = body;
	return n;
}

/* --- the probe ------------------------------------------------------------ */

/* What is read shows what it is by itself; the library's are its own. */
static bool is_shown(const struct var *v)
{
	return v->is_written && !v->is_read && !v->is_library && !v->broken;
}

/* Made by the family of `end`, as if written at the end of the script. */
static struct probe *end_probe(struct sema *s, const struct span *at)
{
	struct compile *c = s->c;
	struct point *pt = arena_new_of(c->a, struct point);
	struct component k = {.name = str_internz(c->str, "end"), .span = *at};
	probe_list out = {0};
	struct probe *p;

	pt->span = *at;
	vec_push(c->a, &pt->parts, k);
	if (probe_resolve(c, pt, NULL, 0, false, &out) < 1)
		return NULL;
	p = out.v[0];
	p->written = pt;
	p->span = *at;
	p->derivation = p->pn = "end";
	p->body = node_new(c->a, N_BLOCK, *at);
	return p;
}

/* No two have the same: it counts references. */
static int by_reference(const void *pa, const void *pb)
{
	const struct var *a = *(struct var *const *)pa;
	const struct var *b = *(struct var *const *)pb;

	return a->ref_order < b->ref_order ? -1 : a->ref_order > b->ref_order;
}

void autoprint_add(struct sema *s)
{
	struct auto_print ap = {.s = s, .c = s->c};
	struct program *p = s->p;
	var_list shown_vars = {0};
	unsigned i;

	for (i = 0; !s->c->set.no_autoprint && i < p->globals.n; i++)
		if (is_shown(p->globals.v[i]) && p->globals.v[i]->ref_order)
			vec_push(s->c->a, &shown_vars, p->globals.v[i]);
	if (!shown_vars.n)
		return;
	qsort(shown_vars.v, shown_vars.n, sizeof(*shown_vars.v), by_reference);
	ap.p = end_probe(s, &shown_vars.v[0]->span);
	if (!ap.p)
		return;
	for (i = 0; i < shown_vars.n; i++) {
		ap.at = shown_vars.v[i]->span;
		append(&ap, ap.p->body, print_one(&ap, shown_vars.v[i]));
	}
	for (i = 0; i < shown_vars.n; i++) /* later passes must keep them */
		shown_vars.v[i]->is_read = true;
	vec_push(s->c->a, &p->probes, ap.p);
}
