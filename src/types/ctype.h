/* SPDX-License-Identifier: MIT */
/*
 * A C type, whatever it was read from. Made on demand: a struct's members are
 * read when somebody asks for them (ctype_fill).
 */
#ifndef TYPES_CTYPE_H
#define TYPES_CTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct compile;
struct ctype;

/*
 * Where types are read from: a kernel's BTF, a program's debug information. The
 * first member of what the reader itself needs.
 */
struct ctype_source {
	/* Reads t's members, constants, or what it refers to (`to`). */
	void (*fill)(struct ctype_source *s, struct ctype *t);
	bool user; /* pointers of these types are user-space addresses */
};

/* The lists of names that types/ and probe/ hand out. */
typedef VEC(const char *) name_vec;

enum ctype_kind {
	CT_VOID,
	CT_INT,	   /* size, sign; also char and bool, see repr */
	CT_FLOAT,  /* size */
	CT_ENUM,   /* size, sign, constants */
	CT_PTR,	   /* to */
	CT_ARRAY,  /* to, count */
	CT_STRUCT, /* size, members */
	CT_UNION,
	CT_FUNC,   /* to: result; members: parameters */
	CT_FWD,	   /* declared, never defined */
	CT_TYPEDEF, CT_CONST, CT_VOLATILE, CT_RESTRICT, CT_TAG, /* to */
};

/* How a value of an integer type is shown by $x$ and in messages. */
enum ctype_repr { REPR_NUM, REPR_CHAR, REPR_BOOL };

struct ctype {
	enum ctype_kind kind;
	enum ctype_repr repr;
	bool sign;	      /* of CT_INT, CT_ENUM: values are signed */
	bool filled;	      /* members or constants have been read */
	const char *name;     /* of struct, enum, typedef, int; "" if none */
	uint64_t size;	      /* bytes; of arrays too */
	uint32_t count;	      /* CT_ARRAY: elements */
	uint64_t id;	      /* in where it was read from */
	const struct ctype *to; /* see the kinds above; NULL means void */
	/* whose id it is; NULL: made here (pointer_to) */
	struct ctype_source *owner;
	/* in order of declaration; parameters of CT_FUNC */
	VEC(struct cmember) members;
	VEC(struct cconst) consts;
};

struct cmember {
	const char *name; /* "" for an anonymous struct or union */
	const struct ctype *type;
	uint32_t bit_off; /* from the start of the struct that has it */
	uint8_t bit_size; /* 0: not a bit-field */
};

struct cconst {
	const char *name;
	int64_t value;
};

/*
 * Without typedefs, qualifiers and tags. NULL stays NULL; of a chain that does
 * not end, whatever stands STRIP_MAX deep.
 */
const struct ctype *ctype_strip(const struct ctype *t);
/* A "user", "percpu" or "rcu" tag somewhere around t (BTF type tags). */
bool ctype_has_tag(const struct ctype *t, const char *tag);
/*
 * The type with its members or constants read. The same pointer: types are
 * filled in place. NULL stays NULL.
 */
const struct ctype *ctype_fill(const struct ctype *t);
/*
 * Finds a member through anonymous structs and unions; *ret_bit_off counts from
 * the start of t.
 */
const struct cmember *ctype_member(const struct ctype *t, const char *name,
				   uint32_t *ret_bit_off);
/* Of a program, not of the kernel: pointers of it lead into user space. */
bool ctype_is_user(const struct ctype *t);
/* A new type each time, in c's arena: compare such by what they point to. */
const struct ctype *ctype_pointer_to(struct compile *c, const struct ctype *t);
/* The type as seen through a pointer into user space: walk.c takes a step
 * behind the tag by reading user memory. */
const struct ctype *ctype_in_user_space(struct compile *c,
					const struct ctype *t);
/* As -L prints it: "struct task_struct*", "char const*", "long int [4]". */
const char *ctype_text(struct compile *c, const struct ctype *t);
/* "struct list_head", "union {...}": for messages. */
const char *ctype_name(struct compile *c, const struct ctype *t);

#endif
