/* SPDX-License-Identifier: MIT */
/* Target variables that families have in common. */
#ifndef PROBE_TARGET_H
#define PROBE_TARGET_H

#include "probe/family.h"
#include "types/ctype.h"

/*
 * n's tail from a base: members, elements, pretty-print marks. Fills n as
 * family.target() must.
 */
int target_tail(struct compile *c, struct node *n, const struct access *base,
		const struct ctype *type, bool quiet);
/*
 * Makes a, a word of 64 bits that holds an argument or a result, the value of
 * the type: what lies above the type's own bytes is anything (System V ABI,
 * x86-64, 3.2.3). type NULL: nothing is known, all 64 bits are taken.
 */
void target_narrow(struct access *a, const struct ctype *type);
/* $$name and the like: a constant text. */
void target_text(struct compile *c, struct node *n, const char *text);
/* Reports that there is no such variable, with the nearest names. -1. */
int target_unknown(struct compile *c, struct probe *p, struct node *n,
		   bool quiet);

#endif
