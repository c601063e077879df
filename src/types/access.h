/* SPDX-License-Identifier: MIT */
/*
 * How a handler fetches $x->y[z]: a base, then steps of "add an offset, load
 * or not". Made by probe families and types/, compiled by ir/.
 */
#ifndef TYPES_ACCESS_H
#define TYPES_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct node;
struct ctype;

/*
 * Everything about a kernel value that the code which reads it must know; no
 * type of C is needed behind this point.
 */
enum access_base {
	ACC_ARG,   /* the arg-th 64-bit word of a raw tracepoint's context */
	ACC_REG,   /* the register at byte offset arg of struct pt_regs */
	ACC_CTX,   /* arg bytes into the context, load_size bytes */
	ACC_VALUE, /* the value of the expression `value` (@cast, auto-cast) */
	ACC_CONST, /* the number `constant`: @defined results, &global */
	ACC_ENTRY, /* snapshot taken at function entry, number arg */
	ACC_TEXT,  /* a string put together by `text`: $$vars, $x$ */
	ACC_EXPR,  /* the number that the operations `ops` leave on a stack */
	/*
	 * A struct whose parts are in registers and elsewhere, as `pieces` say.
	 * The first step's offset is in it. Only a walk sees this one: to a
	 * member it ends in another base.
	 */
	ACC_PIECES,
};

/*
 * A stack machine's operation, as debug information describes what the compiler
 * of the program has left of a variable. Binary ones take two from the stack,
 * the top is the second operand, and put the result there.
 */
enum access_opcode {
	AO_REG,	 /* push the register at byte offset num of struct pt_regs */
	AO_NUM,	 /* push num */
	AO_PICK, /* push a copy of the entry num below the top */
	AO_DROP,
	AO_ROTATE, /* the top goes below the num - 1 entries under it */
	AO_LOAD, /* the address on top becomes the num bytes there, unsigned */
	AO_EXT,	 /* num low bytes of the top; negative: sign-extended */
	AO_NEG, AO_INV,
	AO_ADD, AO_SUB, AO_MUL, AO_AND, AO_OR, AO_XOR, AO_SHL,
	AO_SHR, AO_USHR, /* arithmetic, logical */
	AO_DIV, AO_MOD,	 /* by a positive number that was pushed by AO_NUM */
	AO_EQ, AO_NE, AO_LT, AO_LE, AO_GT, AO_GE, /* signed; 1 or 0 */
};
enum { ACCESS_STACK = 16 }; /* entries that a program may use */

struct access_op {
	enum access_opcode code;
	int64_t num;
};

struct access_step {
	int64_t off;	     /* bytes added to the address, before the index */
	struct node *index;  /* NULL, or: address += index * scale */
	uint32_t scale; /* bytes of an element */
	uint8_t load;	     /* 0: address only (array, struct); else bytes */
	bool sign;	     /* sign-extend what was loaded */
	bool user;	     /* load from user space (also when access.user) */
	/* bit_size 0: no bit-field; bit_off from bit 0 of the loaded word */
	uint8_t bit_off, bit_size;
	bool trusted;	     /* tp_btf: may be loaded from directly */
};

/* So many bytes of a struct, by a program for their value or their address. */
struct access_piece {
	uint32_t off, size; /* bytes of the struct */
	const struct access_op *ops;
	unsigned nops; /* 0: they are nowhere */
	bool is_value; /* in its low bytes; else it is their address */
};

struct access {
	enum access_base base;
	uint32_t arg; /* which one, see enum access_base */
	uint8_t load_size; /* ACC_CTX */
	bool sign;
	bool user;	   /* addresses are user-space ones */
	struct node *value; /* ACC_VALUE */
	int64_t constant;
	struct node *text; /* a typed N_PRINT with to_string */
	const struct access_op *ops; /* ACC_EXPR: well-formed, by who made it */
	unsigned nops;
	const struct access_piece *pieces; /* ACC_PIECES */
	unsigned npieces;
	bool missing; /* the walk is at what no piece has, or has no address */
	uint8_t narrow;	   /* base value's own bytes; 0 or 8: all 64 bits */
	uint8_t shift;	   /* bits of the register below them: 8 for %ah */
	/*
	 * In order. None: the value is the base itself. A step without load can
	 * only be the last one or be followed by steps that go on from its
	 * address.
	 */
	VEC(struct access_step) steps;
	const struct ctype *type; /* of the result: auto-cast, pretty-print */
};

#endif
