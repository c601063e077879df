/* SPDX-License-Identifier: MIT */
/*
 * Is a function well formed? Operands as op.def says, blocks that end, targets
 * that exist, registers that are set on every path before they are read.
 */
#include "ir/ir.h"

#include <string.h>

#include "ir/util.h"

/* The first mistake found is told; a checker must not crash on the next. */
struct check {
	struct compile *c;
	const struct ir *ir;
	const struct ir_func *f;
	const struct ir_block **at; /* blocks by id */
	const char *wrong;
};

#define WRONG(k, b, i, ...)                                                    \
	wrong((k), (b), (i), arena_printf((k)->c->a, __VA_ARGS__))

static void wrong(struct check *k, const struct ir_block *b,
		  const struct ir_ins *i, const char *what)
{
	if (!k->wrong)
		k->wrong = arena_printf(k->c->a, "%s: block %u: %s: %s",
					k->f->name, b->id,
					i ? op_info(i->op)->text : "block",
					what);
}

/* --- operands ------------------------------------------------------------- */

/*
 * type is a letter of op.def's operand column: i number, s string register, S
 * string or literal, * either.
 */
static bool operand_fits(const struct ir_func *f, const struct ir_val *v,
			 char type)
{
	switch (type) {
	case 'i':
		return v->kind == VAL_NUM ||
		       (v->kind == VAL_REG && !f->regs.v[v->reg].is_str);
	case 's':
		return v->kind == VAL_REG && f->regs.v[v->reg].is_str;
	case 'S':
		return val_is_str(f, v);
	default:
		return v->kind != VAL_NONE;
	}
}

/*
 * The column's letters in order; "ak" stands for all operands that are left,
 * "k" for the array's keys.
 */
static void check_operands(struct check *k, const struct ir_block *b,
			   const struct ir_ins *i)
{
	const char *spec = op_info(i->op)->operands;
	unsigned at = 0;

	for (unsigned n = 0; n < i->nargs; n++) {
		if (i->args[n].kind == VAL_REG &&
		    i->args[n].reg >= k->f->regs.n) {
			WRONG(k, b, i, "no register r%u", i->args[n].reg);
			return;
		}
	}
	for (; *spec; spec++) {
		if (*spec == 'a') {
			for (; at < i->nargs; at++)
				if (i->args[at].kind == VAL_NONE)
					WRONG(k, b, i, "operand %u missing",
					      at);
			spec++;
		} else if (*spec == 'k') {
			unsigned n = i->global && i->global->arity > 0 ?
				     (unsigned)i->global->arity : 0;

			for (unsigned q = 0; q < n; q++, at++) {
				char t = i->global->key_type[q] == TY_STRING ?
					 'S' : 'i';

				if (at >= i->nargs ||
				    !operand_fits(k->f, &i->args[at], t)) {
					WRONG(k, b, i, "key %u", q);
					return;
				}
			}
			spec++;
			/* A scalar aggregate, or all of an array. */
		} else {
			if (at >= i->nargs ||
			    !operand_fits(k->f, &i->args[at], *spec)) {
				WRONG(k, b, i, "operand %u", at);
				return;
			}
			at++;
		}
	}
	if (at != i->nargs)
		WRONG(k, b, i, "%u operands, not %u", i->nargs, at);
}

static void check_result(struct check *k, const struct ir_block *b,
			 const struct ir_ins *i)
{
	char r = op_info(i->op)->result;

	if (!i->has_dst) {
		if (r != '-' && !(op_info(i->op)->flags & OPF_X))
			WRONG(k, b, i, "no result");
		return;
	}
	if (r == '-')
		WRONG(k, b, i, "has a result");
	else if (i->dst >= k->f->regs.n)
		WRONG(k, b, i, "no register r%u", i->dst);
	else if ((r == 'i' && k->f->regs.v[i->dst].is_str) ||
		 (r == 's' && !k->f->regs.v[i->dst].is_str))
		WRONG(k, b, i, "type of the result");
	else if (k->f->regs.v[i->dst].is_str &&
		 (k->f->regs.v[i->dst].width == 0 ||
		  k->f->regs.v[i->dst].width % STR_ALIGN))
		WRONG(k, b, i, "width %u", k->f->regs.v[i->dst].width);
}

/* --- control -------------------------------------------------------------- */

static bool in_function(const struct check *k, const struct ir_block *to)
{
	/* Ids are positions; a stale block has one that is not its own. */
	return to->id < k->f->nblocks && k->at[to->id] == to;
}

/* E instructions may have no targets: then a failure cannot happen there. */
static void check_targets(struct check *k, const struct ir_block *b,
			  const struct ir_ins *i)
{
	uint32_t flags = op_info(i->op)->flags;
	unsigned need = 0;

	if (flags & OPF_B)
		need = i->op == OP_JMP ? 1 : 2;
	else if (flags & OPF_E)
		need = i->target[0] ? 2 : 0;
	for (unsigned n = 0; n < 2; n++) {
		if ((n < need) != (i->target[n] != NULL))
			WRONG(k, b, i, "%u targets are needed", need);
		else if (i->target[n] && !in_function(k, i->target[n]))
			WRONG(k, b, i, "target %u is elsewhere", n);
	}
	if (ins_ends(i) != (i->next == NULL))
		WRONG(k, b, i, i->next ? "more after the end of the block" :
		      "the block does not end");
}

/* What an op names besides registers must be there. */
static void check_extra(struct check *k, const struct ir_block *b,
			const struct ir_ins *i)
{
	bool global = (i->op >= OP_GLD && i->op <= OP_HSPRINT) ||
		      i->op == OP_ITNEW || i->op == OP_ITKEY ||
		      i->op == OP_ITVAL;

	if (global && !i->global)
		WRONG(k, b, i, "no global");
	if ((i->op == OP_PRINT || i->op == OP_SPRINT) &&
	    (!i->fmt || i->fmt->nargs != i->nargs))
		WRONG(k, b, i, "format");
	if ((i->op == OP_BCALL || i->op == OP_BCALLE) &&
	    (!i->builtin || builtin_nargs(i->builtin) != i->nargs))
		WRONG(k, b, i, "built-in function");
	if ((i->op == OP_CALL || i->op == OP_LOOP) && !i->callee)
		WRONG(k, b, i, "no function to call");
	if (i->op == OP_CALL && i->callee &&
	    i->callee->fn->params.n != i->nargs)
		WRONG(k, b, i, "%u operands", i->nargs);
	if (i->op == OP_ITNEW && !i->iter)
		WRONG(k, b, i, "no iteration");
	if (i->loc >= k->ir->locs.n)
		WRONG(k, b, i, "no place");
}

/* --- registers ------------------------------------------------------------ */

static bool get_bit(const uint64_t *set, uint32_t n)
{
	return set[n / 64] >> (n % 64) & 1;
}

static void set_bit(uint64_t *set, uint32_t n)
{
	set[n / 64] |= 1ULL << (n % 64);
}

/* in = out through a block; with `report`, reads of what is not set. */
static void through(struct check *k, const struct ir_block *b, uint64_t *set,
		    bool report)
{
	for (const struct ir_ins *i = b->first; i; i = i->next) {
		for (unsigned n = 0; n < i->nargs; n++) {
			if (i->args[n].kind != VAL_REG)
				continue;
			if (i->op == OP_ENTER)
				set_bit(set, i->args[n].reg);
			else if (report && !get_bit(set, i->args[n].reg))
				WRONG(k, b, i, "r%u is not set on every path",
				      i->args[n].reg);
		}
		/* A failed call's result is not set, but none reads it: it
		 * would have to be merged with a path where it is. */
		if (i->has_dst)
			set_bit(set, i->dst);
	}
}

static void start_set(const struct check *k, uint64_t *set)
{
	const struct ir_func *f = k->f;

	for (unsigned i = 0; i < f->nparams; i++)
		set_bit(set, i);
	/* A loop body finds the frame as the loop left it. */
	for (unsigned i = 0; i < f->regs.n; i++)
		if (f->regs.v[i].shared)
			set_bit(set, i);
}

/* Intersection: set on every path. true: something was removed. */
static bool meet(uint64_t *into, const uint64_t *from, unsigned words)
{
	bool changed = false;

	for (unsigned i = 0; i < words; i++) {
		uint64_t v = into[i] & from[i];

		changed |= v != into[i];
		into[i] = v;
	}
	return changed;
}

/*
 * Forward data flow: a register counts as set at a block's start when it is at
 * the end of all its predecessors. Starts with everything set but at entries,
 * and removes until nothing changes.
 */
static void check_registers(struct check *k)
{
	const struct ir_func *f = k->f;
	unsigned words = f->regs.n / 64 + 1;
	struct arena *tmp = arena_new();
	uint64_t *in = arena_array(tmp, uint64_t,
				   (size_t)words * (f->nblocks + 1));
	uint64_t *set = arena_array(tmp, uint64_t, words);
	bool changed = true;

	memset(in, 0xff, sizeof(*in) * words * f->nblocks);
	memset(in, 0, sizeof(*in) * words);
	start_set(k, in);
	/* A resume point is an entry of its own: ENTER sets what it needs. */
	for (unsigned i = 0; i < f->resume.n; i++)
		memset(&in[words * f->resume.v[i]->id], 0,
		       sizeof(*in) * words);
	while (changed) {
		changed = false;
		for (struct ir_block *b = f->blocks; b; b = b->next) {
			struct ir_block *s[2];
			unsigned n = ir_succ(b, s);

			memcpy(set, &in[words * b->id], sizeof(*set) * words);
			through(k, b, set, false);
			for (unsigned i = 0; i < n; i++)
				changed |= meet(&in[words * s[i]->id], set,
						words);
		}
	}
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		memcpy(set, &in[words * b->id], sizeof(*set) * words);
		through(k, b, set, true);
	}
	arena_free(tmp);
}

/*
 * Runs after each pass, also in production: a wrong program must not be run.
 * Sizes are bounded, so it costs little.
 */
const char *ir_check(struct compile *c, const struct ir *ir,
		     const struct ir_func *f)
{
	struct check k = {.c = c, .ir = ir, .f = f};
	struct arena *tmp;

	if (!f->blocks)
		return arena_printf(c->a, "%s: no blocks", f->name);
	tmp = arena_new();
	k.at = arena_array(tmp, const struct ir_block *, f->nblocks + 1);
	for (const struct ir_block *b = f->blocks; b && !k.wrong; b = b->next) {
		if (b->id >= f->nblocks || k.at[b->id])
			k.wrong = arena_printf(c->a, "%s: blocks are not "
					       "numbered", f->name);
		else
			k.at[b->id] = b;
	}
	for (struct ir_block *b = f->blocks; b && !k.wrong; b = b->next) {
		if (!b->first)
			WRONG(&k, b, NULL, "is empty");
		for (struct ir_ins *i = b->first; i && !k.wrong; i = i->next) {
			check_operands(&k, b, i);
			if (k.wrong)
				break;
			check_result(&k, b, i);
			check_targets(&k, b, i);
			check_extra(&k, b, i);
		}
	}
	if (!k.wrong && !ir_is_huge(f))
		check_registers(&k);
	arena_free(tmp);
	return k.wrong;
}
