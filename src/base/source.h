/* SPDX-License-Identifier: MIT */
/*
 * Source texts and places in them. It stands in base (not in front) because a
 * diagnostic shows the line it speaks of.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* The kinds of token, as the messages name them. */
enum tok_kind {
	TOK_NONE, /* no token: a place without one, or the start of a text */
	TOK_IDENT,    /* identifier */
	TOK_KEYWORD,  /* keyword */
	TOK_STRING,   /* string */
	TOK_NUMBER,   /* number */
	TOK_OPERATOR, /* operator */
	TOK_EMBEDDED, /* embedded-code: %{ ... %} */
	TOK_JUNK,     /* junk: a byte that begins no token */
	TOK_EOF,
};

/*
 * A place in a source: the token that a message speaks of. line and col count
 * from 1, col in bytes; line 0 means "no place". text is interned, may be NULL.
 * macro is the place of the macro call that this token was expanded from.
 */
struct span {
	const struct source *src;
	const char *text;
	const struct span *macro;
	uint32_t line, col;
	enum tok_kind kind;
};

struct source {
	const char *name; /* as messages print it: path, <input>, <input1> */
	const char *text;
	size_t len;
	unsigned id;	  /* order of creation: messages are sorted by it */
	int is_library;	  /* a tapset file */
	unsigned nlines; /* one more than its newlines */
	/* byte offset of each line's start; nlines of them */
	const uint32_t *line_off;
};

/*
 * text is not copied and must outlive the arena. Finds the lines; everything
 * else about a text is found by the lexer.
 */
struct source *source_new(struct arena *a, const char *name, const char *text,
			  size_t len, unsigned id);
/*
 * The line without its newline; *ret_len in bytes. line from 1. A line that
 * does not exist is "" of length 0, never NULL.
 */
const char *source_line(const struct source *s, uint32_t line,
			size_t *ret_len);
/* "identifier", "operator", ... */
const char *tok_kind_name(enum tok_kind k);

#endif
