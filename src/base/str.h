/* SPDX-License-Identifier: MIT */
/* Interned strings: equal bytes give the same pointer. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>

struct arena;
struct strtab;

/* Lives in a, as do its strings; nothing is ever removed from it. */
struct strtab *strtab_new(struct arena *a);
/* NUL-terminated copy of n bytes (which may hold NULs: see str_len). */
const char *str_intern(struct strtab *t, const char *s, size_t n);
const char *str_internz(struct strtab *t, const char *s);
/* Length in bytes of an interned string. */
size_t str_len(const char *interned);
/*
 * Levenshtein distance, for "did you mean". Not transpositions: "pritn" is 2
 * away from "print".
 */
unsigned str_distance(const char *a, const char *b);

#endif
