/* SPDX-License-Identifier: MIT */
#include "probe/pretty.h"

#include "sema/builtin.h"
#include "types/types.h"

/*
 * More than these would be cut by MAXSTRINGLEN anyway. NEST_MAX keeps $x$$ of
 * types that contain arrays of themselves in bounds. The widths are what a
 * value takes in text: 20 digits, a sign and "0x"; a guess for strings whose
 * length nobody knows.
 */
enum { VALUES_MAX = 32, NEST_MAX = 8, NUMBER_WIDTH = 24, TEXT_WIDTH = 64 };
/* Of structs that have structs alone inside, which are no values. */
enum { MEMBERS_MAX = 1000 };

void pretty_start(struct pretty *p, struct compile *c, const struct span *at)
{
	/* 1: the NUL */
	*p = (struct pretty){.c = c, .at = *at, .text = "", .width = 1};
}

void pretty_text(struct pretty *p, const char *text)
{
	p->text = arena_printf(p->c->a, "%s%s", p->text, text);
}

/*
 * Neighbouring pieces of text become one part: fewer parts, fewer steps when
 * printing.
 */
static void flush_text(struct pretty *p)
{
	struct fmt_part part = {.width = -1, .prec = -1};

	if (!*p->text)
		return;
	part.text = str_internz(p->c->str, p->text);
	p->width += str_len(part.text);
	p->text = "";
	vec_push(p->c->a, &p->fmt.parts, part);
}

/* flag '#' : C's alternative form (0x1f, 'a'). */
static void add_arg(struct pretty *p, struct node *arg, char conv, char flag)
{
	struct fmt_part part = {
	    .conv = conv, .flag = flag, .width = -1, .prec = -1};

	flush_text(p);
	vec_push(p->c->a, &p->fmt.parts, part);
	vec_push(p->c->a, &p->args, arg);
	p->fmt.nargs++;
	p->width += arg->type == TY_STRING ? arg->width : NUMBER_WIDTH;
}

static struct node *make_node(struct pretty *p, enum node_kind kind,
			      enum type type)
{
	struct node *n = node_new(p->c->a, kind, p->at);

	n->type = type;
	return n;
}

/*
 * A walk that can go on from where w is without moving w. The two share what
 * the steps point to; only the list is copied.
 */
static struct walk walk_fork(struct pretty *p, const struct walk *w)
{
	struct walk copy = *w;

	copy.a = arena_new_of(p->c->a, struct access);
	*copy.a = *w->a;
	copy.a->steps.v = NULL;
	copy.a->steps.n = copy.a->steps.cap = 0;
	for (unsigned i = 0; i < w->a->steps.n; i++)
		vec_push(p->c->a, &copy.a->steps, w->a->steps.v[i]);
	return copy;
}

/*
 * Where a walk has come to, as an expression of its own. The node stands alone,
 * so it carries the whole path: a struct of ten members behind a pointer reads
 * that pointer ten times.
 */
static struct node *walk_node(struct pretty *p, const struct walk *w)
{
	struct node *n = make_node(p, N_TARGET, TY_LONG);
	struct walk copy = walk_fork(p, w);

	walk_value(&copy);
	n->u.target.name = p->at.text;
	n->u.target.access = copy.a;
	return n;
}

/* Whether w is at what the compiler has not kept, of a struct in pieces. */
static bool is_missing(struct pretty *p, const struct walk *w)
{
	struct walk copy = walk_fork(p, w);

	walk_value(&copy);
	return copy.a->missing;
}

/* The characters at w (an array, or what a pointer points to). */
static void put_string(struct pretty *p, const struct walk *w, uint32_t width)
{
	struct node *call = make_node(p, N_CALL, TY_STRING);
	struct node *none = make_node(p, N_STR, TY_STRING);
	bool user = w->is_user;

	if (w->type->kind == CT_PTR)
		/* __user of the kernel's sources, as BTF keeps it */
		user |= ctype_has_tag(ctype_fill(w->type)->to, "user");
	none->u.str = str_internz(p->c->str, "");
	none->width = 8;
	/* strings are moved in words of 8 bytes */
	call->width = (width + 7) / 8 * 8;
	call->u.call.name = user ? "user_string" : "kernel_string";
	call->u.call.builtin = builtin_find(call->u.call.name, 2);
	vec_push(p->c->a, &call->u.call.args, walk_node(p, w));
	vec_push(p->c->a, &call->u.call.args, none);
	pretty_text(p, "\"");
	add_arg(p, call, 's', 0);
	pretty_text(p, "\"");
}

/*
 * A char is text to C programmers; signed or unsigned 8-bit integers (u8) are
 * numbers. Compilers tell the two apart in the debug information.
 */
static bool is_char(const struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->kind == CT_INT && t->repr == REPR_CHAR;
}

static bool is_compound(const struct ctype *t)
{
	return t && (t->kind == CT_STRUCT || t->kind == CT_UNION);
}

static void put_value(struct pretty *p, const struct walk *w, int depth,
		      int nest);

/* Members without a name get what gdb and systemtap print for them. */
static const char *member_key(const struct cmember *m)
{
	const struct ctype *t = ctype_strip(m->type);

	if (*m->name)
		return m->name;
	/* NULL: a damaged file's member without a type */
	return t && t->kind == CT_UNION ? "<union>" : "<struct>";
}

/* nest: depth of braces around the value. */
static void put_struct(struct pretty *p, const struct walk *w, int depth,
		       int nest)
{
	const struct ctype *t = ctype_fill(w->type);

	pretty_text(p, "{");
	for (unsigned i = 0; i < t->members.n; i++) {
		const struct cmember *m = &t->members.v[i];
		struct walk to = walk_fork(p, w);

		if (i)
			pretty_text(p, ", ");
		if (p->values >= VALUES_MAX || ++p->members > MEMBERS_MAX) {
			pretty_text(p, "...");
			break;
		}
		pretty_text(p, *m->name ? "." : "");
		pretty_text(p, member_key(m));
		pretty_text(p, "=");
		walk_to(&to, m, m->bit_off);
		put_value(p, &to, depth, nest + 1);
	}
	pretty_text(p, "}");
}

/*
 * Only the first element: an array can be of any length, and what counts of it
 * is seldom known here.
 */
static void put_array(struct pretty *p, const struct walk *w, int depth,
		      int nest)
{
	struct walk to = walk_fork(p, w);
	struct node zero = {.kind = N_NUM, .type = TY_LONG};

	pretty_text(p, "[");
	if (ctype_fill(w->type)->count &&
	    !walk_index(&to, &zero, &p->at, true)) {
		put_value(p, &to, depth, nest + 1);
		if (w->type->count > 1)
			pretty_text(p, ", ...");
	}
	pretty_text(p, "]");
}

static void put_scalar(struct pretty *p, const struct walk *w)
{
	const struct ctype *t = w->type, *to;

	p->values++;
	if (t->kind == CT_PTR) {
		to = ctype_strip(ctype_fill(t)->to);
		if (is_char(to)) {
			put_string(p, w, TEXT_WIDTH);
			return;
		}
		if (to && to->kind == CT_FUNC)
			pretty_text(p, "<function>:");
		add_arg(p, walk_node(p, w), 'p', 0);
	} else if (is_char(t) && !w->bit_size) {
		pretty_text(p, "'");
		add_arg(p, walk_node(p, w), 'c', '#');
		pretty_text(p, "'");
	} else {
		add_arg(p, walk_node(p, w), t->sign ? 'i' : 'u', 0);
	}
}

/*
 * The outermost value is always opened; what is inside of it is only when depth
 * is 2 ($x$$).
 */
static void put_value(struct pretty *p, const struct walk *w, int depth,
		      int nest)
{
	const struct ctype *t = w->type;
	bool open = nest == 0 || (depth > 1 && nest < NEST_MAX);

	if (p->values >= VALUES_MAX) {
		pretty_text(p, "...");
	} else if (is_compound(t)) {
		if (open)
			put_struct(p, w, depth, nest);
		else
			pretty_text(p, "{...}");
	} else if (t && t->kind == CT_ARRAY && !is_char(ctype_fill(t)->to)) {
		if (open)
			put_array(p, w, depth, nest);
		else
			pretty_text(p, "[...]");
	} else if (is_missing(p, w)) {
		p->values++;
		pretty_text(p, "?");
	} else if (t && t->kind == CT_ARRAY) {
		p->values++;
		put_string(p, w, t->count + 1);
	} else if (t && (t->kind == CT_INT || t->kind == CT_ENUM ||
			 t->kind == CT_PTR)) {
		put_scalar(p, w);
	} else {
		pretty_text(p, "?");
	}
}

void pretty_value(struct pretty *p, const struct access *base,
		  const struct ctype *type, int depth)
{
	struct access a = *base;
	struct walk start, w;
	const struct ctype *to;

	walk_start(&start, p->c, &a, type);
	w = walk_fork(p, &start);
	/*
	 * A pointer to a struct shows the struct: the pointer's own number is
	 * $x.
	 */
	if (w.type && w.type->kind == CT_PTR) {
		to = ctype_strip(ctype_fill(w.type)->to);
		if (is_compound(to))
			walk_follow(&w);
	}
	put_value(p, &w, depth, 0);
}

void pretty_item(struct pretty *p, const char *name, const struct access *base,
		 const struct ctype *type, int depth)
{
	struct access a = *base;
	struct walk w;

	pretty_text(p, name);
	pretty_text(p, "=");
	if (depth) {
		pretty_value(p, base, type, depth);
		return;
	}
	walk_start(&w, p->c, &a, type);
	if (is_missing(p, &w))
		pretty_text(p, "?");
	else
		add_arg(p, walk_node(p, &w), 'x', '#');
}

void pretty_number(struct pretty *p, const char *name,
		   const struct access *base)
{
	struct node *n = make_node(p, N_TARGET, TY_LONG);

	n->u.target.name = p->at.text;
	n->u.target.access = arena_new_of(p->c->a, struct access);
	*n->u.target.access = *base;
	pretty_text(p, name);
	pretty_text(p, "=");
	add_arg(p, n, 'x', '#');
}

/*
 * The text becomes an expression like the ones that sprintf() makes: analysis,
 * cost and code generation need to know nothing about pretty-printing.
 */
void pretty_finish(struct pretty *p, struct node *n)
{
	struct node *print = make_node(p, N_PRINT, TY_STRING);
	uint32_t max = p->c->set.limit[LIMIT_MAXSTRINGLEN];

	flush_text(p);
	/*
	 * In words of 8 bytes, MAXSTRINGLEN at most: it would be cut to that
	 * anyway.
	 */
	print->width = (p->width < max ? p->width : max) + 7;
	print->width -= print->width % 8;
	print->u.print.kind = PRINT_PRINTF;
	print->u.print.to_string = true;
	print->u.print.fmt = p->fmt;
	print->u.print.args = p->args;
	n->type = TY_STRING;
	n->width = print->width;
	n->u.target.access = arena_new_of(p->c->a, struct access);
	n->u.target.access->base = ACC_TEXT;
	n->u.target.access->text = print;
}

int pretty_depth(const struct node *n)
{
	unsigned last = n->u.target.parts.n;

	if (!last)
		return 0;
	switch (n->u.target.parts.v[last - 1].kind) {
	case TP_PRETTY:
		return 1;
	case TP_PRETTY_DEEP:
		return 2;
	default:
		return 0;
	}
}
