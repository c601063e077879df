/* SPDX-License-Identifier: MIT */
/*
 * The tree as script text, every operand in parentheses: what -p1 shows. The
 * text parses to the same tree, except for what the reference's dump leaves
 * out: an alias's epilogue, types, priorities, `private`.
 */
#include <inttypes.h>
#include <string.h>

#include "front/parse.h"

/* As a script would write it, so that -p1's text parses again. */
static void print_string(const char *s, FILE *f)
{
	static const char values[] = "\a\b\t\n\v\f\r\"\\",
			  names[] = "abtnvfr\"\\";
	const char *v;

	fputc('"', f);
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if ((v = strchr(values, ch)))
			fprintf(f, "\\%c", names[v - values]);
		else if (ch < ' ' || ch == 0x7f)
			fprintf(f, "\\%03o", ch);
		else
			fputc(ch, f);
	}
	fputc('"', f);
}

static void print_list(const node_list *l, FILE *f)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (i)
			fputs(", ", f);
		ast_print_node(l->v[i], f);
	}
}

/*
 * Parentheses around each operand: the reader sees what binds to what, and
 * precedence need not be known here.
 */
static void print_paren(const struct node *n, FILE *f)
{
	fputc('(', f);
	ast_print_node(n, f);
	fputc(')', f);
}

/* --- the print family ---------------------------------------------------- */

/* A width or precision, where there is one; -1: none. */
static void print_field(int value, bool arg, FILE *f)
{
	if (arg)
		fputc('*', f);
	else if (value >= 0)
		fprintf(f, "%d", value);
}

/* A format of which only the parts are known: printf made by a pass. */
static void print_parts(const struct fmt *fmt, FILE *f)
{
	fputc('"', f);
	for (unsigned i = 0; i < fmt->parts.n; i++) {
		const struct fmt_part *part = &fmt->parts.v[i];

		if (!part->conv) {
			for (const char *s = part->text; *s; s++)
				fputs(*s == '%'    ? "%%"
				      : *s == '\n' ? "\\n"
				      : *s == '"'  ? "\\\""
				      : *s == '\\' ? "\\\\"
						   : (char[]){*s, 0},
				      f);
			continue;
		}
		fputc('%', f);
		if (part->zero || part->flag)
			fputc(part->zero ? '0' : part->flag, f);
		print_field(part->width, part->width_arg, f);
		if (part->prec >= 0 || part->prec_arg)
			fputc('.', f);
		print_field(part->prec, part->prec_arg, f);
		fputc(part->conv, f);
	}
	fputc('"', f);
}

static const char *print_name(const struct node *n)
{
	switch (n->u.print.kind) {
	case PRINT_PRINT:
		return "print";
	case PRINT_PRINTLN:
		return "println";
	case PRINT_PRINTD:
		return "printd";
	case PRINT_PRINTDLN:
		return "printdln";
	case PRINT_PRINTF:
		return "printf";
	case PRINT_CHAR:
		return "print_char";
	}
	return "?";
}

/*
 * print(a, b), sprintf("format", a), printd("delimiter", a): the leading
 * literal first, if any.
 */
static void print_print(const struct node *n, FILE *f)
{
	bool leading = true;

	fprintf(f, "%s%s(", n->u.print.to_string ? "s" : "", print_name(n));
	if (n->u.print.kind == PRINT_PRINTF && n->u.print.format)
		print_string(n->u.print.format, f);
	else if (n->u.print.kind == PRINT_PRINTF)
		print_parts(&n->u.print.fmt, f);
	else if (n->u.print.delim)
		print_string(n->u.print.delim, f);
	else
		leading = false;
	if (leading && n->u.print.args.n)
		fputs(", ", f);
	print_list(&n->u.print.args, f);
	fputc(')', f);
}

/* --- expressions --------------------------------------------------------- */

/* The tail follows the base without blanks, as ->m and [i] must be glued. */
static void print_target(const struct node *n, FILE *f)
{
	if (n->kind == N_ARROW) {
		print_paren(n->u.target.base, f);
	} else {
		fputs(n->u.target.name, f);
		if (n->u.target.cast) {
			fputc('(', f);
			if (n->u.target.base) {
				ast_print_node(n->u.target.base, f);
				fputs(", ", f);
			}
			print_string(n->u.target.cast, f);
			if (n->u.target.module) {
				fputs(", ", f);
				print_string(n->u.target.module, f);
			}
			fputc(')', f);
		}
	}
	for (unsigned i = 0; i < n->u.target.parts.n; i++) {
		const struct target_part *part = &n->u.target.parts.v[i];

		switch (part->kind) {
		case TP_MEMBER:
			fprintf(f, "->%s", part->member);
			break;
		case TP_INDEX:
			fputc('[', f);
			ast_print_node(part->index, f);
			fputc(']', f);
			break;
		case TP_PRETTY:
			fputs("->$", f);
			break;
		case TP_PRETTY_DEEP:
			fputs("->$$", f);
			break;
		}
	}
}

static void print_binary(const struct node *n, FILE *f)
{
	const char *op = oper_text(n->u.binary.op);
	bool compound = n->kind == N_ASSIGN && n->u.binary.op != OPER_SET &&
			n->u.binary.op != OPER_FEED;

	print_paren(n->u.binary.a, f);
	fprintf(f, " %s%s ", op, compound ? "=" : "");
	print_paren(n->u.binary.b, f);
}

static void print_ternary(const struct node *n, FILE *f)
{
	print_paren(n->u.ternary.a, f);
	fputc('?', f);
	print_paren(n->u.ternary.b, f);
	fputc(':', f);
	print_paren(n->u.ternary.c, f);
}

static void print_address(const struct node *n, FILE *f)
{
	const struct node *a = n->u.unary.a;

	fputc('&', f);
	if (a->kind == N_TARGET || a->kind == N_ARROW)
		ast_print_node(a, f);
	else
		print_paren(a, f);
}

static void print_incdec(const struct node *n, FILE *f)
{
	const char *op = oper_text(n->u.incdec.op);

	if (n->u.incdec.prefix)
		fputs(op, f);
	print_paren(n->u.incdec.a, f);
	if (!n->u.incdec.prefix)
		fputs(op, f);
}

/* A number, or for @quantile "p, d". */
static void print_param(const struct node *p, FILE *f)
{
	/* parse_quantile() makes "p, d" a node without an operator. */
	if (p->kind != N_BINARY || p->u.binary.op != OPER_NONE) {
		ast_print_node(p, f);
		return;
	}
	ast_print_node(p->u.binary.a, f);
	fputs(", ", f);
	ast_print_node(p->u.binary.b, f);
}

static void print_stat(const struct node *n, FILE *f)
{
	fprintf(f, "%s(", stat_op_name(n->u.stat.op));
	ast_print_node(n->u.stat.a, f);
	if (n->u.stat.param) {
		fputs(", ", f);
		print_param(n->u.stat.param, f);
	}
	fputc(')', f);
}

static void print_hist(const struct node *n, FILE *f)
{
	bool linear = n->u.hist.kind == HIST_LINEAR;

	fputs(linear ? "@hist_linear(" : "@hist_log(", f);
	ast_print_node(n->u.hist.a, f);
	if (linear)
		fprintf(f, ", %" PRId64 ", %" PRId64 ", %" PRId64, n->u.hist.lo,
			n->u.hist.hi, n->u.hist.step);
	fputc(')', f);
}

/* NAME OPEN list CLOSE */
static void print_call(const char *name, char open, const node_list *l,
		       char close, FILE *f)
{
	fprintf(f, "%s%c", name, open);
	print_list(l, f);
	fputc(close, f);
}

/* --- statements ---------------------------------------------------------- */

static void print_block(const struct node *n, FILE *f)
{
	fputs("{\n", f);
	for (unsigned i = 0; i < n->u.block.stmts.n; i++) {
		ast_print_node(n->u.block.stmts.v[i], f);
		fputs(";\n", f);
	}
	fputc('}', f);
}

static void print_if(const struct node *n, FILE *f)
{
	fputs("if (", f);
	ast_print_node(n->u.ternary.a, f);
	fputs(") ", f);
	ast_print_node(n->u.ternary.b, f);
	fputc('\n', f);
	if (n->u.ternary.c) {
		fputs("else ", f);
		ast_print_node(n->u.ternary.c, f);
		fputc('\n', f);
	}
}

static void print_for(const struct node *n, FILE *f)
{
	/*
	 * A for without a part keeps its semicolon; a missing condition is 1.
	 */
	fputs("for (", f);
	ast_print_node(n->u.loop.init, f);
	fputs("; ", f);
	if (n->u.loop.cond)
		ast_print_node(n->u.loop.cond, f);
	else
		fputc('1', f);
	fputs("; ", f);
	ast_print_node(n->u.loop.step, f);
	fputs(") ", f);
	ast_print_node(n->u.loop.body, f);
}

/* key 0: the value; otherwise the number of the key. */
static void print_sort(const struct node *n, int key, FILE *f)
{
	if (n->u.foreach.sort_dir && n->u.foreach.sort_key == key)
		fputc(n->u.foreach.sort_dir > 0 ? '+' : '-', f);
}

static void print_foreach(const struct node *n, FILE *f)
{
	fputs("foreach (", f);
	if (n->u.foreach.value) {
		ast_print_node(n->u.foreach.value, f);
		fputs(" = ", f);
	}
	fputc('[', f);
	for (unsigned i = 0; i < n->u.foreach.keys.n; i++) {
		if (i)
			fputs(", ", f);
		ast_print_node(n->u.foreach.keys.v[i], f);
		print_sort(n, (int)i + 1, f);
	}
	fputs("] in ", f);
	ast_print_node(n->u.foreach.array, f);
	if (n->u.foreach.slice.n)
		print_call("", '[', &n->u.foreach.slice, ']', f);
	if (n->u.foreach.sort_by_stat)
		fprintf(f, " %s", stat_op_name(n->u.foreach.sort_op));
	if (n->u.foreach.sort_param) {
		fputc('(', f);
		print_param(n->u.foreach.sort_param, f);
		fputc(')', f);
	}
	print_sort(n, 0, f);
	if (n->u.foreach.limit) {
		fputs(" limit ", f);
		ast_print_node(n->u.foreach.limit, f);
	}
	fputs(") ", f);
	ast_print_node(n->u.foreach.body, f);
}

/* The form is { block }; reading it back must not add a block each time. */
static void print_try_block(const struct node *n, FILE *f)
{
	while (n->u.block.stmts.n == 1 &&
	       n->u.block.stmts.v[0]->kind == N_BLOCK)
		n = n->u.block.stmts.v[0];
	fputs("{\n", f);
	ast_print_node(n, f);
	fputs("\n}", f);
}

static void print_try(const struct node *n, FILE *f)
{
	fputs("try ", f);
	print_try_block(n->u.try.body, f);
	fputs(" catch ", f);
	if (n->u.try.name) {
		print_paren(n->u.try.name, f);
		fputc(' ', f);
	}
	print_try_block(n->u.try.catcher, f);
	fputc('\n', f);
}

static void print_keyword(const char *word, const struct node *n, FILE *f)
{
	fputs(word, f);
	if (n)
		fputc(' ', f);
	ast_print_node(n, f);
}

/* A switch over every kind. */
void ast_print_node(const struct node *n, FILE *f)
{
	if (!n)
		return;
	switch (n->kind) {
	case N_NUM:
		/* The lowest number, negated again when read, would grow. */
		if (n->u.num == INT64_MIN)
			fprintf(f, "%" PRIu64, (uint64_t)n->u.num);
		else
			fprintf(f, "%" PRId64, n->u.num);
		break;
	case N_STR:
		print_string(n->u.str, f);
		break;
	case N_NAME:
		fputs(n->u.name.name, f);
		break;
	case N_INDEX:
		print_call(n->u.index.name, '[', &n->u.index.keys, ']', f);
		break;
	case N_CALL:
		print_call(n->u.call.name, '(', &n->u.call.args, ')', f);
		break;
	case N_UNARY:
		fputs(oper_text(n->u.unary.op), f);
		print_paren(n->u.unary.a, f);
		break;
	case N_INCDEC:
		print_incdec(n, f);
		break;
	case N_BINARY:
	case N_LOGIC:
	case N_CONCAT:
	case N_ASSIGN:
		print_binary(n, f);
		break;
	case N_TERNARY:
		print_ternary(n, f);
		break;
	case N_IN:
		print_call("", '[', &n->u.in.keys, ']', f);
		fputs(" in ", f);
		ast_print_node(n->u.in.array, f);
		break;
	case N_MATCH:
		print_paren(n->u.match.a, f);
		fprintf(f, " %s ", oper_text(n->u.match.op));
		print_string(n->u.match.pattern, f);
		break;
	case N_STAT:
		print_stat(n, f);
		break;
	case N_HIST:
		print_hist(n, f);
		break;
	case N_HIST_AT:
		print_hist(n->u.hist_at.hist, f);
		fputc('[', f);
		ast_print_node(n->u.hist_at.index, f);
		fputc(']', f);
		break;
	case N_PRINT:
		print_print(n, f);
		break;
	case N_TARGET:
	case N_ARROW:
		print_target(n, f);
		break;
	case N_DEFINED:
		fputs("@defined", f);
		print_paren(n->u.unary.a, f);
		break;
	case N_ENTRY:
		fputs("@entry", f);
		print_paren(n->u.unary.a, f);
		break;
	case N_ADDRESS:
		print_address(n, f);
		break;
	case N_ATWORD:
		print_call(n->u.atword.word, '(', &n->u.atword.args, ')', f);
		break;
	case N_WILD:
		fputc('*', f);
		break;
	case N_EMBEDDED:
		fprintf(f, "%%{%s%%}", n->u.str);
		break;
	case N_BLOCK:
		print_block(n, f);
		break;
	case N_EMPTY:
		fputc(';', f);
		break;
	case N_EXPR:
		ast_print_node(n->u.unary.a, f);
		break;
	case N_IF:
		print_if(n, f);
		break;
	case N_FOR:
		print_for(n, f);
		break;
	case N_FOREACH:
		print_foreach(n, f);
		break;
	case N_RETURN:
		print_keyword("return", n->u.unary.a, f);
		break;
	case N_DELETE:
		print_keyword("delete", n->u.unary.a, f);
		break;
	case N_BREAK:
		fputs("break", f);
		break;
	case N_CONTINUE:
		fputs("continue", f);
		break;
	case N_NEXT:
		fputs("next", f);
		break;
	case N_TRY:
		print_try(n, f);
		break;
	case N_MAX:
		break;
	}
}

/* --- declarations -------------------------------------------------------- */

static void print_literal(const struct literal *l, FILE *f)
{
	if (l->type == TY_STRING)
		print_string(l->str, f);
	else
		fprintf(f, "%" PRId64, l->num);
}

void ast_print_point(const struct point *p, FILE *f)
{
	for (unsigned i = 0; i < p->parts.n; i++) {
		const struct component *c = &p->parts.v[i];

		fprintf(f, "%s%s", i ? "." : "", c->name);
		if (c->arg.type != TY_UNKNOWN) {
			fputc('(', f);
			print_literal(&c->arg, f);
			fputc(')', f);
		}
	}
	if (p->optional || p->sufficient)
		fputc(p->optional ? '?' : '!', f);
	if (p->cond) {
		fputs(" if (", f);
		ast_print_node(p->cond, f);
		fputc(')', f);
	}
}

static void print_points(const point_list *l, const char *between, FILE *f)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (i)
			fputs(between, f);
		ast_print_point(l->v[i], f);
	}
}

static void print_probe(const struct decl_probe *d, FILE *f)
{
	fputs("probe ", f);
	if (d->is_alias) {
		print_points(&d->names, " = ", f);
		fputs(d->is_epilogue ? " += " : " = ", f);
	}
	print_points(&d->points, d->is_alias ? ", " : ",", f);
	ast_print_node(d->body, f);
	fputc('\n', f);
}

static void print_global(const struct decl_global *g, FILE *f)
{
	fprintf(f, "global %s%s", g->name, g->wrap ? "%" : "");
	if (g->size)
		fprintf(f, "[%" PRId64 "]", g->size);
	if (g->init.type != TY_UNKNOWN) {
		fputs(" = ", f);
		print_literal(&g->init, f);
	}
	fputc('\n', f);
}

static void print_function(const struct decl_function *d, FILE *f)
{
	fprintf(f, "function %s (", d->name);
	for (unsigned i = 0; i < d->params.n; i++)
		fprintf(f, "%s%s", i ? ", " : "", d->params.v[i].name);
	fputs(")\n", f);
	ast_print_node(d->body, f);
	fputc('\n', f);
}

void ast_print_file(const struct file *file, FILE *f)
{
	fprintf(f, "# file %s\n", file->src->name);
	for (unsigned i = 0; i < file->embedded.n; i++) {
		ast_print_node(file->embedded.v[i], f);
		fputc('\n', f);
	}
	for (unsigned i = 0; i < file->globals.n; i++)
		print_global(file->globals.v[i], f);
	/* Aliases first, as in the reference's dump. */
	for (int alias = 1; alias >= 0; alias--) {
		for (unsigned i = 0; i < file->probes.n; i++) {
			if (file->probes.v[i]->is_alias == alias)
				print_probe(file->probes.v[i], f);
		}
	}
	for (unsigned i = 0; i < file->functions.n; i++)
		print_function(file->functions.v[i], f);
	fputc('\n', f);
}
