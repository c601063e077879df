/* SPDX-License-Identifier: MIT */
/*
 * How many bytes each string needs: the widest that the program can put into
 * it, at most MAXSTRINGLEN. Rounds run until nothing grows; what grows round
 * after round (s .= x) is given the most there is.
 */
#include <string.h>

#include "sema/sema.h"

enum { ROUNDS_BEFORE_CAP = 6 }; /* most chains of assignments are shorter */

struct width {
	struct compile *c;
	struct function *fn;
	uint32_t cap;    /* MAXSTRINGLEN, rounded up */
	uint32_t probes; /* longest that pp(), pn() and the like return */
	bool changed, to_cap; /* to_cap: whatever grows goes to the cap */
};

/* In words of 8 bytes, in which strings are moved. */
static uint32_t round_up(uint64_t n)
{
	return (uint32_t)((n + 7) & ~7ull);
}

static uint32_t capped(const struct width *w, uint64_t n)
{
	uint64_t r = (n + 7) & ~7ull;

	return r > w->cap ? w->cap : (uint32_t)r;
}

/* Raises *at to n. Never shrinks: so the rounds end. */
static void grow(struct width *w, uint32_t *at, uint32_t n)
{
	if (n > w->cap)
		n = w->cap;
	if (n < 8)
		n = 8;
	if (*at >= n)
		return;
	*at = w->to_cap ? w->cap : n;
	w->changed = true;
}

/*
 * Longest text that n can be, without the NUL. Literals and sums of them are
 * known exactly; of all else the width is.
 */
static uint64_t length(const struct node *n)
{
	if (n->kind == N_STR)
		return str_len(n->u.str);
	if (n->kind == N_CONCAT)
		return length(n->u.binary.a) + length(n->u.binary.b);
	return n->width ? n->width - 1 : 0;
}

/* w: of the field. arg NULL: reported before. */
static uint64_t conv_length(const struct fmt_part *p, const struct node *arg)
{
	uint64_t n, w = p->width > 0 ? (uint64_t)p->width : 0;

	switch (p->conv) {
	case 's':
		n = arg ? length(arg) : 0;
		if (p->prec >= 0 && (uint64_t)p->prec < n)
			n = (uint64_t)p->prec;
		break;
	case 'c': /* the longest escape of %#c */
		n = 4;
		break;
	case 'b':
		n = 8;
		break;
	case 'm': /* memory, as much as fits */
	case 'M':
		n = UINT16_MAX;
		break;
	default:
		/* 20 decimal digits or 22 octal ones, with a prefix */
		n = p->conv == 'o' ? 23 : 20;
		if (p->prec > 0)
			n += (uint64_t)p->prec;
		break;
	}
	return n > w ? n : w;
}

/* Length of what sprintf makes. */
static uint64_t format_length(const struct width *w, const struct node *n)
{
	const struct fmt *f = &n->u.print.fmt;
	const node_list *args = &n->u.print.args;
	uint64_t sum = 0;
	unsigned i, k = 0;

	if (!f->parts.n && args->n)
		return w->cap; /* a histogram */
	for (i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		if (!p->conv) {
			sum += str_len(p->text);
			continue;
		}
		if (p->width_arg || p->prec_arg)
			return w->cap;
		sum += conv_length(p, k < args->n ? args->v[k] : NULL);
		k++;
	}
	return sum;
}

/* Every overload may be the one that runs. */
static void call_width(struct width *w, struct node *n)
{
	const struct builtin *b = n->u.call.builtin;
	struct function *f;
	unsigned i;

	for (f = n->u.call.fn; f; f = f->overload) {
		for (i = 0; i < f->params.n; i++)
			if (f->params.v[i]->type == TY_STRING)
				grow(w, &f->params.v[i]->width,
				     n->u.call.args.v[i]->width);
		/* The first one's is the room that each puts its value in. */
		if (f->type == TY_STRING)
			grow(w, &n->u.call.fn->width, f->width);
	}
	if (n->u.call.fn && n->type == TY_STRING)
		n->width = n->u.call.fn->width;
	if (!b || n->type != TY_STRING)
		return;
	if (b->flags & BF_CONST)
		n->width = w->probes;
	else if (b->width == 0)
		n->width = w->cap;
	else if (b->width < 0)
		n->width = capped(w, n->u.call.args.v[0]->width);
	else
		n->width = round_up((uint64_t)b->width);
}

/*
 * A key is as wide as the widest that is ever looked up: all have one layout.
 */
static void keys_width(struct width *w, struct var *v, node_list *l)
{
	unsigned i;

	for (i = 0; i < l->n && i < KEYS_MAX; i++)
		if (v->key_type[i] == TY_STRING)
			grow(w, &v->key_width[i], l->v[i]->width);
}

/* The node has the variable's width, so that its copy is whole. */
static void assign_width(struct width *w, struct node *n)
{
	struct node *a = n->u.binary.a, *b = n->u.binary.b;
	struct var *v = node_var(a);

	if (n->type != TY_STRING || !v)
		return;
	if (n->u.binary.op == OPER_CONCAT)
		grow(w, &v->width, capped(w, length(a) + length(b) + 1));
	else
		grow(w, &v->width, b->width);
	a->width = n->width = v->width;
}

static void foreach_width(struct width *w, struct node *n)
{
	struct var *v = n->u.foreach.array->kind == N_NAME
			    ? n->u.foreach.array->u.name.var
			    : NULL;
	unsigned i;

	if (!v)
		return;
	keys_width(w, v, &n->u.foreach.slice);
	for (i = 0; i < n->u.foreach.keys.n && i < KEYS_MAX; i++) {
		struct node *k = n->u.foreach.keys.v[i];

		if (v->key_type[i] == TY_STRING && node_var(k))
			grow(w, &node_var(k)->width, v->key_width[i]);
	}
	if (n->u.foreach.value && v->type == TY_STRING)
		grow(w, &node_var(n->u.foreach.value)->width, v->width);
}

static int visit(struct node **child, void *ctx);

/* Children first. Sets width, and raises that of what it is assigned to. */
static void node_width(struct width *w, struct node *n)
{
	struct var *v = node_var(n);
	struct function *f;

	node_each_child(n, visit, w);
	switch (n->kind) {
	case N_STR:
		n->width = round_up(str_len(n->u.str) + 1);
		break;
	case N_INDEX:
		keys_width(w, v, &n->u.index.keys);
		/* fall through */
	case N_NAME:
		n->width = v && v->type == TY_STRING ? v->width : 0;
		break;
	case N_CONCAT:
		n->width = capped(w, length(n) + 1);
		break;
	case N_TERNARY:
		if (n->type == TY_STRING)
			n->width = n->u.ternary.b->width > n->u.ternary.c->width
				       ? n->u.ternary.b->width
				       : n->u.ternary.c->width;
		break;
	case N_ASSIGN:
		assign_width(w, n);
		break;
	case N_CALL:
		call_width(w, n);
		break;
	case N_PRINT:
		if (n->u.print.to_string)
			n->width = capped(w, format_length(w, n) + 1);
		break;
	case N_IN:
		if (n->u.in.array->kind == N_NAME)
			keys_width(w, n->u.in.array->u.name.var, &n->u.in.keys);
		break;
	case N_FOREACH:
		foreach_width(w, n);
		break;
	case N_RETURN:
		f = w->fn;
		if (f && n->u.unary.a && f->type == TY_STRING)
			grow(w, &f->width, n->u.unary.a->width);
		break;
	case N_TRY: /* a message can be any text */
		if (n->u.try.name)
			grow(w, &node_var(n->u.try.name)->width, w->cap);
		break;
	default:
		if (n->type == TY_STRING && !n->width)
			n->width = w->cap;
		break;
	}
}

static int visit(struct node **child, void *ctx)
{
	if (*child)
		node_width(ctx, *child);
	return 0;
}

/* 8 bytes hold "", and one word is the least that is moved. */
static void start_var(struct width *w, struct var *v)
{
	unsigned i;

	for (i = 0; i < KEYS_MAX && (int)i < v->arity; i++)
		v->key_width[i] = 8;
	if (v->type != TY_STRING) {
		v->width = 0;
		return;
	}
	v->width = 8;
	if (v->init.type == TY_STRING)
		v->width = capped(w, str_len(v->init.str) + 1);
}

/* Callees before handlers: results are wide before they are used. */
static void round_over(struct width *w, struct program *p)
{
	unsigned i;

	w->changed = false;
	for (i = 0; i < p->functions.n; i++) {
		w->fn = p->functions.v[i];
		if (w->fn->type == TY_STRING)
			grow(w, &w->fn->width, 8);
		node_width(w, w->fn->body);
	}
	w->fn = NULL;
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			node_width(w, p->probes.v[i]->cond);
		node_width(w, p->probes.v[i]->body);
	}
}

/* Parts of a probe point are no longer than the whole. */
static uint32_t longest_point(const struct width *w, const struct program *p)
{
	size_t most = 32; /* probe_type() */
	unsigned i;

	for (i = 0; i < p->probes.n; i++) {
		const struct probe *pr = p->probes.v[i];

		if (strlen(pr->pp) > most)
			most = strlen(pr->pp);
		if (strlen(pr->pn) > most)
			most = strlen(pr->pn);
	}
	return capped(w, most + 1);
}

/*
 * All variables start small and grow; the order of rounds does not change what
 * comes out but for the cap.
 */
void width_program(struct sema *s)
{
	struct width w = {.c = s->c};
	struct program *p = s->p;
	unsigned i, k, rounds = 0;

	w.cap = round_up((uint64_t)s->c->set.limit[LIMIT_MAXSTRINGLEN]);
	w.probes = longest_point(&w, p);
	for (i = 0; i < p->globals.n; i++)
		start_var(&w, p->globals.v[i]);
	for (i = 0; i < p->functions.n; i++)
		for (k = 0; k < p->functions.v[i]->locals.n; k++)
			start_var(&w, p->functions.v[i]->locals.v[k]);
	for (i = 0; i < p->probes.n; i++)
		for (k = 0; k < p->probes.v[i]->locals.n; k++)
			start_var(&w, p->probes.v[i]->locals.v[k]);
	do {
		w.to_cap = ++rounds > ROUNDS_BEFORE_CAP;
		round_over(&w, p);
	} while (w.changed);
	/* Once more, so that every node shows what was decided. */
	round_over(&w, p);
}
