/* SPDX-License-Identifier: MIT */
/* Memory by lifetime: everything allocated from an arena dies with it. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

/* Never NULL: out of memory ends the process with a message (xalloc). */
struct arena *arena_new(void);
/* Accepts NULL. */
void arena_free(struct arena *a);
/* Zeroed, 16-byte aligned, never NULL. size 0 gives a unique pointer. */
void *arena_alloc(struct arena *a, size_t size);
/* A bigger copy of the old_size bytes at p; the tail is zero. */
void *arena_grow(struct arena *a, const void *p, size_t old_size,
		 size_t new_size);
/* Copies with a NUL behind them; of strndup, at most n bytes, up to a NUL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Formatted text of whatever length; "" when the format cannot be printed. */
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
/* Bytes handed out so far: for -v and for tests. */
size_t arena_bytes(const struct arena *a);

/*
 * Zeroed, so a struct's fields that nobody sets are 0, false and NULL: the code
 * relies on it instead of initialising each. The product in arena_array() is
 * not checked here; one that wrapped is smaller than what is used, so n must
 * come from a length that was in memory already.
 */
#define arena_new_of(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

#endif
