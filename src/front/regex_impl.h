/* SPDX-License-Identifier: MIT */
/* What the regular expression files share: the tree and the NFA program. */
#ifndef FRONT_REGEX_IMPL_H
#define FRONT_REGEX_IMPL_H

#include "base/vec.h"
#include "front/regex.h"

enum {
	REGEX_NEST_MAX = 200, /* parentheses, and closures upon closures */
	REGEX_REPEAT_MAX = 12344,
	REGEX_FOREVER = -1, /* rx_node.max of * + {n,} */
};

/* A set of bytes, a bit each. */
struct byte_set {
	uint64_t bits[4];
};

static inline bool set_has(const struct byte_set *s, unsigned b)
{
	return s->bits[b / 64] >> (b % 64) & 1;
}

static inline void set_add(struct byte_set *s, unsigned b)
{
	s->bits[b / 64] |= (uint64_t)1 << (b % 64);
}

/* The tree, as parsed. */
enum rx_kind {
	RX_EMPTY,
	RX_SET,
	RX_CAT,
	RX_ALT,
	RX_GROUP,
	RX_REP,
	RX_BOL, /* ^ and $ */
	RX_EOL
};

struct rx_node {
	enum rx_kind kind;
	struct byte_set set;         /* RX_SET */
	VEC(struct rx_node *) parts; /* RX_CAT, RX_ALT: all; else the one */
	unsigned group;              /* RX_GROUP */
	int min, max;                /* RX_REP */
};

/* What a state does. */
enum rx_op {
	RXI_SET,
	RXI_SPLIT,
	RXI_JUMP,
	RXI_SAVE, /* remember the position */
	RXI_BOL,
	RXI_EOL,
	RXI_MATCH
};

/*
 * One state of the NFA. All but SET and MATCH are passed without a byte; of a
 * SPLIT's two ways x is the preferred one.
 */
struct rx_inst {
	enum rx_op op;
	unsigned x, y;              /* next; SPLIT: and the other */
	unsigned slot;              /* SAVE: index in caps */
	const struct byte_set *set; /* SET */
};

typedef VEC(struct rx_inst) rx_prog;

struct regex {
	rx_prog prog; /* begins at 0 */
	unsigned ngroups; /* with group 0, the whole match */
	struct regex_dfa *dfa;
};

/*
 * regex_parse.c: NULL and the mistake. *ret_ngroups counts group 0. Messages
 * and positions as regex_compile().
 */
struct rx_node *rx_parse(struct arena *a, const char *s, size_t n,
			 unsigned *ret_ngroups, unsigned *ret_pos,
			 const char **ret_msg);
/* regex_dfa.c: NULL when it is too large. */
struct regex_dfa *rx_dfa(struct arena *a, const rx_prog *prog);

#endif
