/* SPDX-License-Identifier: MIT */
/* Scripts in another tracer's language: what a line of them is in this one. */
#ifndef FRONT_FOREIGN_H
#define FRONT_FOREIGN_H

#include "base/arena.h"
#include "base/source.h"

/*
 * What to write instead of the declaration that begins at `at`, in one line;
 * NULL: it is not surely of another language. Such languages have points with
 * colons, or BEGIN and END, where this one has a keyword.
 */
const char *foreign_point(struct arena *a, const struct span *at);

#endif
