/* SPDX-License-Identifier: MIT */
/* process("PATH"), process(PID), process, .library("LIB"): which files. */
#include "probe/uprobe.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "types/files.h"
#include "types/glob.h"

/* What a point says of its file, whichever pattern it came by. */
struct file_spec {
	const struct literal *process; /* NULL: the target */
	const struct literal *library;
	long pid;	  /* as in struct uprobe */
	const char *root; /* "/proc/PID/root", or NULL */
};

/*
 * pid: whose view of the file system is to be used. That of the target is a
 * help for names, not a restriction: only ret->pid is.
 */
static void read_spec(struct compile *c, const struct match *m,
		      struct file_spec *ret)
{
	long pid = c->set.target_pid;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < m->nparts; i++) {
		if (!strcmp(m->name[i], "process"))
			ret->process = m->arg[i];
		else if (!strcmp(m->name[i], "library"))
			ret->library = m->arg[i];
	}
	if (ret->process && ret->process->type == TY_LONG)
		pid = ret->pid = ret->process->num;
	else if (!ret->process)
		ret->pid = -1;
	if (pid > 0)
		ret->root = arena_printf(c->a, "/proc/%ld/root", pid);
}

const char *uprobe_part(const struct match *m, const char *name)
{
	for (unsigned i = 0; i < m->nparts; i++)
		if (m->arg[i] && !strcmp(m->name[i], name))
			return m->arg[i]->str;
	return NULL;
}

/* By device and inode: one file has many names (/lib is often a link). */
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

/* Why process_program() has none of a process. */
static int refuse_process(struct compile *c, const struct match *m, long pid)
{
	const char *link = arena_printf(c->a, "/proc/%ld/exe", pid);
	char byte;
	int err = readlink(link, &byte, 1) < 0 ? errno : 0;

	if (err && err != ENOENT && err != ESRCH)
		return family_refuse(c, m,
				     "the program of process %ld cannot be "
				     "read: %s",
				     pid, strerror(err));
	/* A directory without a program in it is that of a kernel's thread. */
	if (!access(arena_printf(c->a, "/proc/%ld", pid), F_OK))
		return family_refuse(c, m, "process %ld runs no program", pid);
	return family_refuse(c, m, "no process %ld", pid);
}

/* The target's program: that of -x, or the first word of -c. NULL: none. */
static const char *target_program(struct compile *c)
{
	const char *cmd = c->set.cmd;
	size_t len;

	if (c->set.target_pid)
		return process_program(c, c->set.target_pid);
	if (!cmd) /* before -c is started, its first word is all there is */
		return NULL;
	cmd += strspn(cmd, " \t");
	len = strcspn(cmd, " \t");
	return elf_search(c, arena_strndup(c->a, cmd, len), NULL);
}

/* The process of -c is a shell that starts what is to be probed. */
static bool is_shells(const struct compile *c)
{
	return !c->set.target_pid && c->set.cmd &&
	       command_kind(c->set.cmd) == COMMAND_SHELL;
}

/* Is it the target's program; of a shell's line, one that it names? */
static bool is_targets(struct compile *c, const char *path)
{
	static const char apart[] = " \t\n;|&()<>{}`$'\"";
	const char *s = c->set.cmd;

	if (!is_shells(c))
		return same_file(path, target_program(c));
	for (s += strspn(s, apart); *s; s += strspn(s, apart)) {
		size_t n = strcspn(s, apart);
		const char *word = arena_strndup(c->a, s, n);

		if (same_file(path, elf_search(c, word, NULL)))
			return true;
		s += n;
	}
	return false;
}

/*
 * A name without a slash is looked for as a shell does, which does not know
 * this directory and calls no library by half of its name.
 */
static int refuse_file(struct compile *c, const struct match *m,
		       const char *name)
{
	const char *full;

	if (strchr(name, '/'))
		return family_refuse(c, m, "cannot find executable '%s'", name);
	full = arena_printf(c->a, "./%s", name);
	/* NAME.so without a number is the linker's, and can be a text. */
	for (int n = 0; n < 11 && !elf_search(c, full, NULL); n++)
		full = n < 10 ? arena_printf(c->a, "%s.so.%d", name, n)
			      : arena_printf(c->a, "%s.so", name);
	if (!elf_search(c, full, NULL))
		return family_refuse(c, m, "cannot find executable '%s'", name);
	return family_refuse(c, m, "cannot find executable '%s' in $PATH "
			     "(there is '%s')", name, full);
}


/* Appends the programs that the point means. 0, or as uprobe_files(). */
static int programs(struct compile *c, const struct match *m,
		    const struct file_spec *s, name_vec *ret)
{
	const char *name, *path;

	if (!s->process) {
		path = target_program(c);
		if (!path && c->set.target_pid)
			return refuse_process(c, m, c->set.target_pid);
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
			return refuse_process(c, m, s->pid);
		vec_push(c->a, ret, path);
		return 0;
	}
	name = s->process->str;
	/*
	 * Shell patterns of the script are those of tally's own file system:
	 * below the root of another process nothing is searched.
	 */
	if (name_is_glob(name)) {
		if (!files_glob(c->a, name, ret))
			return 0;
		return family_refuse(c, m, "the pattern '%s' goes through more "
				     "than %d files and folders: name some of "
				     "the folders", name, FILES_GLOB_MAX);
	}
	path = search_below(c, name, s->root);
	if (!path)
		return refuse_file(c, m, name);
	vec_push(c->a, ret, path);
	return 0;
}

/*
 * Libraries of a program, and theirs, that a library("...") means. A library in
 * the usual places is taken by its name; otherwise the program's needs are
 * followed breadth first, as the dynamic loader does. Names are interned, so
 * that == compares them. Libraries that are loaded by dlopen() must be named in
 * full.
 */
static void libraries(struct compile *c, const struct file_spec *s,
		      const char *program, name_vec *ret)
{
	const char *want = s->library->str, *why;
	name_vec names = {0}, paths = {0};

	if (!name_is_glob(want)) {
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

/*
 * Files that m names. 0, or what expand() is to return having refused. Paths
 * can be opened from here.
 */
static int files_of(struct compile *c, const struct match *m,
		    struct file_spec *ret_spec, name_vec *ret)
{
	name_vec files = {0};

	read_spec(c, m, ret_spec);
	if (programs(c, m, ret_spec, &files))
		return -1;
	if (!ret_spec->library) {
		*ret = files;
		return 0;
	}
	for (unsigned i = 0; i < files.n; i++)
		/* every program of a glob has libraries of its own */
		libraries(c, ret_spec, files.v[i], ret);
	if (ret->n)
		return 0;
	return family_refuse(c, m, "no library '%s' is used there",
			     ret_spec->library->str);
}

int probe_programs(struct compile *c, const struct point *pt,
		   const struct literal *process, bool quiet, name_list *ret)
{
	struct match m = {.point = pt, .quiet = quiet, .nparts = 1, .nargs = 1};
	struct file_spec s = {0};
	name_vec files = {0};

	m.name[0] = "process";
	m.arg[0] = process;
	read_spec(c, &m, &s);
	if (programs(c, &m, &s, &files))
		return -1;
	for (unsigned i = 0; i < files.n; i++)
		vec_push(c->a, ret, files.v[i]);
	return 0;
}

/*
 * *ret_pid: what the file's probes are restricted to. NULL: refused (*ret_rc:
 * what expand() is to return), or passed over (0).
 */
static struct elf_file *open_one(struct compile *c, const struct match *m,
				 const struct file_spec *s, const char *path,
				 long *ret_pid, int *ret_rc)
{
	const char *why;
	struct elf_file *f = elf_open_file(c, path, &why);

	*ret_pid = s->pid;
	*ret_rc = 0;
	if (!f) {
		/* A glob of paths may well meet scripts. */
		if (!s->process || s->process->type != TY_STRING ||
		    !name_is_glob(s->process->str))
			*ret_rc = family_refuse(c, m, "cannot read '%s': %s",
						path, why);
		return NULL;
	}
	/*
	 * See uprobe.c on what is restricted. The target's program is compared
	 * as a file, because the script may use another name for it.
	 */
	if (!s->pid && (c->set.target_pid || c->set.cmd) &&
	    (!f->is_exec || is_targets(c, path)))
		*ret_pid = -1;
	return f;
}

int uprobe_expand(struct compile *c, const struct match *m, probe_list *out,
		  int (*expand)(const struct uprobe_file *f))
{
	struct uprobe_file f = {.c = c, .m = m, .out = out};
	struct file_spec s;
	name_vec files = {0};
	int rc;

	if (files_of(c, m, &s, &files))
		return -1;
	for (unsigned i = 0; i < files.n; i++) {
		f.elf = open_one(c, m, &s, files.v[i], &f.pid, &rc);
		if (f.elf) {
			f.in_target = f.pid < 0 && is_shells(c);
			if (f.in_target)
				f.pid = 0;
			f.how = arena_new_of(c->a, struct uprobe_how);
			rc = expand(&f);
			elf_close_file(f.elf);
		}
		if (rc)
			return rc;
	}
	return 0;
}

struct elf_file *uprobe_open_first(struct compile *c, const struct match *m)
{
	struct match quiet = *m;
	struct file_spec s;
	name_vec files = {0};
	const char *why;

	quiet.quiet = true;
	if (files_of(c, &quiet, &s, &files) || !files.n)
		return NULL;
	return elf_open_file(c, files.v[0], &why);
}

struct probe *uprobe_add(const struct uprobe_file *f, uint64_t offset)
{
	struct probe *p = family_probe(f->c, f->m);
	struct uprobe *u = arena_new_of(f->c->a, struct uprobe);

	u->path = f->elf->path;
	u->offset = offset;
	u->pid = f->pid;
	p->in_target = f->in_target;
	u->how = f->how;
	p->data = u;
	p->place = PLACE_KERNEL;
	p->prog = PROG_KPROBE;
	p->guard = GUARD_PREEMPTIBLE;
	vec_push(f->c->a, f->out, p);
	return p;
}
