/* SPDX-License-Identifier: MIT */
#include "probe/uvar.h"

#include <errno.h>
#include <string.h>

#include "probe/pretty.h"
#include "probe/target.h"
#include "types/debug.h"
#include "types/regs.h"

/* The debug information of p's file; NULL: *ret_why says why there is none. */
static struct debug_file *file_of(struct compile *c, const struct probe *p,
				  const char **ret_why)
{
	const struct uprobe *u = p->data;

	return debug_open(c, u->path, ret_why);
}

/* Where in the debug information the handler looks at variables. */
static struct debug_at place_of(const struct probe *p)
{
	const struct uprobe *u = p->data;

	return (struct debug_at){.pc = u->addr, .scope = u->scope};
}

/* What works without debug information: the calling convention. */
static const char *by_register(const struct probe *p)
{
	return p->is_return ? "returnval() gives the function's result"
			    : "int_arg(n), long_arg(n), pointer_arg(n) give "
			      "the function's arguments";
}

/* Refuses n for want of debug information, telling what to do without. -1. */
static int no_debug(struct compile *c, struct probe *p, struct node *n,
		    const char *why, bool quiet)
{
	const struct uprobe *u = p->data;
	struct diag *d;

	if (quiet)
		return -1;
	d = complain(c, NO_DEBUG, &n->span, n->u.target.name, u->path);
	diag_note(c->diag, d, NULL, "%s", why);
	diag_help(c->diag, d, "%s", by_register(p));
	return -1;
}

/* "$x", or "global" of a @var("global@unit"). */
static const char *name_of(const struct node *n)
{
	return n->u.target.cast ? n->u.target.cast : n->u.target.name;
}

/* --- one variable --------------------------------------------------------- */

/* The variable exists, and why says what keeps it from being read here. -1. */
static int not_here(struct compile *c, struct probe *p, struct node *n,
		    const char *why, bool quiet)
{
	struct diag *d;

	if (quiet)
		return -1;
	d = complain(c, NO_TARGET, &n->span, name_of(n),
		     p ? arena_printf(c->a, " at %s", p->pp) : "");
	diag_note(c->diag, d, NULL, "%s", why);
	if (p && p->is_inlined)
		diag_help(c->diag, d,
			  "this is a copy of the function in its caller: "
			  "@defined(%s) tells where it can be read, .call "
			  "leaves the copies out",
			  name_of(n));
	return -1;
}

static int variable(struct compile *c, struct probe *p, struct node *n,
		    struct debug_file *f, bool quiet)
{
	struct debug_at at = place_of(p);
	const struct ctype *type;
	const char *why = NULL;
	struct access a;
	int err;

	/* Behind the call the function's frame and registers are gone. */
	if (p->is_return)
		return target_unknown(c, p, n, quiet);
	err = debug_variable(f, &at, n->u.target.name + 1, &a, &type, &why);
	if (err == -ENOENT)
		return target_unknown(c, p, n, quiet);
	if (err)
		return not_here(c, p, n, why, quiet);
	if (target_tail(c, n, &a, type, quiet))
		return -1;
	if (n->u.target.access->missing)
		return not_here(c, p, n, "it is in registers, in several "
				"pieces or without this one: only its members "
				"that are there can be read", quiet);
	return 0;
}

/* --- $return, $$vars ------------------------------------------------------ */

/* type NULL: a result that is nothing, of which the access is not used. */
static struct access result_access(const struct ctype *type)
{
	struct access a = {.base = ACC_REG, .arg = REGS_RESULT, .user = true};

	target_narrow(&a, type);
	return a;
}

/* Results of other kinds are not in the register, or not all of them. */
static bool in_register(const struct ctype *type)
{
	const struct ctype *t = ctype_strip(type);

	return t && (t->kind == CT_INT || t->kind == CT_ENUM ||
		     t->kind == CT_PTR) && t->size <= 8;
}

/*
 * as_text: $$return; without a result it is an empty text, where $return is an
 * error.
 */
static int result(struct compile *c, struct probe *p, struct node *n,
		  struct debug_file *f, bool as_text, bool quiet)
{
	const struct uprobe *u = p->data;
	const struct ctype *type = debug_result(f, u->addr);
	struct access a = result_access(type);
	struct pretty pr;

	if (as_text) {
		pretty_start(&pr, c, &n->span);
		if (in_register(type))
			pretty_item(&pr, "return", &a, type, pretty_depth(n));
		pretty_finish(&pr, n);
		return 0;
	}
	if (!type)
		return not_here(c, p, n, "the function returns nothing", quiet);
	if (!in_register(type))
		return not_here(c, p, n,
				arena_printf(c->a,
					     "a result of type %s is not "
					     "returned in a general register",
					     ctype_text(c, type)),
				quiet);
	return target_tail(c, n, &a, type, quiet);
}

/* "a=0x1 b=?": what the compiler has not kept is shown as a question mark. */
static int all_variables(struct compile *c, struct probe *p, struct node *n,
			 struct debug_file *f, bool params, bool locals)
{
	struct debug_at at = place_of(p);
	debug_names names = {0};
	struct pretty pr;
	bool any = false;

	debug_locals(f, &at, &names);
	pretty_start(&pr, c, &n->span);
	for (unsigned i = 0; i < names.n; i++) {
		const struct debug_name *v = &names.v[i];
		const struct ctype *type;
		const char *why;
		struct access a;

		if (!(v->is_param ? params : locals))
			continue;
		if (any)
			pretty_text(&pr, " ");
		any = true;
		if (debug_variable(f, &at, v->name, &a, &type, &why))
			pretty_text(&pr, arena_printf(c->a, "%s=?", v->name));
		else
			pretty_item(&pr, v->name, &a, type, pretty_depth(n));
	}
	pretty_finish(&pr, n);
	return 0;
}

int uvar_target(struct compile *c, struct probe *p, struct node *n, bool quiet)
{
	const char *name = n->u.target.name, *why = NULL;
	struct debug_file *f;

	if (*name == '@')
		return probe_cast(c, p, n, quiet);
	f = file_of(c, p, &why);
	if (!f)
		return no_debug(c, p, n, why, quiet);
	if (p->is_return && !strcmp(name, "$return"))
		return result(c, p, n, f, false, quiet);
	if (!strcmp(name, "$$return"))
		return p->is_return ? result(c, p, n, f, true, quiet)
				    : target_unknown(c, p, n, quiet);
	if (!strcmp(name, "$$vars") || !strcmp(name, "$$parms") ||
	    !strcmp(name, "$$locals")) {
		/*
		 * $$vars of a return probe is its result, the only variable
		 * there; the others are empty by nature, which is an error
		 * rather than an empty text.
		 */
		if (p->is_return && strcmp(name, "$$vars"))
			return target_unknown(c, p, n, quiet);
		if (p->is_return)
			return result(c, p, n, f, true, quiet);
		return all_variables(c, p, n, f, name[2] != 'l',
				     name[2] != 'p');
	}
	return variable(c, p, n, f, quiet);
}

void uvar_names(struct compile *c, struct probe *p, ctx_names *out)
{
	const struct uprobe *u = p->data;
	struct debug_at at = place_of(p);
	debug_names names = {0};
	const char *why;
	struct debug_file *f = file_of(c, p, &why);
	struct ctx_name n;

	if (!f)
		return;
	if (p->is_return) {
		n = (struct ctx_name){
		    "$return", ctype_text(c, debug_result(f, u->addr)), false};
		if (in_register(debug_result(f, u->addr)))
			vec_push(c->a, out, n);
		return;
	}
	debug_locals(f, &at, &names);
	for (unsigned i = 0; i < names.n; i++) {
		/* only what can be read: the list is for "did you mean" */
		const struct ctype *type;
		struct access a;

		if (debug_variable(f, &at, names.v[i].name, &a, &type, &why))
			continue;
		n.name = arena_printf(c->a, "$%s", names.v[i].name);
		n.type = ctype_text(c, names.v[i].type);
		n.is_param = names.v[i].is_param;
		vec_push(c->a, out, n);
	}
}

/* --- @cast and @var ------------------------------------------------------- */

/* A probe with debug information of its own: the family's function tells. */
static bool is_user_probe(const struct probe *p)
{
	return p && (p->family->target == uvar_target);
}

const char *probe_program(const struct probe *p)
{
	return is_user_probe(p) ? ((const struct uprobe *)p->data)->path : NULL;
}

/*
 * The first program in a list "kernel:/bin/a:ls<types.h>"; NULL: none. A header
 * of the kernel ("kernel<linux/x.h>") or of nobody ("<x.h>") names none.
 */
static const char *named_program(struct compile *c, const char *module)
{
	while (module && *module) {
		size_t len = strcspn(module, ":"), name = strcspn(module, ":<");

		if (name && (strncmp(module, "kernel", 6) || name != 6))
			return elf_search(
			    c, arena_strndup(c->a, module, name), NULL);
		module += len;
		module += *module == ':';
	}
	return NULL;
}

/*
 * @var of a program. Its address is known only in a probe of that program, from
 * where the program counter is and where the debug information says it is.
 */
static int global(struct compile *c, struct probe *p, struct node *n,
		  struct debug_file *f, const char *path, bool quiet)
{
	const struct uprobe *u = p->data;
	const char *name = n->u.target.cast, *at = strchr(name, '@');
	const struct ctype *type;
	const char *why = NULL;
	struct access a;
	int err;

	if (!is_user_probe(p) || strcmp(u->path, path))
		return not_here(c, p, n,
				"where another program was loaded is not known "
				"here: @var works in probes of its own program",
				quiet);
	if (at)
		name = arena_strndup(c->a, name, at - name);
	err = debug_global(f, u->addr, name, at ? at + 1 : NULL, &a, &type,
			   &why);
	if (!err && p->is_return && a.base == ACC_REG) {
		/* sema/targets.c: the program counter at the entry */
		a.base = ACC_VALUE;
		a.value = n->u.target.base;
		if (!a.value) {
			why = "a .return handler runs in the caller, whose "
			      "place is not known: read it with "
			      "@entry(@var(...))";
			err = -ENODATA;
		}
	}
	if (!err)
		return target_tail(c, n, &a, type, quiet);
	if (!quiet && err == -ENOENT)
		complain(c, NO_TARGET, &n->span, n->u.target.cast,
			 arena_printf(c->a, " in %s", path));
	return err == -ENOENT ? -1 : not_here(c, p, n, why, quiet);
}

/*
 * named: the script said which program, so a type that is not there is an
 * error; else 1, and the kernel is asked.
 */
static int cast(struct compile *c, struct node *n, struct debug_file *f,
		const char *path, bool named, bool quiet)
{
	const char *name = n->u.target.cast;
	struct access base = {
	    .base = ACC_VALUE, .value = n->u.target.base, .user = true};
	const struct ctype *t = debug_type(f, name), *plain;

	if (!t && !named)
		return 1;
	if (!t) {
		if (!quiet)
			complain(c, NO_CAST_TYPE, &n->span, name,
				 arena_printf(c->a, " in %s", path));
		return -1;
	}
	/* The value is a pointer to what is named, unless a pointer is. */
	plain = ctype_strip(t);
	if (!plain || plain->kind != CT_PTR)
		t = ctype_pointer_to(c, t);
	return target_tail(c, n, &base, t, quiet);
}

int uvar_cast(struct compile *c, struct probe *p, struct node *n, bool quiet)
{
	const char *named = named_program(c, n->u.target.module);
	const char *path = named, *why = NULL;
	bool is_var = !strcmp(n->u.target.name, "@var");
	struct debug_file *f;

	if (n->u.target.module && !named)
		return 1;
	if (!path && is_user_probe(p))
		path = ((const struct uprobe *)p->data)->path;
	if (!path || (!is_var && strcmp(n->u.target.name, "@cast")))
		return 1;
	f = debug_open(c, path, &why);
	/*
	 * Nobody asked for the program, so its missing debug information is no
	 * error.
	 */
	if (!f && !named && !is_var)
		return 1;
	if (!f) {
		if (!quiet) {
			struct diag *d = complain(c, NO_DEBUG, &n->span,
						  n->u.target.name, path);

			diag_note(c->diag, d, NULL, "%s", why);
		}
		return -1;
	}
	return is_var ? global(c, p, n, f, path, quiet)
		      : cast(c, n, f, path, named, quiet);
}
