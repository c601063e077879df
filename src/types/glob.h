/* SPDX-License-Identifier: MIT */
/* Names with * and ?: of probe points, symbols, tracepoints, files. */
#ifndef TYPES_GLOB_H
#define TYPES_GLOB_H

#include <stdbool.h>

/*
 * The whole name must match. * is any run of characters, ? any one; there are
 * no brackets and no escapes, and case counts.
 */
bool name_glob(const char *pattern, const char *name);
/* "f.isra.0" or "f.constprop.0" of f: what the compiler made of a function that
 * all its callers call in the same way. */
bool name_is_copy(const char *symbol, const char *name);

#endif
