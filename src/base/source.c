/* SPDX-License-Identifier: MIT */
/* Where the lines of a source begin, and the names of token kinds. */
#include "base/source.h"

#include <string.h>

#include "base/vec.h"

struct source *source_new(struct arena *a, const char *name, const char *text,
			  size_t len, unsigned id)
{
	struct source *s = arena_new_of(a, struct source);
	VEC(uint32_t) off = {0};
	const char *p, *end = text + len, *nl;

	/* Some editors put a byte order mark in front of UTF-8. */
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	p = text;
	s->name = name;
	s->text = text;
	s->len = len;
	s->id = id;
	/* memchr, not strchr: scripts may hold NUL bytes. */
	vec_push(a, &off, 0);
	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		p = nl + 1;
		vec_push(a, &off, (uint32_t)(p - text));
	}
	s->line_off = off.v;
	s->nlines = off.n;
	return s;
}

const char *source_line(const struct source *s, uint32_t line, size_t *ret_len)
{
	size_t from, to;

	*ret_len = 0;
	if (!line || line > s->nlines)
		return "";
	from = s->line_off[line - 1];
	/* without its \n, which the last line may lack */
	to = line < s->nlines ? s->line_off[line] - 1 : s->len;
	/*
	 * Scripts that were saved elsewhere end their lines in \r\n; the
	 * caret's line must not print the \r.
	 */
	if (to > from && s->text[to - 1] == '\r')
		to--;
	*ret_len = to - from;
	return s->text + from;
}

const char *tok_kind_name(enum tok_kind k)
{
	switch (k) {
	case TOK_NONE:
		return "nothing";
	case TOK_IDENT:
		return "identifier";
	case TOK_KEYWORD:
		return "keyword";
	case TOK_STRING:
		return "string";
	case TOK_NUMBER:
		return "number";
	case TOK_OPERATOR:
		return "operator";
	case TOK_EMBEDDED:
		return "embedded-code";
	case TOK_JUNK:
		return "junk";
	case TOK_EOF:
		return "end of file";
	}
	return "?";
}
