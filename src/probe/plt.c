/* SPDX-License-Identifier: MIT */
/*
 * process("PATH").plt("NAME"): calls that a program or library makes to other
 * files, at the stubs it makes them through. Tags: 0 call, 1 return. Unlike a
 * probe on the library's function, it sees the calls of that one file only.
 */
#include <string.h>

#include "probe/target.h"
#include "probe/uprobe.h"

static void add_stub(const struct uprobe_file *f, const struct elf_func *fn)
{
	struct probe *p = uprobe_add(f, fn->offset);
	struct uprobe *u = p->data;

	u->name = fn->name;
	u->addr = fn->addr;
	/*
	 * At a stub the caller's return address is still on top of the stack:
	 * the return is that of the function behind it.
	 */
	p->is_return = u->is_return = f->m->pattern->tag == 1;
	p->pp = str_internz(f->c->str,
			    arena_printf(f->c->a,
					 "process(\"%s\").plt(\"%s\")%s",
					 f->elf->path, fn->name,
					 p->is_return ? ".return" : ""));
}

static int expand_file(const struct uprobe_file *f)
{
	const char *name = uprobe_part(f->m, "plt");
	elf_funcs stubs = {0};

	elf_find_plt(f->c, f->elf, name ? name : "*", &stubs);
	for (unsigned i = 0; i < stubs.n; i++)
		add_stub(f, &stubs.v[i]);
	return 0;
}

static int expand_plt(struct compile *c, const struct match *m,
		      probe_list *out)
{
	unsigned first = out->n;
	struct elf_file *f;
	int rc = uprobe_expand(c, m, out, expand_file);

	if (rc || out->n > first || uprobe_part(m, "plt"))
		return rc;
	f = uprobe_open_first(c, m);
	if (!f)
		return 0;
	rc = family_refuse(c, m,
			   "'%s' calls nothing through stubs (linked "
			   "statically, or with -fno-plt); probe the "
			   "function in its library",
			   f->path);
	elf_close_file(f);
	return rc;
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
