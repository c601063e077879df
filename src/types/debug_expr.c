/* SPDX-License-Identifier: MIT */
/*
 * DWARF describes a place, or a value, by a program for a small stack machine
 * (DWARF 5, 2.5 and 2.6). It has no jumps here, so the program becomes one for
 * the compiler (struct access_op) operation by operation, and the most frequent
 * ones, "in a register" and "at a register's value and so many bytes", become
 * plain accesses. What was computed in vector registers, is in no one place or
 * needs to know the caller is refused by name rather than guessed.
 */
#include "types/debug_expr.h"

#include <stdlib.h>
#include <string.h>

#include "types/regs.h"

/* Entries of the machine's stack; and how deep one expression uses others. */
enum { STACK_MAX = ACCESS_STACK, NEST_MAX = 4 };

/* What a value on the stack is, where the expression says so. */
struct expr_type {
	uint8_t size; /* bytes; 0: a word of no type */
	bool sign;
};

struct expr {
	struct lookup *l;
	VEC(struct access_op) ops;
	struct expr_type stack[STACK_MAX];
	unsigned depth;
	unsigned nest;
	bool is_value; /* what is on top is the value, not where it is */
};

static const char unsupported[] =
    "its place is computed in a way that is not supported";

/* DWARF's numbers of the registers, psABI x86-64 figure 3.36. */
int expr_register(unsigned number)
{
	static const short at[] = {80, 96, 88, 40,  104, 112, 32, 152, 72,
				   64, 56, 48, 24,  16,	 8,   0,  128};

	return number < sizeof(at) / sizeof(at[0]) ? at[number] : -1;
}

bool expr_at_entry(struct lookup *l)
{
	Dwarf_Addr entry;

	return l->has_func && die_entry(l->f, &l->func, &entry) &&
	       entry == l->pc;
}

/* --- the machine ---------------------------------------------------------- */

static bool refuse(struct expr *e, const char *why)
{
	e->l->why = why;
	return false;
}

static void add_op(struct expr *e, enum access_opcode code, int64_t num)
{
	struct access_op op = {.code = code, .num = num};

	vec_push(e->l->f->c->a, &e->ops, op);
}

static bool push(struct expr *e, enum access_opcode code, int64_t num)
{
	if (e->depth == STACK_MAX)
		return refuse(e, unsupported);
	e->stack[e->depth++] = (struct expr_type){0};
	add_op(e, code, num);
	return true;
}

static bool has(struct expr *e, unsigned n)
{
	return e->depth >= n ||
	       refuse(e, "its description is damaged");
}

static bool push_register(struct expr *e, unsigned number)
{
	int at = expr_register(number);

	return at < 0 ? refuse(e, "it is in a vector register")
		      : push(e, AO_REG, at);
}

static bool add_offset(struct expr *e, int64_t off)
{
	if (!has(e, 1))
		return false;
	if (!off)
		return true;
	add_op(e, AO_NUM, off);
	add_op(e, AO_ADD, 0);
	return true;
}

/* The top becomes a number of that type. */
static void extend(struct expr *e, struct expr_type t)
{
	if (t.size && t.size < 8)
		add_op(e, AO_EXT, t.sign ? -t.size : t.size);
	e->stack[e->depth - 1] = t;
}

static bool binary(struct expr *e, enum access_opcode code)
{
	struct expr_type t;
	bool ordered = code == AO_DIV || code == AO_LT || code == AO_LE ||
		       code == AO_GT || code == AO_GE || code == AO_MOD;

	if (!has(e, 2))
		return false;
	t = e->stack[e->depth - 1];
	/* The compiler's operations are of signed numbers. */
	if (ordered && t.size == 8 && !t.sign)
		return refuse(e, unsupported);
	/* A division by what may be 0 would need a test. */
	if ((code == AO_DIV || code == AO_MOD) &&
	    (vec_last(&e->ops).code != AO_NUM || vec_last(&e->ops).num <= 0))
		return refuse(e, unsupported);
	e->depth--;
	add_op(e, code, 0);
	extend(e, code >= AO_EQ && code <= AO_GE ? (struct expr_type){0} : t);
	return true;
}

static bool unary(struct expr *e, enum access_opcode code)
{
	if (!has(e, 1))
		return false;
	add_op(e, code, 0);
	extend(e, e->stack[e->depth - 1]);
	return true;
}

static bool load(struct expr *e, int64_t bytes)
{
	if (!has(e, 1))
		return false;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return refuse(e, unsupported);
	add_op(e, AO_LOAD, bytes);
	e->stack[e->depth - 1] = (struct expr_type){0};
	return true;
}

static bool pick(struct expr *e, uint64_t n)
{
	struct expr_type t;

	if (n >= STACK_MAX || !has(e, n + 1))
		return refuse(e, unsupported);
	t = e->stack[e->depth - 1 - n];
	if (!push(e, AO_PICK, n))
		return false;
	e->stack[e->depth - 1] = t;
	return true;
}

/* The n topmost, of which the last becomes the first of them. */
static bool rotate(struct expr *e, unsigned n)
{
	struct expr_type t;

	if (!has(e, n))
		return false;
	t = e->stack[e->depth - 1];
	memmove(&e->stack[e->depth - n + 1], &e->stack[e->depth - n],
		(n - 1) * sizeof(t));
	e->stack[e->depth - n] = t;
	add_op(e, AO_ROTATE, n);
	return true;
}

/* --- expressions in others ------------------------------------------------ */

static bool run(struct expr *e, const Dwarf_Op *op, size_t n);

static bool run_nested(struct expr *e, const Dwarf_Op *op, size_t n)
{
	bool ok;

	/* A frame base that refers to itself. */
	if (e->nest == NEST_MAX || !n)
		return refuse(e, "its description is damaged");
	e->nest++;
	ok = run(e, op, n);
	e->nest--;
	/* "In the frame register" means that its value is the base. */
	e->is_value = false;
	return ok;
}

/* The canonical frame address: the stack pointer before the call. */
static bool frame_cfa(struct expr *e)
{
	struct lookup *l = e->l;
	const struct libdw *dw = l->f->dw;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi[2];

	cfi[0] = dw->dwfl_module_eh_cfi(l->f->mod, &bias);
	cfi[1] = dw->dwfl_module_dwarf_cfi(l->f->mod, &bias);
	for (int i = 0; i < 2; i++) {
		Dwarf_Frame *frame = NULL;
		bool found, ok;
		Dwarf_Op *op;
		size_t n;

		if (!cfi[i] || dw->dwarf_cfi_addrframe(cfi[i], l->pc, &frame))
			continue;
		found = !dw->dwarf_frame_cfa(frame, &op, &n);
		ok = found && run_nested(e, op, n);
		free(frame);
		if (found)
			return ok;
	}
	return refuse(e, "the frame it is in is not described");
}

/* The value of a register, as it will be once the frame is set up. */
static bool steady_base(struct expr *e, unsigned number)
{
	unsigned reg;
	int64_t off;

	if (!frame_steady(e->l, number, &reg, &off))
		return refuse(e, EXPR_NO_FRAME);
	return push_register(e, reg) && add_offset(e, off);
}

/* What the function's locals count from. */
static bool frame_base(struct expr *e)
{
	struct lookup *l = e->l;
	const struct libdw *dw = l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Block block;
	Dwarf_Op *op;
	size_t n;

	if (!l->has_func ||
	    !dw->dwarf_attr_integrate(&l->func, DW_AT_frame_base, &at))
		return refuse(e, "the frame it is in is not described");
	if (dw->dwarf_getlocation_addr(&at, l->pc, &op, &n, 1) == 1)
		return n == 1 && (op->atom == DW_OP_reg6 ||
				  op->atom == DW_OP_reg7)
			   ? steady_base(e, op->atom - DW_OP_reg0)
			   : run_nested(e, op, n);
	/* In Go's form of it, a block, the library takes it for none. */
	if (!dw->dwarf_formblock(&at, &block) && block.length == 1 &&
	    *block.data == DW_OP_call_frame_cfa)
		return frame_cfa(e);
	return refuse(e, "the frame it is in is not described");
}

/*
 * What something was when the function was entered: there that is what it is.
 * Later a caller would have to be known, which tells what it gave.
 */
static bool entry_value(struct expr *e, const Dwarf_Op *op)
{
	const struct libdw *dw = e->l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Op *in;
	size_t n;

	if (!expr_at_entry(e->l))
		return refuse(e, "only its value at the function's entry is "
				 "known: probe the entry, or use @entry() in a "
				 ".return probe");
	if (dw->dwarf_getlocation_attr(&e->l->loc, op, &at) ||
	    dw->dwarf_getlocation(&at, &in, &n))
		return refuse(e, unsupported);
	return run_nested(e, in, n);
}

/* An address as linked: the program may have been loaded anywhere. */
static bool push_linked(struct expr *e, uint64_t addr)
{
	/* The handler knows the address of its own probe. */
	return push(e, AO_REG, REGS_IP) &&
	       add_offset(e, (int64_t)(addr - e->l->pc));
}

/* The address stands in a table that the expression only indexes. */
static bool push_indexed(struct expr *e, const Dwarf_Op *op)
{
	const struct libdw *dw = e->l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Addr addr;

	if (dw->dwarf_getlocation_attr(&e->l->loc, op, &at) ||
	    dw->dwarf_formaddr(&at, &addr))
		return refuse(e, "its address cannot be read");
	return push_linked(e, addr);
}

/* The value itself stands in the expression. */
static bool implicit_value(struct expr *e, const Dwarf_Op *op)
{
	Dwarf_Block block;
	int64_t v = 0;

	if (e->l->f->dw->dwarf_getlocation_implicit_value(&e->l->loc, op,
							  &block) ||
	    block.length > sizeof(v))
		return refuse(e, unsupported);
	memcpy(&v, block.data, block.length);
	e->is_value = true;
	return push(e, AO_NUM, v);
}

/* --- types ---------------------------------------------------------------- */

/* The base type that an operation names. Of whole numbers only. */
static bool type_of(struct expr *e, const Dwarf_Op *op, struct expr_type *ret)
{
	const struct libdw *dw = e->l->f->dw;
	Dwarf_Attribute at;
	Dwarf_Word encoding;
	Dwarf_Die die;
	int size;

	if (dw->dwarf_getlocation_die(&e->l->loc, op, &die) ||
	    !dw->dwarf_attr(&die, DW_AT_encoding, &at) ||
	    dw->dwarf_formudata(&at, &encoding))
		return refuse(e, unsupported);
	size = dw->dwarf_bytesize(&die);
	if (encoding == DW_ATE_float)
		return refuse(e, "it is computed from floating-point numbers");
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return refuse(e, unsupported);
	ret->size = size;
	ret->sign = encoding == DW_ATE_signed ||
		    encoding == DW_ATE_signed_char;
	return true;
}

/* Operations that name a type. */
static bool typed(struct expr *e, const Dwarf_Op *op)
{
	struct expr_type t = {0};
	bool convert = op->atom == DW_OP_convert ||
		       op->atom == DW_OP_GNU_convert ||
		       op->atom == DW_OP_reinterpret ||
		       op->atom == DW_OP_GNU_reinterpret;

	/* type 0 is a word of no type */
	if (!(convert && !op->number) && !type_of(e, op, &t))
		return false;
	if (op->atom == DW_OP_regval_type ||
	    op->atom == DW_OP_GNU_regval_type) {
		if (!push_register(e, op->number))
			return false;
	} else if (op->atom == DW_OP_deref_type ||
		   op->atom == DW_OP_GNU_deref_type) {
		if (!load(e, op->number))
			return false;
	} else if (!has(e, 1)) {
		return false;
	}
	extend(e, t);
	return true;
}

/* --- operations ----------------------------------------------------------- */

/* Those that take operands from the stack. */
static bool operate(struct expr *e, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_plus_uconst:
		return add_offset(e, op->number);
	case DW_OP_deref:
		return load(e, 8);
	case DW_OP_deref_size:
		return load(e, op->number);
	case DW_OP_plus:
		return binary(e, AO_ADD);
	case DW_OP_minus:
		return binary(e, AO_SUB);
	case DW_OP_mul:
		return binary(e, AO_MUL);
	case DW_OP_div:
		return binary(e, AO_DIV);
	case DW_OP_mod:
		return binary(e, AO_MOD);
	case DW_OP_and:
		return binary(e, AO_AND);
	case DW_OP_or:
		return binary(e, AO_OR);
	case DW_OP_xor:
		return binary(e, AO_XOR);
	case DW_OP_shl:
		return binary(e, AO_SHL);
	case DW_OP_shr:
		return binary(e, AO_USHR);
	case DW_OP_shra:
		return binary(e, AO_SHR);
	case DW_OP_eq:
		return binary(e, AO_EQ);
	case DW_OP_ne:
		return binary(e, AO_NE);
	case DW_OP_lt:
		return binary(e, AO_LT);
	case DW_OP_le:
		return binary(e, AO_LE);
	case DW_OP_gt:
		return binary(e, AO_GT);
	case DW_OP_ge:
		return binary(e, AO_GE);
	case DW_OP_neg:
		return unary(e, AO_NEG);
	case DW_OP_not:
		return unary(e, AO_INV);
	case DW_OP_dup:
		return pick(e, 0);
	case DW_OP_over:
		return pick(e, 1);
	case DW_OP_pick:
		return pick(e, op->number);
	case DW_OP_swap:
		return rotate(e, 2);
	case DW_OP_rot:
		return rotate(e, 3);
	case DW_OP_drop:
		if (!has(e, 1))
			return false;
		e->depth--;
		add_op(e, AO_DROP, 0);
		return true;
	case DW_OP_nop:
		return true;
	case DW_OP_stack_value:
		e->is_value = true;
		return has(e, 1);
	default:
		return refuse(e, unsupported);
	}
}

/* Those that put something there. */
static bool operation(struct expr *e, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		e->is_value = true;
		return push_register(e, atom - DW_OP_reg0);
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(e, atom - DW_OP_breg0) &&
		       add_offset(e, op->number);
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(e, AO_NUM, atom - DW_OP_lit0);
	switch (atom) {
	case DW_OP_regx:
		e->is_value = true;
		return push_register(e, op->number);
	case DW_OP_bregx:
		return push_register(e, op->number) &&
		       add_offset(e, op->number2);
	case DW_OP_fbreg:
		return frame_base(e) && add_offset(e, op->number);
	case DW_OP_call_frame_cfa:
		return frame_cfa(e);
	case DW_OP_addr:
		return push_linked(e, op->number);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return push_indexed(e, op);
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u:
	case DW_OP_const2s: case DW_OP_const4u: case DW_OP_const4s:
	case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu:
	case DW_OP_consts:
		return push(e, AO_NUM, op->number);
	case DW_OP_implicit_value:
		return implicit_value(e, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return entry_value(e, op);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return refuse(e, "the compiler has removed what it points to");
	case DW_OP_GNU_parameter_ref:
		return refuse(e, "the compiler has removed this parameter: its "
				 "value is known in the callers only");
	case DW_OP_GNU_push_tls_address:
	case DW_OP_form_tls_address:
		return refuse(e, "it is thread-local");
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return refuse(e, "it is in several pieces");
	case DW_OP_convert: case DW_OP_GNU_convert: case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret: case DW_OP_regval_type:
	case DW_OP_GNU_regval_type: case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return typed(e, op);
	default:
		return operate(e, op);
	}
}

static bool run(struct expr *e, const Dwarf_Op *op, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* What a value is was said to its end. */
		if (e->is_value && op[i].atom != DW_OP_nop)
			return refuse(e, op[i].atom == DW_OP_piece ||
					 op[i].atom == DW_OP_bit_piece
					     ? "it is in several pieces"
					     : unsupported);
		if (!operation(e, &op[i]))
			return false;
	}
	return has(e, 1);
}

static bool evaluate(struct lookup *l, const Dwarf_Op *op, size_t n,
		     struct expr *ret)
{
	*ret = (struct expr){.l = l};
	if (!n)
		return refuse(ret, "it is optimized out at this place");
	return run(ret, op, n);
}

/* --- from operations to an access ----------------------------------------- */

/* A value that the base itself is, narrowed to its type. */
static void set_narrow(struct access *a, const struct ctype *type)
{
	const struct ctype *t = ctype_strip(type);

	if (!t || !t->size || t->size >= 8)
		return;
	a->narrow = t->size;
	a->sign = t->sign;
}

void expr_reg_access(uint32_t reg, const struct ctype *type,
		     struct access *ret)
{
	*ret = (struct access){.base = ACC_REG, .arg = reg, .user = true};
	set_narrow(ret, type);
}

/*
 * An address that is a register's value with distances added and words loaded
 * from there: steps of an access, which need no stack. false: it is another.
 */
static bool to_steps(struct expr *e, struct access *ret)
{
	struct access_step s = {.user = true};

	if (e->ops.v[0].code != AO_REG)
		return false;
	ret->base = ACC_REG;
	ret->arg = e->ops.v[0].num;
	for (unsigned i = 1; i < e->ops.n; i++) {
		const struct access_op *op = &e->ops.v[i];

		if (op->code == AO_NUM && i + 1 < e->ops.n &&
		    op[1].code == AO_ADD) {
			s.off += op->num;
			i++;
		} else if (op->code == AO_LOAD && op->num == 8) {
			s.load = 8;
			vec_push(e->l->f->c->a, &ret->steps, s);
			s = (struct access_step){.user = true};
		} else {
			ret->steps.n = 0;
			return false;
		}
	}
	vec_push(e->l->f->c->a, &ret->steps, s);
	return true;
}

/* A struct that may be in several places: "reg3 piece 8 reg4 piece 8" */
static bool pieces(struct lookup *l, const Dwarf_Op *op, size_t n,
		   struct access *ret)
{
	struct access_step here = {.user = true};
	VEC(struct access_piece) v = {0};
	uint32_t off = 0;

	for (size_t i = 0, from = 0; i < n; from = ++i) {
		struct access_piece p = {.off = off, .size = 8};
		struct expr e;

		while (i < n && op[i].atom != DW_OP_piece &&
		       op[i].atom != DW_OP_bit_piece)
			i++;
		if (i < n && (op[i].atom == DW_OP_bit_piece ||
			      op[i].number > INT16_MAX)) {
			l->why = "it is in several pieces";
			return false;
		}
		if (i < n)
			p.size = op[i].number;
		/* without operations: this one is nowhere */
		if (i > from && evaluate(l, op + from, i - from, &e)) {
			p.ops = e.ops.v;
			p.nops = e.ops.n;
			p.is_value = e.is_value;
		}
		/* a register has no more; the rest would be shifted out */
		if (p.is_value && p.size > 8)
			p.size = 8;
		vec_push(l->f->c->a, &v, p);
		off += p.size;
	}
	*ret = (struct access){.base = ACC_PIECES, .user = true,
			       .pieces = v.v, .npieces = v.n};
	vec_push(l->f->c->a, &ret->steps, here);
	return true;
}

static bool is_compound(const struct ctype *type)
{
	type = ctype_strip(type);
	return type && (type->kind == CT_STRUCT || type->kind == CT_UNION ||
			type->kind == CT_ARRAY);
}

bool expr_access(struct lookup *l, const Dwarf_Op *op, size_t n,
		 const struct ctype *type, struct access *ret)
{
	bool compound = is_compound(type);
	struct access_step here = {.user = true};
	struct expr e;

	if (compound && n > 1 && op[n - 1].atom == DW_OP_piece)
		return pieces(l, op, n, ret);
	/* a number in one piece: the rest of a register does not count */
	if (n > 1 && op[n - 1].atom == DW_OP_piece && type &&
	    op[n - 1].number >= type->size)
		n--;
	if (!evaluate(l, op, n, &e))
		return false;
	if (compound && e.is_value)
		return pieces(l, op, n, ret);
	*ret = (struct access){.user = true};
	if (e.is_value && e.ops.n == 1 && e.ops.v[0].code == AO_NUM) {
		ret->base = ACC_CONST;
		ret->constant = e.ops.v[0].num;
		return true;
	}
	if (e.is_value && e.ops.n == 1 && e.ops.v[0].code == AO_REG) {
		expr_reg_access(e.ops.v[0].num, type, ret);
		return true;
	}
	if (!e.is_value && to_steps(&e, ret))
		return true;
	ret->base = ACC_EXPR;
	ret->ops = e.ops.v;
	ret->nops = e.ops.n;
	if (e.is_value)
		set_narrow(ret, type);
	else
		vec_push(l->f->c->a, &ret->steps, here);
	return true;
}

bool expr_in_frame(struct lookup *l, const Dwarf_Op *op, size_t n,
		   int64_t *ret)
{
	struct expr e;

	/* at the entry nothing has been put on the stack yet */
	if (!evaluate(l, op, n, &e) || e.is_value || !e.ops.n ||
	    e.ops.v[0].code != AO_REG ||
	    e.ops.v[0].num != expr_register(7 /* the stack pointer */))
		return false;
	*ret = 0;
	for (unsigned i = 1; i < e.ops.n; i += 2) {
		if (e.ops.v[i].code != AO_NUM || i + 1 == e.ops.n ||
		    e.ops.v[i + 1].code != AO_ADD)
			return false;
		*ret += e.ops.v[i].num;
	}
	return true;
}
