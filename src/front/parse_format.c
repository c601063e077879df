/* SPDX-License-Identifier: MIT */
/* %[flag][width][.precision][l]conversion */
#include <limits.h>
#include <string.h>

#include "base/compile.h"
#include "front/lex.h"
#include "front/parse.h"

/* Nothing for an empty text: parts are never empty. */
static void add_text(struct compile *c, struct fmt *f, const char *s, size_t n)
{
	struct fmt_part part = {.width = -1, .prec = -1};

	if (!n)
		return;
	part.text = str_intern(c->str, s, n);
	vec_push(c->a, &f->parts, part);
}

/* Digits or '*'. *value stays -1 without any. */
static const char *parse_field(const char *s, int *value, bool *arg)
{
	if (*s == '*') {
		*arg = true;
		return s + 1;
	}
	/* What is beyond an int cannot be printed anyway. */
	while (*s >= '0' && *s <= '9') {
		int digit = *s++ - '0';

		if (*value < 0)
			*value = 0;
		*value = *value > (INT_MAX - digit) / 10 ? INT_MAX
							 : *value * 10 + digit;
	}
	return s;
}

/* Before 1.3 pointers were filled with zeros, to the width or in full. */
static void old_pointer(struct fmt_part *part)
{
	int digits = part->width < 0 ? 16 : part->width - 2;

	if (digits > 16 && part->flag != '-')
		digits = 16;
	if (!part->prec_arg && part->prec < digits)
		part->prec = digits;
}

/* Behind a '%'; returns what follows, NULL when it is wrong. */
static const char *parse_directive(struct compile *c, const char *s,
				   const struct span *at, struct fmt *f)
{
	struct fmt_part part = {.width = -1, .prec = -1};
	const char *start = s;
/* One flag at most; further ones are read as part of the width or refused. */

	if (*s && strchr("0+- #", *s)) {
		if (*s == '0')
			part.zero = true;
		else
			part.flag = *s;
		s++;
	}
	s = parse_field(s, &part.width, &part.width_arg);
	if (*s == '.') {
		/* A point by itself asks for precision 0, as in C. */
		const char *prec = s + 1;

		s = parse_field(prec, &part.prec, &part.prec_arg);
		if (s == prec)
			part.prec = 0;
	}
	/* As in C's %ld; numbers have one size here. */
	if (*s == 'l')
		s++;
	if (!*s && s != start) {
		complain(c, FORMAT_CUT, at);
		return NULL;
	}
	if (!*s || !strchr("diuoxXpscbmM", *s)) {
		complain(c, FORMAT_BAD, at);
		return NULL;
	}
	part.conv = *s;
	if (*s == 'p' && !compat_at_least(c, "1.3"))
		old_pointer(&part);
	f->nargs += 1u + part.width_arg + part.prec_arg;
	vec_push(c->a, &f->parts, part);
	return s + 1;
}

/* Literal text between conversions becomes one part, with %% as %. */
bool parse_format(struct compile *c, const char *fmt, const struct span *at,
		  struct fmt *ret)
{
	VEC(char) text = {0};
	const char *s = fmt;

	memset(ret, 0, sizeof(*ret));
	while (*s) {
		if (*s != '%' || s[1] == '%') {
			s += *s == '%';
			vec_push(c->a, &text, *s);
			s++;
			continue;
		}
		add_text(c, ret, text.v, text.n);
		text.n = 0;
		s = parse_directive(c, s + 1, at, ret);
		if (!s)
			return false;
	}
	add_text(c, ret, text.v, text.n);
	return true;
}
