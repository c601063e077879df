/* SPDX-License-Identifier: MIT */
/*
 * The kernel's types by name, through libbpf. The file is opened when a script
 * first needs a type (7 ms, 6 MB) and closed before the script runs.
 */
#include "types/types.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/map.h"
#include "types/btf.h"
#include "types/debug.h"
#include "types/glob.h"
#include "types/ksyms.h"

#define BTF_DIR "/sys/kernel/btf"

/* --- opening and closing -------------------------------------------------- */

/* Nothing is opened here: that is types_reopen()'s. */
static struct ctypes *state_new(struct compile *c, const char *module)
{
	struct ctypes *t = arena_new_of(c->a, struct ctypes);

	t->source.fill = types_fill;
	t->c = c;
	t->module = module;
	t->made = map_new(c->a);
	t->ids = map_new(c->a);
	t->kept = map_new(c->a);
	t->none.name = "";
	t->none.filled = true;
	return t;
}

static struct ctypes *state(struct compile *c)
{
	if (!c->kernel_types)
		c->kernel_types = state_new(c, "");
	return c->kernel_types;
}

static void open_kernel(struct ctypes *t)
{
	int err;

	/*
	 * What libbpf would print is said in our words. Its callback is the
	 * whole process's; others of us set it before they load.
	 */
	libbpf_set_print(NULL);
	t->btf = btf__load_vmlinux_btf();
	err = t->btf ? 0 : errno;
	if (!err)
		return;
	/* Two different reasons need two different answers of the user's. */
	if (access(BTF_DIR "/vmlinux", F_OK))
		t->missing = "the kernel has no " BTF_DIR "/vmlinux "
			     "(built without CONFIG_DEBUG_INFO_BTF)";
	else
		t->missing = arena_printf(t->c->a,
					  "cannot read " BTF_DIR "/vmlinux: %s",
					  strerror(err));
}

static struct ctypes *kernel(struct compile *c)
{
	struct ctypes *t = state(c);

	types_reopen(t);
	return t;
}

/*
 * A module's file has only what the kernel's does not: it is read on top of it.
 */
static void open_module(struct ctypes *t)
{
	struct ctypes *base = kernel(t->c);
	char *path = arena_printf(t->c->a, BTF_DIR "/%s", t->module);

	t->btf = base->btf ? btf__parse_split(path, base->btf) : NULL;
	if (!t->btf)
		t->missing = "the module has no types";
}

/* Once it failed it is not tried again: `missing` says why. */
void types_reopen(struct ctypes *t)
{
	if (t->btf || t->missing)
		return;
	if (*t->module)
		open_module(t);
	else
		open_kernel(t);
}

/* The kernel's for "", or a module's; what has no types has no btf. */
static struct ctypes *module_types(struct compile *c, const char *module)
{
	struct ctypes *t = kernel(c);

	for (; t; t = t->next)
		if (!strcmp(t->module, module)) {
			types_reopen(t);
			return t;
		}
	t = state_new(c, str_internz(c->str, module));
	t->next = state(c)->next;
	state(c)->next = t;
	/* The name comes from a script and becomes part of a path. */
	if (strchr(module, '/'))
		t->missing = "no name of a module";
	types_reopen(t);
	return t;
}

void **types_keep(struct compile *c, const char *key)
{
	struct ctypes *t = state(c);

	/*
	 * Made before the first use so that the family can store into the place
	 * itself.
	 */
	if (!map_has(t->kept, key))
		map_set(t->kept, key, arena_new_of(c->a, void *));
	return map_get(t->kept, key);
}

const char *types_missing(struct compile *c)
{
	return kernel(c)->missing;
}

void types_close(struct compile *c)
{
	struct ctypes *t = c->kernel_types;

	debug_close(c);
	ksyms_close(c);
	/* A module's types refer to the kernel's: those go last. */
	for (struct ctypes *m = t ? t->next : NULL; m; m = m->next) {
		btf__free(m->btf);
		m->btf = NULL;
	}
	if (t) {
		btf__free(t->btf);
		t->btf = NULL;
	}
}

/* --- finding by name ------------------------------------------------------ */

/*
 * The id of a name, or 0. libbpf goes through all 100,000 types (1 ms): both
 * hits and misses are remembered.
 */
static uint32_t find_id(struct ctypes *t, const char *name, unsigned kind)
{
	char *key;
	int id;

	if (!t->btf || !*name)
		return 0;
	key = arena_printf(t->c->a, "%u %s", kind, name);
	if (map_has(t->ids, key))
		return (uintptr_t)map_get(t->ids, key);
	id = btf__find_by_name_kind(t->btf, name, kind);
	if (id < 0)
		id = 0;
	map_set(t->ids, key, (void *)(uintptr_t)id);
	return id;
}

/* The first of these kinds (-1 ends them) that there is. */
static uint32_t find_any(struct ctypes *t, const char *name, const int *kind)
{
	uint32_t id = 0;

	for (; *kind >= 0 && !id; kind++)
		id = find_id(t, name, *kind);
	return id;
}

/* A word and blanks behind it. "structure" is not "struct". */
static bool skip_word(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n) || ((*s)[n] != ' ' && (*s)[n] != '\t'))
		return false;
	*s += n;
	*s += strspn(*s, " \t");
	return true;
}

/*
 * By the word in front, or whatever bears the name: C has two name spaces, and
 * a script that says only "task_struct" means the struct.
 */
static const struct ctype *find_named(struct ctypes *t, const char *name)
{
	static const int structs[] = {BTF_KIND_STRUCT, -1};
	static const int unions[] = {BTF_KIND_UNION, -1};
	static const int enums[] = {BTF_KIND_ENUM, BTF_KIND_ENUM64, -1};
	static const int plain[] = {
	    BTF_KIND_TYPEDEF, BTF_KIND_INT, BTF_KIND_FLOAT, BTF_KIND_STRUCT,
	    BTF_KIND_UNION, BTF_KIND_ENUM, BTF_KIND_ENUM64, -1};
	const int *kinds = plain;
	uint32_t id;

	if (skip_word(&name, "struct") || skip_word(&name, "class"))
		kinds = structs;
	else if (skip_word(&name, "union"))
		kinds = unions;
	else if (skip_word(&name, "enum"))
		kinds = enums;
	if (!strcmp(name, "void"))
		return &t->none;
	id = find_any(t, name, kinds);
	return id ? ctype_of_id(t, id) : NULL;
}

const struct ctype *ctype_pointer_to(struct compile *c, const struct ctype *t)
{
	struct ctype *p = arena_new_of(c->a, struct ctype);

	p->kind = CT_PTR;
	p->name = "";
	p->size = 8;
	p->to = t;
	p->filled = true;
	return p;
}

const struct ctype *ctype_in_user_space(struct compile *c,
					const struct ctype *t)
{
	struct ctype *tag = arena_new_of(c->a, struct ctype);

	tag->kind = CT_TAG;
	tag->name = "user";
	tag->to = t;
	tag->filled = true;
	return tag;
}

static const struct ctype *find_in(struct ctypes *t, const char *name)
{
	struct compile *c = t->c;
	const struct ctype *ct;
	size_t len;
	unsigned stars = 0;
	char *plain;

	/*
	 * The stars are counted from the end; "const" in front changes nothing
	 * that a reader could see.
	 */
	name += strspn(name, " \t");
	len = strlen(name);
	while (len && strchr(" \t*", name[len - 1])) {
		stars += name[len - 1] == '*';
		len--;
	}
	plain = arena_strndup(c->a, name, len);
	name = plain;
	skip_word(&name, "const");
	ct = find_named(t, name);
	while (ct && stars--)
		ct = ctype_pointer_to(c, ct);
	return ct;
}

const struct ctype *types_find(struct compile *c, const char *name)
{
	return find_in(kernel(c), name);
}

const struct ctype *types_find_in(struct compile *c, const char *module,
				  const char *name)
{
	/* A module's BTF continues the kernel's: both are searched. */
	struct ctypes *t = module_types(c, module);

	return find_in(t->btf ? t : kernel(c), name);
}

/* The section of variables that each CPU has a copy of. */
static bool in_percpu_section(struct ctypes *t, uint32_t var)
{
	for (uint32_t id = 1; id < btf__type_cnt(t->btf); id++) {
		const struct btf_type *r = btf__type_by_id(t->btf, id);
		const struct btf_var_secinfo *s;
		const char *name;

		if (!btf_is_datasec(r))
			continue;
		name = btf__str_by_offset(t->btf, r->name_off);
		if (!name || !strstr(name, "percpu"))
			continue;
		s = btf_var_secinfos(r);
		for (unsigned i = 0; i < btf_vlen(r); i++)
			if (s[i].type == var)
				return true;
	}
	return false;
}

const struct ctype *types_variable(struct compile *c, const char *module,
				   const char *name, bool *ret_percpu)
{
	struct ctypes *t = module_types(c, module);
	uint32_t id = find_id(t, name, BTF_KIND_VAR);
	const struct btf_type *r = id ? btf__type_by_id(t->btf, id) : NULL;

	*ret_percpu = r && in_percpu_section(t, id);
	return r ? ctype_of_id(t, r->type) : NULL;
}

uint32_t types_function_id(struct compile *c, const char *name)
{
	return find_id(kernel(c), name, BTF_KIND_FUNC);
}

/* A function's prototype is one reference further: BTF_KIND_FUNC names it. */
static const struct ctype *function_in(struct ctypes *t, const char *name)
{
	uint32_t id = find_id(t, name, BTF_KIND_FUNC);
	const struct btf_type *r = id ? btf__type_by_id(t->btf, id) : NULL;
	const struct ctype *ct = r ? ctype_of_id(t, r->type) : NULL;

	return ct && ct->kind == CT_FUNC ? ctype_fill(ct) : NULL;
}

const struct ctype *types_function(struct compile *c, const char *module,
				   const char *name)
{
	return function_in(module_types(c, module), name);
}

/*
 * A tracepoint's own type (a typedef of a pointer to its callbacks) leaves the
 * parameters nameless; the function that calls the callbacks has the names.
 */
static const struct ctype *tracepoint_in(struct ctypes *t, const char *name)
{
	struct compile *c = t->c;
	uint32_t id = find_id(t, arena_printf(c->a, "btf_trace_%s", name),
			      BTF_KIND_TYPEDEF);
	const struct ctype *ct = id ? ctype_strip(ctype_of_id(t, id)) : NULL;
	const struct ctype *named;
	struct ctype *args;

	if (!ct || ct->kind != CT_PTR)
		return NULL;
	ct = ctype_strip(ctype_fill(ct)->to);
	if (!ct || ct->kind != CT_FUNC || !ctype_fill(ct)->members.n)
		return NULL;
	named = function_in(t, arena_printf(c->a, "__traceiter_%s", name));
	if (named && named->members.n == ct->members.n)
		ct = named;
	/*
	 * The first parameter is the tracepoint's own data pointer. It has no
	 * name and no value to a script. The copy shares its members with the
	 * original, which is never freed.
	 */
	args = arena_new_of(c->a, struct ctype);
	*args = *ct;
	args->members.v++;
	args->members.n--;
	args->members.cap = args->members.n;
	return args;
}

const struct ctype *types_tracepoint(struct compile *c, const char *name)
{
	const struct ctype *ct = tracepoint_in(kernel(c), name);
	/*
	 * Names of tracepoints do not tell whose they are, so the modules are
	 * asked in turn; what was opened stays open until types_close().
	 */
	DIR *dir = ct ? NULL : opendir(BTF_DIR);
	struct dirent *e;

	while (dir && !ct && (e = readdir(dir)))
		/* The folder holds one file a module, and the kernel's. */
		if (*e->d_name != '.' && strcmp(e->d_name, "vmlinux"))
			ct = tracepoint_in(module_types(c, e->d_name), name);
	if (dir)
		closedir(dir);
	return ct;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Every name of a kind that starts with prefix and goes on as glob says. Goes
 * through all types once; a function that several files define comes several
 * times, so the list is sorted and made unique. -ENOENT: no BTF.
 */
static int list_names(struct compile *c, unsigned kind, const char *prefix,
		      const char *glob, name_vec *ret)
{
	struct ctypes *t = kernel(c);
	size_t len = strlen(prefix);
	unsigned first = ret->n, to;

	if (t->missing)
		return -ENOENT;
	for (uint32_t id = 1; id < btf__type_cnt(t->btf); id++) {
		const struct btf_type *r = btf__type_by_id(t->btf, id);
		const char *name;

		if (btf_kind(r) != kind)
			continue;
		name = btf__str_by_offset(t->btf, r->name_off);
		if (!name || strncmp(name, prefix, len) ||
		    !name_glob(glob, name + len))
			continue;
		vec_push(c->a, ret, str_internz(c->str, name + len));
	}
	if (ret->n == first)
		return 0;
	qsort(ret->v + first, ret->n - first, sizeof(*ret->v), compare_names);
	to = first + 1;
	for (unsigned i = to; i < ret->n; i++)
		if (strcmp(ret->v[i], ret->v[to - 1]))
			ret->v[to++] = ret->v[i];
	ret->n = to;
	return 0;
}

int types_tracepoints(struct compile *c, const char *glob, name_vec *ret)
{
	return list_names(c, BTF_KIND_TYPEDEF, "btf_trace_", glob, ret);
}

/*
 * A search through all enums (2 to 5 ms): only for names that are nothing else.
 * The first one found counts; the kernel's enumerators are unique but for a few
 * that have the same value.
 */
bool types_constant(struct compile *c, const char *name, int64_t *ret)
{
	struct ctypes *t = kernel(c);
	unsigned n = t->btf ? btf__type_cnt(t->btf) : 0;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *r = btf__type_by_id(t->btf, id);

		if (!btf_is_any_enum(r))
			continue;
		for (unsigned i = 0; i < btf_vlen(r); i++) {
			const char *s = btf__str_by_offset(t->btf,
							   enum_name(r, i));

			if (!s || strcmp(s, name))
				continue;
			*ret = enum_value(r, i);
			return true;
		}
	}
	return false;
}
