/* SPDX-License-Identifier: MIT */
/* What -D sets: the limits of limits.def, and names for the preprocessor. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>

struct compile;
struct settings;

/* Everything off, each limit at its default. */
void settings_init(struct settings *s);
/*
 * "NAME=VALUE" or "NAME" (which is NAME=1). A limit is checked against its
 * row; other names are kept in c->set.defines. The last one of a name counts.
 * -DMAXACTION=N also makes MAXACTION_INTERRUPTIBLE 10 * N, unless that was
 * given itself. false: the mistake is in c->diag.
 */
bool settings_define(struct compile *c, const char *define);

#endif
