/* SPDX-License-Identifier: MIT */
/* Out of memory is not survivable here: one message, then the end. */
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

void xalloc_fail(size_t wanted)
{
	fprintf(stderr, "tally: out of memory (wanted %zu bytes)\n", wanted);
	exit(EXIT_FAILURE);
}

/* malloc(0) may be NULL, which callers would take for a failure. */
static size_t at_least_one(size_t size)
{
	return size ? size : 1;
}

void *xmalloc(size_t size)
{
	void *p = malloc(at_least_one(size));

	if (!p)
		xalloc_fail(size);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(at_least_one(n), at_least_one(size));

	if (!p)
		xalloc_fail(size);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, at_least_one(size));
	if (!p)
		xalloc_fail(size);
	return p;
}
