/* SPDX-License-Identifier: MIT */
/*
 * A pattern is matched component by component. Not by glob(3): that cannot be
 * told to give up, and a script must not walk through a file system for
 * minutes.
 */
#include "types/files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Components of a pattern: each is a call that is not over. */
enum { DEPTH_MAX = 64 };

struct walk {
	struct arena *a;
	name_vec *ret;
	unsigned looked_at, depth;
};

static int by_name(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

/* Entries of dir ("" is the working directory) that the first n bytes of
 * pattern match, sorted. */
static int matching(struct walk *w, const char *dir, const char *pattern,
		    size_t n, name_vec *ret)
{
	const char *wanted = arena_strndup(w->a, pattern, n);
	DIR *d = opendir(*dir ? dir : ".");
	const struct dirent *de;

	w->looked_at += 10; /* opening costs as much as that many entries */
	while (d && w->looked_at <= FILES_GLOB_MAX && (de = readdir(d))) {
		w->looked_at++;
		if (!fnmatch(wanted, de->d_name, FNM_PERIOD))
			vec_push(w->a, ret, arena_strdup(w->a, de->d_name));
	}
	if (d)
		closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return w->looked_at > FILES_GLOB_MAX ? -E2BIG : 0;
}

/* path is what was matched so far, with its slashes; rest is still to be. */
static int walk(struct walk *w, const char *path, const char *rest)
{
	size_t slashes = strspn(rest, "/"), n = strcspn(rest + slashes, "/");
	name_vec names = {0};
	int rc = 0;

	path = arena_printf(w->a, "%s%.*s", path, (int)slashes, rest);
	rest += slashes;
	if (!*rest) {
		if (!access(path, F_OK))
			vec_push(w->a, w->ret, path);
		return 0;
	}
	if (w->depth >= DEPTH_MAX)
		return -E2BIG;
	w->depth++;
	if (strcspn(rest, "*?[\\") >= n)
		rc = walk(w, arena_printf(w->a, "%s%.*s", path, (int)n, rest),
			  rest + n);
	else
		rc = matching(w, path, rest, n, &names);
	for (unsigned i = 0; i < names.n && !rc; i++)
		rc = walk(w, arena_printf(w->a, "%s%s", path, names.v[i]),
			  rest + n);
	w->depth--;
	return rc;
}

int files_glob(struct arena *a, const char *pattern, name_vec *ret)
{
	struct walk w = {.a = a, .ret = ret};
	unsigned before = ret->n;
	int rc = walk(&w, "", pattern);

	if (rc)
		ret->n = before; /* some of them would pass for all */
	return rc;
}
