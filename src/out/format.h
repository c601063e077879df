/* SPDX-License-Identifier: MIT */
/*
 * Formatting: values to text exactly as the language says. Used by the VM's
 * printing helpers and for records that kernel handlers sent.
 */
#ifndef OUT_FORMAT_H
#define OUT_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "ir/ir.h"

/*
 * A growing text; bytes may be NUL. Starts zeroed and ends with text_free(). s
 * has a NUL behind its n bytes as soon as anything was added; no memory ends
 * the process.
 */
struct text {
	char *s;
	size_t n, cap;
};
/* Append n bytes, or what a format gives; s grows and ends in a NUL that n does
 * not count. free(t->s) in the end. */
void text_add(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* n times c. */
void text_fill(struct text *t, char c, size_t n);
/* Frees the memory; t is empty and can be used again. */
void text_free(struct text *t);

/*
 * Reads memory for %m and %M; returns 0 or a negative errno. Reads n bytes at
 * addr to dst, or fails as a whole. user: the address is one of the program's,
 * not the kernel's.
 */
typedef int (*text_reader)(void *ctx, uint64_t addr, void *dst, size_t n,
			   int user);
/*
 * Appends a print record's text. rec: payload laid out by f. Returns 0, or a
 * negative errno of %m or %M: with *ret_bad the address that could not be read,
 * or for -E2BIG the number of bytes (more than a page).
 */
int text_record(struct text *t, const struct ir_fmt *f, const uint8_t *rec,
		text_reader rd, void *ctx, uint64_t *ret_bad);

#endif
