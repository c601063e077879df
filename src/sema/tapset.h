/* SPDX-License-Identifier: MIT */
/*
 * The library in the script language: files embedded in the program and files
 * of -I directories. An index tells which file defines which name, so that
 * only files which are needed are parsed.
 */
#ifndef SEMA_TAPSET_H
#define SEMA_TAPSET_H

#include "front/parse.h"
#include "sema/scan.h"

struct compile;
struct tapset;

/* Reads the -I directories; one that cannot be read is reported. */
struct tapset *tapset_new(struct compile *c);
/* The library's macros, which the user's script may use too. */
struct macros *tapset_macros(struct tapset *t);
/*
 * Parses the files that define the name and were not parsed yet, and appends
 * them to out. For aliases the name may hold * and ?.
 */
typedef VEC(struct file *) file_list;
void tapset_need(struct tapset *t, enum tapset_kind kind, const char *name,
		 file_list *out);
/*
 * Calls fn for each name of a kind. In order of files, then alphabetical; names
 * may come twice.
 */
void tapset_names(struct tapset *t, enum tapset_kind kind,
		  void (*fn)(void *ctx, const char *name), void *ctx);

#endif
