/* SPDX-License-Identifier: MIT */
/* From a typed base along ->member and [index] to an access. */
#ifndef TYPES_WALK_H
#define TYPES_WALK_H

#include "front/ast.h"
#include "types/access.h"
#include "types/ctype.h"

struct compile;

/*
 * Follows the first nparts of n's parts (or all that are no pretty-print mark)
 * from a base of the given type; a's own fields (base, arg, narrow, sign, user)
 * describe the base. Adds to a->steps and sets a->type to the type of what is
 * found; 0, or -1 having reported why (nothing when quiet).
 */
int walk_tail(struct compile *c, const struct node *n, struct access *a,
	      const struct ctype *type, bool quiet);
/*
 * The same for one more member or element; walk_value() then makes the last
 * step load a value (or give the address of a struct or array). A walk
 * adds to a->steps as it goes; the caller owns both.
 */
struct walk {
	struct compile *c;
	struct access *a;
	const struct ctype *type; /* stripped, of what is at hand */
	const struct ctype *full; /* the same with its typedefs and tags */
	bool is_place;	/* the address of the thing, not yet its value */
	bool is_user;	/* the place is in user space */
	uint8_t bit_off, bit_size, word; /* of the member at hand, if bits */
};
/* At what `a` gives so far, which is of this type; steps are added to `a`. */
void walk_start(struct walk *w, struct compile *c, struct access *a,
		const struct ctype *type);
/*
 * 0 or -1; through a pointer when one is at hand. index must be typed already.
 */
int walk_member(struct walk *w, const char *name, const struct span *at,
		bool quiet);
int walk_index(struct walk *w, struct node *index, const struct span *at,
	       bool quiet);
/* Inside a struct: on to its member m, which starts at bit_off. */
void walk_to(struct walk *w, const struct cmember *m, uint32_t bit_off);
/* From a pointer to what it points to. */
void walk_follow(struct walk *w);
/*
 * The walk ends here: load the value, or leave the address of a struct or
 * array.
 */
void walk_value(struct walk *w);

#endif
