/* SPDX-License-Identifier: MIT */
/* A compilation's state, empty. */
#include "base/compile.h"

#include "base/settings.h"

struct compile *compile_new(void)
{
	/*
	 * It lives in its own arena: one call frees it and all that hangs on
	 * it.
	 */
	struct arena *a = arena_new();
	struct compile *c = arena_new_of(a, struct compile);

	c->a = a;
	c->str = strtab_new(a);
	c->diag = diags_new(a);
	settings_init(&c->set);
	return c;
}

void compile_free(struct compile *c)
{
	if (c)
		arena_free(c->a);
}

struct source *compile_source(struct compile *c, const char *name,
			      const char *text, size_t len)
{
	struct source *s;

	s = source_new(c->a, name, text, len, c->sources.n);
	vec_push(c->a, &c->sources, s);
	return s;
}
