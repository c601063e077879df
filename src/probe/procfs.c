/* SPDX-License-Identifier: MIT */
/*
 * procfs and input: probes that hand text between a handler and the outside
 * by way of $value. The files are named pipes (run/files.c), since without a
 * kernel module there is nothing in /proc to make. Tags of procfs: 0 read,
 * 1 write; of input: 0 a byte, 1 a line.
 */
#include <string.h>

#include "probe/family.h"

enum {
	PIPE_MAX = 1 << 20, /* what a pipe holds at most (fs.pipe-max-size) */
	MODE_MAX = 0777,
};

/*
 * Stays below the session's directory. Pipes of a session are made in a
 * directory of its own; 200 keeps the whole path below what the kernel and the
 * reader's tools take.
 */
static bool is_inside(const char *path)
{
	if (*path == '/' || !*path || strlen(path) > 200)
		return false;
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (!n || (n <= 2 && !strncmp(p, "..", n)))
			return false;
		p += n;
		if (*p == '/' && !*++p)
			return false;
	}
	return true;
}

/*
 * Components come in any order that family.def lists: each argument is known by
 * its component's name.
 */
static int expand_procfs(struct compile *c, const struct match *m,
			 probe_list *out)
{
	/* umask: nobody but the owner, as systemtap */
	int64_t max = c->set.limit[LIMIT_MAXSTRINGLEN], umask = 077;
	const char *name = "command";
	struct probe *p;

	for (unsigned i = 0; i < m->nargs; i++) {
		if (!m->arg[i])
			continue;
		if (!strcmp(m->name[i], "procfs"))
			name = m->arg[i]->str;
		else if (!strcmp(m->name[i], "umask"))
			umask = m->arg[i]->num;
		else
			max = m->arg[i]->num;
	}
	if (!is_inside(name))
		return family_refuse(c, m, "a file's name must be a relative "
				     "path without '.' and '..'");
	if (umask < 0 || umask > MODE_MAX)
		return family_refuse(c, m, "umask is not between 0 and 0777");
	if (max < 1 || max > PIPE_MAX)
		return family_refuse(c, m, "maxsize is not between 1 and %d",
				     PIPE_MAX);
	p = family_probe(c, m);
	p->place = PLACE_HOST;
	p->when = WHEN_FILE;
	p->file.name = name;
	p->file.write = m->pattern->tag == 1;
	p->file.umask = (unsigned)umask;
	p->file.max = (uint32_t)max;
	p->value = p->file.write ? VALUE_GIVEN : VALUE_SET;
	vec_push(c->a, out, p);
	return 0;
}

static int expand_input(struct compile *c, const struct match *m,
			probe_list *out)
{
	struct probe *p = family_probe(c, m);

	p->place = PLACE_HOST;
	p->when = m->pattern->tag ? WHEN_LINE : WHEN_CHAR;
	p->value = VALUE_GIVEN;
	vec_push(c->a, out, p);
	return 0;
}

const struct family family_procfs = {
    .name = "procfs",
    .type = "procfs",
    .expand = expand_procfs,
};

const struct family family_input = {
    .name = "input",
    .type = "procfs",
    .expand = expand_input,
};
