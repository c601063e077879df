/* SPDX-License-Identifier: MIT */
/* Scripts in another tracer's language: what a line of them is in this one. */
#ifndef FRONT_FOREIGN_H
#define FRONT_FOREIGN_H

#include "base/arena.h"
#include "base/source.h"
#include "front/lex.h"

/*
 * What to write instead of the declaration that begins at `at`, in one line;
 * NULL: it is not surely of another language. Such languages have points with
 * colons, or BEGIN and END, where this one has a keyword.
 */
const char *foreign_point(struct arena *a, const struct span *at);
/* What to write instead of a token that nothing here begins with; or NULL. */
const char *foreign_token(const struct token *t);
/* Of an @word that is no operator: bpftrace's maps, or a percentile. */
const char *foreign_operator(struct arena *a, const struct span *at);
/* A point whose first word is this one of theirs; NULL: no word of theirs. */
const char *foreign_family(const char *name);
/* What a variable or function of theirs is here; NULL: no word of theirs. */
const char *foreign_word(const char *name);

#endif
