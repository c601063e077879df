/* SPDX-License-Identifier: MIT */
/* What the two files that know libbpf's BTF share. */
#ifndef TYPES_BTF_H
#define TYPES_BTF_H

#include <bpf/btf.h>

#include "types/types.h"

/* The types of the kernel, or of one of its modules. */
struct ctypes {
	struct ctype_source source; /* first: what owner points to */
	struct compile *c;
	const char *module;  /* "" for the kernel itself */
	struct btf *btf;     /* NULL: not opened, closed again, or missing */
	const char *missing; /* why there is nothing, or NULL */
	struct map *made;    /* id -> struct ctype */
	struct map *ids;     /* "KIND NAME" -> id: looking one up takes 1 ms */
	struct map *kept;    /* types_keep(), of the kernel's */
	struct ctypes *next; /* the modules that were opened */
	struct ctype none;   /* void, and whatever cannot be read */
};

/* Opens the file again once types_close() has closed it. */
void types_reopen(struct ctypes *t);
/* struct ctype_source.fill of these types. */
void types_fill(struct ctype_source *s, struct ctype *t);
/*
 * The type of a BTF id; void (t->none) for 0 and for ids that are out of range.
 */
struct ctype *ctype_of_id(struct ctypes *t, uint32_t id);
/*
 * The i-th enumerator of an enum, 32 or 64 bits wide. Its name as an offset
 * into BTF's strings, and its value.
 */
uint32_t enum_name(const struct btf_type *r, unsigned i);
int64_t enum_value(const struct btf_type *r, unsigned i);

#endif
