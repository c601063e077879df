/* SPDX-License-Identifier: MIT */
/*
 * Which handlers need a lock around the globals they share, and why.
 * docs/design/exclusion.md has the rules and the proof of each.
 */
#ifndef SEMA_EXCLUSION_H
#define SEMA_EXCLUSION_H

#include <stdio.h>

struct program;
struct compile;

void exclusion_analyse(struct compile *c, struct program *p);
/* --dump=locks: a line per probe. */
void exclusion_print(const struct program *p, FILE *f);

#endif
