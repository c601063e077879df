/* SPDX-License-Identifier: MIT */
/* Bytes to tokens. Macros and conditionals are the preprocessor's (pp.h). */
#ifndef FRONT_LEX_H
#define FRONT_LEX_H

#include <stdbool.h>

#include "base/source.h"
#include "base/vec.h"

struct compile;

enum tok_id {
	T_NONE, /* no token: read on */
	T_EOF,
	T_IDENT,
	T_STRLIT,
	T_NUMLIT,
	T_EMBEDDED,
	T_JUNK,
	T_AT_OTHER, /* @word that is no operator */
#define KEYWORD(id, text, since) T_##id,
#define PUNCT(id, text) T_##id,
#define ATWORD(id, text, since, own) T_##id,
#include "front/token.def"
	T_MAX
};

/*
 * span.text is the token's text: of a string its value (escapes resolved, up
 * to the first NUL), of embedded code what stands between the marks.
 */
struct token {
	struct span span;
	enum tok_id id;
	bool glued;    /* nothing stands between it and the token before */
	bool reported; /* junk whose diagnostic was already given */
	struct diag_held *held; /* it is given when the token is used */
};

struct lexer {
	struct diag *last; /* of the junk that was explained last */
	/*
	 * Reads one source, or, while pasting, one argument's text and then on
	 * in it.
	 */
	struct compile *c;
	const struct source *src;
	const char *p, *end; /* what is being read */
	const char *resume;  /* pasting an argument: p goes on here then */
	const char *resume_end;
	uint32_t line, col;     /* of *p; of the $N while pasting */
	uint32_t paste_end_col; /* col where reading goes on then */
	VEC(char) text;         /* of the token being read */
	bool quiet;             /* a branch not taken: no diagnostics */
	/* An argument that is not there keeps its message: it may be in a
	 * macro's body, in a branch that the macro's use does not take. */
	bool holds;
};

/* src's text must outlive the tokens' messages, nothing else. */
void lex_init(struct lexer *lx, struct compile *c, const struct source *src);
/* Fills *t. At the end of the text: T_EOF, again and again. */
void lex_next(struct lexer *lx, struct token *t);
/*
 * Finds "@word"; T_AT_OTHER when there is no such operator at this level.
 * *ret_own (unless NULL): it is tally's own, so a macro may take its name.
 */
enum tok_id lex_atword(const struct compile *c, const char *word,
		       bool *ret_own);
/* The @word of this level that is most like word; NULL: none is. */
const char *lex_atword_like(const struct compile *c, const char *word);
/*
 * How the version a is to b, numbers in them compared as numbers. Negative, 0
 * or positive.
 */
int version_compare(const char *a, const char *b);
/* The version that --compatible asks for; ours by default. */
const char *compat_version(const struct compile *c);
/* Is the level asked for at least this one? level NULL: always. */
/* Is the level asked for at least this one? NULL: always. */
bool compat_at_least(const struct compile *c, const char *level);

#endif
