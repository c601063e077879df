/* SPDX-License-Identifier: MIT */
/* Files that a shell pattern of the script means. */
#ifndef TYPES_FILES_H
#define TYPES_FILES_H

#include "base/arena.h"
#include "types/ctype.h"

/*
 * Entries of folders that a pattern may look at: a second or less. All of
 * /usr/lib has about 10,000; stars alone also go through /proc, which has a
 * thousand for each process.
 */
enum { FILES_GLOB_MAX = 50000 };

/*
 * Appends the paths that pattern (absolute, or from the working directory)
 * matches, sorted within each folder, as glob(3) does. 0, or -E2BIG: it looked
 * at FILES_GLOB_MAX entries, gave up and appended none.
 */
int files_glob(struct arena *a, const char *pattern, name_vec *ret);

#endif
