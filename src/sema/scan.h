/* SPDX-License-Identifier: MIT */
/*
 * Which names a library file defines, without parsing it: used when tally is
 * built (tools/embed.c) and for -I directories.
 */
#ifndef SEMA_SCAN_H
#define SEMA_SCAN_H

#include <stddef.h>

enum tapset_kind {
	TAPSET_FUNCTION, /* public functions */
	TAPSET_ALIAS,    /* first components of alias names */
	TAPSET_GLOBAL,   /* public globals */
	TAPSET_MACRO,    /* of .stpm files; in others they are their own */
	TAPSET_KINDS
};

/*
 * Calls fn for each name; the name is not terminated. text is that of one file;
 * nothing is allocated, so the build tool can use it, too. Names may come more
 * than once.
 */
typedef void (*scan_fn)(void *ctx, enum tapset_kind kind, const char *name,
			size_t len);
void scan_names(const char *text, size_t len, scan_fn fn, void *ctx);

#endif
