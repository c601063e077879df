/* SPDX-License-Identifier: MIT */
/* Interned strings: equal bytes give the same pointer. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>

struct arena;
struct strtab;

struct strtab *strtab_new(struct arena *a);
/* NUL-terminated copy of n bytes (which may hold NULs: see str_len). */
const char *str_intern(struct strtab *t, const char *s, size_t n);
const char *str_internz(struct strtab *t, const char *s);
/* Length in bytes of an interned string. */
size_t str_len(const char *interned);
/* Levenshtein distance, for "did you mean". */
unsigned str_distance(const char *a, const char *b);

#endif
