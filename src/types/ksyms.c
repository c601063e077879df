/* SPDX-License-Identifier: MIT */
#include "types/ksyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "types/glob.h"
#include "types/types.h"

/* What the compiler made of a function (f.cold, f.constprop.0) and the build's
 * own marks (__pfx_f, __cfi_f) are no functions a script means. */
static bool is_artefact(const char *name)
{
	return strchr(name, '.') || !strncmp(name, "__pfx_", 6) ||
	       !strncmp(name, "__cfi_", 6) ||
	       !strncmp(name, "__UNIQUE_ID_", 12);
}

/*
 * "ffffffff81000000 T name\t[module]" taken apart in place. false: not such a
 * line. A symbol of the kernel has *ret_module "".
 */
static bool split_line(char *line, char *ret_type, char **ret_name,
		       char **ret_module)
{
	char *p = strchr(line, ' ');

	/*
	 * The address is hidden (all zero) from who may not see it, but always
	 * there.
	 */
	if (!p || !p[1] || p[2] != ' ')
		return false;
	*ret_type = p[1];
	*ret_name = p + 3;
	p = *ret_name + strcspn(*ret_name, "\t\n");
	*ret_module = p;
	if (*p == '\t' && p[1] == '[') {
		*p = 0;
		*ret_module = p + 2;
		(*ret_module)[strcspn(*ret_module, "]\n")] = 0;
	} else {
		*p = 0;
	}
	return true;
}

/* --- functions ------------------------------------------------------------ */

/*
 * Names of functions in the order of the file, each with its NUL; those of one
 * module follow each other. Kept apart from the arena: it is 1 to 5 MB, which a
 * script that runs for days does not need any more.
 */
struct ksym_text {
	char *v;
	size_t n, cap;
	/* Of one module: from start to the next one's start, or to n. */
	VEC(struct ksym_run {
		const char *module; /* interned */
		size_t start;
	}) runs;
};

static struct ksym_text **kept_text(struct compile *c)
{
	return (struct ksym_text **)types_keep(c, "kernel functions");
}

/* One of whose copies ksyms_find() may have to do with. */
static bool may_be_copy(const char *sym)
{
	return strstr(sym, ".isra.") || strstr(sym, ".constprop.");
}

static void text_add(struct compile *c, struct ksym_text *t, const char *sym,
		     const char *module)
{
	size_t size = strlen(sym) + 1;

	if (!t->runs.n || strcmp(vec_last(&t->runs).module, module)) {
		struct ksym_run run = {str_internz(c->str, module), t->n};

		vec_push(c->a, &t->runs, run);
	}
	if (t->cap - t->n < size) {
		t->cap = 2 * t->cap + size + (1 << 20);
		t->v = xrealloc(t->v, t->cap);
	}
	memcpy(t->v + t->n, sym, size);
	t->n += size;
}

static void text_read(struct compile *c, struct ksym_text *t, FILE *f)
{
	char *line = NULL, *sym, *mod, type;
	size_t cap = 0;
	bool start = false; /* of the kernel: code that is gone once it runs */

	while (getline(&line, &cap, f) > 0) {
		if (!split_line(line, &type, &sym, &mod))
			continue;
		/* The kernel's symbols are sorted by address. */
		if (!*mod && !strcmp(sym, "_sinittext"))
			start = true;
		else if (!*mod && !strcmp(sym, "_einittext"))
			start = false;
		if (start && !*mod)
			continue;
		/*
		 * Code (t, T) and weak code (w, W); the small letter means
		 * static.
		 */
		if (type != 't' && type != 'T' && type != 'W' && type != 'w')
			continue;
		/* BPF programs and trampolines name themselves like modules. */
		if (!strncmp(mod, "bpf", 4) || !strncmp(mod, "__builtin", 9))
			continue;
		if (!is_artefact(sym) || (!*mod && may_be_copy(sym)))
			text_add(c, t, sym, mod);
	}
	free(line);
}

/* When first asked for. NULL and *ret_err, a negative errno: not readable. */
static struct ksym_text *text_open(struct compile *c, int *ret_err)
{
	struct ksym_text **kept = kept_text(c);
	char page[4096]; /* as much as the kernel writes at once; libc: 1024 */
	FILE *f;

	if (*kept)
		return *kept;
	/* "e": not inherited by the command of -c. */
	f = fopen("/proc/kallsyms", "re");
	if (!f) {
		*ret_err = -errno;
		return NULL;
	}
	setvbuf(f, page, _IOFBF, sizeof(page));
	*kept = arena_new_of(c->a, struct ksym_text);
	text_read(c, *kept, f);
	fclose(f);
	return *kept;
}

void ksyms_close(struct compile *c)
{
	struct ksym_text **kept = kept_text(c);

	if (*kept)
		free((*kept)->v);
	*kept = NULL;
}

struct search {
	struct compile *c;
	const char *name;
	struct map *seen; /* "module:name" of ret */
	ksym_list *ret;
	struct ksym copy; /* name NULL: none was met */
};

/* What matches of the symbols between two places of the text. */
static void search_run(struct search *s, const char *module, const char *sym,
		       const char *end)
{
	struct compile *c = s->c;

	for (; sym < end; sym += strlen(sym) + 1) {
		struct ksym k = {.module = module};
		const char *key;

		if (!s->copy.name && !*module && name_is_copy(sym, s->name)) {
			s->copy.name = str_internz(c->str, s->name);
			s->copy.symbol = str_internz(c->str, sym);
			s->copy.module = "";
		}
		if (!name_glob(s->name, sym) || is_artefact(sym))
			continue;
		/*
		 * Static functions of one name exist in many files; one probe
		 * of that name is placed at all of them, so it is listed once.
		 */
		key = arena_printf(c->a, "%s:%s", module, sym);
		if (map_has(s->seen, key))
			continue;
		map_set(s->seen, key, s->seen);
		k.name = k.symbol = str_internz(c->str, sym);
		vec_push(c->a, s->ret, k);
	}
}

int ksyms_find(struct compile *c, const char *module, const char *name,
	       ksym_list *ret)
{
	struct search s = {.c = c, .name = name, .ret = ret};
	unsigned before = ret->n;
	int err = 0;
	struct ksym_text *t = text_open(c, &err);

	if (!t)
		return err;
	s.seen = map_new(c->a);
	for (unsigned i = 0; i < t->runs.n; i++) {
		const struct ksym_run *run = &t->runs.v[i];
		size_t end = i + 1 < t->runs.n ? run[1].start : t->n;

		/*
		 * "" asks for the kernel only: a "*" must be written to reach
		 * into modules.
		 */
		if (*module ? *run->module && name_glob(module, run->module)
			    : !*run->module)
			search_run(&s, run->module, t->v + run->start,
				   t->v + end);
	}
	if (ret->n == before && s.copy.name)
		vec_push(c->a, ret, s.copy);
	return 0;
}

/* --- variables ------------------------------------------------------------ */

int ksyms_variable(struct compile *c, const char *module, const char *name,
		   uint64_t *ret_addr)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *line = NULL, *sym, *mod, type;
	size_t cap = 0;
	int n = 0;

	(void)c;
	*ret_addr = 0;
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		uint64_t addr = strtoull(line, NULL, 16);

		/* Data, zeroed, read-only, weak; absolute: of each CPU. */
		if (!split_line(line, &type, &sym, &mod) ||
		    !strchr("dDbBrRvVaA", type) || strcmp(sym, name) ||
		    strcmp(mod, module))
			continue;
		*ret_addr = addr;
		n++;
	}
	free(line);
	fclose(f);
	return n;
}
