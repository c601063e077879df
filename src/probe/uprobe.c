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

static void add_probe(struct compile *c, const struct match *m,
		      const struct elf_file *f, const struct elf_func *fn,
		      long pid, struct uprobe_how *how, probe_list *out)
{
	struct probe *p = uprobe_new(c, m, f->path, fn->offset, pid, how);
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
				 f->path, fn->name, suffix));
	vec_push(c->a, out, p);
}

static int expand_file(struct compile *c, const struct match *m,
		       const struct file_spec *s, const char *path,
		       probe_list *out)
{
	struct uprobe_how *how = arena_new_of(c->a, struct uprobe_how);
	elf_funcs funcs = {0};
	long pid;
	int rc;
	struct elf_file *f = uprobe_open(c, m, s, path, &pid, &rc);

	/* rc 0: a glob met a file that is no program. */
	if (!f)
		return rc;
	rc = elf_find_funcs(c, f, uprobe_part(m, "function"), &funcs);
	for (unsigned i = 0; i < funcs.n; i++)
		if (m->pattern->tag != 2 || funcs.v[i].is_global)
			add_probe(c, m, f, &funcs.v[i], pid, how, out);
	elf_close_file(f);
	if (rc)
		return family_refuse(c, m,
				     "'%s' has no symbols (stripped); install "
				     "its debugging symbols or probe a library "
				     "it calls",
				     path);
	return 0;
}

static int expand_function(struct compile *c, const struct match *m,
			   probe_list *out)
{
	struct file_spec s;
	name_vec files = {0};

	/* "func@file" is answered by line tables, not by symbols. */
	if (strchr(uprobe_part(m, "function"), '@'))
		return source_expand(c, m, out);
	if (uprobe_files(c, m, &s, &files))
		return -1;
	for (unsigned i = 0; i < files.n; i++)
		if (expand_file(c, m, &s, files.v[i], out))
			return -1;
	return 0;
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
