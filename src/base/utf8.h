/* SPDX-License-Identifier: MIT */
/* UTF-8, as far as printing other people's bytes needs it. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character at s, of n bytes; 0: not one. */
size_t utf8_len(const char *s, size_t n);

#endif
