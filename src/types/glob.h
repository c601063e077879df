/* SPDX-License-Identifier: MIT */
/* Names with *, ? and [a-z]: of probe points, symbols, tracepoints, files. */
#ifndef TYPES_GLOB_H
#define TYPES_GLOB_H

#include <stdbool.h>

/* Whether it may match other names than itself. */
bool name_is_glob(const char *name);
/*
 * The whole name must match. * is any run of characters, ? any one, [a-z] one
 * of those, [!a-z] or [^a-z] one of the others; no escapes, and case counts.
 */
bool name_glob(const char *pattern, const char *name);
/* "f.isra.0" or "f.constprop.0" of f: what the compiler made of a function that
 * all its callers call in the same way. */
bool name_is_copy(const char *symbol, const char *name);

#endif
