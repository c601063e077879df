/* SPDX-License-Identifier: MIT */
/* print, println, printd, ...: the format that printf would have been given. */
#include "sema/sema.h"

static void add_conv(struct compile *c, struct fmt *f, char conv)
{
	struct fmt_part p = {.conv = conv, .width = -1, .prec = -1};

	vec_push(c->a, &f->parts, p);
	f->nargs++;
}

static void add_text(struct compile *c, struct fmt *f, const char *text)
{
	struct fmt_part p = {.width = -1, .prec = -1};

	if (!text || !*text)
		return;
	p.text = str_internz(c->str, text);
	vec_push(c->a, &f->parts, p);
}

/* By the types of the operands: a string with %s, a number with %d. */
void format_fill(struct compile *c, struct node *n)
{
	enum print_kind k = n->u.print.kind;
	struct fmt *f = &n->u.print.fmt;
	node_list *args = &n->u.print.args;
	unsigned i;

	if (k == PRINT_PRINTF)
		return;
	f->parts.n = 0;
	f->nargs = 0;
	if (args->n == 1 && (args->v[0]->kind == N_HIST ||
			     (args->v[0]->kind == N_STAT &&
			      args->v[0]->u.stat.op == STAT_QUANTILES)))
		return; /* printed whole, with its own line ends */
	for (i = 0; i < args->n; i++) {
		if (i && (k == PRINT_PRINTD || k == PRINT_PRINTDLN))
			add_text(c, f, n->u.print.delim);
		if (k == PRINT_CHAR)
			add_conv(c, f, 'c');
		else
			add_conv(c, f,
				 args->v[i]->type == TY_STRING ? 's' : 'd');
	}
	if (k == PRINT_PRINTLN || k == PRINT_PRINTDLN)
		add_text(c, f, "\n");
}
