/* SPDX-License-Identifier: MIT */
/*
 * --dump=ast: the tree as a tree, a node a line:
 *
 *	assign = 3:5 :long
 *	  name x 3:3 :long
 */
#include <inttypes.h>

#include "front/parse.h"

static const char *type_suffix(enum type t)
{
	switch (t) {
	case TY_UNKNOWN:
		return "";
	case TY_LONG:
		return " :long";
	case TY_STRING:
		return " :string";
	case TY_STATS:
		return " :stats";
	}
	return "";
}

static void dump_text(const char *s, FILE *f)
{
	fputs(" \"", f);
	for (; s && *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '"' || ch == '\\')
			fprintf(f, "\\%c", ch);
		else if (ch < ' ' || ch == 0x7f)
			fprintf(f, "\\%03o", ch);
		else
			fputc(ch, f);
	}
	fputc('"', f);
}

static void dump_target(const struct node *n, FILE *f)
{
	if (n->u.target.name)
		fprintf(f, " %s", n->u.target.name);
	if (n->u.target.cast)
		dump_text(n->u.target.cast, f);
	if (n->u.target.module)
		dump_text(n->u.target.module, f);
	for (unsigned i = 0; i < n->u.target.parts.n; i++) {
		const struct target_part *part = &n->u.target.parts.v[i];

		if (part->kind == TP_MEMBER)
			fprintf(f, " ->%s", part->member);
		else
			fputs(part->kind == TP_INDEX    ? " []"
			      : part->kind == TP_PRETTY ? " $"
							: " $$",
			      f);
	}
}

static void dump_foreach(const struct node *n, FILE *f)
{
	fprintf(f, "%s keys=%u slice=%u", n->u.foreach.value ? " value" : "",
		n->u.foreach.keys.n, n->u.foreach.slice.n);
	if (n->u.foreach.sort_dir)
		fprintf(f, " sort=%s%d%c",
			n->u.foreach.sort_by_stat
			    ? stat_op_name(n->u.foreach.sort_op)
			    : "",
			n->u.foreach.sort_key,
			n->u.foreach.sort_dir > 0 ? '+' : '-');
	if (n->u.foreach.limit)
		fputs(" limit", f);
}

/* What the kind alone does not tell. */
static void dump_detail(const struct node *n, FILE *f)
{
	switch (n->kind) {
	case N_NUM:
		fprintf(f, " %" PRId64, n->u.num);
		break;
	case N_STR:
	case N_EMBEDDED:
		dump_text(n->u.str, f);
		break;
	case N_NAME:
		fprintf(f, " %s", n->u.name.name);
		break;
	case N_INDEX:
		fprintf(f, " %s", n->u.index.name);
		break;
	case N_CALL:
		fprintf(f, " %s", n->u.call.name);
		break;
	case N_UNARY:
		fprintf(f, " %s", oper_text(n->u.unary.op));
		break;
	case N_INCDEC:
		fprintf(f, n->u.incdec.prefix ? " %s_" : " _%s",
			oper_text(n->u.incdec.op));
		break;
	case N_BINARY:
	case N_LOGIC:
		fprintf(f, " %s", oper_text(n->u.binary.op));
		break;
	case N_ASSIGN:
		fprintf(f, " %s%s", oper_text(n->u.binary.op),
			n->u.binary.op == OPER_SET ||
				n->u.binary.op == OPER_FEED
			    ? ""
			    : "=");
		break;
	case N_MATCH:
		fprintf(f, " %s", oper_text(n->u.match.op));
		dump_text(n->u.match.pattern, f);
		break;
	case N_STAT:
		fprintf(f, " %s", stat_op_name(n->u.stat.op));
		break;
	case N_HIST:
		if (n->u.hist.kind == HIST_LINEAR)
			fprintf(f, " linear %" PRId64 " %" PRId64 " %" PRId64,
				n->u.hist.lo, n->u.hist.hi, n->u.hist.step);
		else
			fputs(" log", f);
		break;
	case N_PRINT:
		fprintf(f, " %s", n->span.text ? n->span.text : "");
		if (n->u.print.format)
			dump_text(n->u.print.format, f);
		if (n->u.print.delim)
			dump_text(n->u.print.delim, f);
		break;
	case N_TARGET:
	case N_ARROW:
		dump_target(n, f);
		break;
	case N_ATWORD:
		fprintf(f, " %s", n->u.atword.word);
		break;
	case N_FOREACH:
		dump_foreach(n, f);
		break;
	case N_FOR:
		if (n->u.loop.is_while)
			fputs(" while", f);
		break;
	default:
		break;
	}
}

struct dump {
	int indent;
	FILE *f;
};

static int dump_child(struct node **child, void *ctx)
{
	struct dump *d = ctx;

	ast_dump_node(*child, d->indent, d->f);
	return 0;
}

void ast_dump_node(const struct node *n, int indent, FILE *f)
{
	struct dump d = {indent + 1, f};

	fprintf(f, "%*s%s", indent * 2, "", node_kind_name(n->kind));
	dump_detail(n, f);
	fprintf(f, " %u:%u%s", n->span.line, n->span.col, type_suffix(n->type));
	if (n->width)
		fprintf(f, " %u bytes", n->width);
	fputc('\n', f);
	/* The callback replaces no child: the tree stays as it is. */
	node_each_child((struct node *)n, dump_child, &d);
}

static void dump_points(const point_list *l, const char *word, FILE *f)
{
	for (unsigned i = 0; i < l->n; i++) {
		fprintf(f, "  %s ", word);
		ast_print_point(l->v[i], f);
		fprintf(f, " %u:%u\n", l->v[i]->span.line, l->v[i]->span.col);
	}
}

static void dump_probe(const struct decl_probe *d, FILE *f)
{
	fprintf(f, "%s%s %u:%u\n", d->is_alias ? "alias" : "probe",
		d->is_epilogue ? " +=" : "", d->span.line, d->span.col);
	dump_points(&d->names, "name", f);
	dump_points(&d->points, "point", f);
	ast_dump_node(d->body, 1, f);
	if (d->epilogue)
		ast_dump_node(d->epilogue, 1, f);
}

static void dump_global(const struct decl_global *g, FILE *f)
{
	fprintf(f, "%s %s %u:%u", g->is_private ? "private" : "global", g->name,
		g->span.line, g->span.col);
	if (g->size)
		fprintf(f, " size=%" PRId64, g->size);
	if (g->wrap)
		fputs(" wrap", f);
	if (g->init.type == TY_STRING)
		dump_text(g->init.str, f);
	else if (g->init.type == TY_LONG)
		fprintf(f, " %" PRId64, g->init.num);
	fputc('\n', f);
}

static void dump_function(const struct decl_function *d, FILE *f)
{
	fprintf(f, "function %s%s%s %u:%u", d->is_private ? "private " : "",
		d->name, type_suffix(d->type), d->span.line, d->span.col);
	if (d->priority >= 0)
		fprintf(f, " priority=%" PRId64, d->priority);
	fputc('\n', f);
	for (unsigned i = 0; i < d->params.n; i++)
		fprintf(f, "  param %s%s\n", d->params.v[i].name,
			type_suffix(d->params.v[i].type));
	ast_dump_node(d->body, 1, f);
}

void ast_dump_file(const struct file *file, FILE *f)
{
	fprintf(f, "file %s\n", file->src->name);
	for (unsigned i = 0; i < file->embedded.n; i++)
		ast_dump_node(file->embedded.v[i], 0, f);
	for (unsigned i = 0; i < file->globals.n; i++)
		dump_global(file->globals.v[i], f);
	for (unsigned i = 0; i < file->probes.n; i++)
		dump_probe(file->probes.v[i], f);
	for (unsigned i = 0; i < file->functions.n; i++)
		dump_function(file->functions.v[i], f);
}
