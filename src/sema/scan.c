/* SPDX-License-Identifier: MIT */
/*
 * A reader of declarations: it skips bodies, strings, comments and embedded
 * code, and takes both branches of a %( %) conditional for real.
 */
#include "sema/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LIST_MAX = 32 };

struct word {
	const char *s;
	size_t len; /* 0: the end */
};

/* A position in the text, and whom to tell. */
struct scan {
	const char *at, *end;
	scan_fn fn;
	void *ctx;
	struct word list[LIST_MAX]; /* names of the probe at hand */
	unsigned nlist;
};

static bool here(const struct scan *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->at) >= n && !memcmp(s->at, text, n);
}

/* Moves behind the next `text`, or to the end. */
static void skip_past(struct scan *s, const char *text)
{
	while (s->at < s->end && !here(s, text))
		s->at++;
	s->at = s->at < s->end ? s->at + strlen(text) : s->end;
}

static void skip_space(struct scan *s)
{
	while (s->at < s->end) {
		if (isspace((unsigned char)*s->at))
			s->at++;
		else if (*s->at == '#' || here(s, "//"))
			skip_past(s, "\n");
		else if (here(s, "/*"))
			skip_past(s, "*/");
		else
			return;
	}
}

static void skip_string(struct scan *s)
{
	for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
		if (*s->at == '\\' && s->at + 1 < s->end)
			s->at++;
	if (s->at < s->end)
		s->at++;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A name, a string (as a word that starts with "), or some punctuation. */
static struct word next(struct scan *s)
{
	static const char *const punct[] = {"%{", "%(", "%?", "%:", "%)", "+="};
	struct word w;
	unsigned i;

	skip_space(s);
	w.s = s->at;
	if (s->at >= s->end) {
		w.len = 0;
		return w;
	}
	if (*s->at == '"') {
		skip_string(s);
	} else if (is_name(*s->at) || *s->at == '@' || *s->at == '*') {
		for (s->at++;
		     s->at < s->end && (is_name(*s->at) || *s->at == '*');)
			s->at++;
	} else {
		for (i = 0; i < sizeof(punct) / sizeof(punct[0]); i++)
			if (here(s, punct[i]))
				break;
		s->at += i < sizeof(punct) / sizeof(punct[0]) ? 2 : 1;
	}
	w.len = (size_t)(s->at - w.s);
	return w;
}

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.s, text, w.len);
}

static struct word peek(struct scan *s)
{
	const char *at = s->at;
	struct word w = next(s);

	s->at = at;
	return w;
}

/* After a {: up to its }. */
static void skip_block(struct scan *s)
{
	unsigned depth = 1;
	struct word w;

	while (depth && (w = next(s)).len) {
		if (is(w, "{"))
			depth++;
		else if (is(w, "}"))
			depth--;
		else if (is(w, "%{"))
			skip_past(s, "%}");
	}
}

/*
 * Punctuation where a name should be is a mistake, which the parser will
 * report.
 */
static void tell(struct scan *s, enum tapset_kind k, struct word w)
{
	if (w.len && (isalpha((unsigned char)*w.s) || *w.s == '_'))
		s->fn(s->ctx, k, w.s, w.len);
}

/* Names of a global declaration; the next token after it is left. */
static void globals(struct scan *s, bool is_private)
{
	struct word w = next(s);

	for (;;) {
		if (!is_private)
			tell(s, TAPSET_GLOBAL, w);
		while ((w = peek(s)).len && !is(w, ",")) {
			if (!is(w, "%") && !is(w, "[") && !is(w, "]") &&
			    !is(w, "=") && !is(w, "-") && *w.s != '"' &&
			    !isdigit((unsigned char)*w.s))
				return;
			next(s);
		}
		if (!w.len)
			return;
		next(s); /* the comma */
		w = next(s);
	}
}

/*
 * probe NAMES = NAMES = points {: up to the body. Only the first component of
 * each name counts: that is what a point starts with.
 */
static void probe(struct scan *s)
{
	bool first = true; /* component of a point */
	struct word w;
	unsigned i;

	s->nlist = 0;
	while ((w = next(s)).len) {
		if (is(w, "{"))
			return skip_block(s);
		if (is(w, "=") || is(w, "+=")) {
			for (i = 0; i < s->nlist; i++)
				tell(s, TAPSET_ALIAS, s->list[i]);
			s->nlist = 0;
			first = true;
		} else if (is(w, ",")) {
			first = true;
		} else if (first) {
			if (s->nlist < LIST_MAX)
				s->list[s->nlist++] = w;
			first = false;
		}
	}
}

/*
 * Words outside of any declaration are passed over: it need not be right, since
 * the parser reads the file that is taken.
 */
void scan_names(const char *text, size_t len, scan_fn fn, void *ctx)
{
	struct scan s = {.at = text, .end = text + len, .fn = fn, .ctx = ctx};
	bool is_private = false;
	struct word w;

	while ((w = next(&s)).len) {
		if (is(w, "private")) {
			is_private = true;
			continue;
		}
		if (is(w, "global")) {
			globals(&s, is_private);
		} else if (is(w, "function")) {
			w = next(&s);
			if (!is_private)
				tell(&s, TAPSET_FUNCTION, w);
		} else if (is(w, "probe")) {
			probe(&s);
		} else if (is(w, "{")) {
			skip_block(&s);
			if (is(peek(&s), ",")) /* an alias' epilogue */
				next(&s);
		} else if (is(w, "%{")) {
			skip_past(&s, "%}");
		} else if (is(w, "%(")) {
			skip_past(&s, "%?");
		} else if (is(w, "@define")) {
			tell(&s, TAPSET_MACRO, next(&s));
			skip_past(&s, "%)");
		}
		is_private = false; /* it holds for one declaration */
	}
}
