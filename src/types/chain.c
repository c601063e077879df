/* SPDX-License-Identifier: MIT */
/* Offsets of kernel members that generated code reads: ppid, euid, ... */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "types/types.h"

/*
 * Reads "name" off *s, and the "[n]" behind it into *ret_index; -1: none.
 * Arrays of arrays do not occur in the members that are read this way.
 */
static const char *next_name(struct compile *c, const char **s,
			     long *ret_index)
{
	size_t len = strcspn(*s, ".[");
	const char *name = arena_strndup(c->a, *s, len);
	char *end;

	*s += len;
	*ret_index = -1;
	if (**s == '[') {
		*ret_index = strtol(*s + 1, &end, 10);
		*s = *end == ']' ? end + 1 : end;
	}
	if (**s == '.')
		++*s;
	return name;
}

/*
 * Each pointer that is followed is one entry of ret_off: the code that is made
 * of it adds the offset, loads, adds the next. "real_parent.tgid" of a task is
 * {offset of real_parent, offset of tgid}. NULL and wrong pointers need no
 * test: a load that fails gives 0.
 */
int types_chain(struct compile *c, const char *type, const char *chain,
		uint32_t ret_off[CHAIN_MAX], int *ret_size)
{
	const struct ctype *t = ctype_strip(types_find(c, type));
	uint32_t off = 0;
	int n = 0;

	while (t && *chain) {
		const struct cmember *m;
		uint32_t bit;
		long index;
		const char *name;

		if (t->kind == CT_PTR) {
			if (n == CHAIN_MAX - 1)
				return -ENOENT;
			ret_off[n++] = off;
			off = 0;
			t = ctype_strip(ctype_fill(t)->to);
		}
		name = next_name(c, &chain, &index);
		m = t ? ctype_member(t, name, &bit) : NULL;
		/* A bit-field has no byte offset of its own. */
		if (!m || m->bit_size)
			return -ENOENT;
		off += bit / 8;
		t = ctype_strip(m->type);
		if (index >= 0) {
			if (!t || t->kind != CT_ARRAY)
				return -ENOENT;
			t = ctype_strip(ctype_fill(t)->to);
			off += index * t->size;
		}
	}
	if (!t)
		return -ENOENT;
	t = ctype_fill(t);
	ret_off[n++] = off;
	/* Signed is told by a negative size: the value is sign-extended. */
	*ret_size = t->sign ? -(int)t->size : (int)t->size;
	return n;
}
