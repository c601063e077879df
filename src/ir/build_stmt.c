/* SPDX-License-Identifier: MIT */
/*
 * Statements, and their counting against MAXACTION: a piece of straight-line
 * code is counted once, in advance; an iteration of a loop counts one and the
 * statements of its body.
 */
#include "ir/build.h"

#include <assert.h>

/* --- counting ------------------------------------------------------------- */

/*
 * What a piece of straight-line code counts for. Measured against the
 * reference, to which MAXACTION belongs (docs/language.md).
 */
unsigned stmt_weight(const struct node *n)
{
	unsigned sum = 0;

	switch (n->kind) {
	case N_BLOCK:
		for (unsigned i = 0; i < n->u.block.stmts.n; i++)
			sum += stmt_weight(n->u.block.stmts.v[i]);
		return sum;
	case N_EMPTY:
		return 0;
	case N_FOR: /* the statement and the test that ends it, at two */
		return 3 + (n->u.loop.init != NULL) +
		       (n->u.loop.step != NULL);
	case N_FOREACH:
		return 2;
	case N_TRY:
		return 1 + stmt_weight(n->u.try.body);
	default: /* branches of an if are counted when they are taken */
		return 1;
	}
}

/* The first statement's own token: where MAXACTION is reported. */
static const struct span *first_span(const struct node *n)
{
	while (n->kind == N_BLOCK && n->u.block.stmts.n)
		n = n->u.block.stmts.v[0];
	if (n->kind == N_EXPR && n->u.unary.a)
		return &n->u.unary.a->span;
	return &n->span;
}

/*
 * ACT fails when the count exceeds the limit: before the statements run, so
 * that none of them does.
 */
void region(struct build *b, struct node *n, unsigned extra)
{
	unsigned w = stmt_weight(n) + extra;
	struct ir_block *bad, *ok;
	struct ir_ins *i;
	struct span old;

	if (b->counting && w) {
		old = build_at(b, first_span(n));
		bad = block_new(b);
		ok = block_new(b);
		i = emit(b, OP_ACT, val_num(w), NOVAL, NOVAL);
		i->target[0] = ok;
		i->target[1] = bad;
		block_start(b, bad);
		emit_raise(b, val_str(build_text(b, "MAXACTION exceeded")),
			   RAISE_UNCATCHABLE);
		block_start(b, ok);
		b->here = old;
	}
	stmt(b, n);
}

/* --- statements ----------------------------------------------------------- */

/* The test, then each branch as a region of its own. */
static void stmt_if(struct build *b, struct node *n)
{
	struct ir_block *yes = block_new(b), *no = block_new(b), *end;

	cond(b, n->u.ternary.a, yes, no);
	block_start(b, yes);
	region(b, n->u.ternary.b, 0);
	if (!n->u.ternary.c) {
		emit_jmp(b, no);
		block_start(b, no);
		return;
	}
	end = block_new(b);
	emit_jmp(b, end);
	block_start(b, no);
	region(b, n->u.ternary.c, 0);
	emit_jmp(b, end);
	block_start(b, end);
}

/* init; head: test; body; cont: step; back to head. continue leads to cont. */
static void stmt_loop(struct build *b, struct node *n)
{
	struct loop l = {.up = b->loop};
	struct ir_block *head, *body;

	if (n->u.loop.init)
		expr(b, n->u.loop.init, false);
	l.brk = block_new(b);
	b->loop_depth++;
	head = block_new(b);
	body = block_new(b);
	l.cont = block_new(b);
	emit_jmp(b, head);
	block_start(b, head);
	if (n->u.loop.cond)
		cond(b, n->u.loop.cond, body, l.brk);
	else
		emit_jmp(b, body);
	block_start(b, body);
	/* extra 1: each iteration counts. */
	b->loop = &l;
	region(b, n->u.loop.body, 1);
	b->loop = l.up;
	emit_jmp(b, l.cont);
	block_start(b, l.cont);
	if (n->u.loop.step)
		expr(b, n->u.loop.step, false);
	emit_jmp(b, head);
	b->loop_depth--;
	block_start(b, l.brk);
}

/*
 * Errors inside lead to the catch block; an error in the catch block leads to
 * the handler around, so b->handler is put back first.
 */
static void stmt_try(struct build *b, struct node *n)
{
	struct handler h = {.up = b->handler, .block = block_new(b)};
	struct ir_block *end = block_new(b);
	struct node *name = n->u.try.name;

	if (name) {
		h.named = true;
		h.text = tmp_str(b, str_round(
			b->c->set.limit[LIMIT_MAXSTRINGLEN]));
	}
	b->handler = &h;
	stmt(b, n->u.try.body);
	b->handler = h.up;
	emit_jmp(b, end);
	block_start(b, h.block);
	if (name) {
		struct span old = build_at(b, &name->span);

		assign_var(b, name->u.name.var, val_reg(h.text));
		b->here = old;
	}
	if (n->u.try.catcher)
		region(b, n->u.try.catcher, 0);
	emit_jmp(b, end);
	block_start(b, end);
}

/*
 * In an inlined function a jump to its exit, with the result in its register.
 */
static void stmt_return(struct build *b, struct node *n)
{
	struct scope *s = b->scope;
	struct ir_val v = NOVAL;

	if (n->u.unary.a)
		v = expr(b, n->u.unary.a, true);
	build_at(b, &n->span);
	if (s->inlined) {
		if (s->has_ret && v.kind != VAL_NONE)
			emit_mov(b, s->ret, v);
		emit_jmp(b, s->exit);
		return;
	}
	if (!s->fn || !b->f->has_ret) {
		emit_n(b, OP_RET, 0, NULL);
		return;
	}
	if (v.kind == VAL_NONE)
		v = b->f->ret_reg_type ? val_str(build_text(b, "")) :
		    val_num(0);
	emit_n(b, OP_RET, 1, &v);
}

/* In a function: to the next overload. In a handler: it ends. */
static void stmt_next(struct build *b)
{
	if (b->scope->fn)
		emit_jmp(b, b->scope->overload);
	else
		emit_n(b, OP_RET, 0, NULL);
}

/* sema has reported this already, unless the loop is around an inlined call. */
static void stmt_leave(struct build *b, const struct node *n)
{
	bool brk = n->kind == N_BREAK;

	if (!b->loop) {
		complain(b->c, NOT_IN_LOOP, &n->span,
			 brk ? "break" : "continue");
		return;
	}
	emit_jmp(b, brk ? b->loop->brk : b->loop->cont);
}

void stmt(struct build *b, struct node *n)
{
	struct span old = build_at(b, &n->span);

	switch (n->kind) {
	case N_BLOCK:
		for (unsigned i = 0; i < n->u.block.stmts.n; i++)
			stmt(b, n->u.block.stmts.v[i]);
		break;
	case N_EMPTY:
		break;
	case N_EXPR:
		expr(b, n->u.unary.a, false);
		break;
	case N_IF:
		stmt_if(b, n);
		break;
	case N_FOR:
		stmt_loop(b, n);
		break;
	case N_FOREACH:
		stmt_foreach(b, n);
		break;
	case N_RETURN:
		stmt_return(b, n);
		break;
	case N_DELETE:
		stmt_delete(b, n);
		break;
	case N_BREAK:
	case N_CONTINUE:
		stmt_leave(b, n);
		break;
	case N_NEXT:
		stmt_next(b);
		break;
	case N_TRY:
		stmt_try(b, n);
		break;
	default:
		assert(!"no statement");
	}
	b->here = old;
}
