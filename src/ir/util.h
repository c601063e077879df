/* SPDX-License-Identifier: MIT */
/* Small helpers over functions, blocks and instructions: builder and passes. */
#ifndef IR_UTIL_H
#define IR_UTIL_H

#include "ir/ir.h"

enum { STR_ALIGN = 8 };

/* Bytes a string of n bytes (NUL included) takes. */
static inline uint32_t str_round(size_t n)
{
	return (uint32_t)((n + STR_ALIGN - 1) & ~(size_t)(STR_ALIGN - 1));
}

/* Operands as values, for building and rewriting. */
static inline struct ir_val val_num(int64_t n)
{
	return (struct ir_val){.kind = VAL_NUM, .num = n};
}

static inline struct ir_val val_reg(uint32_t r)
{
	return (struct ir_val){.kind = VAL_REG, .reg = r};
}

static inline struct ir_val val_str(const char *interned)
{
	return (struct ir_val){.kind = VAL_STR, .str = interned};
}

/* OP_MAX: there is none of that name. */
enum ir_op op_find(const char *text, size_t n);
/* Terminators, and E instructions with targets. */
bool ins_ends(const struct ir_ins *i);
/* The kernel cannot do it: by op, or by the built-in it calls. */
bool ins_host_only(const struct ir_ins *i);
/* nargs operands, all VAL_NONE; no place, no targets. */
struct ir_ins *ins_new(struct arena *a, enum ir_op op, unsigned nargs);
/* With operands of its own; targets are the same blocks. */
struct ir_ins *ins_copy(struct arena *a, const struct ir_ins *from);
/* At the end; next is cleared. */
void block_append(struct ir_block *b, struct ir_ins *i);
/* A new register: str_width 0 is a number. */
uint32_t func_reg(struct arena *a, struct ir_func *f, uint32_t str_width,
		  const char *name);
/* Bytes of a string operand, 0 for numbers. */
uint32_t val_width(const struct ir_func *f, const struct ir_val *v);
bool val_is_str(const struct ir_func *f, const struct ir_val *v);
/* Removes unreachable blocks, renumbers; true when there were any. */
bool ir_prune(struct arena *a, struct ir_func *f);
/* live before the instruction, from live after it: a bit set of registers. */
void ins_flow(const struct ir_ins *i, uint64_t *live);
/* Number of instructions of the longest block. */
unsigned block_longest(const struct ir_func *f);
/* Has no effect but its result: may go when that is not used. */
bool ins_removable(const struct ir_ins *i);
/* A copy, added to ir.funcs; *ret_map: from block id to the copy's block. */
struct ir_func *func_copy(struct arena *a, struct ir *ir,
			  const struct ir_func *f, struct ir_block ***ret_map);
/* Sets of registers by block would take tens of megabytes. */
bool ir_is_huge(const struct ir_func *f);

#endif
