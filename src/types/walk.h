/* SPDX-License-Identifier: MIT */
/*
 * From a typed base along ->member and [index] to an access. Families call
 * walk_tail() for $x->y; sema calls walk_cast() and walk_arrow() itself, as
 * those belong to no family.
 *
 * All return 0 having filled n->u.target.access, n->type and n->width, or -1
 * having reported why (nothing is reported when quiet: @defined).
 */
#ifndef TYPES_WALK_H
#define TYPES_WALK_H

#include "front/ast.h"
#include "types/access.h"

struct compile;
struct ctype;

/* @cast(p, "type"[, "module"])->f: n is the N_TARGET named "@cast". */
int walk_cast(struct compile *c, struct node *n, bool quiet);
/* value->f (N_ARROW): type is what is known of the value n->u.target.base. */
int walk_arrow(struct compile *c, struct node *n, const struct ctype *type,
	       bool quiet);
/*
 * The parts of n, from a base of the given type that a's own fields (base, arg,
 * narrow, sign, user) describe. Sets a->type to the result's type.
 */
int walk_tail(struct compile *c, struct node *n, struct access *a,
	      const struct ctype *type, bool quiet);
/* &$x->f: a resolved target gives its address. n: where a message points. */
int walk_address(struct compile *c, struct node *n, bool quiet);

#endif
