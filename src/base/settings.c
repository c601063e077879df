/* SPDX-License-Identifier: MIT */
/* The command line's -D, as the reference checks and reads it. */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compile.h"

/* The rows of limits.def, by enum limit. */
static const struct limit_row {
	const char *name;
	int64_t dflt, min, max;
} limit_row[LIMIT_MAX] = {
#define LIMIT(name, dflt, min, max, doc) {#name, dflt, min, max},
#include "base/limits.def"
#undef LIMIT
};

void settings_init(struct settings *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < LIMIT_MAX; i++)
		s->limit[i] = limit_row[i].dflt;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The reference shows the pattern in its message; so do we. */
#define PATTERN "^[a-z_][a-z_0-9]*(=-?[a-z_0-9]+)?$"

/* PATTERN, without regard to case. */
static bool matches_pattern(const char *p)
{
	if (!is_word(*p) || isdigit((unsigned char)*p))
		return false;
	while (is_word(*p))
		p++;
	if (!*p)
		return true;
	if (*p++ != '=')
		return false;
	if (*p == '-')
		p++;
	if (!*p)
		return false;
	while (is_word(*p))
		p++;
	return !*p;
}

/* A number as C writes it, suffix included: 0x10, 100UL. */
static bool read_number(const char *s, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 0);
	if (errno || end == s)
		return false;
	return end[strspn(end, "uUlL")] == '\0';
}

static bool limit_set(struct compile *c, enum limit which, const char *value)
{
	const struct limit_row *row = &limit_row[which];
	struct settings *s = &c->set;
	int64_t n, tenfold;

	if (!read_number(value, &n)) {
		complain(c, LIMIT_NUMBER, NULL, row->name, value);
		return false;
	}
	if (n < row->min || n > row->max) {
		complain(c, LIMIT_RANGE, NULL, row->name, value,
			 (long long)row->min, (long long)row->max);
		return false;
	}
	s->limit[which] = n;
	s->limit_set[which] = true;
	if (which == LIMIT_MAXACTION &&
	    /*
	     * The two are one budget for two kinds of handler; who changes the
	     * small one means both.
	     */
	    !s->limit_set[LIMIT_MAXACTION_INTERRUPTIBLE]) {
		/* Saturated: a limit that large never strikes anyway. */
		if (__builtin_mul_overflow(n, (int64_t)10, &tenfold))
			tenfold = INT64_MAX;
		s->limit[LIMIT_MAXACTION_INTERRUPTIBLE] = tenfold;
	}
	return true;
}

bool settings_define(struct compile *c, const char *define)
{
	struct name_value nv = {0};
	const char *eq;

	if (!matches_pattern(define)) {
		complain(c, BAD_DEFINE, NULL, define, PATTERN);
		return false;
	}
	eq = strchr(define, '=');
	nv.name = eq ? arena_strndup(c->a, define, (size_t)(eq - define))
		     : arena_strdup(c->a, define);
	nv.value = eq ? arena_strdup(c->a, eq + 1) : NULL;
	for (int i = 0; i < LIMIT_MAX; i++) {
		if (!strcmp(nv.name, limit_row[i].name))
			return limit_set(c, i, nv.value ? nv.value : "1");
	}
	/*
	 * The last one counts, but keeps the first one's place, so that the
	 * order in which names are listed does not depend on which one won.
	 */
	for (unsigned i = 0; i < c->set.defines.n; i++) {
		if (!strcmp(nv.name, c->set.defines.v[i].name)) {
			c->set.defines.v[i] = nv;
			return true;
		}
	}
	vec_push(c->a, &c->set.defines, nv);
	return true;
}
