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

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/target.h"
#include "types/elf.h"
#include "types/glob.h"

/* What a point says, whichever pattern it came by. */
struct place_spec {
	const struct literal *process; /* NULL: the target */
	const struct literal *library;
	const char *function;
	long pid;		/* as in struct uprobe */
	const char *root;	/* "/proc/PID/root", or NULL */
};

static void read_spec(struct compile *c, const struct match *m,
		      struct place_spec *ret)
{
	long pid = c->set.target_pid;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < m->nparts; i++) {
		if (!strcmp(m->name[i], "process"))
			ret->process = m->arg[i];
		else if (!strcmp(m->name[i], "library"))
			ret->library = m->arg[i];
		else if (!strcmp(m->name[i], "function"))
			ret->function = m->arg[i]->str;
	}
	if (ret->process && ret->process->type == TY_LONG)
		pid = ret->pid = ret->process->num;
	else if (!ret->process)
		ret->pid = -1;
	if (pid > 0)
		ret->root = arena_printf(c->a, "/proc/%ld/root", pid);
}

/* --- which file ------------------------------------------------------------ */

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return a && b && !stat(a, &sa) && !stat(b, &sb) &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Seen from a process in a container, or from here: by the shorter name where
 * both are the same file. */
static const char *search_below(struct compile *c, const char *name,
				const char *root)
{
	const char *here = elf_search(c, name, NULL);
	const char *there = root ? elf_search(c, name, root) : NULL;

	return there && !same_file(here, there) ? there : here;
}

/* What a process runs, by a path that can be opened from here. */
static const char *process_program(struct compile *c, long pid)
{
	const char *link = arena_printf(c->a, "/proc/%ld/exe", pid);
	const char *root = arena_printf(c->a, "/proc/%ld/root", pid);
	char name[4096];
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	const char *path;

	if (n <= 0)
		return NULL;
	name[n] = 0;
	path = search_below(c, name, root);
	return path ? path : link; /* deleted since it was started */
}

/* The target's program: that of -x, or the first word of -c. NULL: none. */
static const char *target_program(struct compile *c)
{
	const char *cmd = c->set.cmd;
	size_t len;

	if (c->set.target_pid)
		return process_program(c, c->set.target_pid);
	if (!cmd)
		return NULL;
	cmd += strspn(cmd, " \t");
	len = strcspn(cmd, " \t");
	return elf_search(c, arena_strndup(c->a, cmd, len), NULL);
}

static int programs(struct compile *c, const struct match *m,
		    const struct place_spec *s, name_vec *ret)
{
	const char *name, *path;
	glob_t g;

	if (!s->process) {
		path = target_program(c);
		if (!path)
			return family_refuse(
			    c, m,
			    "process without a path or pid needs a target: "
			    "-c COMMAND or -x PID");
		vec_push(c->a, ret, path);
		return 0;
	}
	if (s->process->type == TY_LONG) {
		path = process_program(c, s->pid);
		if (!path)
			return family_refuse(c, m, "no process %ld",
					     (long)s->process->num);
		vec_push(c->a, ret, path);
		return 0;
	}
	name = s->process->str;
	if (strpbrk(name, "*?[")) {
		if (!glob(name, 0, NULL, &g))
			for (size_t i = 0; i < g.gl_pathc; i++)
				vec_push(c->a, ret,
					 arena_strdup(c->a, g.gl_pathv[i]));
		globfree(&g);
		return 0;
	}
	path = search_below(c, name, s->root);
	if (!path)
		return family_refuse(c, m, "cannot find executable '%s'", name);
	vec_push(c->a, ret, path);
	return 0;
}

/* Libraries of a program, and theirs, that a library("...") means. */
static void libraries(struct compile *c, const struct place_spec *s,
		      const char *program, name_vec *ret)
{
	const char *want = s->library->str, *why;
	name_vec names = {0}, paths = {0};

	if (!strpbrk(want, "*?")) {
		const char *path = search_below(c, want, s->root);

		if (path) {
			vec_push(c->a, ret, path);
			return;
		}
	}
	vec_push(c->a, &paths, program);
	for (unsigned i = 0; i < paths.n; i++) {
		struct elf_file *f = elf_open_file(c, paths.v[i], &why);
		unsigned first = names.n;

		if (!f)
			continue;
		elf_find_needed(c, f, &names);
		elf_close_file(f);
		for (unsigned k = first; k < names.n; k++) {
			const char *path;
			bool known = false;

			for (unsigned j = 0; j < k && !known; j++)
				known = names.v[j] == names.v[k];
			path = known ? NULL
				     : search_below(c, names.v[k], s->root);
			if (!path)
				continue;
			vec_push(c->a, &paths, path);
			if (name_glob(want, names.v[k]) ||
			    name_glob(want, path))
				vec_push(c->a, ret, path);
		}
	}
}

/* --- expanding ------------------------------------------------------------- */

static void add_probe(struct compile *c, const struct match *m,
		      const struct elf_file *f, const struct elf_func *fn,
		      long pid, struct uprobe_how *how, probe_list *out)
{
	struct probe *p = family_probe(c, m);
	struct uprobe *u = arena_new_of(c->a, struct uprobe);
	const char *suffix = "";

	if (!strcmp(m->name[m->nparts - 1], "return"))
		suffix = ".return";
	else if (strcmp(m->name[m->nparts - 1], "function"))
		suffix = ".call";
	u->path = f->path;
	u->offset = fn->offset;
	u->pid = pid;
	u->how = how;
	u->name = fn->name;
	u->is_return = m->pattern->tag == 1;
	p->data = u;
	p->place = PLACE_KERNEL;
	p->prog = PROG_KPROBE;
	p->guard = GUARD_PREEMPTIBLE;
	p->is_return = u->is_return;
	p->pp = str_internz(
	    c->str, arena_printf(c->a, "process(\"%s\").function(\"%s\")%s",
				 f->path, fn->name, suffix));
	vec_push(c->a, out, p);
}

static int expand_file(struct compile *c, const struct match *m,
		       const struct place_spec *s, const char *path,
		       probe_list *out)
{
	const char *why;
	struct elf_file *f = elf_open_file(c, path, &why);
	elf_funcs funcs = {0};
	struct uprobe_how *how = arena_new_of(c->a, struct uprobe_how);
	long pid = s->pid;
	int err;

	if (!f) {
		/* A glob of paths may well meet scripts. */
		if (s->process && s->process->type == TY_STRING &&
		    strpbrk(s->process->str, "*?["))
			return 0;
		return family_refuse(c, m, "cannot read '%s': %s", path, why);
	}
	if (!pid && (c->set.target_pid || c->set.cmd) &&
	    (!f->is_exec || same_file(path, target_program(c))))
		pid = -1;
	err = elf_find_funcs(c, f, s->function, &funcs);
	for (unsigned i = 0; i < funcs.n; i++)
		if (m->pattern->tag != 2 || funcs.v[i].is_global)
			add_probe(c, m, f, &funcs.v[i], pid, how, out);
	elf_close_file(f);
	if (err)
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
	struct place_spec s;
	name_vec files = {0}, libs = {0};

	read_spec(c, m, &s);
	if (strchr(s.function, '@')) {
		if (!m->quiet)
			complain(c, NOT_YET, &m->point->span,
				 "function(\"name@file\") of a program (it "
				 "needs debug information)");
		return m->quiet ? 0 : -1;
	}
	if (programs(c, m, &s, &files))
		return -1;
	if (s.library) {
		for (unsigned i = 0; i < files.n; i++)
			libraries(c, &s, files.v[i], &libs);
		if (!libs.n)
			return family_refuse(c, m,
					     "no library '%s' is used there",
					     s.library->str);
		files = libs;
	}
	for (unsigned i = 0; i < files.n; i++)
		if (expand_file(c, m, &s, files.v[i], out))
			return -1;
	return 0;
}

static void suggest_function(struct compile *c, const struct match *m,
			     name_list *out)
{
	struct place_spec s;
	name_vec files = {0};
	elf_funcs funcs = {0};
	struct near near = {0};
	struct match quiet = *m;
	struct elf_file *f;
	const char *why;

	quiet.quiet = true;
	read_spec(c, m, &s);
	if (programs(c, &quiet, &s, &files) || !files.n || s.library)
		return;
	f = elf_open_file(c, files.v[0], &why);
	if (!f)
		return;
	elf_find_funcs(c, f, "*", &funcs);
	elf_close_file(f);
	for (unsigned i = 0; i < funcs.n; i++)
		near_add(&near, s.function, funcs.v[i].name);
	for (unsigned i = 0; i < near.n; i++)
		vec_push(c->a, out, near.name[i]);
}

/* Variables of programs need DWARF; registers do not. */
static int target_function(struct compile *c, struct probe *p, struct node *n,
			   bool quiet)
{
	if (*n->u.target.name == '@')
		return probe_cast(c, n, quiet);
	if (!quiet) {
		struct diag *d;

		d = complain(c, NOT_YET, &n->span,
			     arena_printf(c->a, "%s of a program",
					  n->u.target.name));
		diag_help(c->diag, d,
			  p->is_return
			      ? "returnval() gives the function's result"
			      : "int_arg(n), long_arg(n), pointer_arg(n) give "
				"the function's arguments");
	}
	return -1;
}

const struct family family_uprobe = {
    .name = "uprobe",
    .type = "uprobe",
    .expand = expand_function,
    .target = target_function,
    .suggest = suggest_function,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};

const struct family family_uretprobe = {
    .name = "uprobe",
    .type = "uretprobe",
    .expand = expand_function,
    .target = target_function,
    .suggest = suggest_function,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};
