/* SPDX-License-Identifier: MIT */
/* The print family: a format, and the record of its operands. */
#include "ir/build.h"

#include <assert.h>
#include <string.h>

enum { FMT_ARGS_MAX = 32 };

/*
 * The record's layout: operands one after the other, strings at their full
 * width, all of them multiples of 8.
 */
struct ir_fmt *fmt_make(struct build *b, const struct fmt *fmt,
			const struct ir_val *args, unsigned nargs)
{
	struct ir_fmt *f = arena_new_of(b->a, struct ir_fmt);

	f->fmt = fmt;
	f->nargs = nargs;
	f->span = b->here;
	for (unsigned i = 0; i < nargs; i++) {
		f->is_str[i] = val_is_str(b->f, &args[i]);
		f->width[i] = f->is_str[i] ? val_width(b->f, &args[i]) : 8;
		f->off[i] = f->size;
		f->size += f->width[i];
	}
	f->id = b->ir->fmts.n;
	vec_push(b->a, &b->ir->fmts, f);
	return f;
}

/* Adjacent texts become one: fewer parts to go through a record. */
static void add_text(struct build *b, struct fmt *f, const char *s)
{
	struct fmt_part p = {.width = -1, .prec = -1, .text = s};

	if (str_len(s) == 0)
		return;
	if (f->parts.n && !vec_last(&f->parts).conv) {
		const char *head = vec_last(&f->parts).text;
		size_t n = str_len(head), m = str_len(s);
		char *both = arena_alloc(b->a, n + m + 1);

		memcpy(both, head, n);
		memcpy(both + n, s, m);
		vec_last(&f->parts).text = str_intern(b->c->str, both, n + m);
		return;
	}
	vec_push(b->a, &f->parts, p);
}

/* Operands of a part: its value and what its stars consume. */
static unsigned part_args(const struct fmt_part *p)
{
	return p->conv ? 1u + p->width_arg + p->prec_arg : 0;
}

/*
 * The format with plain %s of a literal made text: records carry only what
 * varies. Removes those operands from args; *nargs becomes what is left.
 */
static struct fmt *fold_literals(struct build *b, const struct fmt *fmt,
				 struct ir_val *args, unsigned *nargs)
{
	struct fmt *f = arena_new_of(b->a, struct fmt);
	unsigned in = 0, out = 0;

	for (unsigned i = 0; i < fmt->parts.n; i++) {
		const struct fmt_part *p = &fmt->parts.v[i];
		unsigned n = part_args(p);

		if (!p->conv) {
			add_text(b, f, p->text);
			continue;
		}
		if (n == 1 && p->conv == 's' && in < *nargs &&
		    args[in].kind == VAL_STR && p->width < 0 &&
		    p->prec < 0) {
			size_t len = strlen(args[in].str);

			add_text(b, f, str_intern(b->c->str, args[in].str,
						  len));
			in++;
			continue;
		}
		vec_push(b->a, &f->parts, *p);
		for (; n && in < *nargs; n--)
			args[out++] = args[in++];
	}
	*nargs = f->nargs = out;
	return f;
}

/*
 * %m and %M show memory, which is the event's: a record must carry the bytes,
 * since the host looks too late. A dump of n bytes becomes numbers that are
 * loaded here: %M a byte each (%02x), %m up to 8 bytes each (%b, which prints
 * them as they lie). false: its size or width is only known at run time, or it
 * is more than a print has operands for.
 */
static bool inline_dump(struct build *b, struct fmt *f,
			const struct fmt_part *p, struct ir_val addr,
			struct ir_val *args, unsigned *nargs, unsigned room)
{
	bool hex = p->conv == 'M', left = p->flag == '-';
	unsigned n = p->prec < 0 ? 1 : (unsigned)p->prec, at = 0, size, count;
	unsigned shown = hex ? 2 * n : n;
	char blank[64];
	size_t pad = p->width > (int)shown ? (size_t)p->width - shown : 0;

	/* 8 bytes at a time, then 4, 2, 1 as needed: a bit of n % 8 each. */
	count = hex ? n : n / 8 + (unsigned)__builtin_popcount(n % 8);
	if (p->width_arg || p->prec_arg || count > room || pad > sizeof(blank))
		return false;
	memset(blank, ' ', sizeof(blank));
	if (!left)
		add_text(b, f, str_intern(b->c->str, blank, pad));
	for (; at < n; at += size) {
		struct fmt_part one = {.conv = hex ? 'x' : 'b',
				       .width = hex ? 2 : -1,
				       .prec = -1,
				       .zero = hex,
				       .flag = hex ? '0' : 0};

		for (size = hex ? 1 : 8; size > n - at; size /= 2)
			;
		if (!hex)
			one.prec = (int)size;
		args[(*nargs)++] = load_at(b, emit_num(b, OP_ADD, addr,
						       val_num(at), NOVAL),
					   (int)size, p->flag == '#');
		vec_push(b->a, &f->parts, one);
	}
	if (left)
		add_text(b, f, str_intern(b->c->str, blank, pad));
	return true;
}

/* Operands of the parts from `from` on. */
static unsigned count_args(const struct fmt *fmt, unsigned from)
{
	unsigned n = 0;

	for (; from < fmt->parts.n; from++)
		n += part_args(&fmt->parts.v[from]);
	return n;
}

/*
 * Kernel handlers: the format with its memory dumps made numbers. What cannot
 * be inlined stays, and has only a simulated event's memory.
 */
static struct fmt *inline_dumps(struct build *b, const struct fmt *fmt,
				struct ir_val **args, unsigned *nargs)
{
	struct fmt *f = arena_new_of(b->a, struct fmt);
	struct ir_val *all = arena_array(b->a, struct ir_val,
					 FMT_ARGS_MAX + *nargs);
	unsigned in = 0, out = 0;

	for (unsigned i = 0; i < fmt->parts.n; i++) {
		const struct fmt_part *p = &fmt->parts.v[i];
		unsigned n = part_args(p), rest = count_args(fmt, i + 1);

		if ((p->conv == 'm' || p->conv == 'M') && in < *nargs &&
		    out + rest < FMT_ARGS_MAX &&
		    inline_dump(b, f, p, (*args)[in], all, &out,
				FMT_ARGS_MAX - out - rest)) {
			in += n;
			continue;
		}
		vec_push(b->a, &f->parts, *p);
		for (; n && in < *nargs; n--)
			all[out++] = (*args)[in++];
	}
	*args = all;
	*nargs = f->nargs = out;
	return f;
}

static bool has_dumps(const struct fmt *f)
{
	for (unsigned i = 0; i < f->parts.n; i++)
		if (f->parts.v[i].conv == 'm' || f->parts.v[i].conv == 'M')
			return true;
	return false;
}

/* print(@hist_log(x)), print(@quantiles(x)). */
static struct ir_val print_hist(struct build *b, struct node *n,
				struct node *what)
{
	bool quantiles = what->kind == N_STAT;
	struct node *agg = quantiles ? what->u.stat.a : what->u.hist.a;
	struct ir_val keys[KEYS_MAX + 1];
	unsigned nkeys;
	struct var *g = lvalue(b, agg, keys, &nkeys, NULL);
	struct span old = build_at(b, &n->span);
	struct ir_ins *i;

	i = emit_keyed(b, n->u.print.to_string ? OP_HSPRINT : OP_HPRINT, g,
		       keys, nkeys, NULL, 0);
	i->num = quantiles;
	if (n->u.print.to_string) {
		i->dst = tmp_str(b, n->width);
		i->has_dst = true;
	}
	/* println() adds no newline to the one that a histogram ends with. */
	emit_fail(b, i, "empty aggregate");
	b->here = old;
	return i->has_dst ? val_reg(i->dst) : NOVAL;
}

static bool is_hist(const struct node *n)
{
	return n->kind == N_HIST ||
	       (n->kind == N_STAT && n->u.stat.op == STAT_QUANTILES);
}

/*
 * Operands, then one instruction with the format; the text is made on the host
 * (out/format.c) or, for sprint, where it is needed.
 */
struct ir_val expr_print(struct build *b, struct node *n, bool want)
{
	unsigned nargs = n->u.print.args.n;
	struct ir_val *args;
	struct span old;
	struct ir_ins *i;
	struct fmt *f;

	if (nargs == 1 && is_hist(n->u.print.args.v[0]))
		return print_hist(b, n, n->u.print.args.v[0]);
	args = arena_array(b->a, struct ir_val, nargs + 1);
	expr_list(b, n->u.print.args.v, nargs, args);
	/* sprint() whose value nobody wants has done all it does. */
	if (n->u.print.to_string && !want)
		return NOVAL;
	old = build_at(b, &n->span);
	f = &n->u.print.fmt;
	if (b->f->place == PLACE_KERNEL && has_dumps(f))
		f = inline_dumps(b, f, &args, &nargs);
	f = fold_literals(b, f, args, &nargs);
	assert(nargs <= FMT_ARGS_MAX); /* the parser allows no more */
	i = emit_n(b, n->u.print.to_string ? OP_SPRINT : OP_PRINT, nargs,
		   args);
	i->fmt = fmt_make(b, f, args, nargs);
	if (n->u.print.to_string) {
		i->dst = tmp_str(b, n->width);
		i->has_dst = true;
	}
	b->here = old;
	return i->has_dst ? val_reg(i->dst) : NOVAL;
}
