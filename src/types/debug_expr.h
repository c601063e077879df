/* SPDX-License-Identifier: MIT */
/* From DWARF's expressions of where a variable is to an access. */
#ifndef TYPES_DEBUG_EXPR_H
#define TYPES_DEBUG_EXPR_H

#include "types/debug_file.h"

/* Why what is in a frame that is not there yet cannot be read. */
#define EXPR_NO_FRAME \
	"it has no value at the entry of the function: probe a statement in it"

/* A variable being located. */
struct lookup {
	struct debug_file *f;
	uint64_t pc;
	Dwarf_Die cu;
	Dwarf_Die func;	   /* that pc is in, physically */
	bool has_func;
	bool enters; /* pc is the entry of the function or copy meant */
	Dwarf_Attribute loc; /* whose expression is being evaluated */
	const char *why;   /* it cannot be read, after a failure */
};

/* Where in struct pt_regs a register of DWARF's numbers is; -1: it is not. */
int expr_register(unsigned number);
/* Whether the handler is at the first instruction of l->func. */
bool expr_at_entry(struct lookup *l);
/*
 * What l->loc's expression says, as an access to a value of that type. false:
 * l->why says what there is instead.
 */
bool expr_access(struct lookup *l, const Dwarf_Op *op, size_t n,
		 const struct ctype *type, struct access *ret);
/*
 * Bytes from the stack pointer at the function's entry to what the expression
 * is the place of. false: it is no such place, or not known.
 */
bool expr_in_frame(struct lookup *l, const Dwarf_Op *op, size_t n,
		   int64_t *ret);
/*
 * The frame base of a function that is described as the value of a register
 * (6: rbp, 7: rsp), at l->pc: another register's value and a distance. false:
 * the frame is not set up there, and where it will be is not known.
 * (debug_frame.c)
 */
bool frame_steady(struct lookup *l, unsigned number, unsigned *ret_number,
		  int64_t *ret_off);
/* A value that is in one general register, or a number, as an access. */
void expr_reg_access(uint32_t reg, const struct ctype *type,
		     struct access *ret);

#endif
