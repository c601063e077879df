/* SPDX-License-Identifier: MIT */
/* From the typed program to functions: what is built, and emission. */
#include "ir/build.h"

#include <assert.h>

#include "sema/exclusion.h"

/* --- emission ------------------------------------------------------------- */

/*
 * Not laid out yet: block_start() does that. Blocks that are never started are
 * never part of the function.
 */
struct ir_block *block_new(struct build *b)
{
	struct ir_block *blk = arena_new_of(b->a, struct ir_block);

	blk->loop_depth = b->loop_depth;
	return blk;
}

void block_start(struct build *b, struct ir_block *blk)
{
	if (b->last)
		b->last->next = blk;
	else
		b->f->blocks = blk;
	b->last = blk;
	b->cur = blk;
}

/* Same token, not only same position: messages name the token. */
static bool same_place(const struct span *x, const struct span *y)
{
	return x->src == y->src && x->line == y->line && x->col == y->col &&
	       x->text == y->text && x->kind == y->kind;
}

/* The index of the current place in ir.locs; each instruction has one. */
static uint32_t loc_here(struct build *b)
{
	struct ir_loc l = {.span = b->here, .caller = b->scope->caller};
	unsigned n = b->ir->locs.n;

	/* Neighbours are enough: most repeats are the same node's. */
	for (unsigned i = n; i > 0 && i + 8 > n; i--) {
		const struct ir_loc *o = &b->ir->locs.v[i - 1];

		if (o->caller == l.caller && same_place(&o->span, &l.span))
			return i - 1;
	}
	vec_push(b->a, &b->ir->locs, l);
	return n;
}

/* A node that a pass made has no line: the place around it then stands. */
struct span build_at(struct build *b, const struct span *at)
{
	struct span old = b->here;

	if (at->line)
		b->here = *at;
	return old;
}

/*
 * args has nargs values; the instruction takes copies. Behind a terminator a
 * block that nothing leads to is opened, so that callers need not ask.
 */
struct ir_ins *emit_n(struct build *b, enum ir_op op, unsigned nargs,
		      const struct ir_val *args)
{
	struct ir_ins *i = ins_new(b->a, op, nargs);

	for (unsigned k = 0; k < nargs; k++)
		i->args[k] = args[k];
	i->loc = loc_here(b);
	if (!b->cur) /* after return, next, break: swept away later */
		block_start(b, block_new(b));
	block_append(b->cur, i);
	b->nins++;
	if (op_info(op)->flags & OPF_T)
		b->cur = NULL;
	return i;
}

struct ir_ins *emit(struct build *b, enum ir_op op, struct ir_val x,
		    struct ir_val y, struct ir_val z)
{
	struct ir_val v[3] = {x, y, z};
	unsigned n = 0;

	while (n < 3 && v[n].kind != VAL_NONE)
		n++;
	return emit_n(b, op, n, v);
}

struct ir_val emit_num(struct build *b, enum ir_op op, struct ir_val x,
		       struct ir_val y, struct ir_val z)
{
	uint32_t r = tmp_num(b);
	struct ir_ins *i = emit(b, op, x, y, z);

	i->dst = r;
	i->has_dst = true;
	return val_reg(r);
}

/* The result goes to dst, which is a register that exists already. */
void emit_to(struct build *b, enum ir_op op, uint32_t dst, struct ir_val x,
	     struct ir_val y)
{
	struct ir_ins *i = emit(b, op, x, y, NOVAL);

	i->dst = dst;
	i->has_dst = true;
}

/* Nothing to jump from behind a return. */
void emit_jmp(struct build *b, struct ir_block *to)
{
	if (!b->cur)
		return;
	emit(b, OP_JMP, NOVAL, NOVAL, NOVAL)->target[0] = to;
}

/* *v is a number: yes unless it is 0. */
void emit_br(struct build *b, struct ir_val v, struct ir_block *yes,
	     struct ir_block *no)
{
	struct ir_ins *i = emit(b, OP_BR, v, NOVAL, NOVAL);

	i->target[0] = yes;
	i->target[1] = no;
}

/* A string is cut or padded to the register's width by SMOV. */
void emit_mov(struct build *b, uint32_t r, struct ir_val v)
{
	if (v.kind == VAL_REG && v.reg == r)
		return;
	emit_to(b, b->f->regs.v[r].is_str ? OP_SMOV : OP_MOV, r, v, NOVAL);
}

/*
 * Registers are never used again for something else here: gen/ finds out which
 * may share a place.
 */
uint32_t tmp_num(struct build *b)
{
	return func_reg(b->a, b->f, 0, NULL);
}

uint32_t tmp_str(struct build *b, uint32_t width)
{
	return func_reg(b->a, b->f, width ? width : STR_ALIGN, NULL);
}

uint32_t tmp_of(struct build *b, enum type t, uint32_t width)
{
	return t == TY_STRING ? tmp_str(b, width) : tmp_num(b);
}

const char *build_text(struct build *b, const char *s)
{
	return str_internz(b->c->str, s);
}

/* --- failures ------------------------------------------------------------- */

void emit_raise(struct build *b, struct ir_val text, int64_t flags)
{
	const struct handler *h = b->handler;

	/* Without a catch block around, the handler ends. */
	if (!h || (flags & RAISE_UNCATCHABLE)) {
		emit(b, OP_RAISE, text, NOVAL, NOVAL)->num = flags;
		return;
	}
	if (h->named) {
		/* No text: the pending error's own, which only the host has. */
		if (text.kind == VAL_NONE)
			emit_to(b, OP_TAKEERR, h->text, NOVAL, NOVAL);
		else
			emit_mov(b, h->text, text);
	}
	emit_jmp(b, h->block);
}

/*
 * Opens the failure block; the caller fills it, then calls fail_close(). The
 * instruction at hand is the last of its block now.
 */
static struct ir_block *fail_open(struct build *b, struct ir_ins *i)
{
	struct ir_block *ok = block_new(b);

	i->target[0] = ok;
	i->target[1] = block_new(b);
	block_start(b, i->target[1]);
	return ok;
}

void emit_fail(struct build *b, struct ir_ins *i, const char *text)
{
	struct ir_block *ok = fail_open(b, i);

	emit_raise(b, text ? val_str(build_text(b, text)) : NOVAL, 0);
	block_start(b, ok);
}

/*
 * head, the number in hexadecimal, tail: as a format of our own. The format of
 * the text is put together where the error happens: in the kernel nobody could
 * do it later.
 */
static struct fmt *fault_fmt(struct build *b, const char *head,
			     const char *tail)
{
	struct fmt *f = arena_new_of(b->a, struct fmt);
	struct fmt_part p = {.width = -1, .prec = -1};

	p.text = build_text(b, head);
	vec_push(b->a, &f->parts, p);
	p.text = NULL;
	p.conv = 'x';
	vec_push(b->a, &f->parts, p);
	p.conv = 0;
	p.text = build_text(b, tail);
	vec_push(b->a, &f->parts, p);
	f->nargs = 1;
	return f;
}

void emit_fail_num(struct build *b, struct ir_ins *i, const char *head,
		   struct ir_val num, const char *tail)
{
	struct ir_block *ok = fail_open(b, i);

	/* A catch block that does not ask for the text does not pay for it. */
	if (!b->handler || b->handler->named) {
		struct fmt *f = fault_fmt(b, head, tail);
		/* As long as both pieces and 16 digits. */
		uint32_t t = tmp_str(b, 96);
		struct ir_ins *s = emit(b, OP_SPRINT, num, NOVAL, NOVAL);

		s->dst = t;
		s->has_dst = true;
		s->num = 1;
		s->fmt = fmt_make(b, f, &num, 1);
		emit_raise(b, val_reg(t), 0);
	} else {
		emit_raise(b, val_str(build_text(b, "")), 0);
	}
	block_start(b, ok);
}

/* --- scopes --------------------------------------------------------------- */

/*
 * By the scope: an inlined function's local is another register at each call.
 */
uint32_t local_reg(struct build *b, const struct var *v)
{
	struct scope *s = b->scope;

	assert(!v->is_global);
	if (v->index >= s->nreg) {
		s->reg = arena_grow(b->a, s->reg, s->nreg * sizeof(*s->reg),
				    (v->index + 8) * sizeof(*s->reg));
		s->nreg = v->index + 8;
	}
	if (!s->reg[v->index])
		s->reg[v->index] = 1 + func_reg(b->a, b->f,
						v->type == TY_STRING ?
						v->width ? v->width : STR_ALIGN
						: 0, v->name);
	return s->reg[v->index] - 1;
}

/*
 * From the first-th on: a function's parameters come first in its locals and
 * have their values. In the language a variable starts as 0 or "".
 */
void scope_init(struct build *b, struct scope *s, struct var **locals,
		unsigned n, unsigned first)
{
	for (unsigned i = first; i < n; i++) {
		struct var *v = locals[i];

		emit_mov(b, local_reg(b, v),
			 v->type == TY_STRING ?
			 val_str(build_text(b, "")) : val_num(0));
	}
}

/*
 * Search for loops, and for calls that lead to some or come back. In a host
 * function each call counts, since the callee may be anything; in kernel
 * handlers calls are inlined, so only what is in them matters.
 */
struct loop_search {
	struct build *b;
	bool found;
};

/* What is known of a function: build.loops. */
enum { LOOPS_UNKNOWN, LOOPS_NO, LOOPS_YES };

static int find_loop(struct node **child, void *ctx);

static bool function_loops(struct build *b, struct function *fn)
{
	struct loop_search s = {.b = b};
	uint8_t *known = &b->loops[fn->index];

	if (*known != LOOPS_UNKNOWN)
		return *known == LOOPS_YES;
	*known = LOOPS_YES; /* for those that come back to it */
	if (fn->is_recursive)
		return true;
	if (fn->body)
		find_loop(&fn->body, &s);
	*known = s.found ? LOOPS_YES : LOOPS_NO;
	return s.found;
}

static int find_loop(struct node **child, void *ctx)
{
	struct loop_search *s = ctx;
	struct node *n = *child;

	if (!n || s->found)
		return s->found;
	if (n->kind == N_FOR || n->kind == N_FOREACH) {
		s->found = true;
	} else if (n->kind == N_CALL && n->u.call.fn) {
		struct function *f = n->u.call.fn;

		for (; f && !s->found; f = f->overload)
			if (s->b->f->place == PLACE_HOST ||
			    function_loops(s->b, f))
				s->found = true;
	}
	if (!s->found)
		node_each_child(n, find_loop, s);
	return s->found;
}

/* Does the function, or what it calls, loop or recurse? */
static bool body_loops(struct build *b, struct node *body)
{
	struct loop_search s = {.b = b};

	if (body)
		find_loop(&body, &s);
	return s.found;
}

/* --- functions ------------------------------------------------------------ */

static struct ir_func *func_new(struct build *b, enum ir_kind kind,
				const char *name)
{
	struct ir_func *f = arena_new_of(b->a, struct ir_func);

	f->kind = kind;
	f->name = name;
	f->index = b->ir->funcs.n;
	vec_push(b->a, &b->ir->funcs, f);
	return f;
}

/* State that no function inherits from the one before. */
static void func_begin(struct build *b, struct ir_func *f, struct scope *s)
{
	b->f = f;
	b->cur = b->last = NULL;
	b->scope = s;
	b->loop = NULL;
	b->handler = NULL;
	b->nins = b->depth = b->loop_depth = 0;
	b->here = (struct span){0};
	s->caller = -1;
	block_start(b, block_new(b));
}

/*
 * One version of a handler. The same tree is built twice for timers that may be
 * kicked; building changes no tree.
 */
static void build_probe(struct build *b, struct probe *p, enum place place)
{
	struct scope s = {0};
	struct ir_func *f;

	f = func_new(b, IR_PROBE, arena_printf(b->a, "probe %u", p->index));
	f->probe = p;
	f->place = place;
	b->probe = p;
	func_begin(b, f, &s);
	b->here = p->span;
	/*
	 * Counting costs an instruction a statement, so only where a handler
	 * could exceed the limit: loops, or more statements than it allows.
	 */
	b->counting = !b->c->set.suppress_time_limits &&
		      (body_loops(b, p->body) ||
		       (p->body && stmt_weight(p->body) >=
		       b->c->set.limit[LIMIT_MAXACTION_INTERRUPTIBLE]));
	scope_init(b, &s, p->locals.v, p->locals.n, 0);
	/* A probe's own if (...): false ends the handler before it began. */
	if (p->cond) {
		struct ir_block *run = block_new(b), *skip = block_new(b);

		cond(b, p->cond, run, skip);
		block_start(b, skip);
		emit_n(b, OP_RET, 0, NULL);
		block_start(b, run);
	}
	if (p->body && !p->elided)
		region(b, p->body, 0);
	if (b->cur)
		emit_n(b, OP_RET, 0, NULL);
	/* What follows a return or an exit was built, and is not reached. */
	ir_prune(b->a, f);
}

/* A host version, all overloads in it: `next` goes to the following one with
 * the parameters as they came. */
static void build_function(struct build *b, struct ir_func *f)
{
	struct function *fn = f->fn;
	struct scope first = {.fn = fn};

	b->probe = NULL;
	func_begin(b, f, &first);
	b->here = fn->span;
	b->counting = !b->c->set.suppress_time_limits;
	/*
	 * Registers 0 to nparams - 1 are the parameters as the caller gave
	 * them; each overload copies them, since a body may change its own.
	 */
	for (unsigned i = 0; i < fn->params.n; i++) {
		struct var *v = fn->params.v[i];

		func_reg(b->a, f, v->type == TY_STRING ?
			 v->width ? v->width : STR_ALIGN : 0, v->name);
	}
	f->nparams = fn->params.n;
	f->has_ret = fn->type == TY_LONG || fn->type == TY_STRING;
	f->ret_reg_type = fn->type != TY_STRING ? 0 :
			  fn->width ? fn->width : STR_ALIGN;
	for (; fn; fn = fn->overload) {
		struct scope s = {.fn = fn, .caller = -1};

		b->scope = &s;
		s.overload = block_new(b);
		for (unsigned i = 0; i < fn->params.n; i++)
			emit_mov(b, local_reg(b, fn->params.v[i]),
				 val_reg(i));
		scope_init(b, &s, fn->locals.v, fn->locals.n, fn->params.n);
		if (fn->body)
			region(b, fn->body, 0);
		/* Without a return statement a function gives 0 or "". */
		if (b->cur && f->has_ret) {
			struct ir_val v = f->ret_reg_type ?
				val_str(build_text(b, "")) : val_num(0);

			emit_n(b, OP_RET, 1, &v);
		} else if (b->cur) {
			emit_n(b, OP_RET, 0, NULL);
		}
		block_start(b, s.overload);
	}
	b->scope = &first;
	/* The last overload's `next` leads here. */
	emit_raise(b, val_str(build_text(b, "all functions exhausted")), 0);
	ir_prune(b->a, f);
}

/*
 * A second version, for the kernel, of a timer's handler that needs a lock:
 * opt_kick() decides between the two. Not of long ones, nor of those with
 * loops, which the kernel may refuse.
 */
static void build_kicked(struct build *b, struct probe *p)
{
	enum { BLOCKS_MAX = 64 };
	const struct exclusion *e = b->p->exclusion;
	struct ir_func *f;

	if (p->place != PLACE_HOST || p->when != WHEN_TIMER || p->elided ||
	    b->c->set.runtime != RUNTIME_BPF || !e || !e->probe_locks[p->index])
		return;
	build_probe(b, p, PLACE_KERNEL);
	f = b->f;
	/* The version that was built last is taken back. */
	if (f->nblocks > BLOCKS_MAX || body_loops(b, p->body))
		b->ir->funcs.n--;
}

/*
 * Functions are queued as calls to them are met: what nobody calls on the host
 * has no host version.
 */
struct ir *ir_build(struct compile *c, struct program *p)
{
	struct build b = {.c = c, .a = c->a, .p = p};

	b.ir = arena_new_of(c->a, struct ir);
	b.ir->prog = p;
	if (p->exclusion) {
		b.ir->lock_of = p->exclusion->lock_of;
		b.ir->probe_locks = p->exclusion->probe_locks;
	}
	b.host_fn = arena_array(c->a, struct ir_func *, p->functions.n + 1);
	b.loops = arena_alloc(c->a, p->functions.n + 1);
	for (unsigned i = 0; i < p->probes.n; i++)
		build_probe(&b, p->probes.v[i],
			    p->probes.v[i]->place == PLACE_KERNEL ?
			    PLACE_KERNEL : PLACE_HOST);
	for (unsigned i = 0; i < p->probes.n; i++)
		build_kicked(&b, p->probes.v[i]);
	for (unsigned i = 0; i < b.queue.n; i++)
		build_function(&b, b.queue.v[i]);
	return b.ir;
}
