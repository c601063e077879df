/* SPDX-License-Identifier: MIT */
/* Target expressions: tails of every family, and those that have no family. */
#include "probe/target.h"

#include <string.h>

#include "probe/pretty.h"
#include "probe/uvar.h"
#include "types/types.h"
#include "types/walk.h"

int target_tail(struct compile *c, struct node *n, const struct access *base,
		const struct ctype *type, bool quiet)
{
	struct access *a = arena_new_of(c->a, struct access);
	int depth = pretty_depth(n);
	struct pretty p;

	/* a is a copy: the base belongs to the family and may be used again. */
	*a = *base;
	if (walk_tail(c, n, a, type, quiet))
		return -1;
	n->type = TY_LONG;
	n->width = 0;
	n->u.target.access = a;
	if (!depth)
		return 0;
	/*
	 * The tail's own value stays in *a, which is now the start of the
	 * text's reads.
	 */
	pretty_start(&p, c, &n->span);
	pretty_value(&p, a, a->type, depth);
	pretty_finish(&p, n);
	return 0;
}

void target_narrow(struct access *a, const struct ctype *type)
{
	const struct ctype *t = ctype_strip(type);

	if (!t || !t->size || t->size >= 8)
		return;
	a->narrow = t->size;
	a->sign = t->sign;
}

void target_text(struct compile *c, struct node *n, const char *text)
{
	struct pretty p;

	pretty_start(&p, c, &n->span);
	pretty_text(&p, text);
	pretty_finish(&p, n);
}

int target_unknown(struct compile *c, struct probe *p, struct node *n,
		   bool quiet)
{
	struct near near = {0};
	ctx_names names = {0};
	struct diag *d;

	if (quiet)
		return -1;
	/* Names are looked up only to say what would have been right. */
	if (p->family->names)
		p->family->names(c, p, &names);
	for (unsigned i = 0; i < names.n; i++)
		near_add(&near, n->u.target.name, names.v[i].name);
	d = complain(c, NO_TARGET, &n->span, n->u.target.name,
		     near.n ? arena_printf(c->a, " (alternatives: %s)",
					   near_text(c, &near))
			    : "");
	if (!strcmp(n->u.target.name, "$return"))
		diag_help(c->diag, d, "the result is there in the handler of "
			  "a point that ends in .return");
	return -1;
}

/* --- @cast and its kin ---------------------------------------------------- */

/* -1, having said so, where there is no BTF. */
static int no_types(struct compile *c, const struct node *n, bool quiet)
{
	const char *why = types_missing(c);

	if (!why)
		return 0;
	if (!quiet)
		complain(c, NO_TYPES, &n->span, why);
	return -1;
}

/*
 * Headers of the kernel; in a program's probe they are the programs'. The same
 * headers exist for programs, as the kernel's interface: there their pointers
 * are of user space.
 */
static bool is_kernel_header(const char *m, bool in_program)
{
	static const char *const dirs[] = {"linux/", "net/", "asm", "scsi/"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (!in_program && *m == '<' &&
		    !strncmp(m + 1, dirs[i], strlen(dirs[i])))
			return true;
	return !strncmp(m, "kernel", 6) && (!m[6] || m[6] == '<');
}

/*
 * What a @cast names, from the first of its modules that has it. "kernel" and
 * "kernel<linux/sched.h>" are the kernel; so is a header of programs, whose
 * structures are the kernel's as far as system calls pass them, but their
 * addresses are of user space; else it is a module of the kernel's.
 */
static const struct ctype *find_cast(struct compile *c, const char *name,
				     const char *module, bool in_program,
				     bool *ret_user)
{
	const struct ctype *t = NULL;

	*ret_user = false;
	if (!module)
		return types_find(c, name);
	while (*module && !t) {
		size_t len = strcspn(module, ":");
		const char *m = str_intern(c->str, module, len);
		bool kernel = is_kernel_header(m, in_program);

		t = kernel || *m == '<' ? types_find(c, name)
					: types_find_in(c, m, name);
		*ret_user = !kernel && *m == '<';
		module += len;
		module += *module == ':';
	}
	return t;
}

int probe_cast(struct compile *c, struct probe *p, struct node *n, bool quiet)
{
	const char *name = n->u.target.cast, *module = n->u.target.module;
	/* A probe in a program: guard tells without asking for the family. */
	bool in_program = p && p->guard == GUARD_PREEMPTIBLE, user;
	const struct ctype *t, *plain;
	struct access base = {.base = ACC_VALUE, .value = n->u.target.base};
	/*
	 * A program's own debug information comes first: there a plain name
	 * means its type.
	 */
	int rc = uvar_cast(c, p, n, quiet);

	if (rc <= 0)
		return rc;
	/*
	 * @var has been given to the program's side already; here it is the
	 * kernel's.
	 */
	if (!strcmp(n->u.target.name, "@var"))
		return probe_var(c, n, quiet);
	if (no_types(c, n, quiet))
		return -1;
	t = find_cast(c, name, module, in_program, &user);
	if (!t) {
		if (!quiet)
			complain(c, NO_CAST_TYPE, &n->span, name,
				 module && *module == '<'
				 ? " in the kernel (headers are not read)"
				 : "");
		return -1;
	}
	/* The value is a pointer to what is named, unless a pointer is. */
	plain = ctype_strip(t);
	if (!plain || plain->kind != CT_PTR)
		t = ctype_pointer_to(c, user ? ctype_in_user_space(c, t) : t);
	else if (user)
		t = ctype_pointer_to(c, ctype_in_user_space(
			c, ctype_fill(plain)->to));
	return target_tail(c, n, &base, t, quiet);
}

int probe_arrow(struct compile *c, struct node *n, const struct ctype *type,
		bool quiet)
{
	/* value is what stands to the left of the arrow. */
	struct access base = {.base = ACC_VALUE,
			      .value = n->u.target.base,
			      .user = ctype_is_user(type)};

	if (!base.user && no_types(c, n, quiet))
		return -1;
	return target_tail(c, n, &base, type, quiet);
}

static bool is_target(const struct node *n)
{
	return n->kind == N_TARGET || n->kind == N_ARROW;
}

/* A @cast without a tail. */
static bool is_bare_cast(const struct node *n)
{
	return n->kind == N_TARGET && n->u.target.cast &&
	       !n->u.target.parts.n && !strcmp(n->u.target.name, "@cast");
}

/*
 * The address of a place is its access without the last load: nothing is read.
 */
int probe_address(struct compile *c, struct node *n, bool quiet)
{
	struct node *to = n->u.unary.a;
	struct access *a = is_target(to) ? to->u.target.access : NULL;
	struct access_step *last;

	/* What it is was reported already. */
	if (!a && is_target(to))
		return -1;
	/* The address of what a @cast views is the value that it was given. */
	if (a && is_bare_cast(to)) {
		to->type = n->type = TY_LONG;
		return 0;
	}
	last = a && a->steps.n ? &vec_last(&a->steps) : NULL;
	/*
	 * A value that was computed, a text and a bit-field are in no byte of
	 * memory.
	 */
	if (!last || a->base == ACC_TEXT || last->bit_size) {
		if (!quiet)
			complain(c, NO_ADDRESS, &n->span,
				 !is_target(to) ? "a value" :
				 to->u.target.name ? to->u.target.name : "->");
		return -1;
	}
	last->load = 0;
	if (a->type)
		a->type = ctype_pointer_to(c, a->type);
	to->type = n->type = TY_LONG;
	return 0;
}
