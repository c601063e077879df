/* SPDX-License-Identifier: MIT */
/*
 * Strings made of typed values: $$vars, $x$, $x$$. The result is an access of
 * base ACC_TEXT whose node is a sprintf of single targets.
 */
#ifndef PROBE_PRETTY_H
/*
 * A builder: pretty_start, then text and values from left to right, then
 * pretty_finish. Values are read one by one when the handler prints, so a
 * string of many members costs as much as that many reads.
 */
#define PROBE_PRETTY_H

#include "base/compile.h"
#include "front/ast.h"
#include "types/access.h"
#include "types/walk.h"

struct pretty {
	struct compile *c;
	struct span at;	    /* of the expression, for the nodes made */
	struct fmt fmt; /* what is printed so far */
	node_list args; /* the values, in order of fmt's conversions */
	const char *text;   /* literal text not yet in fmt */
	uint32_t width;	    /* bytes that the result can have */
	unsigned values; /* read so far, of VALUES_MAX */
	unsigned members; /* of structs, of MEMBERS_MAX */
};

/* p needs no initialization; everything it makes lives in c's arena. */
void pretty_start(struct pretty *p, struct compile *c, const struct span *at);
void pretty_text(struct pretty *p, const char *text);
/* name=VALUE of a variable: in hex; depth 0: plain, 1: $, 2: $$. */
void pretty_item(struct pretty *p, const char *name, const struct access *base,
		 const struct ctype *type, int depth);
/* name=0x1f of a base that has no type. */
void pretty_number(struct pretty *p, const char *name,
		   const struct access *base);
/* A value alone: $x$ (depth 1) or $x$$ (depth 2). */
void pretty_value(struct pretty *p, const struct access *base,
		  const struct ctype *type, int depth);
/* Makes n the string: type, width and access. */
void pretty_finish(struct pretty *p, struct node *n);
/*
 * The depth that the last of n's parts asks for: 0, 1, 2. Reports nothing and
 * changes nothing.
 */
int pretty_depth(const struct node *n);

#endif
