/* SPDX-License-Identifier: MIT */
/*
 * Turns the library files into C: their texts, packed, and an index of the
 * names that they define. Run when tally is built:
 *
 *     embed DIRECTORY OUTPUT.c DEPFILE
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sema/scan.h"

enum { FILES_MAX = 1000, NAMES_MAX = 20000 };

struct name {
	enum tapset_kind kind;
	char *text;
	unsigned file;
};

struct embed {
	char *file[FILES_MAX];
	unsigned nfiles;
	struct name name[NAMES_MAX];
	unsigned nnames;
	unsigned at; /* the file that is being scanned */
	bool is_macros;
};

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "embed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int r = x->kind != y->kind ? (int)x->kind - (int)y->kind
				   : strcmp(x->text, y->text);

	return r ? r : (int)x->file - (int)y->file;
}

static void list(struct embed *e, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *de;

	if (!d)
		die(dir);
	while ((de = readdir(d))) {
		if (!ends_in(de->d_name, ".stp") &&
		    !ends_in(de->d_name, ".stpm"))
			continue;
		if (e->nfiles == FILES_MAX) {
			errno = E2BIG;
			die(dir);
		}
		e->file[e->nfiles++] = strdup(de->d_name);
	}
	closedir(d);
	qsort(e->file, e->nfiles, sizeof(e->file[0]), by_text);
}

static char *slurp(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
		die(path);
	rewind(f);
	text = malloc((size_t)n + 1);
	if (!text || fread(text, 1, (size_t)n, f) != (size_t)n)
		die(path);
	text[n] = 0;
	fclose(f);
	*ret_len = (size_t)n;
	return text;
}

static void add(void *ctx, enum tapset_kind kind, const char *name, size_t len)
{
	struct embed *e = ctx;
	unsigned i;

	if (e->is_macros != (kind == TAPSET_MACRO))
		return;
	for (i = 0; i < e->nnames; i++)
		if (e->name[i].file == e->at && e->name[i].kind == kind &&
		    strlen(e->name[i].text) == len &&
		    !memcmp(e->name[i].text, name, len))
			return;
	if (e->nnames == NAMES_MAX) {
		errno = E2BIG;
		die(e->file[e->at]);
	}
	e->name[e->nnames].kind = kind;
	e->name[e->nnames].file = e->at;
	e->name[e->nnames++].text = strndup(name, len);
}

/* The text of one file as an array of its packed bytes: their number. */
static size_t put_packed(FILE *out, unsigned file, const char *text, size_t len)
{
	uLongf n = compressBound(len), i;
	unsigned char *packed = malloc(n);

	if (!packed || compress2(packed, &n, (const unsigned char *)text, len,
				 Z_BEST_COMPRESSION) != Z_OK)
		die("compress2");
	fprintf(out, "static const unsigned char file%u[] = {", file);
	for (i = 0; i < n; i++)
		fprintf(out, "%s%u,", i % 16 ? "" : "\n\t", packed[i]);
	fputs("\n};\n", out);
	free(packed);
	return n;
}

static void put_files(struct embed *e, const char *dir, FILE *out, FILE *dep)
{
	static size_t len[FILES_MAX], packed[FILES_MAX];
	char path[4096];

	for (e->at = 0; e->at < e->nfiles; e->at++) {
		char *text;

		snprintf(path, sizeof(path), "%s/%s", dir, e->file[e->at]);
		text = slurp(path, &len[e->at]);
		fprintf(dep, " %s", path);
		e->is_macros = ends_in(path, ".stpm");
		packed[e->at] = put_packed(out, e->at, text, len[e->at]);
		scan_names(text, len[e->at], add, e);
		free(text);
	}
	fputs("const struct embedded_file embedded_files[] = {\n", out);
	for (e->at = 0; e->at < e->nfiles; e->at++)
		fprintf(out, "\t{\"tapset/%s\", %zu, %d, %zu, file%u},\n",
			e->file[e->at], len[e->at],
			ends_in(e->file[e->at], ".stpm"), packed[e->at],
			e->at);
	fputs("\t{0, 0, 0, 0, 0}\n};\n", out);
	fprintf(out, "const unsigned embedded_nfiles = %u;\n", e->nfiles);
}

static void put_names(struct embed *e, FILE *out)
{
	unsigned i;

	qsort(e->name, e->nnames, sizeof(e->name[0]), by_name);
	fputs("const struct embedded_name embedded_names[] = {\n", out);
	for (i = 0; i < e->nnames; i++)
		fprintf(out, "\t{\"%s\", %d, %u},\n", e->name[i].text,
			(int)e->name[i].kind, e->name[i].file);
	fputs("\t{0, 0, 0}\n};\n", out);
	fprintf(out, "const unsigned embedded_nnames = %u;\n", e->nnames);
}

int main(int argc, char **argv)
{
	static struct embed e;
	FILE *out, *dep;

	if (argc != 4) {
		fputs("usage: embed DIRECTORY OUTPUT.c DEPFILE\n", stderr);
		return 2;
	}
	list(&e, argv[1]);
	out = fopen(argv[2], "w");
	dep = fopen(argv[3], "w");
	if (!out || !dep)
		die(argv[2]);
	fprintf(dep, "%s: %s", argv[2], argv[1]);
	fputs("/* Made by tools/embed.c: do not edit. */\n"
	      "#include \"sema/embedded.h\"\n\n",
	      out);
	put_files(&e, argv[1], out, dep);
	put_names(&e, out);
	fputs("\n", dep);
	if (fclose(out) || fclose(dep))
		die(argv[2]);
	return 0;
}
