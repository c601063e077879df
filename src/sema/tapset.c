/* SPDX-License-Identifier: MIT */
/* The library: which file defines a name, and reading that file. */
#include "sema/tapset.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compile.h"
#include "base/map.h"
#include "base/slurp.h"
#include "probe/probe.h"
#include "sema/embedded.h"

enum { FILE_MAX = 4 << 20 }; /* no library file is near it */

/*
 * One file; of -I it is read in whole when it is found, of the program's own
 * it is unpacked when one of its names is wanted, and parsed then.
 */
struct lib_file {
	const char *name, *text;
	const struct embedded_file *packed; /* text: NULL before its use */
	size_t len;
	bool is_macros, is_parsed;
};

/* A name that a file of an -I directory defines. */
struct dir_name {
	enum tapset_kind kind;
	const char *name;
	unsigned file; /* index in tapset.files */
};

struct tapset {
	struct compile *c;
	struct macros *macros;
	VEC(struct lib_file) files; /* of -I, then the embedded ones */
	VEC(struct dir_name) names; /* of -I */
	unsigned first_embedded; /* index in files */
	unsigned scanning; /* index of the file being scanned */
};

/* --- -I directories ------------------------------------------------------- */

/* 0, or a negative errno; the text has a NUL behind it, *ret_len without. */
static int read_text(struct compile *c, const char *path, char **ret,
		     size_t *ret_len)
{
	/* a pipe that nobody writes to must not stop us */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
	}
	rc = slurp(c->a, fd, FILE_MAX, ret, ret_len);
	close(fd);
	return rc;
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/* scan_names() calls it: ctx is the library. */
static void add_name(void *ctx, enum tapset_kind kind, const char *name,
		     size_t len)
{
	struct tapset *t = ctx;
	struct dir_name n = {kind, str_intern(t->c->str, name, len),
			     t->scanning};

	if (kind == TAPSET_MACRO) /* all of -I's macro files are read */
		return;
	vec_push(t->c->a, &t->names, n);
}

static int is_library_file(const struct dirent *de)
{
	return ends_in(de->d_name, ".stp") || ends_in(de->d_name, ".stpm");
}

/* In alphabetical order, so that a directory means the same everywhere. */
static void add_dir(struct tapset *t, const char *dir)
{
	struct dirent **list;
	char *text;
	int i, n, rc;

	n = scandir(dir, &list, is_library_file, alphasort);
	if (n < 0) {
		complain(t->c, LIBRARY_DIR, NULL, dir, strerror(errno));
		return;
	}
	for (i = 0; i < n; i++) {
		struct lib_file f = {0};

		f.name = arena_printf(t->c->a, "%s/%s", dir, list[i]->d_name);
		f.is_macros = ends_in(f.name, ".stpm");
		rc = read_text(t->c, f.name, &text, &f.len);
		free(list[i]);
		if (rc == -EISDIR) /* the name alone makes no file of it */
			continue;
		if (rc) {
			complain(t->c, LIBRARY_DIR, NULL, f.name,
				 rc == -ENOTSUP ? "not a regular file"
						: strerror(-rc));
			continue;
		}
		f.text = text;
		t->scanning = t->files.n;
		vec_push(t->c->a, &t->files, f);
		if (!f.is_macros)
			scan_names(f.text, f.len, add_name, t);
	}
	free(list);
}

/* The same directory again brings the same names again. */
static bool named_before(const struct compile *c, unsigned i)
{
	const char *dir = c->set.include_dirs.v[i];

	for (unsigned k = 0; k < i; k++)
		if (!strcmp(c->set.include_dirs.v[k], dir))
			return true;
	return false;
}

struct tapset *tapset_new(struct compile *c)
{
	struct tapset *t = arena_new_of(c->a, struct tapset);
	unsigned i;

	/*
	 * Directories first: their files go before the embedded ones of the
	 * same names.
	 */
	t->c = c;
	for (i = 0; i < c->set.include_dirs.n; i++)
		if (!named_before(c, i))
			add_dir(t, c->set.include_dirs.v[i]);
	t->first_embedded = t->files.n;
	for (i = 0; i < embedded_nfiles; i++) {
		const struct embedded_file *e = &embedded_files[i];
		struct lib_file f = {.name = e->name,
				     .packed = e,
				     .len = e->len,
				     .is_macros = e->is_macros};

		vec_push(c->a, &t->files, f);
	}
	return t;
}

/* --- reading -------------------------------------------------------------- */

/*
 * The text of a file that the program brings along. All of it together is a
 * fifth of the binary unpacked, and a script wants a few files of it: 20 KB
 * take 0.1 ms.
 */
static const char *unpack(struct arena *a, const struct embedded_file *e)
{
	uLongf len = e->len;
	unsigned char *text = arena_alloc(a, e->len + 1);
	int rc = uncompress(text, &len, e->packed, e->packed_len);

	/* The bytes are the build's own: there is nothing to report. */
	assert(rc == Z_OK && len == e->len);
	(void)rc;
	text[len] = 0;
	return (const char *)text;
}

/* A source of its own for each file: messages and private names go by it. */
static struct source *open_source(struct tapset *t, struct lib_file *f)
{
	struct source *src;

	if (!f->text)
		f->text = unpack(t->c->a, f->packed);
	src = source_new(t->c->a, f->name, f->text, f->len, t->c->sources.n);
	src->is_library = 1;
	vec_push(t->c->a, &t->c->sources, src);
	return src;
}

static unsigned lower_bound(enum tapset_kind kind, const char *name);

/* The embedded file that defines "@name" is read once somebody uses it. */
static void need_macro(void *ctx, const char *name)
{
	struct tapset *t = ctx;
	unsigned i = lower_bound(TAPSET_MACRO, name + 1);
	const struct embedded_name *e = &embedded_names[i];
	struct lib_file *f;

	if (i == embedded_nnames || e->kind != TAPSET_MACRO ||
	    strcmp(e->name, name + 1))
		return;
	f = &t->files.v[t->first_embedded + e->file];
	if (f->is_parsed)
		return;
	f->is_parsed = true;
	macros_load(t->c, t->macros, open_source(t, f));
}

struct macros *tapset_macros(struct tapset *t)
{
	unsigned i;

	if (t->macros)
		return t->macros;
	t->macros = macros_new(t->c);
	macros_on_miss(t->macros, need_macro, t);
	for (i = 0; i < t->first_embedded; i++)
		if (t->files.v[i].is_macros)
			macros_load(t->c, t->macros,
				    open_source(t, &t->files.v[i]));
	return t->macros;
}

static void read_file(struct tapset *t, unsigned i, file_list *out)
{
	struct lib_file *f = &t->files.v[i];
	struct file *file;

	if (f->is_parsed)
		return;
	f->is_parsed = true;
	file = parse_file(t->c, tapset_macros(t), open_source(t, f),
			  PARSE_LIBRARY);
	vec_push(t->c->a, out, file);
}

/* First embedded name that is not less than (kind, name). */
static unsigned lower_bound(enum tapset_kind kind, const char *name)
{
	unsigned lo = 0, hi = embedded_nnames;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		const struct embedded_name *e = &embedded_names[mid];

		if (e->kind < (int)kind ||
		    (e->kind == (int)kind && strcmp(e->name, name) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Usually none or one: the index is by exact names. Wildcards look at all of
 * the kind.
 */
void tapset_need(struct tapset *t, enum tapset_kind kind, const char *name,
		 file_list *out)
{
	bool wild = kind == TAPSET_ALIAS && strpbrk(name, "*?");
	unsigned i;

	for (i = 0; i < t->names.n; i++) {
		const struct dir_name *n = &t->names.v[i];

		if (n->kind == kind &&
		    (wild ? probe_glob(name, n->name) : !strcmp(name, n->name)))
			read_file(t, n->file, out);
	}
	for (i = lower_bound(kind, wild ? "" : name); i < embedded_nnames;
	     i++) {
		const struct embedded_name *e = &embedded_names[i];

		if (e->kind != (int)kind)
			break;
		if (!wild && strcmp(e->name, name))
			break;
		if (!wild || probe_glob(name, e->name))
			read_file(t, t->first_embedded + e->file, out);
	}
}

void tapset_names(struct tapset *t, enum tapset_kind kind,
		  void (*fn)(void *ctx, const char *name), void *ctx)
{
	unsigned i;

	for (i = 0; i < t->names.n; i++)
		if (t->names.v[i].kind == kind)
			fn(ctx, t->names.v[i].name);
	for (i = lower_bound(kind, "");
	     i < embedded_nnames && embedded_names[i].kind == (int)kind; i++)
		fn(ctx, embedded_names[i].name);
}
