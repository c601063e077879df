/* SPDX-License-Identifier: MIT */
/* The text form, as docs/ir.md describes it. read.c is its inverse. */
#include "ir/ir.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/util.h"

/* Escapes are those that read.c undoes. */
static void put_text(FILE *f, const char *s, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)s[i];

		if (ch == '"' || ch == '\\')
			fprintf(f, "\\%c", ch);
		else if (ch == '\n')
			fputs("\\n", f);
		else if (ch == '\t')
			fputs("\\t", f);
		else if (ch < ' ' || ch >= 127)
			fprintf(f, "\\%03o", ch);
		else
			fputc(ch, f);
	}
	fputc('"', f);
}

/* --- tables --------------------------------------------------------------- */

/* One conversion, as a script would write it. */
static void put_part(FILE *f, const struct fmt_part *p)
{
	fputc('%', f);
	if (p->zero)
		fputc('0', f);
	else if (p->flag)
		fputc(p->flag, f);
	if (p->width_arg)
		fputc('*', f);
	else if (p->width >= 0)
		fprintf(f, "%d", p->width);
	if (p->prec_arg)
		fputs(".*", f);
	else if (p->prec >= 0)
		fprintf(f, ".%d", p->prec);
	fputc(p->conv, f);
}

/* Into a buffer first: the format is one quoted text in the end. */
static void print_fmt(const struct ir_fmt *m, FILE *f)
{
	char *buf = NULL;
	size_t n = 0;
	FILE *t = open_memstream(&buf, &n);

	if (!t)
		return;
	for (unsigned i = 0; i < m->fmt->parts.n; i++) {
		const struct fmt_part *p = &m->fmt->parts.v[i];

		if (p->conv) {
			put_part(t, p);
			continue;
		}
		for (size_t k = 0; k < str_len(p->text); k++) {
			if (p->text[k] == '%')
				fputc('%', t);
			fputc(p->text[k], t);
		}
	}
	fclose(t);
	fprintf(f, "fmt %u ", m->id);
	put_text(f, buf, n);
	free(buf);
	for (unsigned i = 0; i < m->nargs; i++) {
		if (m->is_str[i])
			fprintf(f, " s%u", m->width[i]);
		else
			fputs(" l", f);
	}
	fputc('\n', f);
}

static void print_iter(const struct ir_iter *it, FILE *f)
{
	fprintf(f, "iter %u %s", it->id, it->array->name);
	if (it->is_hist)
		fputs(" hist", f);
	if (it->sort_dir)
		fprintf(f, " sort %d key %d", it->sort_dir, it->sort_key);
	if (it->sort_by_stat)
		fprintf(f, " by %d param %" PRId64, it->sort_op,
			it->sort_param);
	if (it->has_limit)
		fputs(" limit", f);
	if (it->has_slice)
		fprintf(f, " slice 0x%x", it->wild);
	fputc('\n', f);
}

/* --- instructions --------------------------------------------------------- */

static void print_val(const struct ir_val *v, FILE *f)
{
	switch (v->kind) {
	case VAL_REG:
		fprintf(f, "r%u", v->reg);
		break;
	case VAL_NUM:
		fprintf(f, "%" PRId64, v->num);
		break;
	case VAL_STR:
		put_text(f, v->str, str_len(v->str));
		break;
	default:
		fputs("none", f);
	}
}

/* Linear: only for dumps. */
static unsigned index_of_re(const struct ir *ir, const struct regex *re)
{
	unsigned i = 0;

	while (i < ir->regexes.n && ir->regexes.v[i] != re)
		i++;
	return i;
}

/* Innermost place first, then the calls around it. */
static void print_loc(const struct ir *ir, uint32_t loc, FILE *f)
{
	int32_t at = (int32_t)loc;
	const char *sep = " ; ";

	while (at >= 0 && (unsigned)at < ir->locs.n &&
	       ir->locs.v[at].span.line) {
		const struct ir_loc *l = &ir->locs.v[at];

		fprintf(f, "%s%u:%u", sep, l->span.line, l->span.col);
		sep = " < ";
		at = l->caller;
	}
}

/* What an instruction has besides operands. */
static void print_extra(const struct ir *ir, const struct ir_ins *i, FILE *f)
{
	if (i->num)
		fprintf(f, " #%" PRId64, i->num);
	if (i->global)
		fprintf(f, " @%s", i->global->name);
	if (i->builtin)
		fprintf(f, " %s/%u", i->builtin->name,
			builtin_nargs(i->builtin));
	if (i->callee)
		fprintf(f, " func %u", i->callee->index);
	if (i->fmt)
		fprintf(f, " fmt %u", i->fmt->id);
	if (i->iter)
		fprintf(f, " iter %u", i->iter->id);
	if (i->re)
		fprintf(f, " regex %u", index_of_re(ir, i->re));
	if (i->locks)
		fprintf(f, " locks 0x%x", i->locks);
}

static void print_ins(const struct ir *ir, const struct ir_ins *i, FILE *f)
{
	fputs("  ", f);
	if (i->has_dst)
		fprintf(f, "r%u = ", i->dst);
	fputs(op_info(i->op)->text, f);
	print_extra(ir, i, f);
	for (unsigned k = 0; k < i->nargs; k++) {
		fputs(k ? ", " : " ", f);
		print_val(&i->args[k], f);
	}
	if (i->target[0])
		fprintf(f, " -> b%u", i->target[0]->id);
	if (i->target[1])
		fprintf(f, ", b%u", i->target[1]->id);
	print_loc(ir, i->loc, f);
	fputc('\n', f);
}

static void print_regs(const struct ir_func *fn, FILE *f)
{
	if (!fn->regs.n)
		return;
	fputs("  regs", f);
	for (unsigned i = 0; i < fn->regs.n; i++) {
		const struct ir_reg *r = &fn->regs.v[i];

		if (r->is_str)
			fprintf(f, " s%u", r->width);
		else
			fputs(" l", f);
		if (r->name)
			fprintf(f, ".%s", r->name);
		if (r->shared)
			fputc('!', f);
	}
	fputc('\n', f);
}

static const char *const kinds[] = {"probe", "function", "body"};
static const char *const places[] = {"host", "kernel", "never"};

/*
 * Ids are given anew, in layout order, so that what is printed can be read
 * back.
 */
void ir_print_func(const struct ir *ir, const struct ir_func *fn, FILE *f)
{
	unsigned id = 0;

	/* Ids are a matter of layout: give those that print as they stand. */
	for (struct ir_block *b = fn->blocks; b; b = b->next)
		b->id = id++;
	fprintf(f, "func %u ", fn->index);
	put_text(f, fn->name, strlen(fn->name));
	fprintf(f, " %s %s", kinds[fn->kind], places[fn->place]);
	if (fn->probe)
		fprintf(f, " %u", fn->probe->index);
	if (fn->fn)
		fprintf(f, " %s/%u", fn->fn->name, fn->fn->params.n);
	if (fn->nparams)
		fprintf(f, " params %u", fn->nparams);
	if (fn->has_ret && fn->ret_reg_type)
		fprintf(f, " ret s%u", fn->ret_reg_type);
	else if (fn->has_ret)
		fputs(" ret l", f);
	if (fn->parent)
		fprintf(f, " parent %u", fn->parent->index);
	if (fn->locks)
		fprintf(f, " locks 0x%x", fn->locks);
	fputc('\n', f);
	print_regs(fn, f);
	if (fn->resume.n) {
		fputs("  resume", f);
		for (unsigned i = 0; i < fn->resume.n; i++)
			fprintf(f, " b%u", fn->resume.v[i]->id);
		fputc('\n', f);
	}
	for (struct ir_block *b = fn->blocks; b; b = b->next) {
		fprintf(f, "b%u", b->id);
		if (b->loop_depth)
			fprintf(f, " depth %u", b->loop_depth);
		fputs(":\n", f);
		for (struct ir_ins *i = b->first; i; i = i->next)
			print_ins(ir, i, f);
	}
}

/* Tables first: instructions refer to them by number. */
void ir_print(const struct ir *ir, FILE *f)
{
	for (unsigned i = 0; i < ir->fmts.n; i++)
		print_fmt(ir->fmts.v[i], f);
	for (unsigned i = 0; i < ir->iters.n; i++)
		print_iter(ir->iters.v[i], f);
	for (unsigned i = 0; i < ir->patterns.n; i++) {
		fprintf(f, "regex %u ", i);
		put_text(f, ir->patterns.v[i], str_len(ir->patterns.v[i]));
		fputc('\n', f);
	}
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		fputc('\n', f);
		ir_print_func(ir, ir->funcs.v[i], f);
	}
}
