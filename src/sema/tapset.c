/* SPDX-License-Identifier: MIT */
/* The library: which file defines a name, and reading that file. */
#include "sema/tapset.h"

#include "sema/sema.h"

struct tapset {
	struct compile *c;
	struct macros *macros;
};

struct tapset *tapset_new(struct compile *c)
{
	struct tapset *t = arena_new_of(c->a, struct tapset);

	t->c = c;
	return t;
}

struct macros *tapset_macros(struct tapset *t)
{
	if (!t->macros)
		t->macros = macros_new(t->c);
	return t->macros;
}

void tapset_need(struct tapset *t, enum tapset_kind kind, const char *name,
		 file_list *out)
{
}

void tapset_names(struct tapset *t, enum tapset_kind kind,
		  void (*fn)(void *ctx, const char *name), void *ctx)
{
}
