/* SPDX-License-Identifier: MIT */
/*
 * @var("name@file", "module"): variables of the kernel and of its modules.
 * Where they are is known from /proc/kallsyms, of what type from BTF, which
 * knows few of them; the address alone is enough for &@var("name").
 */
#include <string.h>

#include "probe/target.h"
#include "sema/builtin.h"
#include "types/ksyms.h"
#include "types/types.h"

/*
 * The kernel's table of what to add to an address to get a CPU's own copy.
 * (mm/percpu.c, arch/x86/kernel/setup_percpu.c) An array of u64, one for each
 * CPU.
 */
#define PERCPU_TABLE "__per_cpu_offset"

/*
 * One question about a variable. name, module and below are filled by find().
 */
struct variable {
	struct compile *c;
	struct node *n;
	const char *name;   /* without "@file" */
	const char *module; /* "": the kernel */
	const struct ctype *type; /* NULL: BTF does not know it */
	/* addr is that of the first copy, a CPU's own is elsewhere */
	bool percpu;
	bool quiet; /* report nothing */
	uint64_t addr; /* in the kernel's address space; never 0 */
};

/* -1. */
static int refuse(const struct variable *v, const char *why)
{
	struct diag *d;

	if (v->quiet)
		return -1;
	d = complain(v->c, NO_VARIABLE, &v->n->span, v->name);
	diag_note(v->c->diag, d, NULL, "%s", why);
	return -1;
}

/* 0 and the address of a symbol, or -1 having said why it is not known. */
static int locate(const struct variable *v, const char *module,
		  const char *name, uint64_t *ret)
{
	/* n: how many variables of that name there are, or a negative errno. */
	struct compile *c = v->c;
	int n = ksyms_variable(c, module, name, ret);
	uint64_t any;

	if (n == 1 && *ret)
		return 0;
	if (n < 0)
		return refuse(v, arena_printf(c->a,
					      "cannot read /proc/kallsyms: %s",
					      strerror(-n)));
	if (n == 1)
		return refuse(v, "/proc/kallsyms hides addresses from who is "
				 "not root (kernel.kptr_restrict)");
	if (n > 1)
		return refuse(v, arena_printf(
			c->a, "%d variables are called %s, in several files; "
			"which is where is not known", n, name));
	/*
	 * jiffies is in every kernel: without it the list has functions only.
	 */
	if (!*module && ksyms_variable(c, "", "jiffies", &any) == 0)
		return refuse(v, "/proc/kallsyms has no variables: the kernel "
				 "was built without CONFIG_KALLSYMS_ALL");
	return refuse(v, arena_printf(c->a, "/proc/kallsyms has no %s%s%s",
				      name, *module ? " in module " : "",
				      module));
}

/* cpu(), as the index into the table. */
static struct node *this_cpu(const struct variable *v)
{
	struct node *call = node_new(v->c->a, N_CALL, v->n->span);

	call->type = TY_LONG;
	call->u.call.name = "cpu";
	call->u.call.builtin = builtin_find("cpu", 0);
	return call;
}

/*
 * Steps to the place of the variable (of the CPU's own copy of it). For a
 * variable of each CPU's own the table is read first, at CPU times 8, and gives
 * what to add to the address.
 */
static int place(const struct variable *v, struct access *a)
{
	struct access_step copy = {.scale = 8, .load = 8};
	struct access_step at = {.off = (int64_t)v->addr};
	uint64_t table;

	a->base = ACC_CONST;
	if (v->percpu) {
		if (locate(v, "", PERCPU_TABLE, &table))
			return -1;
		a->constant = (int64_t)table;
		copy.index = this_cpu(v);
		vec_push(v->c->a, &a->steps, copy);
	}
	vec_push(v->c->a, &a->steps, at);
	return 0;
}

/*
 * Fills v. 0, or -1 having reported. A variable without a type is no error: its
 * address may be all that is wanted.
 */
static int find(struct variable *v)
{
	struct compile *c = v->c;
	const char *want = v->n->u.target.module, *at;

	at = strchr(v->n->u.target.cast, '@');
	v->name = v->n->u.target.cast;
	if (at)
		v->name = str_intern(c->str, v->name, (size_t)(at - v->name));
	/*
	 * "kernel" and "vmlinux" are what scripts write for the kernel itself.
	 */
	v->module = !want || !strcmp(want, "kernel") ||
			    !strcmp(want, "vmlinux") ? "" : want;
	if (locate(v, v->module, v->name, &v->addr))
		return -1;
	v->type = types_variable(c, v->module, v->name, &v->percpu);
	return 0;
}

int probe_var(struct compile *c, struct node *n, bool quiet)
{
	struct variable v = {.c = c, .n = n, .quiet = quiet};
	struct access base = {0};
	struct diag *d;

	if (find(&v) || place(&v, &base))
		return -1;
	if (v.type)
		return target_tail(c, n, &base, v.type, quiet);
	if (quiet)
		return -1;
	d = complain(c, VARIABLE_TYPE, &n->span, v.name);
	diag_help(c->diag, d,
		  "write kernel_long(&@var(\"%s\")), or @cast(&@var(\"%s\"), "
		  "\"TYPE\")->member",
		  n->u.target.cast, n->u.target.cast);
	return -1;
}

int probe_var_address(struct compile *c, struct node *n, bool quiet)
{
	struct node *to = n->u.unary.a;
	struct variable v = {.c = c, .n = to, .quiet = quiet};
	struct access *a = arena_new_of(c->a, struct access);

	if (find(&v) || place(&v, a))
		return -1;
	/* The type behind the address, so that (&@var("x"))->member works. */
	a->type = v.type ? ctype_pointer_to(c, v.type) : NULL;
	to->u.target.access = a;
	to->type = n->type = TY_LONG;
	return 0;
}
