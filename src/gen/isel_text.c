/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions about strings in the kernel. Strings are zero-padded to
 * their width, which also bounds all loops.
 */
#include "gen/isel.h"

#include <string.h>

enum {
	SEARCH_MAX = 20000, /* compared bytes that the verifier should walk */
	DIGITS_MAX = 24,
};

static const struct ir_val *arg(struct emit *e, unsigned i)
{
	return &e->ins->args[i];
}

static bool literal(const struct ir_val *v)
{
	return v->kind == VAL_STR;
}

/* r0 = length of string v, 0 to width - 1. Copying a string onto itself changes
 * nothing and tells its length. */
static void length(struct emit *e, const struct ir_val *v)
{
	unsigned ok = asm_label(e->as);
	uint32_t w = emit_width(e, v);

	if (literal(v)) {
		asm_imm(e->as, R0, (int64_t)strlen(v->str));
		return;
	}
	emit_addr(e, R1, v);
	asm_imm(e->as, R2, w);
	asm_mov(e->as, R3, R1);
	asm_call(e->as, KH_READ_KERNEL_STR);
	asm_alui(e->as, BPF_SUB, R0, 1);
	/* never: for the verifier */
	asm_jifi(e->as, BPF_JLT, R0, (int32_t)w, ok);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, ok);
}

/* Clears the result, then reads a C string to it: r3 address, r2 size (already
 * at most the result's width). r0 < 0: a fault. */
static void clear_result(struct emit *e)
{
	emit_zero(e, emit_mem(e, e->ins->dst, R1), emit_dst_width(e));
}

static void substr(struct emit *e)
{
	uint32_t w = emit_width(e, arg(e, 0)), dw = emit_dst_width(e);
	uint32_t t = emit_tmp(e, 8);
	unsigned done = asm_label(e->as), fits = asm_label(e->as);
	struct mem m;

	/* the result may be the same variable as the string: its part first */
	if (arg(e, 0)->kind == VAL_REG && arg(e, 0)->reg == e->ins->dst) {
		emit_unsupported(e, "substr() onto its own argument");
		return;
	}
	emit_load(e, R2, arg(e, 2));
	m = emit_tmp_mem(e, t, R1);
	asm_store(e->as, 8, m.base, m.off, R2);
	emit_load(e, R3, arg(e, 1));
	asm_mov(e->as, R4, R3);
	clear_result(e);
	asm_jifi(e->as, BPF_JSLE, R2, 0, done);
	asm_jifi(e->as, BPF_JGE, R4, (int32_t)w, done);
	asm_alui(e->as, BPF_ADD, R2, 1);
	asm_jifi(e->as, BPF_JSLE, R2, (int32_t)dw, fits);
	asm_imm(e->as, R2, dw);
	asm_bind(e->as, fits);
	asm_alui(e->as, BPF_AND, R2, 0x7fffffff);
	asm_jifi(e->as, BPF_JGT, R2, (int32_t)dw, done);
	emit_addr(e, R3, arg(e, 0));
	asm_alu(e->as, BPF_ADD, R3, R4);
	emit_dst_addr(e, R1);
	asm_call(e->as, KH_READ_KERNEL_STR);
	asm_bind(e->as, done);
}

static void string_at(struct emit *e)
{
	uint32_t w = emit_width(e, arg(e, 0));
	unsigned bad = e->ins->target[1] ?
			   emit_block(e, e->ins->target[1]) :
			   asm_label(e->as);
	unsigned done = asm_label(e->as);

	emit_load(e, R2, arg(e, 1));
	asm_jifi(e->as, BPF_JGE, R2, (int32_t)w, bad);
	emit_addr(e, R1, arg(e, 0));
	asm_alu(e->as, BPF_ADD, R1, R2);
	asm_load(e->as, 1, R0, R1, 0);
	asm_jifi(e->as, BPF_JEQ, R0, 0, bad);
	asm_alui(e->as, BPF_LSH, R0, 56);
	asm_alui(e->as, BPF_ARSH, R0, 56);
	if (!e->ins->target[1]) {
		asm_jmp(e->as, done);
		asm_bind(e->as, bad);
		asm_imm(e->as, R0, 0);
	}
	asm_bind(e->as, done);
	emit_put(e, R0);
}

/* --- searching ----------------------------------------------------------- */

/* r1 = byte at r3 + i of a string, or a literal's byte as a constant. */
static void compare_byte(struct emit *e, const struct ir_val *what,
			 uint32_t i, int base, unsigned differ)
{
	struct mem m;

	asm_load(e->as, 1, R1, base, (int)i);
	if (literal(what)) {
		asm_jifi(e->as, BPF_JNE, R1, (uint8_t)what->str[i], differ);
		return;
	}
	m = emit_mem(e, what->reg, R2);
	asm_load(e->as, 1, R2, m.base, m.off + (int)i);
	asm_jif(e->as, BPF_JNE, R1, R2, differ);
}

/*
 * r0 = first position of `what` in `s`, or -1. One loop over positions, the
 * comparison unrolled; a byte past the text is 0, so nothing matches there.
 */
static void search(struct emit *e)
{
	const struct ir_val *s = arg(e, 0), *what = arg(e, 1);
	uint32_t w = emit_width(e, s), n = emit_width(e, what);
	unsigned loop = asm_label(e->as), next = asm_label(e->as);
	unsigned found = asm_label(e->as), none = asm_label(e->as);
	uint32_t t;
	struct mem m;

	if (literal(what))
		n = (uint32_t)strlen(what->str);
	if ((uint64_t)w * (n + 1) > SEARCH_MAX) {
		emit_unsupported(e, "searching strings that long in a kernel "
				    "probe");
		return;
	}
	/* a copy with room behind it: positions near the end read zeroes */
	t = emit_tmp(e, w + round8(n) + 8);
	m = emit_tmp_mem(e, t, R1);
	emit_put_string(e, m, s, w);
	m = emit_tmp_mem(e, t, R1);
	emit_zero(e, (struct mem){m.base, m.off + (int)w}, round8(n) + 8);
	emit_tmp_addr(e, R3, t);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, loop);
	for (uint32_t i = 0; i < n; i++) {
		if (!literal(what)) {
			/* its NUL: all of it matched */
			m = emit_mem(e, what->reg, R2);
			asm_load(e->as, 1, R2, m.base, m.off + (int)i);
			asm_jifi(e->as, BPF_JEQ, R2, 0, found);
		}
		compare_byte(e, what, i, R3, next);
	}
	asm_jmp(e->as, found);
	if (n) {
		asm_bind(e->as, next);
		asm_alui(e->as, BPF_ADD, R3, 1);
		asm_alui(e->as, BPF_ADD, R0, 1);
		asm_jifi(e->as, BPF_JLT, R0, (int32_t)w, loop);
	}
	asm_bind(e->as, none);
	asm_imm(e->as, R0, -1);
	asm_bind(e->as, found);
}

static void position(struct emit *e)
{
	search(e);
	if (e->ins->builtin->id == BI_ISINSTR) {
		/* 1 for 0 and more, 0 for -1 */
		asm_alui(e->as, BPF_RSH, R0, 63);
		asm_alui(e->as, BPF_XOR, R0, 1);
	}
	emit_put(e, R0);
}

/* --- numbers ------------------------------------------------------------- */

/* r1 = the digit's value of byte r1, or goes to end. */
static void digit(struct emit *e, int64_t base, unsigned end)
{
	unsigned decimal = asm_label(e->as);

	if (base > 10) {
		unsigned low = asm_label(e->as);

		asm_jifi(e->as, BPF_JLT, R1, 'A', decimal);
		asm_jifi(e->as, BPF_JGE, R1, 'a', low);
		asm_alui(e->as, BPF_ADD, R1, 'a' - 'A');
		asm_bind(e->as, low);
		asm_jifi(e->as, BPF_JLT, R1, 'a', end);
		asm_jifi(e->as, BPF_JGE, R1, 'a' + (int32_t)base - 10, end);
		asm_alui(e->as, BPF_SUB, R1, 'a' - 10 - '0');
	}
	asm_bind(e->as, decimal);
	asm_jifi(e->as, BPF_JLT, R1, '0', end);
	asm_alui(e->as, BPF_SUB, R1, '0');
	if (base <= 10)
		asm_jifi(e->as, BPF_JGE, R1, (int32_t)base, end);
}

/* strtol(s, 10), (s, 8), (s, 16): unrolled over the digits there may be. */
static void to_number(struct emit *e)
{
	int64_t base = arg(e, 1)->kind == VAL_NUM ? arg(e, 1)->num : -1;
	uint32_t w = emit_width(e, arg(e, 0));
	unsigned end = asm_label(e->as), positive = asm_label(e->as);
	unsigned loop = asm_label(e->as), start = asm_label(e->as);
	uint32_t t, most = w < DIGITS_MAX * 3 ? w : DIGITS_MAX * 3;

	if (base != 8 && base != 10 && base != 16) {
		emit_unsupported(e, "strtol() with a base other than 8, 10 or "
				    "16 in a kernel probe");
		return;
	}
	t = emit_tmp(e, w + 8);
	{
		struct mem m = emit_tmp_mem(e, t, R1);

		emit_put_string(e, m, arg(e, 0), w);
		m = emit_tmp_mem(e, t, R1);
		emit_zero(e, (struct mem){m.base, m.off + (int)w}, 8);
	}
	emit_tmp_addr(e, R3, t);
	asm_imm(e->as, R0, 0);
	asm_imm(e->as, R4, 0);	/* position */
	asm_load(e->as, 1, R5, R3, 0);
	asm_jifi(e->as, BPF_JNE, R5, '-', start);
	asm_alui(e->as, BPF_ADD, R3, 1);
	asm_bind(e->as, start);
	if (base == 16) {
		unsigned plain = asm_label(e->as);

		asm_load(e->as, 1, R1, R3, 0);
		asm_jifi(e->as, BPF_JNE, R1, '0', plain);
		asm_load(e->as, 1, R1, R3, 1);
		asm_alui(e->as, BPF_OR, R1, 32);
		asm_jifi(e->as, BPF_JNE, R1, 'x', plain);
		asm_alui(e->as, BPF_ADD, R3, 2);
		asm_bind(e->as, plain);
	}
	asm_bind(e->as, loop);
	asm_load(e->as, 1, R1, R3, 0);
	digit(e, base, end);
	asm_alui(e->as, BPF_MUL, R0, (int32_t)base);
	asm_alu(e->as, BPF_ADD, R0, R1);
	asm_alui(e->as, BPF_ADD, R3, 1);
	asm_alui(e->as, BPF_ADD, R4, 1);
	asm_jifi(e->as, BPF_JLT, R4, (int32_t)most, loop);
	asm_bind(e->as, end);
	asm_jifi(e->as, BPF_JNE, R5, '-', positive);
	asm_neg(e->as, R0);
	asm_bind(e->as, positive);
	emit_put(e, R0);
}

static void is_digit(struct emit *e)
{
	unsigned no = asm_label(e->as);
	struct mem m;

	if (literal(arg(e, 0))) {
		char c = arg(e, 0)->str[0];

		asm_imm(e->as, R0, c >= '0' && c <= '9');
		emit_put(e, R0);
		return;
	}
	m = emit_mem(e, arg(e, 0)->reg, R1);
	asm_load(e->as, 1, R1, m.base, m.off);
	asm_imm(e->as, R0, 0);
	asm_jifi(e->as, BPF_JLT, R1, '0', no);
	asm_jifi(e->as, BPF_JGT, R1, '9', no);
	asm_imm(e->as, R0, 1);
	asm_bind(e->as, no);
	emit_put(e, R0);
}

/* --- memory -------------------------------------------------------------- */

/* A C string at an address; with_n: at most n bytes of it; with_default: what
 * the result is on a fault. */
static void string_from(struct emit *e, int helper, bool with_n,
			bool with_default)
{
	uint32_t w = emit_dst_width(e), t = emit_tmp(e, 8);
	unsigned done = asm_label(e->as), size = asm_label(e->as);
	struct mem m;

	emit_load(e, R3, arg(e, 0));
	m = emit_tmp_mem(e, t, R1);
	asm_store(e->as, 8, m.base, m.off, R3);
	clear_result(e);
	asm_imm(e->as, R2, w);
	if (with_n) {
		/* n bytes and a NUL; n <= 0: nothing */
		emit_load(e, R2, arg(e, 1));
		asm_jifi(e->as, BPF_JSLE, R2, 0, done);
		asm_alui(e->as, BPF_ADD, R2, 1);
		asm_jifi(e->as, BPF_JLE, R2, (int32_t)w, size);
		asm_imm(e->as, R2, w);
	}
	asm_bind(e->as, size);
	m = emit_tmp_mem(e, t, R1);
	asm_load(e->as, 8, R3, m.base, m.off);
	emit_dst_addr(e, R1);
	asm_call(e->as, helper);
	if (with_default) {
		asm_jifi(e->as, BPF_JSGE, R0, 0, done);
		emit_put_string(e, emit_mem(e, e->ins->dst, R1), arg(e, 1), w);
	} else if (e->ins->target[1]) {
		asm_jifi(e->as, BPF_JSLT, R0, 0,
			 emit_block(e, e->ins->target[1]));
	}
	asm_bind(e->as, done);
}

static void number_from(struct emit *e, int helper)
{
	int64_t size = arg(e, 1)->kind == VAL_NUM ? arg(e, 1)->num : 0;
	int bytes = (int)(size < 0 ? -size : size);
	uint32_t t = emit_tmp(e, 8);
	unsigned done = asm_label(e->as);
	struct mem m;

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
		emit_unsupported(e, "a size that is not a literal");
		return;
	}
	emit_load(e, R3, arg(e, 0));
	emit_tmp_addr(e, R1, t);
	asm_imm(e->as, R2, bytes);
	asm_call(e->as, helper);
	asm_mov(e->as, R2, R0);
	asm_imm(e->as, R0, 0);
	asm_jifi32(e->as, BPF_JNE, R2, 0,
		   e->ins->target[1] ? emit_block(e, e->ins->target[1]) : done);
	m = emit_tmp_mem(e, t, R1);
	asm_load(e->as, bytes, R0, m.base, m.off);
	if (size < 0 && bytes < 8) {
		asm_alui(e->as, BPF_LSH, R0, 64 - bytes * 8);
		asm_alui(e->as, BPF_ARSH, R0, 64 - bytes * 8);
	}
	asm_bind(e->as, done);
	emit_put(e, R0);
}

static void random_number(struct emit *e)
{
	unsigned small = asm_label(e->as);

	emit_load(e, R2, arg(e, 0));
	if (e->ins->target[1])
		asm_jifi(e->as, BPF_JSGT, R2, 1048576,
			 emit_block(e, e->ins->target[1]));
	asm_bind(e->as, small);
	asm_call(e->as, KH_PRANDOM);
	asm_mov32(e->as, R0, R0);
	emit_load(e, R2, arg(e, 0));
	/* of 0: the kernel's x % 0 is x; the language's is 0 */
	{
		unsigned some = asm_label(e->as), done = asm_label(e->as);

		asm_jifi(e->as, BPF_JSGT, R2, 0, some);
		asm_imm(e->as, R0, 0);
		asm_jmp(e->as, done);
		asm_bind(e->as, some);
		asm_alu(e->as, BPF_MOD, R0, R2);
		asm_bind(e->as, done);
	}
	emit_put(e, R0);
}

static bool memory(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_KERNEL_STRING:
		string_from(e, KH_READ_KERNEL_STR, false, false);
		return true;
	case BI_KERNEL_STRING2:
		string_from(e, KH_READ_KERNEL_STR, false, true);
		return true;
	case BI_KERNEL_STRING_N:
		string_from(e, KH_READ_KERNEL_STR, true, false);
		return true;
	case BI_USER_STRING:
		string_from(e, KH_READ_USER_STR, false, false);
		return true;
	case BI_USER_STRING2:
		string_from(e, KH_READ_USER_STR, false, true);
		return true;
	case BI_USER_STRING_N:
		string_from(e, KH_READ_USER_STR, true, false);
		return true;
	case BI_KERNEL_READ:
		number_from(e, KH_READ_KERNEL);
		return true;
	case BI_USER_READ:
		number_from(e, KH_READ_USER);
		return true;
	case BI_RANDINT:
		random_number(e);
		return true;
	default:
		return false;
	}
}

void isel_text(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_STRLEN:
		length(e, arg(e, 0));
		emit_put(e, R0);
		break;
	case BI_SUBSTR:
		substr(e);
		break;
	case BI_STRINGAT:
		string_at(e);
		break;
	case BI_ISINSTR:
	case BI_STRPOS:
		position(e);
		break;
	case BI_STRTOL:
		to_number(e);
		break;
	case BI_ISDIGIT:
		is_digit(e);
		break;
	default:
		if (!memory(e)) {
			emit_unsupported(e, arena_printf(
			    e->c->a, "%s() in a kernel probe",
			    e->ins->builtin->name));
			return;
		}
	}
	emit_ok(e);
}
