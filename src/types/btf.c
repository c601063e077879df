/* SPDX-License-Identifier: MIT */
/*
 * The kernel's types, read in place. A pass over /sys/kernel/btf/vmlinux notes
 * where each type starts (1 ms; libbpf's copy takes 7 ms and 6 MB), everything
 * else is decoded when it is asked for. The file comes from the kernel, but is
 * checked all the same: an offset or a type that is out of range reads as void.
 */
#include "types/types.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "types/glob.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"

/* Newer than some systems' headers. */
enum { KIND_DECL_TAG = 17, KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 };

struct ctypes {
	struct compile *c;
	struct map *kept;     /* types_keep() */
	bool opened;
	const char *missing;  /* why there is nothing, or NULL */
	uint8_t *file;
	size_t len;
	bool mapped;
	const uint8_t *types;
	uint32_t types_len;
	const char *strs;
	uint32_t strs_len;
	uint32_t *off;	      /* by id: where its record starts */
	uint32_t n;	      /* ids 1 .. n - 1 */
	struct ctype **made;  /* by id, NULL until asked for */
	struct ctype none;    /* void, and whatever cannot be read */
};

/* --- the file ------------------------------------------------------------- */

/* sysfs lets the file be mapped since 6.16; before that it is copied. */
static int file_load(struct ctypes *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t got = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(struct btf_header)) {
		close(fd);
		return -EINVAL;
	}
	t->len = st.st_size;
	t->file = mmap(NULL, t->len, PROT_READ, MAP_PRIVATE, fd, 0);
	t->mapped = t->file != MAP_FAILED;
	if (!t->mapped) {
		t->file = arena_alloc(t->c->a, t->len);
		while (got < t->len &&
		       (n = read(fd, t->file + got, t->len - got)) > 0)
			got += n;
		t->len = got;
	}
	close(fd);
	return 0;
}

/* Bytes of a record after its btf_type; -1 for a kind that is not known. */
static int64_t tail_size(uint32_t info)
{
	uint32_t n = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return (int64_t)n * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return (int64_t)n * sizeof(struct btf_var_secinfo);
	case KIND_ENUM64:
		return (int64_t)n * 12;
	default:
		return -1;
	}
}

static const struct btf_type *record_at(const struct ctypes *t, uint32_t off)
{
	return (const struct btf_type *)(t->types + off);
}

/* Fills t->off; a kind from the future ends the types that can be used. */
static void index_types(struct ctypes *t)
{
	uint32_t off = 0, cap = t->types_len / 24 + 16;

	t->off = arena_array(t->c->a, uint32_t, cap);
	t->n = 1;
	while (t->types_len - off >= sizeof(struct btf_type)) {
		int64_t tail = tail_size(record_at(t, off)->info);
		uint64_t size = sizeof(struct btf_type) + tail;

		if (tail < 0 || size > t->types_len - off)
			return;
		if (t->n == cap) {
			t->off = arena_grow(t->c->a, t->off, cap * 4, cap * 8);
			cap *= 2;
		}
		t->off[t->n++] = off;
		off += size;
	}
}

static int file_index(struct ctypes *t)
{
	const struct btf_header *h = (const void *)t->file;
	uint64_t body;

	if (t->len < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->hdr_len < sizeof(*h) || h->hdr_len > t->len)
		return -EINVAL;
	body = t->len - h->hdr_len;
	if ((uint64_t)h->type_off + h->type_len > body ||
	    (uint64_t)h->str_off + h->str_len > body || !h->str_len ||
	    h->type_off % 4)
		return -EINVAL;
	t->types = t->file + h->hdr_len + h->type_off;
	t->types_len = h->type_len;
	t->strs = (const char *)t->file + h->hdr_len + h->str_off;
	t->strs_len = h->str_len;
	if (t->strs[0] || t->strs[t->strs_len - 1])
		return -EINVAL;
	index_types(t);
	t->made = arena_array(t->c->a, struct ctype *, t->n);
	return 0;
}

static struct ctypes *state(struct compile *c)
{
	struct ctypes *t = c->kernel_types;

	if (t)
		return t;
	t = c->kernel_types = arena_new_of(c->a, struct ctypes);
	t->c = c;
	t->kept = map_new(c->a);
	t->none.name = "";
	t->none.filled = true;
	return t;
}

void **types_keep(struct compile *c, const char *key)
{
	struct ctypes *t = state(c);

	if (!map_has(t->kept, key))
		map_set(t->kept, key, arena_new_of(c->a, void *));
	return map_get(t->kept, key);
}

static struct ctypes *kernel(struct compile *c)
{
	struct ctypes *t = state(c);
	int err;

	if (t->opened)
		return t;
	t->opened = true;
	err = file_load(t, VMLINUX);
	if (err == -ENOENT)
		t->missing = "the kernel has no " VMLINUX
			     " (built without CONFIG_DEBUG_INFO_BTF)";
	else if (err)
		t->missing = arena_printf(c->a, "cannot read " VMLINUX ": %s",
					  strerror(-err));
	else if (file_index(t))
		t->missing = VMLINUX " is damaged";
	if (t->missing)
		t->n = 0;
	return t;
}

const char *types_missing(struct compile *c)
{
	return kernel(c)->missing;
}

void types_close(struct compile *c)
{
	struct ctypes *t = c->kernel_types;

	if (t && t->file && t->mapped)
		munmap(t->file, t->len);
	c->kernel_types = NULL;
}

/* --- from a record to a ctype --------------------------------------------- */

static const struct btf_type *record(const struct ctypes *t, uint32_t id)
{
	return id && id < t->n ? record_at(t, t->off[id]) : NULL;
}

static const char *string(const struct ctypes *t, uint32_t off)
{
	return off < t->strs_len ? t->strs + off : "";
}

static enum ctype_kind kind_of(const struct btf_type *r)
{
	switch (BTF_INFO_KIND(r->info)) {
	case BTF_KIND_INT:
		return CT_INT;
	case BTF_KIND_PTR:
		return CT_PTR;
	case BTF_KIND_ARRAY:
		return CT_ARRAY;
	case BTF_KIND_STRUCT:
		return CT_STRUCT;
	case BTF_KIND_UNION:
		return CT_UNION;
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		return CT_ENUM;
	case BTF_KIND_FWD:
		return CT_FWD;
	case BTF_KIND_TYPEDEF:
		return CT_TYPEDEF;
	case BTF_KIND_VOLATILE:
		return CT_VOLATILE;
	case BTF_KIND_CONST:
		return CT_CONST;
	case BTF_KIND_RESTRICT:
		return CT_RESTRICT;
	case BTF_KIND_FUNC_PROTO:
		return CT_FUNC;
	case BTF_KIND_FLOAT:
		return CT_FLOAT;
	case KIND_TYPE_TAG:
		return CT_TAG;
	default:
		return CT_VOID;
	}
}

static void read_int(struct ctype *ct, const struct btf_type *r)
{
	uint32_t info = *(const uint32_t *)(r + 1);

	ct->size = r->size;
	ct->sign = BTF_INT_ENCODING(info) & BTF_INT_SIGNED;
	if (BTF_INT_ENCODING(info) & BTF_INT_BOOL)
		ct->repr = REPR_BOOL;
	/* The kernel's own BTF does not mark characters. */
	else if (BTF_INT_ENCODING(info) & BTF_INT_CHAR ||
		 !strcmp(ct->name, "char"))
		ct->repr = REPR_CHAR;
}

static struct ctype *make(struct ctypes *t, uint32_t id)
{
	const struct btf_type *r = record(t, id);
	struct ctype *ct;

	if (!r)
		return &t->none;
	ct = t->made[id];
	if (ct)
		return ct;
	ct = t->made[id] = arena_new_of(t->c->a, struct ctype);
	ct->kind = kind_of(r);
	ct->name = string(t, r->name_off);
	ct->id = id;
	ct->owner = t;
	switch (ct->kind) {
	case CT_INT:
		read_int(ct, r);
		break;
	case CT_ENUM:
		ct->sign = BTF_INFO_KFLAG(r->info);
		ct->size = r->size;
		break;
	case CT_STRUCT:
	case CT_UNION:
	case CT_FLOAT:
		ct->size = r->size;
		break;
	case CT_PTR:
		ct->size = 8;
		break;
	default:
		break;
	}
	return ct;
}

static void fill_members(struct ctypes *t, struct ctype *ct,
			 const struct btf_type *r)
{
	const struct btf_member *m = (const void *)(r + 1);
	bool kflag = BTF_INFO_KFLAG(r->info);

	for (unsigned i = 0; i < BTF_INFO_VLEN(r->info); i++, m++) {
		struct cmember cm = {
		    .name = string(t, m->name_off),
		    .type = make(t, m->type),
		    .bit_off = kflag ? BTF_MEMBER_BIT_OFFSET(m->offset)
				     : m->offset,
		    .bit_size = kflag ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0,
		};

		vec_push(t->c->a, &ct->members, cm);
	}
}

static void fill_params(struct ctypes *t, struct ctype *ct,
			const struct btf_type *r)
{
	const struct btf_param *p = (const void *)(r + 1);

	ct->to = make(t, r->type);
	for (unsigned i = 0; i < BTF_INFO_VLEN(r->info); i++, p++) {
		struct cmember cm = {.name = string(t, p->name_off),
				     .type = make(t, p->type),
				     .bit_off = i * 64};

		vec_push(t->c->a, &ct->members, cm);
	}
}

static void fill_consts(struct ctypes *t, struct ctype *ct,
			const struct btf_type *r)
{
	const uint32_t *w = (const void *)(r + 1);
	bool wide = BTF_INFO_KIND(r->info) == KIND_ENUM64;

	for (unsigned i = 0; i < BTF_INFO_VLEN(r->info); i++) {
		struct cconst k = {.name = string(t, w[0])};

		if (wide)
			k.value = (int64_t)((uint64_t)w[2] << 32 | w[1]);
		else
			k.value = ct->sign ? (int64_t)(int32_t)w[1] : w[1];
		vec_push(t->c->a, &ct->consts, k);
		w += wide ? 3 : 2;
	}
}

/* Arrays of arrays of ...: sizes multiply until it stops making sense. */
static void fill_array(struct ctypes *t, struct ctype *ct,
		       const struct btf_type *r)
{
	const struct btf_array *arr = (const void *)(r + 1);
	const struct ctype *e;

	ct->count = arr->nelems;
	ct->to = make(t, arr->type);
	ct->filled = true; /* before looking down: a cycle ends here */
	e = ctype_strip(ct->to);
	if (e && e->kind == CT_ARRAY)
		e = ctype_fill(e);
	ct->size = e ? e->size * ct->count : 0;
}

const struct ctype *ctype_fill(const struct ctype *t)
{
	/* Reading more of it does not change what it is. */
	struct ctype *ct = (struct ctype *)(uintptr_t)t;
	const struct btf_type *r;

	if (!t || t->filled || !t->owner)
		return t;
	r = record(t->owner, t->id);
	ct->filled = true;
	if (!r)
		return t;
	switch (t->kind) {
	case CT_STRUCT:
	case CT_UNION:
		fill_members(t->owner, ct, r);
		break;
	case CT_FUNC:
		fill_params(t->owner, ct, r);
		break;
	case CT_ENUM:
		fill_consts(t->owner, ct, r);
		break;
	case CT_ARRAY:
		fill_array(t->owner, ct, r);
		break;
	case CT_INT:
	case CT_FLOAT:
	case CT_FWD:
	case CT_VOID:
		break;
	default:
		ct->to = make(t->owner, r->type);
	}
	return t;
}

/* --- finding by name ------------------------------------------------------ */

/* Names are kept once each: find the text, then compare offsets only. 0: the
 * name does not occur. */
static uint32_t name_offset(const struct ctypes *t, const char *name)
{
	size_t len = strlen(name) + 1;
	const char *p = t->strs, *end = t->strs + t->strs_len;

	if (len == 1)
		return 0;
	while ((p = memmem(p, end - p, name, len))) {
		if (p > t->strs && !p[-1])
			return p - t->strs;
		p++;
	}
	return 0;
}

static uint32_t find_id(const struct ctypes *t, const char *name,
			uint32_t kinds)
{
	uint32_t off = t->n ? name_offset(t, name) : 0;

	if (!off)
		return 0;
	for (uint32_t id = 1; id < t->n; id++) {
		const struct btf_type *r = record_at(t, t->off[id]);

		if (r->name_off == off &&
		    (kinds >> BTF_INFO_KIND(r->info) & 1))
			return id;
	}
	return 0;
}

enum {
	K_STRUCT = 1 << BTF_KIND_STRUCT,
	K_UNION = 1 << BTF_KIND_UNION,
	K_ENUM = 1 << BTF_KIND_ENUM | 1 << KIND_ENUM64,
	K_PLAIN = 1 << BTF_KIND_TYPEDEF | 1 << BTF_KIND_INT |
		  1 << BTF_KIND_FLOAT,
	K_FUNC = 1 << BTF_KIND_FUNC,
	K_TYPEDEF = 1 << BTF_KIND_TYPEDEF,
};

static bool skip_word(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n) || ((*s)[n] != ' ' && (*s)[n] != '\t'))
		return false;
	*s += n;
	*s += strspn(*s, " \t");
	return true;
}

static const struct ctype *find_named(struct ctypes *t, const char *name)
{
	uint32_t id, kinds = K_PLAIN;

	if (skip_word(&name, "struct") || skip_word(&name, "class"))
		kinds = K_STRUCT;
	else if (skip_word(&name, "union"))
		kinds = K_UNION;
	else if (skip_word(&name, "enum"))
		kinds = K_ENUM;
	if (!strcmp(name, "void"))
		return &t->none;
	id = find_id(t, name, kinds);
	if (!id && kinds == K_PLAIN)
		id = find_id(t, name, K_STRUCT | K_UNION | K_ENUM);
	return id ? make(t, id) : NULL;
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

const struct ctype *types_find(struct compile *c, const char *name)
{
	struct ctypes *t = kernel(c);
	const struct ctype *ct;
	size_t len = strlen(name);
	unsigned stars = 0;
	char *plain;

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

uint32_t types_function_id(struct compile *c, const char *name)
{
	return find_id(kernel(c), name, K_FUNC);
}

uint32_t types_tracepoint_id(struct compile *c, const char *name)
{
	return find_id(kernel(c), arena_printf(c->a, "btf_trace_%s", name),
		       K_TYPEDEF);
}

const struct ctype *types_function(struct compile *c, const char *name)
{
	struct ctypes *t = kernel(c);
	const struct btf_type *r = record(t, types_function_id(c, name));
	const struct ctype *ct = r ? make(t, r->type) : NULL;

	return ct && ct->kind == CT_FUNC ? ctype_fill(ct) : NULL;
}

/*
 * A tracepoint's own type (a typedef of a pointer to its callbacks) leaves the
 * parameters nameless; the function that calls the callbacks has the names.
 */
const struct ctype *types_tracepoint(struct compile *c, const char *name)
{
	struct ctypes *t = kernel(c);
	uint32_t id = types_tracepoint_id(c, name);
	const struct ctype *ct = id ? ctype_strip(make(t, id)) : NULL;
	const struct ctype *named;
	struct ctype *args;

	if (!ct || ct->kind != CT_PTR)
		return NULL;
	ct = ctype_strip(ctype_fill(ct)->to);
	if (!ct || ct->kind != CT_FUNC || !ctype_fill(ct)->members.n)
		return NULL;
	named = types_function(c, arena_printf(c->a, "__traceiter_%s", name));
	if (named && named->members.n == ct->members.n)
		ct = named;
	/* The first parameter is the tracepoint's own data pointer. */
	args = arena_new_of(c->a, struct ctype);
	*args = *ct;
	args->members.v++;
	args->members.n--;
	args->members.cap = args->members.n;
	return args;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every name of a kind that starts with prefix and goes on as glob says. */
static int list_names(struct compile *c, uint32_t kinds, const char *prefix,
		      const char *glob, name_vec *ret)
{
	struct ctypes *t = kernel(c);
	size_t len = strlen(prefix);
	unsigned first = ret->n, to;

	if (t->missing)
		return -ENOENT;
	for (uint32_t id = 1; id < t->n; id++) {
		const struct btf_type *r = record_at(t, t->off[id]);
		const char *name;

		if (!(kinds >> BTF_INFO_KIND(r->info) & 1))
			continue;
		name = string(t, r->name_off);
		if (strncmp(name, prefix, len) || !name_glob(glob, name + len))
			continue;
		vec_push(c->a, ret, name + len);
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
	return list_names(c, K_TYPEDEF, "btf_trace_", glob, ret);
}

int types_functions(struct compile *c, const char *glob, name_vec *ret)
{
	return list_names(c, K_FUNC, "", glob, ret);
}

bool types_constant(struct compile *c, const char *name, int64_t *ret)
{
	struct ctypes *t = kernel(c);
	uint32_t off = t->n ? name_offset(t, name) : 0;

	if (!off)
		return false;
	for (uint32_t id = 1; id < t->n; id++) {
		const struct btf_type *r = record_at(t, t->off[id]);
		const struct ctype *ct;

		if (!(K_ENUM >> BTF_INFO_KIND(r->info) & 1))
			continue;
		ct = ctype_fill(make(t, id));
		for (unsigned i = 0; i < ct->consts.n; i++) {
			if (strcmp(ct->consts.v[i].name, name))
				continue;
			*ret = ct->consts.v[i].value;
			return true;
		}
	}
	return false;
}
