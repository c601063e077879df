/* SPDX-License-Identifier: MIT */
/*
 * Which names a library file defines, without parsing it: used when tally is
 * built (tools/embed.c) and for -I directories.
 */
#ifndef SEMA_SCAN_H
#define SEMA_SCAN_H

#include <stddef.h>

enum scan_kind {
	SCAN_FUNCTION, /* public functions */
	SCAN_ALIAS,    /* first components of alias names */
	SCAN_GLOBAL,   /* public globals */
	SCAN_KINDS
};

/* Calls fn for each name; the name is not terminated. */
typedef void (*scan_fn)(void *ctx, enum scan_kind kind, const char *name,
			size_t len);
void scan_names(const char *text, size_t len, scan_fn fn, void *ctx);

#endif
