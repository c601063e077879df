/* SPDX-License-Identifier: MIT */
/*
 * Where a variable is, as an access. DWARF gives an expression of a small stack
 * machine; compilers write a handful of forms, which are kept here as one of
 * "in a register", "at register + offset", "at an address", "a number". Others
 * are refused by name rather than guessed.
 */
#include "types/debug_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "types/glob.h"
#include "types/regs.h"

/* What an expression has come to. */
enum form {
	AT_REG,	  /* an address: that register's value + off */
	AT_ADDR,  /* an address as linked: off */
	IN_REG,	  /* the value is in the register */
	IS_VALUE, /* the value itself: off, or register + off */
};

struct place {
	enum form form;
	uint32_t reg; /* byte offset in struct pt_regs */
	bool has_reg; /* IS_VALUE: reg counts */
	bool linked;  /* off is an address, which moves with the program */
	int64_t off;
	unsigned derefs; /* AT_REG, AT_ADDR: loads of 8 bytes before the last */
	int64_t after[4]; /* added after each of them */
};

/* A variable being located. */
struct lookup {
	struct debug_file *f;
	uint64_t pc;
	Dwarf_Die cu;
	Dwarf_Die func;	   /* that pc is in, physically */
	bool has_func;
	Dwarf_Attribute loc; /* whose expression is being evaluated */
	const char *why;
};

/* DWARF's numbers of the registers, psABI x86-64 figure 3.36. */
static int reg_offset(unsigned number)
{
	static const short at[] = {80, 96, 88, 40,  104, 112, 32, 152, 72,
				   64, 56, 48, 24,  16,	 8,   0,  128};

	return number < sizeof(at) / sizeof(at[0]) ? at[number] : -1;
}

/* --- expressions ---------------------------------------------------------- */

static bool refuse(struct lookup *l, const char *why)
{
	l->why = why;
	return false;
}

static bool evaluate(struct lookup *l, const Dwarf_Op *op, size_t n,
		     struct place *ret, int depth);

/* The canonical frame address: the stack pointer before the call. */
static bool frame_cfa(struct lookup *l, struct place *ret, int depth)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi[2];
	bool ok = false;

	cfi[0] = dw->dwfl_module_eh_cfi(l->f->mod, &bias);
	cfi[1] = dw->dwfl_module_dwarf_cfi(l->f->mod, &bias);
	for (int i = 0; i < 2 && !ok; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *op;
		size_t n;

		if (!cfi[i] || dw->dwarf_cfi_addrframe(cfi[i], l->pc, &frame))
			continue;
		ok = !dw->dwarf_frame_cfa(frame, &op, &n) &&
		     evaluate(l, op, n, ret, depth + 1);
		free(frame);
	}
	return ok || refuse(l, "the frame it is in is not described");
}

/* What the function's locals count from. */
static bool frame_base(struct lookup *l, struct place *ret, int depth)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Op *op;
	size_t n;

	if (!l->has_func ||
	    !dw->dwarf_attr_integrate(&l->func, DW_AT_frame_base, &at) ||
	    dw->dwarf_getlocation_addr(&at, l->pc, &op, &n, 1) != 1 ||
	    !evaluate(l, op, n, ret, depth + 1))
		return refuse(l, "the frame it is in is not described");
	/* "In the frame register" means that its value is the base. */
	if (ret->form == IN_REG)
		ret->form = AT_REG;
	return true;
}

static bool in_register(struct lookup *l, unsigned number, enum form form,
			int64_t off, struct place *ret)
{
	int at = reg_offset(number);

	if (at < 0)
		return refuse(l, "it is in a vector register");
	*ret = (struct place){
	    .form = form, .reg = at, .has_reg = true, .off = off};
	return true;
}

/* The address stands in a table that the expression only indexes. */
static bool indexed(struct lookup *l, const Dwarf_Op *op, struct place *ret)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Addr addr;

	if (dw->dwarf_getlocation_attr(&l->loc, op, &at) ||
	    dw->dwarf_formaddr(&at, &addr))
		return refuse(l, "its address cannot be read");
	*ret = (struct place){.form = AT_ADDR, .off = addr, .linked = true};
	return true;
}

/* Operations that begin a place. */
static bool first_op(struct lookup *l, const Dwarf_Op *op, struct place *ret,
		     int depth)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		return in_register(l, atom - DW_OP_reg0, IN_REG, 0, ret);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return in_register(l, atom - DW_OP_breg0, AT_REG, op->number,
				   ret);
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		*ret = (struct place){.form = AT_ADDR,
				      .off = atom - DW_OP_lit0};
		return true;
	}
	switch (atom) {
	case DW_OP_regx:
		return in_register(l, op->number, IN_REG, 0, ret);
	case DW_OP_bregx:
		return in_register(l, op->number, AT_REG, op->number2, ret);
	case DW_OP_fbreg:
		if (!frame_base(l, ret, depth))
			return false;
		ret->off += op->number;
		return true;
	case DW_OP_call_frame_cfa:
		return frame_cfa(l, ret, depth);
	case DW_OP_addr:
		*ret = (struct place){
		    .form = AT_ADDR, .off = op->number, .linked = true};
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return indexed(l, op, ret);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		*ret = (struct place){.form = AT_ADDR, .off = op->number};
		return true;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return refuse(l, "only its value at the function's entry is "
				 "known: probe the entry, or use @entry() in "
				 "a .return probe");
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return refuse(l, "the compiler has removed what it points to");
	case DW_OP_GNU_push_tls_address:
	case DW_OP_form_tls_address:
		return refuse(l, "it is thread-local");
	default:
		return refuse(l, "its place is computed in a way that is not "
				 "supported");
	}
}

/* Operations that change one. false: not supported. */
static bool next_op(struct lookup *l, const Dwarf_Op *op, struct place *p)
{
	int64_t *off = p->derefs ? &p->after[p->derefs - 1] : &p->off;

	switch (op->atom) {
	case DW_OP_plus_uconst:
		*off += op->number;
		return true;
	case DW_OP_stack_value:
		if (p->derefs || p->linked)
			break;
		p->form = IS_VALUE;
		return true;
	case DW_OP_deref:
		if (p->form == IN_REG || p->form == IS_VALUE || p->derefs == 4)
			break;
		p->after[p->derefs++] = 0;
		return true;
	case DW_OP_nop:
		return true;
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return refuse(l, "it is in several pieces");
	case DW_OP_GNU_push_tls_address:
	case DW_OP_form_tls_address:
		return refuse(l, "it is thread-local");
	default:
		break;
	}
	return refuse(l, "its place is computed in a way that is not "
			 "supported");
}

static bool evaluate(struct lookup *l, const Dwarf_Op *op, size_t n,
		     struct place *ret, int depth)
{
	if (!n)
		return refuse(l, "it is optimized out at this place");
	/* A frame base that refers to itself. */
	if (depth > 3)
		return refuse(l, "its description is damaged");
	if (!first_op(l, op, ret, depth))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!next_op(l, &op[i], ret))
			return false;
	return true;
}

/* --- from a place to an access -------------------------------------------- */

static void push_step(struct lookup *l, struct access *a, int64_t off,
		      uint8_t load)
{
	struct access_step s = {.off = off, .load = load, .user = true};

	vec_push(l->f->c->a, &a->steps, s);
}

/* A value that the base itself is, narrowed to its type. */
static void set_narrow(struct access *a, const struct ctype *type)
{
	const struct ctype *t = ctype_strip(type);

	if (!t || !t->size || t->size >= 8)
		return;
	a->narrow = t->size;
	a->sign = t->sign;
}

static bool to_access(struct lookup *l, const struct place *p,
		      const struct ctype *type, struct access *ret)
{
	*ret = (struct access){.base = ACC_REG, .arg = p->reg, .user = true};
	switch (p->form) {
	case IN_REG:
		set_narrow(ret, type);
		return true;
	case IS_VALUE:
		if (!p->has_reg) {
			ret->base = ACC_CONST;
			ret->constant = p->off;
			return true;
		}
		if (p->off)
			return refuse(l, "it is optimized out: only an "
					 "expression of it is left");
		set_narrow(ret, type);
		return true;
	case AT_ADDR:
		/*
		 * Where the program was loaded is not known before it runs, but
		 * the handler knows the address of its own probe.
		 */
		ret->arg = REGS_IP;
		push_step(l, ret, p->off - (int64_t)l->pc, p->derefs ? 8 : 0);
		break;
	case AT_REG:
		push_step(l, ret, p->off, p->derefs ? 8 : 0);
		break;
	}
	for (unsigned i = 0; i < p->derefs; i++)
		push_step(l, ret, p->after[i], i + 1 < p->derefs ? 8 : 0);
	return true;
}

/* --- parameters at a function's entry ------------------------------------- */

/* Passed in one general register (psABI x86-64 3.2.3, class INTEGER). */
static bool is_integer_class(const struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->size <= 8 &&
	       (t->kind == CT_INT || t->kind == CT_ENUM || t->kind == CT_PTR);
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
		used++;
	} while (die_next(l->f, &p, &p));
	return -1;
}

static bool at_entry(struct lookup *l)
{
	Dwarf_Addr entry;

	return l->has_func && !l->f->dw->dwarf_entrypc(&l->func, &entry) &&
	       entry == l->pc;
}

/*
 * Of the frame below the return address, which does not exist at entry. What is
 * at or above the CFA was put there by the caller.
 */
static bool is_own_frame(struct lookup *l, const Dwarf_Op *op, size_t n)
{
	struct place base;

	if (n != 1 || op->atom != DW_OP_fbreg)
		return false;
	if (!frame_base(l, &base, 0))
		return true;
	/* At entry the CFA is 8 above the stack pointer. */
	return base.form != AT_REG || base.reg != (uint32_t)reg_offset(7) ||
	       base.off + (int64_t)op->number < 8;
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

static int locate(struct lookup *l, Dwarf_Die *var, struct access *ret,
		  const struct ctype **ret_type, const char **ret_why)
{
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	struct place p;
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
		if (dw->dwarf_getlocation_addr(&at, l->pc, &op, &n, 1) == 1) {
			if (at_entry(l) && is_own_frame(l, op, n)) {
				reg = register_of_param(l, var);
				ok = reg >= 0;
				p = (struct place){.form = IN_REG, .reg = reg};
				l->why = "it has no value at the entry of the "
					 "function: probe a statement in it";
			} else {
				ok = evaluate(l, op, n, &p, 0);
			}
		}
	}
	if (ok && to_access(l, &p, *ret_type, ret))
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
		if (!scope || dw->dwarf_dieoffset(&(*ret)[i]) == scope)
			return n;
	if (!scope || !dw->dwarf_offdie(l->f->dbg, scope, &die))
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
