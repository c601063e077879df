/* SPDX-License-Identifier: MIT */
/* What -p2 and --dump=types print. */
#include <stdlib.h>
#include <string.h>

#include "front/parse.h"
#include "sema/builtin.h"
#include "sema/sema.h"

/* --- -p2: the reference's form -------------------------------------------- */

static void print_global(const struct var *v, FILE *f)
{
	int i;

	fprintf(f, "%s:%s", v->name, type_name(v->type));
	for (i = 0; i < v->arity; i++)
		fprintf(f, "%s%s", i ? ", " : " [", type_name(v->key_type[i]));
	fprintf(f, "%s\n", v->arity > 0 ? "]" : "");
}

static void print_local(const struct var *v, FILE *f)
{
	fprintf(f, "  %s:%s\n", v->name, type_name(v->type));
}

static bool is_local(const struct var *v)
{
	return !v->is_param && (v->is_read || v->is_written);
}

static void print_locals(struct var *const *v, unsigned n, FILE *f)
{
	bool any = false;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!is_local(v[i]))
			continue;
		if (!any)
			fputs("  # locals\n", f);
		any = true;
		print_local(v[i], f);
	}
}

static void print_function(const struct function *fn, FILE *f, bool verbose)
{
	unsigned i;

	fprintf(f, "%s:%s (", fn->name, type_name(fn->type));
	for (i = 0; i < fn->params.n; i++)
		fprintf(f, "%s%s:%s", i ? ", " : "", fn->params.v[i]->name,
			type_name(fn->params.v[i]->type));
	fputc(')', f);
	if (fn->probe)
		fprintf(f, " /* in %s */", fn->probe->pp);
	fputc('\n', f);
	print_locals(fn->locals.v, fn->locals.n, f);
	if (!verbose)
		return;
	ast_print_node(fn->body, f);
	fputc('\n', f);
}

static void print_builtin(const struct builtin *b, FILE *f)
{
	unsigned i, n = builtin_nargs(b);

	fprintf(f, "%s:%s (", b->name, type_name(builtin_type(b)));
	for (i = 0; i < n; i++)
		fprintf(f, "%sarg%u:%s", i ? ", " : "", i + 1,
			type_name(builtin_arg(b, i)));
	fputs(")\n", f);
}

static void mark(struct node *n, void *ctx)
{
	bool *used = ctx;

	if (n->kind == N_CALL && n->u.call.builtin)
		used[n->u.call.builtin->id] = true;
}

struct fn_line {
	const char *name;
	const struct function *fn;
	const struct builtin *b;
};

static int by_name(const void *a, const void *b)
{
	const struct fn_line *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	/* overloads, and what there is for each probe, as they were made */
	return order || !x->fn || !y->fn
		   ? order
		   : (x->fn->index > y->fn->index) -
			 (x->fn->index < y->fn->index);
}

/* Script functions and the built-in ones that are called, by name. */
static void print_functions(const struct program *p, FILE *f, bool verbose)
{
	unsigned i, n = 0, most = p->functions.n + BI_MAX;
	struct fn_line *line = calloc(most, sizeof(*line));
	bool used[BI_MAX] = {0};

	if (!line)
		return;
	walk_program((struct program *)p, mark, used);
	for (i = 0; i < p->functions.n; i++) {
		line[n].name = p->functions.v[i]->name;
		line[n++].fn = p->functions.v[i];
	}
	for (i = 0; i < BI_MAX; i++)
		if (used[i]) {
			line[n].name = builtin_at(i)->name;
			line[n++].b = builtin_at(i);
		}
	qsort(line, n, sizeof(*line), by_name);
	if (n)
		fputs("# functions\n", f);
	for (i = 0; i < n; i++)
		if (line[i].fn)
			print_function(line[i].fn, f, verbose);
		else
			print_builtin(line[i].b, f);
	free(line);
}

static void print_probe(const struct probe *pr, FILE *f, bool verbose)
{
	fputs(pr->pp, f);
	if (pr->cond) {
		fputs(" if (", f);
		ast_print_node(pr->cond, f);
		fputc(')', f);
	}
	fprintf(f, " /* %s%s */ \n", " <- ",
		pr->derivation ? pr->derivation : pr->pn);
	print_locals(pr->locals.v, pr->locals.n, f);
	if (!verbose)
		return;
	ast_print_node(pr->body, f);
	fputc('\n', f);
}

void program_print(const struct program *p, FILE *f, bool verbose)
{
	unsigned i;

	if (p->globals.n)
		fputs("# globals\n", f);
	for (i = 0; i < p->globals.n; i++)
		print_global(p->globals.v[i], f);
	print_functions(p, f, verbose);
	if (p->probes.n)
		fputs("# probes\n", f);
	for (i = 0; i < p->probes.n; i++)
		print_probe(p->probes.v[i], f, verbose);
}

/* --- --dump=types --------------------------------------------------------- */

/* string(16): bytes with the NUL. */
static void dump_type(enum type t, uint32_t width, FILE *f)
{
	fputs(type_name(t), f);
	if (t == TY_STRING)
		fprintf(f, "(%u)", width);
}

static void dump_agg(const struct var *v, FILE *f)
{
	unsigned i;

	fputs(v->mode == AGG_LIVE ? " live" : " banked", f);
	for (i = 0; i < STAT_MAX_OP; i++)
		if (v->agg.ops >> i & 1)
			fprintf(f, " %s", stat_op_name(i));
	if (v->agg.hist == HIST_LOG)
		fputs(" @hist_log", f);
	else if (v->agg.hist == HIST_LINEAR)
		fprintf(f, " @hist_linear(%lld, %lld, %lld)",
			(long long)v->agg.lo, (long long)v->agg.hi,
			(long long)v->agg.step);
}

static void dump_var(const struct var *v, const char *what, FILE *f)
{
	int i;

	fprintf(f, "%s %s", what, v->name);
	for (i = 0; i < v->arity && v->is_global; i++) {
		fputs(i ? ", " : "[", f);
		dump_type(v->key_type[i], v->key_width[i], f);
	}
	fputs(v->is_global && v->arity > 0 ? "]: " : ": ", f);
	dump_type(v->type, v->width, f);
	if (v->type == TY_STATS)
		dump_agg(v, f);
	fputc('\n', f);
}

static void dump_vars(struct var *const *v, unsigned n, FILE *f)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (v[i]->is_param || is_local(v[i]))
			dump_var(v[i], v[i]->is_param ? "  param" : "  local",
				 f);
}

void program_print_widths(const struct program *p, FILE *f)
{
	bool has_string;
	unsigned i;
	int k;

	for (i = 0; i < p->globals.n; i++) {
		const struct var *v = p->globals.v[i];

		has_string = v->type == TY_STRING;
		for (k = 0; k < v->arity; k++)
			has_string |= v->key_type[k] == TY_STRING;
		if (has_string)
			dump_var(v, "bytes of", f);
	}
}

void program_dump_types(const struct program *p, FILE *f)
{
	unsigned i;

	for (i = 0; i < p->globals.n; i++)
		dump_var(p->globals.v[i], "global", f);
	for (i = 0; i < p->functions.n; i++) {
		const struct function *fn = p->functions.v[i];

		fprintf(f, "function %s/%u: ", fn->name, fn->params.n);
		dump_type(fn->type, fn->width, f);
		fputc('\n', f);
		dump_vars(fn->locals.v, fn->locals.n, f);
		ast_dump_node(fn->body, 1, f);
	}
	for (i = 0; i < p->probes.n; i++) {
		const struct probe *pr = p->probes.v[i];

		fprintf(f, "probe %s\n", pr->pp);
		dump_vars(pr->locals.v, pr->locals.n, f);
		if (pr->cond)
			ast_dump_node(pr->cond, 1, f);
		ast_dump_node(pr->body, 1, f);
	}
}
