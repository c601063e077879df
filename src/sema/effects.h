/* SPDX-License-Identifier: MIT */
/*
 * What running a function does: globals it reads and writes (also through the
 * functions it calls), and whether it does anything else that can be noticed.
 */
#ifndef SEMA_EFFECTS_H
#define SEMA_EFFECTS_H

#include "sema/program.h"

/* The sets are in the arena of effects_make(); words each. */
struct effects {
	uint64_t *reads, *writes; /* bit per index in program.globals */
	bool acts;                /* prints, exits, raises errors, ... */
	/* May raise a run-time error of its own: division by 0, an empty
	 * aggregate; a fault of memory that it reads is none. */
	bool fails;
	bool nexts; /* has a `next`: goes on to the following overload */
};

struct all_effects {
	struct effects *of; /* by function.index */
	unsigned words;
	bool has_matched; /* matched() or ngroups() is called somewhere */
};

/* Functions and globals must have their final indices. */
struct all_effects *effects_make(struct arena *a, struct program *p,
				 bool has_matched);
/*
 * Can leaving out the evaluation of n be noticed? A handler's own run-time
 * errors can, but not the faults of reads: what the library prepares for
 * scripts that do not ask for it would be read all the same.
 */
bool effects_any(const struct all_effects *e, struct node *n);
/*
 * Does n read an aggregate as if it had a value? That is a mistake, which is
 * reported when types are inferred: until then it must not be removed.
 */
bool effects_raw(struct node *n);
/* Does this node of the script (not of the library), whatever its operands do,
 * raise errors of its own? */
bool effects_fails(const struct node *n);
static inline bool effects_bit(const uint64_t *set, unsigned i)
{
	return set[i / 64] >> (i % 64) & 1;
}

#endif
