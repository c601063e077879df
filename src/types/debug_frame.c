/* SPDX-License-Identifier: MIT */
/*
 * LLVM writes "the value of rsp" (or of rbp) as what a function's locals count
 * from, for all of its code. That is so only between its prologue and its
 * epilogue. The table for unwinding says at each instruction how far the
 * canonical frame address is from a register, and that address does not move:
 * with its distance from the frame base, taken where the frame is set up, the
 * frame base is known everywhere.
 */
#include "types/debug_expr.h"

#include <stdlib.h>

enum { RBP = 6, RSP = 7 };   /* by DWARF's numbers */
enum { ROWS_MAX = 1000 };    /* of a function that are looked at */
enum { ENTRY_DISTANCE = 8 }; /* of rsp from the CFA: the return address */

/* From an address on, the CFA is off bytes above a register, up to end. */
struct row {
	unsigned reg;
	int64_t off;
	Dwarf_Addr end;
};

static bool row_at(struct lookup *l, uint64_t pc, struct row *ret)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi[2];
	bool found = false;

	cfi[0] = dw->dwfl_module_eh_cfi(l->f->mod, &bias);
	cfi[1] = dw->dwfl_module_dwarf_cfi(l->f->mod, &bias);
	for (int i = 0; i < 2 && !found; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *op;
		size_t n;

		if (!cfi[i] || dw->dwarf_cfi_addrframe(cfi[i], pc, &frame))
			continue;
		/* "A register's value and so many bytes", in the library's
		 * words; anything else is of code written by hand. */
		if (!dw->dwarf_frame_cfa(frame, &op, &n) && n == 1 &&
		    op->atom == DW_OP_bregx &&
		    dw->dwarf_frame_info(frame, NULL, &ret->end, NULL) >= 0) {
			ret->reg = op->number;
			ret->off = op->number2;
			found = true;
		}
		free(frame);
	}
	return found;
}

/* The first row from pc on of the function's code that is not entry's. */
static bool differs_from_entry(struct lookup *l, uint64_t pc)
{
	struct row r;

	for (int i = 0; i < ROWS_MAX; i++) {
		if (l->f->dw->dwarf_haspc(&l->func, pc) != 1)
			return false;
		if (!row_at(l, pc, &r) || r.reg != RSP ||
		    r.off != ENTRY_DISTANCE || r.end <= pc)
			return true;
		pc = r.end;
	}
	return true;
}

/* The first row of the function that counts from rbp. */
static bool row_of_rbp(struct lookup *l, uint64_t pc, struct row *ret)
{
	for (int i = 0; i < ROWS_MAX; i++) {
		if (l->f->dw->dwarf_haspc(&l->func, pc) != 1 ||
		    !row_at(l, pc, ret))
			return false;
		if (ret->reg == RBP)
			return true;
		if (ret->end <= pc)
			return false;
		pc = ret->end;
	}
	return false;
}

/* Where the line table says that the prologue of the function has ended. */
static bool prologue_end(struct lookup *l, uint64_t entry, Dwarf_Addr *ret)
{
	const struct libdw *dw = l->f->dw;
	size_t lo = 0, hi, n;
	Dwarf_Lines *lines;
	Dwarf_Line *line;

	if (dw->dwarf_getsrclines(&l->cu, &lines, &n))
		return false;
	for (hi = n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		line = dw->dwarf_onesrcline(lines, mid);
		if (!line || dw->dwarf_lineaddr(line, ret))
			return false;
		if (*ret < entry)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n; lo++) {
		bool ends = false;

		line = dw->dwarf_onesrcline(lines, lo);
		if (!line || dw->dwarf_lineaddr(line, ret) ||
		    dw->dwarf_haspc(&l->func, *ret) != 1)
			return false;
		if (!dw->dwarf_lineprologueend(line, &ends) && ends)
			return true;
	}
	return false;
}

/*
 * How far the CFA is above rsp where the frame is set up. Nothing in the table
 * for unwinding tells pushing what is saved from pushing arguments of a call,
 * so the end of the prologue is what the line table says. When no frame is set
 * up there, the function has none; or it sets one up on some of its ways only
 * ("shrink-wrapping"), and where that is done is not known.
 */
static bool distance_of_rsp(struct lookup *l, uint64_t entry, int64_t *ret)
{
	struct row body;
	Dwarf_Addr pc;

	if (!differs_from_entry(l, entry)) {
		*ret = ENTRY_DISTANCE;
		return true;
	}
	if (!prologue_end(l, entry, &pc) || !row_at(l, pc, &body) ||
	    body.reg != RSP || body.off == ENTRY_DISTANCE)
		return false;
	*ret = body.off;
	return true;
}

bool frame_steady(struct lookup *l, unsigned number, unsigned *ret_number,
		  int64_t *ret_off)
{
	struct row now, body;
	Dwarf_Addr entry;

	*ret_number = number;
	*ret_off = 0;
	/* Not described: a handler is seldom in a prologue but at its start. */
	if (!die_entry(l->f, &l->func, &entry) || !row_at(l, l->pc, &now))
		return !expr_at_entry(l);
	if (number == RBP && now.reg == RBP)
		return true;
	if (number == RBP ? row_of_rbp(l, entry, &body)
			  : distance_of_rsp(l, entry, &body.off)) {
		*ret_number = now.reg;
		*ret_off = now.off - body.off;
		return true;
	}
	/* Some frame is set up, most likely the whole. */
	return now.reg == number && now.off != ENTRY_DISTANCE;
}
