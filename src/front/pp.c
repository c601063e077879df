/* SPDX-License-Identifier: MIT */
/* %( condition %? these tokens %: or those %) */
#include "front/pp.h"

#include <string.h>

#include "base/compile.h"
#include "base/map.h"

void pp_init(struct pp *pp, struct compile *c, struct macros *m,
	     const struct source *src)
{
	memset(pp, 0, sizeof(*pp));
	pp->c = c;
	pp->library = m;
	pp->named = map_new(c->a);
	lex_init(&pp->lex, c, src);
	pp->lex.holds = true;
}

/* The file ends in here: *t, its end, needs no further comment. */
static void unfinished(struct pp *pp, const struct span *open, struct token *t)
{
	complain(pp->c, COND_EOF, open);
	pp->conds.n = 0;
	t->reported = true;
}

/*
 * Reads over a branch that is not taken, tokens unexpanded: up to its %) or,
 * when to_else, to its %: as well. *t is the mark, or T_EOF. Neither flag: the
 * condition was wrong, and its %? may still come. Inside a branch that is not
 * taken only marks matter; junk there is no mistake (quiet), since it may be
 * for another language level.
 */
static void skip_branch(struct pp *pp, bool to_else, bool had_else,
			struct token *t)
{
	bool quiet = pp->lex.quiet;
	unsigned nested = 0;

	pp->lex.quiet = true;
	for (;;) {
		macro_raw(pp, t);
		if (t->id == T_EOF)
			break;
		if (t->id == T_PP_OPEN)
			nested++;
		else if (t->id == T_PP_CLOSE && !nested--)
			break;
		else if (t->id == T_PP_ELSE && !nested && to_else)
			break;
		else if (t->id == T_PP_ELSE && !nested && had_else)
			complain(pp->c, COND_TWO_ELSE, &t->span);
		else if (t->id == T_PP_THEN && !nested && (to_else || had_else))
			complain(pp->c, COND_NO_OPEN, &t->span);
	}
	pp->lex.quiet = quiet;
}

/*
 * At %(. A branch that is taken is read by pp_next() itself; one that is not is
 * skipped here, up to its %: or %).
 */
static void open_cond(struct pp *pp, struct token *t)
{
	struct cond cond = {.at = t->span};
	struct token last, open = *t;
	int truth = cond_read(pp, t, &last);

	if (truth < 0) {
		/* Nobody can say which branch: neither, and no more noise. */
		if (last.id != T_EOF && last.id != T_PP_CLOSE)
			skip_branch(pp, false, false, &last);
		t->id = T_JUNK;
		t->span.kind = TOK_JUNK;
		t->reported = true;
		return;
	}
	t->id = T_NONE;
	if (!truth) {
		skip_branch(pp, true, false, &last);
		if (last.id == T_EOF) {
			unfinished(pp, &open.span, &last);
			*t = last;
			return;
		}
		if (last.id == T_PP_CLOSE)
			return;
		/* The %: branch is taken: its %) closes it. */
		cond.in_else = true;
	}
	vec_push(pp->c->a, &pp->conds, cond);
}

/* At %: of a branch that was taken: what follows is skipped. */
static void else_mark(struct pp *pp, struct token *t)
{
	struct cond *cond = pp->conds.n ? &vec_last(&pp->conds) : NULL;

	if (!cond || cond->in_else) {
		if (cond)
			complain(pp->c, COND_TWO_ELSE, &t->span);
		else
			complain(pp->c, COND_NO_OPEN, &t->span);
		t->id = T_JUNK;
		t->reported = true;
		return;
	}
	/* *t becomes the %) or the end of the file. */
	skip_branch(pp, false, true, t);
	if (t->id == T_EOF) {
		unfinished(pp, &cond->at, t);
		return;
	}
	pp->conds.n--;
	t->id = T_NONE;
}

/* T_NONE: nothing for the parser, read on. */
void pp_next(struct pp *pp, struct token *t)
{
	do {
		macro_next(pp, t);
		switch (t->id) {
		case T_PP_OPEN:
			open_cond(pp, t);
			break;
		case T_PP_ELSE:
			else_mark(pp, t);
			break;
		case T_PP_CLOSE:
		/* A %) may also be one that nobody opened; a %? always is. */
		case T_PP_THEN:
			if (t->id == T_PP_CLOSE && pp->conds.n) {
				pp->conds.n--;
				t->id = T_NONE;
				break;
			}
			complain(pp->c, COND_NO_OPEN, &t->span);
			t->id = T_JUNK;
			t->reported = true;
			break;
		case T_EOF:
			if (pp->conds.n)
				unfinished(pp, &vec_last(&pp->conds).at, t);
			break;
		default:
			break;
		}
	} while (t->id == T_NONE);
}
