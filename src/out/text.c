/* SPDX-License-Identifier: MIT */
/* A growing text; its bytes may be NUL. */
#include "out/format.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Room for n more bytes and a NUL that keeps t->s printable. The capacity
 * doubles: adding a byte at a time stays linear.
 */
static void text_room(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 64;

	if (t->n + n + 1 <= t->cap)
		return;
	while (cap < t->n + n + 1)
		cap *= 2;
	t->s = xrealloc(t->s, cap);
	t->cap = cap;
}

void text_add(struct text *t, const char *s, size_t n)
{
	text_room(t, n);
	if (n)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_fill(struct text *t, char c, size_t n)
{
	text_room(t, n);
	memset(t->s + t->n, c, n);
	t->n += n;
	t->s[t->n] = '\0';
}

/*
 * Printed twice, first to learn the length. Nothing on an error of the format.
 */
void text_addf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	text_room(t, n);
	va_start(ap, fmt);
	vsnprintf(t->s + t->n, n + 1, fmt, ap);
	va_end(ap);
	t->n += n;
}

void text_free(struct text *t)
{
	free(t->s);
	*t = (struct text){0};
}
