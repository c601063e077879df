/* SPDX-License-Identifier: MIT */
#include "types/ksyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "types/glob.h"

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

int ksyms_find(struct compile *c, const char *module, const char *name,
	       ksym_list *ret)
{
	/* "e": not inherited by the command of -c. */
	FILE *f = fopen("/proc/kallsyms", "re");
	struct map *seen = map_new(c->a);
	char *line = NULL, *sym, *mod, type;
	struct ksym copy = {0};
	unsigned before = ret->n;
	size_t cap = 0;
	bool start = false; /* of the kernel: code that is gone once it runs */

	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		struct ksym k;

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
		if (!copy.name && !*module && !*mod &&
		    name_is_copy(sym, name)) {
			copy.name = str_internz(c->str, name);
			copy.symbol = str_internz(c->str, sym);
			copy.module = "";
		}
		if (!name_glob(name, sym) || is_artefact(sym))
			continue;
		/* BPF programs and trampolines name themselves like modules. */
		if (!strncmp(mod, "bpf", 4) || !strncmp(mod, "__builtin", 9))
			continue;
		/*
		 * "" asks for the kernel only: a "*" must be written to reach
		 * into modules.
		 */
		if (*module ? !*mod || !name_glob(module, mod) : *mod != 0)
			continue;
		k.name = k.symbol = str_internz(c->str, sym);
		k.module = str_internz(c->str, mod);
		/*
		 * Static functions of one name exist in many files; one probe
		 * of that name is placed at all of them, so it is listed once.
		 */
		sym = arena_printf(c->a, "%s:%s", k.module, k.name);
		if (map_has(seen, sym))
			continue;
		map_set(seen, sym, seen);
		vec_push(c->a, ret, k);
	}
	free(line);
	fclose(f);
	if (ret->n == before && copy.name)
		vec_push(c->a, ret, copy);
	return 0;
}

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
