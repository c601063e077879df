/* SPDX-License-Identifier: MIT */
/* The table of instructions, and small helpers over functions and blocks. */
#include "ir/ir.h"

#include <assert.h>
#include <string.h>

#include "ir/util.h"

#define T OPF_T
#define TB OPF_T | OPF_B
#define TX OPF_T | OPF_X
#define X OPF_X
#define R OPF_R
#define H OPF_H
#define E OPF_E
#define EX OPF_E | OPF_X
#define ER OPF_E | OPF_R
#define EH OPF_E | OPF_H
#define EHX OPF_E | OPF_H | OPF_X
#define EHR OPF_E | OPF_H | OPF_R
#define HX OPF_H | OPF_X
#define HR OPF_H | OPF_R
#define RX OPF_R | OPF_X

/* The result column is a bare letter or sign: make it a string first. */
static const struct op_info ops[OP_MAX] = {
#define OP(id, text, result, operands, flags, doc)                             \
	[OP_##id] = {text, #result[0], operands, flags, doc},
#include "ir/op.def"
#undef OP
};

const struct op_info *op_info(enum ir_op op)
{
	assert(op < OP_MAX);
	return &ops[op];
}

/* Linear: only for reading text. */
enum ir_op op_find(const char *text, size_t n)
{
	for (unsigned i = 0; i < OP_MAX; i++)
		if (strlen(ops[i].text) == n && !memcmp(ops[i].text, text, n))
			return i;
	return OP_MAX;
}

/* An E instruction without targets is in the middle of a block. */
bool ins_ends(const struct ir_ins *i)
{
	return (ops[i->op].flags & OPF_T) || i->target[0];
}

bool ins_host_only(const struct ir_ins *i)
{
	return (ops[i->op].flags & OPF_H) ||
	       ((i->op == OP_BCALL || i->op == OP_BCALLE) &&
		(i->builtin->flags & BF_HOST));
}

bool ins_removable(const struct ir_ins *i)
{
	if (i->target[0] || !i->has_dst)
		return false;
	if (i->op == OP_BCALL)
		return (i->builtin->flags & (BF_PURE | BF_CTX)) &&
		       !(i->builtin->flags & (BF_EFFECT | BF_FAIL));
	return !(ops[i->op].flags & (OPF_X | OPF_T)) && i->op != OP_LOOP;
}

void ir_number(struct ir_func *f)
{
	unsigned n = 0;

	for (struct ir_block *b = f->blocks; b; b = b->next)
		b->id = n++;
	f->nblocks = n;
}

unsigned ir_succ(const struct ir_block *b, struct ir_block *ret[2])
{
	const struct ir_ins *i = b->last;

	if (!i || !i->target[0])
		return 0;
	ret[0] = i->target[0];
	if (!i->target[1])
		return 1;
	ret[1] = i->target[1];
	return 2;
}

bool ir_is_huge(const struct ir_func *f)
{
	enum { WORDS_MAX = 1 << 21 };

	return (uint64_t)f->nblocks * (f->regs.n / 64 + f->nblocks / 64 + 2) >
	       WORDS_MAX;
}

/* Everything reachable from b, without recursion: chains of blocks are long. */
static void mark_from(struct ir_block *b, uint8_t *seen,
		      struct ir_block **stack)
{
	unsigned n = 0;

	if (seen[b->id])
		return;
	seen[b->id] = 1;
	stack[n++] = b;
	while (n) {
		struct ir_block *s[2];
		unsigned ns = ir_succ(stack[--n], s);

		for (unsigned i = 0; i < ns; i++) {
			if (seen[s[i]->id])
				continue;
			seen[s[i]->id] = 1;
			stack[n++] = s[i];
		}
	}
}

/* By block id (numbers the blocks): 1 when reachable from the entry or from a
 * resume point. */
static uint8_t *ir_reachable(struct arena *a, struct ir_func *f)
{
	uint8_t *seen;
	struct ir_block **stack;

	ir_number(f);
	seen = arena_alloc(a, f->nblocks + 1);
	stack = arena_array(a, struct ir_block *, f->nblocks + 1);
	mark_from(f->blocks, seen, stack);
	for (unsigned i = 0; i < f->resume.n; i++)
		mark_from(f->resume.v[i], seen, stack);
	return seen;
}

bool ir_prune(struct arena *a, struct ir_func *f)
{
	uint8_t *seen = ir_reachable(a, f);
	struct ir_block **link = &f->blocks;
	bool changed = false;

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		if (seen[b->id]) {
			*link = b;
			link = &b->next;
		} else {
			changed = true;
		}
	}
	*link = NULL;
	ir_number(f);
	return changed;
}

struct ir_ins *ins_new(struct arena *a, enum ir_op op, unsigned nargs)
{
	struct ir_ins *i = arena_new_of(a, struct ir_ins);

	i->op = op;
	i->nargs = nargs;
	i->args = nargs ? arena_array(a, struct ir_val, nargs) : NULL;
	return i;
}

struct ir_ins *ins_copy(struct arena *a, const struct ir_ins *from)
{
	struct ir_ins *i = arena_new_of(a, struct ir_ins);

	*i = *from;
	i->next = NULL;
	i->args = NULL;
	if (i->nargs) {
		i->args = arena_array(a, struct ir_val, i->nargs);
		memcpy(i->args, from->args, i->nargs * sizeof(*i->args));
	}
	return i;
}

void block_append(struct ir_block *b, struct ir_ins *i)
{
	i->next = NULL;
	if (b->last)
		b->last->next = i;
	else
		b->first = i;
	b->last = i;
}

uint32_t func_reg(struct arena *a, struct ir_func *f, uint32_t str_width,
		  const char *name)
{
	struct ir_reg r = {.is_str = str_width != 0, .width = str_width,
			   .name = name};

	vec_push(a, &f->regs, r);
	return f->regs.n - 1;
}

uint32_t val_width(const struct ir_func *f, const struct ir_val *v)
{
	if (v->kind == VAL_STR)
		return str_round(str_len(v->str) + 1);
	if (v->kind == VAL_REG)
		return f->regs.v[v->reg].width;
	return 0;
}

bool val_is_str(const struct ir_func *f, const struct ir_val *v)
{
	return v->kind == VAL_STR ||
	       (v->kind == VAL_REG && f->regs.v[v->reg].is_str);
}
