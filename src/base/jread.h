/* SPDX-License-Identifier: MIT */
/*
 * A strict JSON reader for files that tally wrote and anybody may have touched:
 * whole text in, tree out, or the line and the reason. Depth is limited.
 */
#ifndef BASE_JREAD_H
#define BASE_JREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum jkind { J_NULL, J_BOOL, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT };

struct jval {
	enum jkind kind;
	bool is;       /* J_BOOL */
	const char *s; /* J_STRING: bytes; J_NUMBER: its text; NUL-terminated */
	size_t n;      /* bytes of s; elements of J_ARRAY and J_OBJECT */
	struct jval **v;   /* J_ARRAY, J_OBJECT */
	const char **keys; /* J_OBJECT */
};

/* NULL: *ret_line (from 1) and *ret_why say what is wrong. */
struct jval *jread(struct arena *a, const char *text, size_t n,
		   unsigned *ret_line, const char **ret_why);
/* Member of an object; NULL: not an object, or no such member. */
const struct jval *jget(const struct jval *o, const char *key);
/* Numbers without fraction that fit; false otherwise (also for NULL). Strings
 * that hold such a number are accepted: 64-bit numbers may be quoted. */
bool jint(const struct jval *v, int64_t *ret);
bool juint(const struct jval *v, uint64_t *ret);
/* The string, or NULL. */
const char *jstr(const struct jval *v);

#endif
