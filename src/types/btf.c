/* SPDX-License-Identifier: MIT */
/*
 * From BTF's records to types. libbpf has checked that the records follow each
 * other; what they refer to is checked here: an id or a name that is out of
 * range reads as void and "".
 */
#include "types/btf.h"

#include <errno.h>
#include <string.h>

#include "base/compile.h"
#include "base/map.h"

static const struct btf_type *record(struct ctypes *t, uint32_t id)
{
	return id && t->btf ? btf__type_by_id(t->btf, id) : NULL;
}

/* Copied: names outlive the file they were read from. */
static const char *string(struct ctypes *t, uint32_t off)
{
	const char *s = off ? btf__str_by_offset(t->btf, off) : NULL;

	return s ? str_internz(t->c->str, s) : "";
}

static enum ctype_kind kind_of(const struct btf_type *r)
{
	switch (btf_kind(r)) {
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
	case BTF_KIND_ENUM64:
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
	case BTF_KIND_TYPE_TAG:
		return CT_TAG;
	default:
		return CT_VOID;
	}
}

/* The size and how a value is printed: as a number, a character or a bool. */
static void read_int(struct ctype *ct, const struct btf_type *r)
{
	uint8_t encoding = btf_int_encoding(r);

	ct->size = r->size;
	ct->sign = encoding & BTF_INT_SIGNED;
	if (encoding & BTF_INT_BOOL)
		ct->repr = REPR_BOOL;
	/* The kernel's own BTF does not mark characters. */
	else if (encoding & BTF_INT_CHAR || !strcmp(ct->name, "char"))
		ct->repr = REPR_CHAR;
}

struct ctype *ctype_of_id(struct ctypes *t, uint32_t id)
{
	const struct btf_type *r = record(t, id);
	struct ctype *ct;

	if (!r)
		return &t->none;
	/*
	 * Each id has one struct ctype: types are compared by pointer, and a
	 * list that points to itself ends here.
	 */
	ct = map_get_num(t->made, id);
	if (ct)
		return ct;
	ct = arena_new_of(t->c->a, struct ctype);
	map_set_num(t->made, id, ct);
	ct->kind = kind_of(r);
	ct->name = string(t, r->name_off);
	ct->id = id;
	ct->owner = &t->source;
	switch (ct->kind) {
	case CT_INT:
		read_int(ct, r);
		break;
	case CT_ENUM:
		/*
		 * For enums the kind flag of BTF says that values are signed
		 * (Linux 6.0 on; before that it is always 0, and the values are
		 * read as unsigned).
		 */
		ct->sign = btf_kflag(r);
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

/*
 * bit_off counts from the struct's start. libbpf's accessors hide that the flag
 * of a record says whether sizes of bit-fields stand in the offset.
 */
static void fill_members(struct ctypes *t, struct ctype *ct,
			 const struct btf_type *r)
{
	const struct btf_member *m = btf_members(r);

	for (unsigned i = 0; i < btf_vlen(r); i++) {
		struct cmember cm = {
		    .name = string(t, m[i].name_off),
		    .type = ctype_of_id(t, m[i].type),
		    .bit_off = btf_member_bit_offset(r, i),
		    .bit_size = btf_member_bitfield_size(r, i),
		};

		vec_push(t->c->a, &ct->members, cm);
	}
}

/*
 * Parameters look like members of a struct of 64-bit words, which is how a raw
 * tracepoint and a trampoline lay them out.
 */
static void fill_params(struct ctypes *t, struct ctype *ct,
			const struct btf_type *r)
{
	const struct btf_param *p = btf_params(r);

	ct->to = ctype_of_id(t, r->type);
	for (unsigned i = 0; i < btf_vlen(r); i++, p++) {
		struct cmember cm = {.name = string(t, p->name_off),
				     .type = ctype_of_id(t, p->type),
				     .bit_off = i * 64};

		vec_push(t->c->a, &ct->members, cm);
	}
}

static void fill_consts(struct ctypes *t, struct ctype *ct,
			const struct btf_type *r)
{
	for (unsigned i = 0; i < btf_vlen(r); i++) {
		struct cconst k = {.value = enum_value(r, i)};

		k.name = string(t, enum_name(r, i));
		vec_push(t->c->a, &ct->consts, k);
	}
}

/* Arrays of arrays of ...: sizes multiply until it stops making sense. */
static void fill_array(struct ctypes *t, struct ctype *ct,
		       const struct btf_type *r)
{
	const struct btf_array *arr = btf_array(r);
	const struct ctype *e;

	ct->count = arr->nelems;
	ct->to = ctype_of_id(t, arr->type);
	e = ctype_strip(ct->to);
	if (e && e->kind == CT_ARRAY)
		e = ctype_fill(e);
	ct->size = e ? e->size * ct->count : 0;
}

uint32_t enum_name(const struct btf_type *r, unsigned i)
{
	return btf_is_enum64(r) ? btf_enum64(r)[i].name_off
				: btf_enum(r)[i].name_off;
}

int64_t enum_value(const struct btf_type *r, unsigned i)
{
	if (btf_is_enum64(r))
		return (int64_t)btf_enum64_value(btf_enum64(r) + i);
	/*
	 * 32-bit values of signed enums are sign-extended, others are not: only
	 * the flag tells 0xffffffff from -1.
	 */
	if (btf_kflag(r))
		return btf_enum(r)[i].val;
	return (uint32_t)btf_enum(r)[i].val;
}

void types_fill(struct ctype_source *s, struct ctype *ct)
{
	struct ctypes *t = (struct ctypes *)s;
	const struct btf_type *r;

	types_reopen(t);
	r = record(t, ct->id);
	if (!r)
		return;
	switch (ct->kind) {
	case CT_STRUCT:
	case CT_UNION:
		fill_members(t, ct, r);
		break;
	case CT_FUNC:
		fill_params(t, ct, r);
		break;
	case CT_ENUM:
		fill_consts(t, ct, r);
		break;
	case CT_ARRAY:
		fill_array(t, ct, r);
		break;
	case CT_INT:
	case CT_FLOAT:
	case CT_FWD:
	case CT_VOID:
		break;
	default:
		/* pointers, typedefs, qualifiers, tags */
		ct->to = ctype_of_id(t, r->type);
	}
}
