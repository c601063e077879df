/* SPDX-License-Identifier: MIT */
/* Visiting every node of a tree or of the program. */
#include <assert.h>
#include <stdlib.h>

#include "sema/sema.h"

struct walk_ctx {
	void (*fn)(struct node *n, void *ctx);
	void *ctx;
};

static int walk_child(struct node **child, void *ctx)
{
	struct walk_ctx *w = ctx;

	if (*child)
		walk_nodes(*child, w->fn, w->ctx);
	return 0;
}

void walk_nodes(struct node *n, void (*fn)(struct node *n, void *ctx),
		void *ctx)
{
	struct walk_ctx w = {fn, ctx};

	node_each_child(n, walk_child, &w);
	fn(n, ctx);
}

void walk_program(struct program *p, void (*fn)(struct node *n, void *ctx),
		  void *ctx)
{
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		walk_nodes(p->functions.v[i]->body, fn, ctx);
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			walk_nodes(p->probes.v[i]->cond, fn, ctx);
		walk_nodes(p->probes.v[i]->body, fn, ctx);
	}
}

void text_open(struct text *t)
{
	t->buf = NULL;
	t->f = open_memstream(&t->buf, &t->n);
	assert(t->f);
}

const char *text_close(struct compile *c, struct text *t)
{
	const char *ret;

	fclose(t->f);
	ret = arena_strndup(c->a, t->buf, t->n);
	free(t->buf);
	return ret;
}
