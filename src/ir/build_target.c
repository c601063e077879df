/* SPDX-License-Identifier: MIT */
/* $x->y[z], @cast, @kderef: access paths to loads. */
#include "ir/build.h"

#include <assert.h>
#include <string.h>

/* The operation of the IR for one with two operands. */
static enum ir_op binary_op(enum access_opcode code)
{
	static const uint8_t op[] = {
	    [AO_ADD] = OP_ADD, [AO_SUB] = OP_SUB, [AO_MUL] = OP_MUL,
	    [AO_AND] = OP_AND, [AO_OR] = OP_OR, [AO_XOR] = OP_XOR,
	    [AO_SHL] = OP_SHL, [AO_SHR] = OP_SHR, [AO_USHR] = OP_USHR,
	    [AO_DIV] = OP_DIV, [AO_MOD] = OP_MOD, [AO_EQ] = OP_EQ,
	    [AO_NE] = OP_NE, [AO_LT] = OP_LT, [AO_LE] = OP_LE,
	    [AO_GT] = OP_GT, [AO_GE] = OP_GE,
	};

	assert(code < sizeof(op) && op[code]);
	return op[code];
}

/*
 * The stack is known while compiling: each entry is a temporary or a number. A
 * copy (PICK) is the same one, since nothing changes a temporary.
 */
static struct ir_val load_expr(struct build *b, const struct access *acc)
{
	struct ir_val st[ACCESS_STACK + 1], v;
	unsigned n = 0;

	for (unsigned i = 0; i < acc->nops; i++) {
		const struct access_op *o = &acc->ops[i];

		assert(n <= ACCESS_STACK);
		switch (o->code) {
		case AO_REG:
			st[n++] = emit_num(b, OP_REG, val_num(o->num), NOVAL,
					   NOVAL);
			break;
		case AO_NUM:
			st[n++] = val_num(o->num);
			break;
		case AO_PICK:
			st[n] = st[n - 1 - o->num];
			n++;
			break;
		case AO_DROP:
			n--;
			break;
		case AO_ROTATE:
			v = st[n - 1];
			memmove(&st[n - o->num + 1], &st[n - o->num],
				(o->num - 1) * sizeof(v));
			st[n - o->num] = v;
			break;
		case AO_LOAD:
			st[n - 1] = load_at(b, st[n - 1], o->num, acc->user);
			break;
		case AO_EXT:
			st[n - 1] = emit_num(b, OP_EXT, st[n - 1],
					     val_num(o->num), NOVAL);
			break;
		case AO_NEG:
		case AO_INV:
			st[n - 1] = emit_num(b, o->code == AO_NEG ? OP_NEG :
					     OP_INV, st[n - 1], NOVAL, NOVAL);
			break;
		default:
			n--;
			st[n - 1] = emit_num(b, binary_op(o->code), st[n - 1],
					     st[n], NOVAL);
		}
	}
	return st[n - 1];
}

void need_handler(struct build *b, const char *what)
{
	if (b->f->kind != IR_FUNCTION)
		return;
	complain(b->c, TARGET_CALLED, &b->here, b->f->name, what);
}

/* The value that an access starts from; types/access.h. */
static struct ir_val load_base(struct build *b, const struct access *acc)
{
	struct ir_val v;
	int narrow = acc->narrow;

	if (acc->base == ACC_ARG || acc->base == ACC_REG ||
	    acc->base == ACC_CTX)
		need_handler(b, "$variables");
	switch (acc->base) {
	case ACC_ARG:
		v = emit_num(b, OP_ARG, val_num(acc->arg), NOVAL, NOVAL);
		break;
	case ACC_REG:
		v = emit_num(b, OP_REG, val_num(acc->arg), NOVAL, NOVAL);
		break;
	case ACC_CTX:
		return emit_num(b, OP_CTX, val_num(acc->arg),
				val_num(acc->sign ? -(int)acc->load_size :
					acc->load_size), NOVAL);
	case ACC_VALUE:
		return expr(b, acc->value, true);
	case ACC_EXPR:
		v = load_expr(b, acc);
		break;
	default:
		return val_num(acc->constant);
	}
	if (acc->shift)
		v = emit_num(b, OP_USHR, v, val_num(acc->shift), NOVAL);
	/* The register is wider than the value: cut and sign-extend it. */
	if (narrow && narrow < 8)
		v = emit_num(b, OP_EXT, v,
			     val_num(acc->sign ? -narrow : narrow), NOVAL);
	return v;
}

/*
 * addr + off + index * scale index is evaluated here, in the order in which it
 * was written.
 */
static struct ir_val step_address(struct build *b, struct ir_val addr,
				  const struct access_step *s)
{
	if (s->index) {
		struct ir_val i = expr(b, s->index, true);

		if (s->scale != 1)
			i = emit_num(b, OP_MUL, i, val_num(s->scale), NOVAL);
		addr = emit_num(b, OP_ADD, addr, i, NOVAL);
	}
	if (s->off)
		addr = emit_num(b, OP_ADD, addr, val_num(s->off), NOVAL);
	return addr;
}

struct ir_val load_at(struct build *b, struct ir_val addr, int size,
		      bool user)
{
	uint32_t r = tmp_num(b);
	struct ir_ins *i = emit(b, user ? OP_ULD : OP_KLD, addr,
				val_num(size), NOVAL);

	i->dst = r;
	i->has_dst = true;
	emit_fail_num(b, i, user ? "user read fault at 0x" :
		      "kernel read fault at 0x", addr,
		      " (addr) [man error::fault]");
	return val_reg(r);
}

/*
 * TLD: a load through a pointer that the verifier trusts needs no helper, and
 * cannot fail. Its operand packs offset * 256 + size.
 */
static struct ir_val one_step(struct build *b, struct ir_val v,
			      const struct access *acc,
			      const struct access_step *s)
{
	int size = s->sign && !s->bit_size ? -(int)s->load : s->load;

	if (s->trusted && !s->index && s->load && s->off >= 0)
		v = emit_num(b, OP_TLD, v,
			     val_num(s->off * 256 + (uint8_t)size), NOVAL);
	else if (s->load)
		v = load_at(b, step_address(b, v, s), size,
			    acc->user || s->user);
	else
		return step_address(b, v, s);
	/* The word is loaded unsigned; BITS takes the field out of it. */
	if (s->bit_size)
		v = emit_num(b, OP_BITS, v, val_num(s->bit_off),
			     val_num(s->sign ? -(int)s->bit_size :
				     s->bit_size));
	return v;
}

/* address: all but the last load, whose place is wanted. */
struct ir_val expr_target(struct build *b, struct node *n, bool address)
{
	const struct access *acc;
	struct span old;
	struct ir_val v;

	if (n->kind != N_TARGET && n->kind != N_ARROW) {
		complain(b->c, TARGET_NONE, &n->span);
		return val_num(0);
	}
	acc = n->u.target.access;
	/* sema resolves them all, and @entry to what an entry probe keeps */
	assert(acc && acc->base != ACC_ENTRY);
	if (acc->base == ACC_TEXT)
		return expr(b, acc->text, true);
	old = build_at(b, &n->span);
	v = load_base(b, acc);
	for (unsigned i = 0; i < acc->steps.n; i++) {
		struct access_step s = acc->steps.v[i];

		if (address && i + 1 == acc->steps.n)
			s.load = s.bit_size = 0;
		v = one_step(b, v, acc, &s);
	}
	b->here = old;
	return v;
}
