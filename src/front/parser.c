/* SPDX-License-Identifier: MIT */
/* The parser's entries, its tokens, and how it fails and goes on. */
#include "front/parser.h"

#include <string.h>

#include "base/map.h"
#include "front/foreign.h"

/* --- tokens -------------------------------------------------------------- */

/*
 * The k-th token that was not taken, k < LOOKAHEAD. Pointers to it are good
 * until the next take().
 */
static const struct token *ahead(struct parser *p, unsigned k)
{
	while (p->nahead <= k)
		pp_next(&p->pp, &p->ahead[p->nahead++]);
	return &p->ahead[k];
}

const struct token *peek(struct parser *p)
{
	return ahead(p, 0);
}

/* By value: the place it stood in is used again. */
struct token take(struct parser *p)
{
	struct token t = *ahead(p, 0);

	p->nahead--;
	p->ahead[0] = p->ahead[1];
	return t;
}

bool eat(struct parser *p, enum tok_id id)
{
	if (!at(p, id))
		return false;
	take(p);
	return true;
}

/*
 * Leaves to the setjmp of the entry. What was made so far stays in the arena.
 */
void give_up(struct parser *p)
{
	longjmp(p->failed, 1);
}

void fail_help(struct parser *p, const char *what, const char *help)
{
	const struct token *t = peek(p);
	struct diag *d;

	/* Junk that the lexer or preprocessor has explained is not news. */
	if (!t->reported) {
		d = complain(p->c, EXPECTED, &t->span, what);
		if (!help)
			help = foreign_token(t);
		if (help)
			diag_help(p->c->diag, d, "%s", help);
	}
	give_up(p);
}

void fail(struct parser *p, const char *what)
{
	fail_help(p, what, NULL);
}

struct token need(struct parser *p, enum tok_id id, const char *what)
{
	if (!at(p, id))
		fail(p, what);
	return take(p);
}

struct token need_name(struct parser *p)
{
	struct token t = *peek(p);

	if (t.span.kind != TOK_KEYWORD)
		return need(p, T_IDENT, "identifier");
	/* `global probe` does not begin a probe. */
	take(p);
	fail_as(p, EXPECTED, &t.span, "identifier");
}

/* --- depth --------------------------------------------------------------- */

void enter(struct parser *p)
{
	if (++p->depth > PARSE_DEPTH_MAX)
		fail_as(p, TOO_DEEP, &peek(p)->span, PARSE_DEPTH_MAX);
}

void leave(struct parser *p)
{
	p->depth--;
}

struct node *new_node(struct parser *p, enum node_kind k, const struct token *t)
{
	return node_new(p->c->a, k, t->span);
}

static int highest(struct node **child, void *ctx)
{
	uint32_t *height = ctx;

	if ((*child)->height > *height)
		*height = (*child)->height;
	return 0;
}

/*
 * The tree's height is bounded as well as the text's nesting: a chain of a + b
 * + c ... is flat in the text and deep as a tree, and passes recurse over
 * trees.
 */
struct node *done(struct parser *p, struct node *n)
{
	uint32_t height = 0;

	node_each_child(n, highest, &height);
	n->height = height + 1;
	if (n->height > PARSE_DEPTH_MAX)
		fail_as(p, TOO_DEEP, &n->span, PARSE_DEPTH_MAX);
	return n;
}

/* --- entries ------------------------------------------------------------- */

/* Field by field: jmp_buf must not be touched. */
static void parser_init(struct parser *p, struct compile *c, struct macros *m,
			struct source *src, unsigned flags)
{
	p->c = c;
	p->flags = flags;
	p->depth = p->nahead = 0;
	p->in_function = p->bare_ok = false;
	p->globals = map_new(c->a);
	p->file = arena_new_of(c->a, struct file);
	p->file->src = src;
	pp_init(&p->pp, c, m, src);
}

/* Where reading can go on after a mistake. */
static bool starts_declaration(enum tok_id id)
{
	return id == T_PROBE || id == T_GLOBAL || id == T_PRIVATE ||
	       id == T_FUNCTION || id == T_EMBEDDED || id == T_EOF;
}

/* What a file is that is no script; NULL: it looks like text. */
static const char *binary_kind(struct compile *c, const struct source *src)
{
	enum { LOOK_AT = 8192 }; /* behind it a NUL is but junk */
	size_t len = src->len < LOOK_AT ? src->len : LOOK_AT;
	const char *nul = memchr(src->text, 0, len);

	if (len >= 4 && !memcmp(src->text, "\x7f" "ELF", 4))
		return "a program or library (ELF)";
	if (len >= 2 && !memcmp(src->text, "\x1f\x8b", 2))
		return "compressed data (gzip)";
	if (len >= 2 && (!memcmp(src->text, "\xff\xfe", 2) ||
			 !memcmp(src->text, "\xfe\xff", 2)))
		return "UTF-16 text; save it as UTF-8";
	if (!nul)
		return NULL;
	return arena_printf(c->a, "a NUL byte at offset %zu",
			    (size_t)(nul - src->text));
}

struct file *parse_file(struct compile *c, struct macros *m, struct source *src,
			unsigned flags)
{
	struct parser *p = arena_new_of(c->a, struct parser);
	struct span nowhere = {.src = src};
	/*
	 * Volatile is not needed: nothing that is changed after setjmp is a
	 * local.
	 */
	unsigned errors = diags_errors(c->diag);
	const char *binary = binary_kind(c, src);

	parser_init(p, c, m, src, flags);
	if (binary) {
		complain(c, INPUT_BINARY, &nowhere, src->name, binary);
		return p->file;
	}
	if (!src->len && !(flags & PARSE_LIBRARY)) {
		complain(c, INPUT_EMPTY, &nowhere, src->name);
		return p->file;
	}
	/*
	 * After a mistake: over the rest of the declaration, then on. So one
	 * run reports a mistake in each of them.
	 */
	if (setjmp(p->failed)) {
		p->depth = 0;
		p->in_function = p->bare_ok = false;
		while (!starts_declaration(peek(p)->id))
			take(p);
	} else if (at(p, T_EOF) && !(flags & PARSE_LIBRARY) &&
		   diags_errors(c->diag) == errors) {
		complain(c, INPUT_EMPTY_PP, &nowhere, src->name);
	}
	while (!at(p, T_EOF))
		parse_declaration(p);
	return p->file;
}

struct point *parse_point_text(struct compile *c, struct source *src)
{
	struct parser *p = arena_new_of(c->a, struct parser);
	point_list points = {0};

	parser_init(p, c, NULL, src, PARSE_GURU);
	if (setjmp(p->failed))
		return NULL;
	parse_points(p, &points);
	if (!at(p, T_EOF) || points.n != 1)
		fail(p, "one probe point");
	return points.v[0];
}

struct node *parse_expr_text(struct compile *c, struct source *src)
{
	struct parser *p = arena_new_of(c->a, struct parser);
	struct node *n;

	parser_init(p, c, NULL, src, PARSE_GURU);
	if (setjmp(p->failed))
		return NULL;
	n = parse_expr(p);
	if (!at(p, T_EOF))
		fail(p, "one expression");
	return n;
}

void tokens_dump(struct compile *c, struct macros *m, struct source *src,
		 FILE *f)
{
	struct token t;
	struct pp pp;

	pp_init(&pp, c, m, src);
	for (pp_next(&pp, &t); t.id != T_EOF; pp_next(&pp, &t))
		fprintf(f, "%u:%u %s '%s'\n", t.span.line, t.span.col,
			tok_kind_name(t.span.kind), t.span.text);
}
