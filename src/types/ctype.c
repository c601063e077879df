/* SPDX-License-Identifier: MIT */
#include "types/ctype.h"

#include <string.h>

#include "base/compile.h"
#include "types/types.h"

/*
 * Deeper chains of qualifiers and typedefs than this are a broken file. So are
 * structs inside structs. Both keep a file that refers to itself from hanging
 * the compiler or running it out of stack.
 */
enum { STRIP_MAX = 64, NEST_MAX = 32 };
/* Members that are looked at for one name, of all anonymous structs together:
 * two of them in each of NEST_MAX levels would be looked at for years. */
enum { LOOK_MAX = 1 << 16 };

const struct ctype *ctype_fill(const struct ctype *t)
{
	/*
	 * Reading more of it does not change what it is. The struct stays const
	 * to everybody else; it is its source's, so the cast is of something
	 * that was never const.
	 */
	struct ctype *ct = (struct ctype *)(uintptr_t)t;

	if (!t || t->filled || !t->owner)
		return t;
	/* Before looking down: a type that contains itself ends here. */
	ct->filled = true;
	t->owner->fill(t->owner, ct);
	return t;
}

bool ctype_is_user(const struct ctype *t)
{
	/* A pointer made here has no source, what it points to has. */
	for (int i = 0; i < STRIP_MAX && t && !t->owner; i++)
		t = t->to;
	return t && t->owner && t->owner->user;
}

static bool is_wrapper(const struct ctype *t)
{
	/* The enumeration ends with the kinds that only wrap another type. */
	return t->kind >= CT_TYPEDEF;
}

const struct ctype *ctype_strip(const struct ctype *t)
{
	for (int i = 0; i < STRIP_MAX && t && is_wrapper(t); i++)
		t = ctype_fill(t)->to;
	/* What is only declared here may be defined in another place. */
	return t && t->kind == CT_FWD ? ctype_fill(t) : t;
}

bool ctype_has_tag(const struct ctype *t, const char *tag)
{
	for (int i = 0; i < STRIP_MAX && t && is_wrapper(t); i++) {
		if (t->kind == CT_TAG && !strcmp(t->name, tag))
			return true;
		t = ctype_fill(t)->to;
	}
	return false;
}

/*
 * Depth first, in the order of declaration: C forbids that a name is there
 * twice, so the first one is the one. Members without a name are anonymous
 * structs, whose members count as the outer one's.
 */
static const struct cmember *find_member(const struct ctype *t,
					 const char *name, uint32_t base,
					 uint32_t *ret_bit_off, int depth,
					 unsigned *looked)
{
	t = ctype_strip(t);
	if (depth > NEST_MAX || !t ||
	    (t->kind != CT_STRUCT && t->kind != CT_UNION))
		return NULL;
	t = ctype_fill(t);
	for (unsigned i = 0; i < t->members.n; i++) {
		const struct cmember *m = &t->members.v[i];

		if (++*looked > LOOK_MAX)
			return NULL;
		if (!*m->name) {
			m = find_member(m->type, name, base + m->bit_off,
					ret_bit_off, depth + 1, looked);
			if (m)
				return m;
		} else if (!strcmp(m->name, name)) {
			*ret_bit_off = base + m->bit_off;
			return m;
		}
	}
	return NULL;
}

const struct cmember *ctype_member(const struct ctype *t, const char *name,
				   uint32_t *ret_bit_off)
{
	unsigned looked = 0;

	return find_member(t, name, 0, ret_bit_off, 0, &looked);
}

const char *ctype_name(struct compile *c, const struct ctype *t)
{
	/*
	 * An incomplete type is called a struct: BTF's record of it has a flag
	 * for unions, which is not read, and the name is only shown.
	 */
	static const char *const word[] = {
	    [CT_STRUCT] = "struct ", [CT_UNION] = "union ",
	    [CT_ENUM] = "enum ", [CT_FWD] = "struct "};

	if (!t || t->kind == CT_VOID)
		return "void";
	if (t->kind > CT_FWD || !word[t->kind])
		return ctype_text(c, t);
	return arena_printf(c->a, "%s%s", word[t->kind],
			    *t->name ? t->name : "{...}");
}

/*
 * In the order the reference writes it: what is pointed to first, then "*",
 * then "const" of what stands to its left.
 */
static const char *text_of(struct compile *c, const struct ctype *t, int depth)
{
	const char *to;

	if (!t || depth > NEST_MAX)
		return "void";
	t = ctype_fill(t);
	switch (t->kind) {
	case CT_PTR:
		to = text_of(c, t->to, depth + 1);
		return arena_printf(c->a, "%s*", to);
	case CT_CONST:
		to = text_of(c, t->to, depth + 1);
		return arena_printf(c->a, "%s const", to);
	case CT_VOLATILE:
		to = text_of(c, t->to, depth + 1);
		return arena_printf(c->a, "%s volatile", to);
	case CT_RESTRICT:
	case CT_TAG:
		return text_of(c, t->to, depth + 1);
	case CT_ARRAY:
		to = text_of(c, t->to, depth + 1);
		return arena_printf(c->a, "%s [%u]", to, t->count);
	case CT_FUNC:
		return "<function>";
	case CT_INT:
	case CT_FLOAT:
	case CT_TYPEDEF:
		return t->name;
	default:
		return ctype_name(c, t);
	}
}

const char *ctype_text(struct compile *c, const struct ctype *t)
{
	return text_of(c, t, 0);
}
