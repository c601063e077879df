/* SPDX-License-Identifier: MIT */
/*
 * process("PATH").plt("NAME"): calls that a program or library makes to other
 * files, at the stubs it makes them through. Tags: 0 call, 1 return. Unlike a
 * probe on the library's function, it sees the calls of that one file only.
 */
#include <string.h>

#include "probe/target.h"
#include "probe/uprobe.h"

static void add_stub(struct compile *c, const struct match *m,
		     const struct elf_file *f, const struct elf_func *fn,
		     long pid, struct uprobe_how *how, probe_list *out)
{
	struct probe *p = uprobe_new(c, m, f->path, fn->offset, pid, how);
	struct uprobe *u = p->data;

	u->name = fn->name;
	u->addr = fn->addr;
	/*
	 * At a stub the caller's return address is still on top of the stack:
	 * the return is that of the function behind it.
	 */
	p->is_return = u->is_return = m->pattern->tag == 1;
	p->pp = str_internz(c->str,
			    arena_printf(c->a, "process(\"%s\").plt(\"%s\")%s",
					 f->path, fn->name,
					 p->is_return ? ".return" : ""));
	vec_push(c->a, out, p);
}

static int expand_plt(struct compile *c, const struct match *m,
		      probe_list *out)
{
	const char *name = uprobe_part(m, "plt");
	unsigned first = out->n;
	struct file_spec s;
	name_vec files = {0};

	if (uprobe_files(c, m, &s, &files))
		return -1;
	for (unsigned i = 0; i < files.n; i++) {
		struct uprobe_how *how = arena_new_of(c->a, struct uprobe_how);
		elf_funcs stubs = {0};
		long pid;
		int rc;
		struct elf_file *f =
		    uprobe_open(c, m, &s, files.v[i], &pid, &rc);

		if (!f && rc)
			return rc;
		if (!f)
			continue;
		elf_find_plt(c, f, name ? name : "*", &stubs);
		for (unsigned k = 0; k < stubs.n; k++)
			add_stub(c, m, f, &stubs.v[k], pid, how, out);
		elf_close_file(f);
	}
	if (out->n > first || name || !files.n)
		return 0;
	return family_refuse(c, m,
			     "'%s' calls nothing through stubs (linked "
			     "statically, or with -fno-plt); probe the "
			     "function in its library",
			     files.v[0]);
}

static void suggest_plt(struct compile *c, const struct match *m,
			name_list *out)
{
	elf_funcs stubs = {0};
	struct near near = {0};
	const char *name = uprobe_part(m, "plt");
	struct elf_file *f = name ? uprobe_open_first(c, m) : NULL;

	if (!f)
		return;
	elf_find_plt(c, f, "*", &stubs);
	elf_close_file(f);
	for (unsigned i = 0; i < stubs.n; i++)
		near_add(&near, name, stubs.v[i].name);
	near_list(c, &near, out);
}

/* The name is all that is known of a call: neither parameters nor types. */
static int target_plt(struct compile *c, struct probe *p, struct node *n,
		      bool quiet)
{
	const struct uprobe *u = p->data;

	if (*n->u.target.name == '@')
		return probe_cast(c, p, n, quiet);
	if (strcmp(n->u.target.name, "$$name"))
		return target_unknown(c, p, n, quiet);
	target_text(c, n, u->name);
	return 0;
}

static void names_plt(struct compile *c, struct probe *p, ctx_names *out)
{
	struct ctx_name n = {.name = "$$name", .type = "string"};

	vec_push(c->a, out, n);
}

const struct family family_plt = {
    .name = "plt",
    .type = "uprobe",
    .expand = expand_plt,
    .target = target_plt,
    .names = names_plt,
    .suggest = suggest_plt,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};

const struct family family_plt_return = {
    .name = "plt",
    .type = "uretprobe",
    .expand = expand_plt,
    .target = target_plt,
    .names = names_plt,
    .suggest = suggest_plt,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};
