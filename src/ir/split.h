/* SPDX-License-Identifier: MIT */
/* State of splitting one kernel handler. */
#ifndef IR_SPLIT_H
#define IR_SPLIT_H

#include "ir/fold.h"
#include "ir/ir.h"
#include "ir/util.h"

/*
 * Where the kernel stops and the host goes on. One for each host-only
 * instruction that a path of the kernel meets first.
 */
struct resume_at {
	struct ir_block *block;	/* kernel: ends in resume */
	struct ir_ins *resume;
	struct ir_block *enter; /* host */
	VEC(uint32_t) live;
	uint64_t *set;		/* the same, as bits */
	VEC(uint32_t) ahead;	/* registers fetched ahead */
};

struct split {
	struct compile *c;
	struct arena *a;
	struct ir *ir; /* of the compilation */
	/* kernel version, and the copy that goes on */
	struct ir_func *f, *host;
	struct ir_live *live;	/* of f as it was */
	struct reg_use *use;	/* likewise: definitions, uses */
	struct ir_ins **list; /* scratch, for block_flow() */
	struct ir_block **map;	/* kernel block id to host block */
	bool matched; /* the handler asks for groups of a match */
	bool late; /* reported: a value of @entry that comes too late */
	unsigned deep; /* loops nested deeper than this go to the host */
	VEC(struct resume_at *) points;
};

/* Makes s for a function, of which it takes away what is not reached. */
void split_begin(struct split *s, struct compile *c, struct ir *ir,
		 struct ir_func *f);
/* Must instruction i of block b be done on the host? */
bool split_to_host(const struct split *s, const struct ir_block *b,
		   const struct ir_ins *i);
/*
 * What the host part would read from the probe's context or the target's
 * memory is read by the kernel before it sends: reports what cannot be.
 */
void split_fetch_ahead(struct split *s);

#endif
