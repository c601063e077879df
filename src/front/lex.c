/* SPDX-License-Identifier: MIT */
/*
 * The lexer. Arguments ($1) are pasted into the stream of characters, so that
 * `$1x` can join; all reading therefore goes through at() and skip().
 */
#include "front/lex.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/compile.h"

/* The language level that we are: what systemtap_v tells scripts. */
#define LANGUAGE_VERSION "5.6"

/* A row of token.def. */
struct word {
	const char *text;
	enum tok_id id;
	/* the language level it came with; NULL: the first */
	const char *since;
	bool own; /* tally's own: a script's macro may take the name */
};

static const struct word keywords[] = {
#define KEYWORD(id, text, since) {text, T_##id, since, false},
#include "front/token.def"
};
static const struct word puncts[] = {
#define PUNCT(id, text) {text, T_##id, NULL, false},
#include "front/token.def"
};
static const struct word atwords[] = {
#define ATWORD(id, text, since, own) {text, T_##id, since, own},
#include "front/token.def"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "2.10" is after "2.9", as the reference has it. */
int version_compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

const char *compat_version(const struct compile *c)
{
	return c->set.compatible ? c->set.compatible : LANGUAGE_VERSION;
}

bool compat_at_least(const struct compile *c, const char *level)
{
	return !level || version_compare(compat_version(c), level) >= 0;
}

/* Linear: a dozen words, and only behind an @. */
enum tok_id lex_atword(const struct compile *c, const char *word, bool *ret_own)
{
	for (size_t i = 0; i < COUNT(atwords); i++) {
		if (strcmp(atwords[i].text, word) ||
		    !compat_at_least(c, atwords[i].since))
			continue;
		if (ret_own)
			*ret_own = atwords[i].own;
		return atwords[i].id;
	}
	return T_AT_OTHER;
}

const char *lex_atword_like(const struct compile *c, const char *word)
{
	const char *best = NULL;
	/* Farther away than a third of the word is no misspelling of it. */
	unsigned limit = (unsigned)strlen(word) / 3 + 1, d;

	if (strlen(word) > 32)
		return NULL;
	for (size_t i = 0; i < COUNT(atwords); i++) {
		d = str_distance(word, atwords[i].text);
		if (d < limit && compat_at_least(c, atwords[i].since)) {
			limit = d;
			best = atwords[i].text;
		}
	}
	return best;
}

void lex_init(struct lexer *lx, struct compile *c, const struct source *src)
{
	memset(lx, 0, sizeof(*lx));
	lx->c = c;
	lx->src = src;
	lx->p = src->text;
	lx->end = src->text + src->len;
	lx->line = lx->col = 1;
}

/* --- characters ---------------------------------------------------------- */

/* Is what p reads an argument's text? */
static bool pasting(const struct lexer *lx)
{
	return lx->resume != NULL;
}

/* The character k places on, or -1 behind the end. */
static int at(const struct lexer *lx, size_t k)
{
	size_t left = (size_t)(lx->end - lx->p);

	if (k < left)
		return (unsigned char)lx->p[k];
	k -= left;
	if (pasting(lx) && k < (size_t)(lx->resume_end - lx->resume))
		return (unsigned char)lx->resume[k];
	return -1;
}

/* Back to the script. Columns go on behind the $N, not behind what it stood
 * for: a caret must point into the line that is shown. */
static void paste_done(struct lexer *lx)
{
	lx->p = lx->resume;
	lx->end = lx->resume_end;
	lx->resume = NULL;
	lx->col = lx->paste_end_col;
}

/* Over k characters, across the end of a pasted text. Columns count bytes. */
static void skip(struct lexer *lx, size_t k)
{
	while (k--) {
		if (lx->p == lx->end && pasting(lx))
			paste_done(lx);
		if (lx->p == lx->end)
			return;
		if (!pasting(lx)) {
			if (*lx->p == '\n') {
				lx->line++;
				lx->col = 0;
			}
			lx->col++;
		}
		lx->p++;
	}
	if (lx->p == lx->end && pasting(lx))
		paste_done(lx);
}

/* The token's text is collected here, since it may be in two pieces. */
static void keep(struct lexer *lx, int ch)
{
	vec_push(lx->c->a, &lx->text, (char)ch);
}

/* --- tokens -------------------------------------------------------------- */

/* The text is interned: tokens outlive the lexer's buffer. */
static void finish(struct lexer *lx, struct token *t, enum tok_kind kind,
		   enum tok_id id)
{
	t->span.kind = kind;
	t->id = id;
	t->span.text =
	    str_intern(lx->c->str, lx->text.n ? lx->text.v : "", lx->text.n);
}

/* Ends the token as junk whose diagnostic is given here and now. */
#define junk(lx, t, diag_id, ...)                                              \
	do {                                                                   \
		(lx)->text.n = 0;                                              \
		finish((lx), (t), TOK_JUNK, T_JUNK);                           \
		(t)->reported = true;                                          \
		if (!(lx)->quiet)                                              \
			(lx)->last = complain((lx)->c, diag_id,                \
					      &(t)->span __VA_OPT__(, )        \
						  __VA_ARGS__);                \
	} while (0)

/* Blanks and comments; true when there were any. */
static bool lex_blanks(struct lexer *lx)
{
	bool any = false;

	for (;; any = true) {
		int ch = at(lx, 0);

		if (ch == ' ' || (ch >= '\t' && ch <= '\r')) {
			skip(lx, 1);
		} else if (ch == '#' || (ch == '/' && at(lx, 1) == '/')) {
			while (at(lx, 0) >= 0 && at(lx, 0) != '\n')
				skip(lx, 1);
		} else if (ch == '/' && at(lx, 1) == '*') {
			skip(lx, 2);
			while (at(lx, 0) >= 0 &&
			       !(at(lx, 0) == '*' && at(lx, 1) == '/'))
				skip(lx, 1);
			/*
			 * Of an unclosed comment the end of the file is
			 * reported, by what is missing there.
			 */
			skip(lx, 2);
		} else {
			return any;
		}
	}
}

/* Not isalnum(): a locale must not change what a script means. */
static bool word_char(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_' || ch == '$';
}

/*
 * Letters, digits, _ and $: "$x$" is one word. Keywords are words of their
 * level; before it they are names.
 */
static void lex_word(struct lexer *lx, struct token *t)
{
	while (word_char(at(lx, 0))) {
		keep(lx, at(lx, 0));
		skip(lx, 1);
	}
	for (size_t i = 0; i < COUNT(keywords); i++) {
		const struct word *w = &keywords[i];

		/* The first letter sorts out most of them before any call. */
		if (w->text[0] == lx->text.v[0] &&
		    strlen(w->text) == lx->text.n &&
		    !memcmp(w->text, lx->text.v, lx->text.n) &&
		    compat_at_least(lx->c, w->since)) {
			finish(lx, t, TOK_KEYWORD, w->id);
			return;
		}
	}
	finish(lx, t, TOK_IDENT, T_IDENT);
}

static void lex_number(struct lexer *lx, struct token *t)
{
	/* Whether it is a number is asked where its value is needed. */
	while (at(lx, 0) >= 0 && isalnum(at(lx, 0))) {
		keep(lx, at(lx, 0));
		skip(lx, 1);
	}
	finish(lx, t, TOK_NUMBER, T_NUMLIT);
}

/* Up to three digits, as in C; \400 and above lose their ninth bit. */
static int octal_escape(struct lexer *lx)
{
	int value = 0;

	for (int i = 0; i < 3 && at(lx, 0) >= '0' && at(lx, 0) <= '7'; i++) {
		value = value * 8 + at(lx, 0) - '0';
		skip(lx, 1);
	}
	return value & 0xff;
}

/* As many digits as there are, as in C; the last two count. */
static int hex_escape(struct lexer *lx)
{
	unsigned value = 0;

	while (at(lx, 0) >= 0 && isxdigit(at(lx, 0))) {
		int ch = tolower(at(lx, 0));

		value = value * 16 +
			(unsigned)(ch <= '9' ? ch - '0' : ch - 'a' + 10);
		skip(lx, 1);
	}
	return (int)(value & 0xff);
}

/* Behind a backslash. */
static void lex_escape(struct lexer *lx)
{
	static const char names[] = "abtnvfr", values[] = "\a\b\t\n\v\f\r";
	int ch = at(lx, 0);
	const char *name;

	if (ch >= '0' && ch <= '7') {
		keep(lx, octal_escape(lx));
		return;
	}
	skip(lx, 1);
	if (ch == 'x' && at(lx, 0) >= 0 && isxdigit(at(lx, 0)) &&
	    compat_at_least(lx->c, "2.3"))
		keep(lx, hex_escape(lx));
	else if (ch > 0 && (name = strchr(names, ch)))
		keep(lx, values[name - names]);
	else
		/* \" and \\, and whatever else: the character itself. */
		keep(lx, ch);
}

/*
 * At the quote. A string ends on its line: a missing quote is then reported
 * where it is missing, and not as whatever the rest of the file looks like
 * inside out.
 */
static void lex_string(struct lexer *lx, struct token *t)
{
	const char *nul;
	int ch;

	skip(lx, 1);
	while ((ch = at(lx, 0)) != '"') {
		if (ch < 0 || ch == '\n') {
			junk(lx, t, UNCLOSED_STRING);
			return;
		}
		skip(lx, 1);
		if (ch != '\\')
			keep(lx, ch);
		else if (at(lx, 0) >= 0)
			lex_escape(lx);
	}
	skip(lx, 1);
	/* A string is what C would see: it ends at its first NUL. */
	nul = lx->text.n ? memchr(lx->text.v, 0, lx->text.n) : NULL;
	if (nul)
		lx->text.n = (unsigned)(nul - lx->text.v);
	finish(lx, t, TOK_STRING, T_STRLIT);
}

/* %{ C %} is read as one token although it is refused: one message about it,
 * instead of one for every word of C. */
static void lex_embedded(struct lexer *lx, struct token *t)
{
	bool typo = false;

	skip(lx, 2);
	for (;;) {
		int ch = at(lx, 0);

		if (ch < 0) {
			junk(lx, t, UNCLOSED_EMBEDDED);
			break;
		}
		if (ch == '%' && at(lx, 1) == '}') {
			skip(lx, 2);
			finish(lx, t, TOK_EMBEDDED, T_EMBEDDED);
			break;
		}
		if (ch == '}' && at(lx, 1) == '%')
			typo = true;
		keep(lx, ch);
		skip(lx, 1);
	}
	if (typo && !lx->quiet)
		complain(lx->c, EMBEDDED_TYPO, &t->span);
}

/* At a $ or @ that a digit or # follows. false: text was pasted, read on. */
static bool lex_argument(struct lexer *lx, struct token *t)
{
	struct settings *set = &lx->c->set;
	bool quote = at(lx, 0) == '@', nested = pasting(lx);
	unsigned long n = 0;
	const char *text;
	char count[16];

	skip(lx, 1);
	if (at(lx, 0) == '#') {
		skip(lx, 1);
		snprintf(count, sizeof(count), "%u", set->args.n);
		/*
		 * $# and @# are the number of arguments, as a number and as a
		 * string.
		 */
		for (text = count; *text; text++)
			keep(lx, *text);
		finish(lx, t, quote ? TOK_STRING : TOK_NUMBER,
		       quote ? T_STRLIT : T_NUMLIT);
		return true;
	}
	while (at(lx, 0) >= '0' && at(lx, 0) <= '9') {
		/*
		 * Saturated: what is too large is out of range, whatever it is.
		 */
		if (n < UINT_MAX)
			n = n * 10 + (unsigned long)(at(lx, 0) - '0');
		skip(lx, 1);
	}
	/* An argument that names an argument could name itself. */
	if (nested) {
		junk(lx, t, ARG_NESTED);
		return true;
	}
	if (n < 1 || n > set->args.n) {
		if (lx->holds)
			diags_hold(lx->c->diag);
		junk(lx, t, ARG_RANGE, set->args.n);
		/* [1-0] is the reference's text, and says little */
		if (!lx->quiet && !set->args.n)
			diag_help(lx->c->diag, lx->last,
				  "arguments stand behind the script; there "
				  "are none");
		if (lx->holds)
			t->held = diags_held(lx->c->diag);
		return true;
	}
	/* For the warning about arguments that nothing used. */
	if (set->args_used)
		set->args_used[n - 1] = true;
	text = set->args.v[n - 1];
	if (quote) {
		while (*text)
			keep(lx, *text++);
		finish(lx, t, TOK_STRING, T_STRLIT);
		return true;
	}
	/*
	 * $N reads on in the argument's text; an empty one leaves nothing.
	 * Blanks and quotes in it count as if they were written there.
	 */
	if (*text) {
		lx->resume = lx->p;
		lx->resume_end = lx->end;
		lx->paste_end_col = lx->col;
		lx->p = text;
		lx->end = text + strlen(text);
		lx->col = t->span.col;
	}
	return false;
}

/* @word: an operator, or a macro's name, which the preprocessor knows. */
static void lex_at(struct lexer *lx, struct token *t)
{
	keep(lx, '@');
	skip(lx, 1);
	while (word_char(at(lx, 0))) {
		keep(lx, at(lx, 0));
		skip(lx, 1);
	}
	finish(lx, t, TOK_OPERATOR, T_AT_OTHER);
	t->id = lex_atword(lx->c, t->span.text, NULL);
}

/* The table has longer operators before their beginnings: first fit. */
static void lex_punct(struct lexer *lx, struct token *t)
{
	for (size_t i = 0; i < COUNT(puncts); i++) {
		const char *s = puncts[i].text;
		size_t k = 0;

		while (s[k] && at(lx, k) == s[k])
			k++;
		if (s[k])
			continue;
		for (k = 0; s[k]; k++)
			keep(lx, s[k]);
		skip(lx, k);
		finish(lx, t, TOK_OPERATOR, puncts[i].id);
		return;
	}
	/* Other punctuation is an operator nobody knows; the rest is junk. */
	keep(lx, at(lx, 0));
	t->span.kind = ispunct(at(lx, 0)) ? TOK_OPERATOR : TOK_JUNK;
	skip(lx, 1);
	finish(lx, t, t->span.kind, T_JUNK);
}

void lex_next(struct lexer *lx, struct token *t)
{
	/* The first token is not glued to anything. */
	bool first = lx->line == 1 && lx->col == 1;
	int ch;

	memset(t, 0, sizeof(*t));
	/* "glued": nothing between it and the token before. In a probe point,
	 * sys*open is one component of three tokens, and blanks end it. */
	t->glued = true;
again:
	if (lex_blanks(lx) || first)
		t->glued = false;
	t->span.src = lx->src;
	t->span.line = lx->line;
	t->span.col = lx->col;
	lx->text.n = 0;
	ch = at(lx, 0);
	if (ch < 0) {
		t->span.kind = TOK_EOF;
		t->id = T_EOF;
	} else if ((ch == '$' || ch == '@') && at(lx, 1) >= 0 &&
		   (at(lx, 1) == '#' || isdigit(at(lx, 1)))) {
		if (!lex_argument(lx, t))
			goto again;
	} else if (ch >= '0' && ch <= '9') {
		lex_number(lx, t);
	} else if (word_char(ch)) {
		lex_word(lx, t);
	} else if (ch == '"') {
		lex_string(lx, t);
	} else if (ch == '@') {
		lex_at(lx, t);
	} else if (ch == '%' && at(lx, 1) == '{') {
		lex_embedded(lx, t);
	} else {
		lex_punct(lx, t);
	}
}
