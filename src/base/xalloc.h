/* SPDX-License-Identifier: MIT */
/* malloc and friends that never return NULL: no memory ends the process. */
#ifndef BASE_XALLOC_H
#define BASE_XALLOC_H

#include <stddef.h>

/*
 * Of size 0 too they are good for free(); nobody else may own the memory. Use
 * them only for what must be freed before its arena is (output buffers, tables
 * of the VM); all else comes from an arena.
 */
void *xmalloc(size_t size);
/* Zeroed. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* "tally: out of memory" on stderr, then the end with status 1. */
void xalloc_fail(size_t wanted) __attribute__((noreturn));

#endif
