/* SPDX-License-Identifier: MIT */
/*
 * Variables of programs by name: which one is meant, in which scope, and what
 * its description says of where it is (debug_expr.c).
 */
#include "types/debug_expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "types/glob.h"
#include "types/regs.h"

/* --- parameters at a function's entry ------------------------------------- */

/* Passed in one general register (psABI x86-64 3.2.3, class INTEGER). */
static bool is_integer_class(const struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->size <= 8 &&
	       (t->kind == CT_INT || t->kind == CT_ENUM || t->kind == CT_PTR);
}

/*
 * Of the frame base, or, where a frame is aligned to more than 16 bytes, of
 * what it is kept in then: rsp, rbp, or rbx (psABI x86-64, figure 3.4).
 */
static bool is_of_frame(const Dwarf_Op *op)
{
	return op->atom == DW_OP_fbreg || op->atom == DW_OP_breg7 ||
	       op->atom == DW_OP_breg6 || op->atom == DW_OP_breg3;
}

/*
 * Whether a parameter is passed: an optimizer removes some of a function that
 * it knows all callers of, and those behind them move up. In the frame or in
 * the register of its turn, it was not removed.
 */
static bool is_passed(struct lookup *l, Dwarf_Die *p, unsigned turn)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Op *op;
	size_t n;

	if (!dw->dwarf_attr_integrate(p, DW_AT_location, &at) ||
	    dw->dwarf_getlocation_addr(&at, l->pc, &op, &n, 1) != 1 || !n)
		return false;
	if (is_of_frame(op))
		return true;
	return turn < REGS_NARGS && op->atom >= DW_OP_reg0 &&
	       op->atom <= DW_OP_reg31 &&
	       expr_register(op->atom - DW_OP_reg0) == (int)regs_arg[turn];
}

/*
 * Unoptimized code describes parameters by the frame that the function has yet
 * to set up. At its first instruction they still are where the caller put them.
 * -1: not in a register, or not known to be in which.
 */
static int register_of_param(struct lookup *l, Dwarf_Die *var)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Off want = dw->dwarf_dieoffset(var);
	unsigned used = 0;
	Dwarf_Die p;

	if (!die_first(l->f, &l->func, &p))
		return -1;
	do {
		const struct ctype *t;

		if (dw->dwarf_tag(&p) != DW_TAG_formal_parameter)
			continue;
		t = ctype_strip(die_type(l->f, &p));
		if (t && t->kind == CT_FLOAT)
			continue; /* in a vector register; takes none of ours */
		if (!is_integer_class(t))
			return -1; /* by value: takes none, one or two */
		if (dw->dwarf_dieoffset(&p) == want)
			return used < REGS_NARGS ? (int)regs_arg[used] : -1;
		if (!is_passed(l, &p, used))
			return -1;
		used++;
	} while (die_next(l->f, &p, &p));
	return -1;
}

/*
 * Of the frame below the return address, which does not exist at entry. What is
 * at or above the CFA was put there by the caller.
 */
static bool is_own_frame(struct lookup *l, const Dwarf_Op *op, size_t n)
{
	Dwarf_Block block;
	int64_t off;

	if (!n)
		return false;
	/* An address in the frame is known before the frame is there. */
	if (n > 1 && op[n - 1].atom == DW_OP_stack_value)
		return false;
	/* One description for the whole function, not one for this place. */
	if (op->atom != DW_OP_fbreg)
		return is_of_frame(op) &&
		       !l->f->dw->dwarf_formblock(&l->loc, &block);
	/* At entry the CFA is 8 above the stack pointer. */
	return !expr_in_frame(l, op, 1, &off) || off < 8;
}

/* --- finding -------------------------------------------------------------- */

static bool start(struct lookup *l, struct debug_file *f, uint64_t pc)
{
	*l = (struct lookup){.f = f, .pc = pc};
	if (!debug_reopen(f) || !die_unit_at(f, pc, &l->cu))
		return false;
	l->has_func = die_function_at(f, &l->cu, pc, &l->func);
	return true;
}

static bool is_variable(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool child_named(struct debug_file *f, Dwarf_Die *parent,
			const char *name, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (!die_first(f, parent, &die))
		return false;
	do {
		const char *s;

		if (!is_variable(f->dw->dwarf_tag(&die)))
			continue;
		s = die_name(f, &die);
		if (s && !strcmp(s, name)) {
			*ret = die;
			return true;
		}
	} while (die_next(f, &die, &die));
	return false;
}

/*
 * The expression that describes a variable at the handler's place; NULL: none.
 *
 * gcc describes what a parameter is when its copy is entered also where the
 * next instruction of the copy has another description: as a range of no
 * bytes, from an address to itself. (Location views tell such ranges of one
 * address apart; the first of them is what is given.) The machine's state is
 * the same for all of them.
 */
static Dwarf_Op *find_expr(struct lookup *l, Dwarf_Attribute *at, size_t *ret_n)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	Dwarf_Op *op;

	if (dw->dwarf_getlocation_addr(at, l->pc, &op, ret_n, 1) == 1)
		return op;
	while (l->enters && (next = dw->dwarf_getlocations(
				 at, next, &base, &start, &end, &op,
				 ret_n)) > 0)
		if (start == l->pc && end == start && *ret_n)
			return op;
	return NULL;
}

static int locate(struct lookup *l, Dwarf_Die *var, struct access *ret,
		  const struct ctype **ret_type, const char **ret_why)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Sword value;
	Dwarf_Op *op;
	size_t n;
	int reg;
	bool ok = false;

	*ret_type = die_type(l->f, var);
	l->why = "it is optimized out";
	if (dw->dwarf_attr_integrate(var, DW_AT_const_value, &at) &&
	    !dw->dwarf_formsdata(&at, &value)) {
		*ret = (struct access){.base = ACC_CONST, .constant = value};
		return 0;
	}
	if (dw->dwarf_attr_integrate(var, DW_AT_location, &at)) {
		l->why = "it is optimized out at this place";
		l->loc = at;
		op = find_expr(l, &at, &n);
		if (op) {
			if (expr_at_entry(l) && is_own_frame(l, op, n)) {
				/* more operations: not the parameter itself */
				reg = n > 1 ? -1 : register_of_param(l, var);
				ok = reg >= 0;
				if (ok)
					expr_reg_access(reg, *ret_type, ret);
				l->why = EXPR_NO_FRAME;
			} else {
				ok = expr_access(l, op, n, *ret_type, ret);
			}
		}
	}
	if (ok)
		return 0;
	*ret_why = l->why;
	return -ENODATA;
}

/*
 * Scopes of a place from the innermost outwards, to be freed; the last one is
 * the unit.
 */
static int scopes_at(struct lookup *l, uint64_t scope, Dwarf_Die **ret)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Die die;
	int n;

	*ret = NULL;
	n = dw->dwarf_getscopes(&l->cu, l->pc, ret);
	for (int i = 0; i < n; i++)
		if (!scope || die_id(l->f, &(*ret)[i]) == scope)
			return n;
	if (!scope || !die_of_id(l->f, scope, &die))
		return n < 0 ? 0 : n;
	/* pc is beside the copy that it enters: that one, and the unit. */
	free(*ret);
	*ret = malloc(2 * sizeof(**ret));
	if (!*ret)
		return 0;
	(*ret)[0] = die;
	(*ret)[1] = l->cu;
	return 2;
}

/* Whether pc is where the function, or the copy of one, is entered. */
static bool enters(struct lookup *l, uint64_t scope)
{
	Dwarf_Addr entry;
	Dwarf_Die die;

	return die_of_id(l->f, scope, &die) &&
	       die_entry(l->f, &die, &entry) && entry == l->pc;
}

int debug_variable(struct debug_file *f, const struct debug_at *at,
		   const char *name, struct access *ret,
		   const struct ctype **ret_type, const char **ret_why)
{
	struct lookup l;
	Dwarf_Die *scopes, var;
	bool found = false;
	int n;

	if (!start(&l, f, at->pc))
		return -ENOENT;
	l.enters = at->scope ? enters(&l, at->scope) : expr_at_entry(&l);
	n = scopes_at(&l, at->scope, &scopes);
	for (int i = 0; i < n && !found; i++)
		found = child_named(f, &scopes[i], name, &var);
	free(scopes);
	if (!found)
		return -ENOENT;
	/* "extern int x;": the definition is in another unit. */
	if (f->dw->dwarf_hasattr(&var, DW_AT_declaration))
		return debug_global(f, at->pc, name, NULL, ret, ret_type,
				    ret_why);
	return locate(&l, &var, ret, ret_type, ret_why);
}

/* --- globals -------------------------------------------------------------- */

struct global {
	struct debug_file *f;
	const char *name, *unit;
	Dwarf_Die *ret;
};

static bool global_below(struct global *g, Dwarf_Die *parent, int depth)
{
	const struct libdw *dw = g->f->dw;
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(g->f, parent, &die))
		return false;
	do {
		int tag = dw->dwarf_tag(&die);
		const char *s;

		if (die_is_name_scope(tag) && global_below(g, &die, depth + 1))
			return true;
		if (tag != DW_TAG_variable ||
		    !dw->dwarf_hasattr(&die, DW_AT_location))
			continue;
		s = die_name(g->f, &die);
		if (s && !strcmp(s, g->name)) {
			*g->ret = die;
			return true;
		}
	} while (die_next(g->f, &die, &die));
	return false;
}

static bool global_of_unit(void *ctx, Dwarf_Die *cu)
{
	struct global *g = ctx;
	const char *file = die_name(g->f, cu);

	if (g->unit && (!file || !debug_file_matches(g->unit, file)))
		return false;
	return global_below(g, cu, 0);
}

int debug_global(struct debug_file *f, uint64_t pc, const char *name,
		 const char *unit, struct access *ret,
		 const struct ctype **ret_type, const char **ret_why)
{
	struct lookup l;
	Dwarf_Die var;
	struct global g = {f, name, unit, &var};

	start(&l, f, pc);
	if (!debug_reopen(f) || !die_units(f, global_of_unit, &g))
		return -ENOENT;
	return locate(&l, &var, ret, ret_type, ret_why);
}

/* --- what there is -------------------------------------------------------- */

static bool is_listed(const debug_names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++)
		if (names->v[i].name == name)
			return true;
	return false;
}

void debug_locals(struct debug_file *f, const struct debug_at *at,
		  debug_names *ret)
{
	const struct libdw *dw = f->dw;
	struct lookup l;
	Dwarf_Die *scopes, die;
	int n;

	if (!start(&l, f, at->pc))
		return;
	n = scopes_at(&l, at->scope, &scopes);
	for (int i = 0; i < n; i++) {
		int tag = dw->dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_compile_unit)
			break;
		if (!die_first(f, &scopes[i], &die))
			continue;
		do {
			struct debug_name name = {.name = die_name(f, &die)};
			int kind = dw->dwarf_tag(&die);

			if (!is_variable(kind) || !name.name ||
			    is_listed(ret, name.name))
				continue;
			name.type = die_type(f, &die);
			name.is_param = kind == DW_TAG_formal_parameter;
			vec_push(f->c->a, ret, name);
		} while (die_next(f, &die, &die));
		/* Beyond the function around pc are only its surroundings. */
		if (tag == DW_TAG_subprogram ||
		    tag == DW_TAG_inlined_subroutine)
			break;
	}
	free(scopes);
}

const struct ctype *debug_result(struct debug_file *f, uint64_t pc)
{
	struct lookup l;

	return start(&l, f, pc) && l.has_func ? die_type(f, &l.func) : NULL;
}
