/* SPDX-License-Identifier: MIT */
/*
 * process("PATH").function("name"): functions of programs and libraries, by
 * ELF symbol. Tags: 0 entry, 1 return, 2 entry of exported functions.
 *
 * A probe on the target's own program or on a library is restricted to the
 * process of -c or -x. A probe on another program is not: it can only be
 * started by that process, under a pid of its own.
 */
#include "probe/uprobe.h"

#include <string.h>

#include "probe/uvar.h"

static void add_probe(const struct uprobe_file *f, const struct elf_func *fn)
{
	struct compile *c = f->c;
	const struct match *m = f->m;
	struct probe *p = uprobe_add(f, fn->offset);
	struct uprobe *u = p->data;
	const char *suffix = "";

	if (!strcmp(m->name[m->nparts - 1], "return"))
		suffix = ".return";
	else if (strcmp(m->name[m->nparts - 1], "function"))
		suffix = ".call";
	u->name = fn->name;
	u->addr = fn->addr;
	p->is_return = u->is_return = m->pattern->tag == 1;
	p->pp = str_internz(
	    c->str, arena_printf(c->a, "process(\"%s\").function(\"%s\")%s",
				 f->elf->path, fn->name, suffix));
}

/*
 * Nobody has called a program's first function: what stands on the stack in
 * place of a return address is the number of arguments, and a return probe
 * would write over it.
 */
static bool never_returns(const struct uprobe_file *f,
			  const struct elf_func *fn)
{
	return f->m->pattern->tag == 1 && !strcmp(fn->name, "_start");
}

static int expand_file(const struct uprobe_file *f)
{
	const char *name = uprobe_part(f->m, "function");
	unsigned before = f->out->n;
	elf_funcs funcs = {0};
	bool started = false;
	int rc = elf_find_funcs(f->c, f->elf, name, &funcs);

	for (unsigned i = 0; i < funcs.n; i++)
		if (never_returns(f, &funcs.v[i]))
			started = true;
		else if (f->m->pattern->tag != 2 || funcs.v[i].is_global)
			add_probe(f, &funcs.v[i]);
	/* Without a symbol left a program can still describe its functions. */
	if (rc && (f->m->pattern->tag == 2 || !elf_has_debug(f->c, f->elf)))
		return family_refuse(f->c, f->m,
				     "'%s' has no symbols (stripped); install "
				     "its debugging symbols or probe a library "
				     "it calls",
				     f->elf->path);
	if (started && funcs.n == 1)
		return family_refuse(f->c, f->m, "_start is where a program "
				     "begins: it is not called and does not "
				     "return");
	/* What is visible from outside is so by its symbol. */
	if (f->m->pattern->tag != 2)
		source_add_functions(f, name, &funcs);
	if (f->out->n == before && strstr(name, "::") &&
	    !elf_has_debug(f->c, f->elf))
		return family_refuse(f->c, f->m,
				     "'%s' has no debug information, which "
				     "names with scopes are found by",
				     f->elf->path);
	return 0;
}

static int expand_function(struct compile *c, const struct match *m,
			   probe_list *out)
{
	/* "func@file" is answered by line tables, not by symbols. */
	if (strchr(uprobe_part(m, "function"), '@'))
		return source_expand(c, m, out);
	return uprobe_expand(c, m, out, expand_file);
}

static void suggest_function(struct compile *c, const struct match *m,
			     name_list *out)
{
	elf_funcs funcs = {0};
	struct near near = {0};
	struct elf_file *f = uprobe_open_first(c, m);

	if (!f)
		return;
	elf_find_funcs(c, f, "*", &funcs);
	elf_close_file(f);
	for (unsigned i = 0; i < funcs.n; i++)
		near_add(&near, uprobe_part(m, "function"), funcs.v[i].name);
	near_list(c, &near, out);
}

const struct family family_uprobe = {
    .name = "uprobe",
    .type = "uprobe",
    .expand = expand_function,
    .target = uvar_target,
    .names = uvar_names,
    .suggest = suggest_function,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};

const struct family family_uretprobe = {
    .name = "uprobe",
    .type = "uretprobe",
    .expand = expand_function,
    .target = uvar_target,
    .names = uvar_names,
    .suggest = suggest_function,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};
