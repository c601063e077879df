/* SPDX-License-Identifier: MIT */
/*
 * needs:  kernel handlers with all calls inlined that can be
 * keeps:  all functions as they are
 * breaks: nothing; it fills ir.late, which split obeys
 *
 * What a handler stores after it has gone on on the host is there late: a
 * handler in the kernel would not see it yet. That is said in the manual of a
 * report that a rare event makes, and cheap. But text that only the host can
 * make (argstr, a quoted string) is stored in one handler to be printed in
 * another, and both are hit within microseconds. So where what a handler
 * stores depends on such a value, the globals that it stores on the host are
 * the host's alone: each handler goes on on the host where it touches one, and
 * the host takes them in the order of their events. What such a handler reads
 * or stores there besides has to keep that order, too.
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/split.h"

struct late {
	struct compile *c;
	struct ir *ir;
	struct split s;		/* of the function at hand */
	uint8_t *read, *set;	/* by global: in the kernel */
	/* By function and block: the first instruction on the host, whatever
	 * becomes of the globals. */
	unsigned **always;
	/* Of the function at hand: */
	unsigned *from;		/* by block: its first one on the host */
	uint8_t *made;		/* by register: a value of the host's making */
	uint8_t *after;		/* by block: behind a branch on one */
	struct ir_block **stack;
};

enum { NONE = UINT32_MAX };

static bool is_plain(const struct ir_ins *i)
{
	return i->global && i->global->is_global && i->global->type != TY_STATS;
}

static bool adds(const struct ir_ins *i)
{
	return i->op == OP_GADD || i->op == OP_AADD;
}

/* Changes a plain global, and not by an addition that can come at any time. */
static bool sets(const struct ir_ins *i)
{
	switch (i->op) {
	case OP_GST: case OP_ASET: case OP_ADEL: case OP_ACLR: case OP_ADELW:
	case OP_GXADD: case OP_AXADD: case OP_GRMW:
		return is_plain(i);
	default:
		return false;
	}
}

/* Of additions only who reads the global can tell. */
static bool stores(const struct late *l, const struct ir_ins *i)
{
	return sets(i) || (is_plain(i) && adds(i) && l->read[i->global->index]);
}

/* Done on the host, it would not be in the order of the events. */
static bool needs_order(const struct late *l, const struct ir_ins *i)
{
	return stores(l, i) ||
	       (is_plain(i) && !adds(i) && l->set[i->global->index]);
}

/* Not of the host's making: what a walk or an aggregate gives is a report. */
static bool reports(const struct ir_ins *i)
{
	switch (i->op) {
	case OP_ITNEW: case OP_ITNEXT: case OP_ITKEY: case OP_ITVAL:
	case OP_ITEND: case OP_SGET: case OP_HGET: case OP_HSPRINT:
	case OP_AHASW:
		return true;
	default:
		return i->op == OP_AHAS && i->global->type == TY_STATS;
	}
}

static bool has_made(const struct late *l, const struct ir_ins *i)
{
	for (unsigned k = 0; k < i->nargs; k++)
		if (i->args[k].kind == VAL_REG && l->made[i->args[k].reg])
			return true;
	return false;
}

/* All that is reached from block b, itself included, is marked in set. */
static void reach(struct late *l, struct ir_block *b, uint8_t *set)
{
	unsigned n = 0;

	if (set[b->id])
		return;
	set[b->id] = 1;
	l->stack[n++] = b;
	while (n) {
		struct ir_block *succ[2];
		unsigned k = ir_succ(l->stack[--n], succ);

		while (k--) {
			if (set[succ[k]->id])
				continue;
			set[succ[k]->id] = 1;
			l->stack[n++] = succ[k];
		}
	}
}

/* Which part of each block may be done on the host? false: none of any. */
static bool find_host(struct late *l, const struct ir_func *f)
{
	uint8_t *host = arena_alloc(l->c->a, f->nblocks + 1);
	uint8_t *seen = arena_alloc(l->c->a, f->nblocks + 1);
	struct ir_block **kernel = arena_array(l->c->a, struct ir_block *,
					     f->nblocks + 1);
	unsigned n = 0;
	bool any = false;

	for (unsigned i = 0; i < f->nblocks; i++)
		l->from[i] = NONE;
	kernel[n++] = f->blocks;
	seen[f->blocks->id] = 1;
	while (n) {
		struct ir_block *b = kernel[--n], *succ[2];
		struct ir_ins *i = b->first;
		unsigned at = 0, k;

		for (; i && !split_to_host(&l->s, b, i); i = i->next)
			at++;
		k = ir_succ(b, succ);
		if (i) {
			any = true;
			l->from[b->id] = at;
		}
		while (k--) {
			if (i) {
				reach(l, succ[k], host);
			} else if (!seen[succ[k]->id]) {
				seen[succ[k]->id] = 1;
				kernel[n++] = succ[k];
			}
		}
	}
	for (unsigned i = 0; i < f->nblocks; i++)
		if (host[i])
			l->from[i] = 0;
	return any;
}

/* One round: registers that hold what the host has made, blocks behind
 * branches on it. true: there are more than before. */
static bool spread(struct late *l, const struct ir_func *f)
{
	bool more = false;

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		unsigned at = 0;

		for (struct ir_ins *i = b->first; i; i = i->next) {
			bool made;

			if (at++ < l->from[b->id])
				continue;
			made = has_made(l, i) || (split_to_host(&l->s, b, i) &&
						  !reports(i));
			if (!made)
				continue;
			if (i->has_dst && !l->made[i->dst])
				l->made[i->dst] = more = true;
			/* a branch, or whether it failed */
			for (unsigned k = 0; i->target[1] && k < 2; k++)
				if (has_made(l, i) && !i->has_dst)
					reach(l, i->target[k], l->after);
		}
	}
	return more;
}

/*
 * Does the handler store what depends on a value of the host's making, or go on
 * on the host because another one has?
 */
static bool is_late(const struct late *l, const struct ir_func *f)
{
	const unsigned *always = l->always[f->index];

	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		unsigned at = 0;

		for (const struct ir_ins *i = b->first; i; i = i->next, at++) {
			if (at < l->from[b->id])
				continue;
			if (is_plain(i) && l->ir->late[i->global->index] &&
			    at < always[b->id])
				return true;
			if (stores(l, i) && (l->after[b->id] || has_made(l, i)))
				return true;
		}
	}
	return false;
}

/* true: one more global is the host's. */
static bool mark(struct late *l, const struct ir_func *f)
{
	bool more = false;

	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		unsigned at = 0;

		for (const struct ir_ins *i = b->first; i; i = i->next) {
			if (at++ < l->from[b->id] || !needs_order(l, i) ||
			    l->ir->late[i->global->index])
				continue;
			l->ir->late[i->global->index] = more = true;
			log_say(&l->c->log, LOG_IR, 1, "%s is the host's: "
				"%s touches it there", i->global->name,
				f->probe->pp);
		}
	}
	return more;
}

/* Makes l for function f. */
static bool begin(struct late *l, struct ir_func *f)
{
	split_begin(&l->s, l->c, l->ir, f);
	l->from = arena_array(l->c->a, unsigned, f->nblocks + 1);
	l->stack = arena_array(l->c->a, struct ir_block *, f->nblocks + 1);
	return find_host(l, f);
}

static bool look_at(struct late *l, struct ir_func *f)
{
	if (!begin(l, f))
		return false;
	l->made = arena_alloc(l->c->a, f->regs.n + 1);
	l->after = arena_alloc(l->c->a, f->nblocks + 1);
	while (spread(l, f))
		;
	return is_late(l, f) && mark(l, f);
}

/* A handler of the kernel: not the kernel's version of a timer's. */
static bool is_handler(const struct ir_func *f)
{
	return f->place == PLACE_KERNEL && f->probe &&
	       f->probe->place == PLACE_KERNEL && !f->probe->is_entry &&
	       !ir_is_huge(f);
}

/* What it does in the kernel, while no global is known to be the host's. */
static void note_uses(struct late *l, struct ir_func *f)
{
	begin(l, f);
	l->always[f->index] = l->from;
	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		unsigned at = 0;

		for (const struct ir_ins *i = b->first; i; i = i->next) {
			if (at++ >= l->from[b->id])
				break;
			if (sets(i))
				l->set[i->global->index] = 1;
			if (is_plain(i) && !adds(i) && i->op != OP_GST &&
			    i->op != OP_ASET && i->op != OP_ADEL)
				l->read[i->global->index] = 1;
		}
	}
}

void opt_late(struct compile *c, struct ir *ir)
{
	struct late l = {.c = c, .ir = ir};
	unsigned n = ir->prog->globals.n;
	bool more = true;

	ir->late = arena_alloc(c->a, n + 1);
	l.always = arena_array(c->a, unsigned *, ir->funcs.n + 1);
	l.read = arena_alloc(c->a, n + 1);
	l.set = arena_alloc(c->a, n + 1);
	for (unsigned i = 0; i < ir->funcs.n; i++)
		if (is_handler(ir->funcs.v[i]))
			note_uses(&l, ir->funcs.v[i]);
	while (more) {
		more = false;
		for (unsigned i = 0; i < ir->funcs.n; i++)
			if (is_handler(ir->funcs.v[i]))
				more |= look_at(&l, ir->funcs.v[i]);
	}
}
