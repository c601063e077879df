/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions about strings in the kernel. Strings are zero-padded to
 * their width, which also bounds all loops.
 */
#include "gen/isel.h"

#include <assert.h>
#include <string.h>

enum {
	SEARCH_MAX = 20000, /* bytes to compare: the verifier walks them all */
};

static const struct ir_val *arg(struct emit *e, unsigned i)
{
	return &e->ins->args[i];
}

static bool literal(const struct ir_val *v)
{
	return v->kind == VAL_STR;
}

/*
 * Copying a string onto itself changes nothing and tells its length. r0 is 0
 * only for "", never negative.
 */
void isel_length(struct emit *e, const struct ir_val *v)
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
	emit_zero_dst(e, emit_mem(e, e->ins->dst, R1), emit_dst_width(e));
}

static bool is_dst(const struct emit *e, const struct ir_val *v)
{
	return v->kind == VAL_REG && v->reg == e->ins->dst;
}

/* A position outside of the string, or a length of 0 or less, gives "". */
static void substr(struct emit *e)
{
	uint32_t w = emit_width(e, arg(e, 0)), dw = emit_dst_width(e);
	/* onto its own string: by way of a temporary */
	bool own = is_dst(e, arg(e, 0));
	uint32_t t = own ? emit_tmp(e, dw) : 0;
	unsigned done = asm_label(e->as), fits = asm_label(e->as);

	if (own)
		emit_zero(e, emit_tmp_mem(e, t, R1), dw);
	else
		clear_result(e);
	emit_load(e, R2, arg(e, 2));
	emit_load(e, R4, arg(e, 1));
	asm_jifi(e->as, BPF_JSLE, R2, 0, done);
	/* unsigned: also when negative */
	asm_jifi(e->as, BPF_JGE, R4, (int32_t)w, done);
	/* a length near 2^63 plus its NUL would be negative */
	asm_jifi(e->as, BPF_JSLT, R2, (int32_t)dw, fits);
	asm_imm(e->as, R2, (int32_t)dw - 1);
	asm_bind(e->as, fits);
	asm_alui(e->as, BPF_ADD, R2, 1);
	/* for kernels whose verifier keeps signed and unsigned bounds apart */
	asm_alui(e->as, BPF_AND, R2, 0x7fffffff);
	asm_jifi(e->as, BPF_JGT, R2, (int32_t)dw, done);
	emit_addr(e, R3, arg(e, 0));
	asm_alu(e->as, BPF_ADD, R3, R4);
	if (own)
		emit_tmp_addr(e, R1, t);
	else
		emit_dst_addr(e, R1);
	asm_call(e->as, KH_READ_KERNEL_STR);
	asm_bind(e->as, done);
	if (own) {
		emit_tmp_addr(e, R1, t);
		isel_copy_to_dst(e, R1, dw);
	}
}

/* The character at a position, signed; an error or 0 outside of the string. */
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
	asm_alui(e->as, BPF_LSH, R0, 56); /* char is signed */
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

/* A copy of the text with room behind it: what is read beyond is zero. */
static uint32_t copy_with_room(struct emit *e, const struct ir_val *v,
			       uint32_t room)
{
	uint32_t w = emit_width(e, v), t = emit_tmp(e, w + room);
	struct mem m = emit_tmp_mem(e, t, R1);

	emit_put_string(e, m, v, w);
	m = emit_tmp_mem(e, t, R1);
	emit_zero(e, (struct mem){m.base, m.off + (int)w}, room);
	return t;
}

/* What search() looks for. */
struct needle {
	const struct ir_val *v;
	uint32_t n;   /* bytes; of a variable, at most */
	uint32_t tmp; /* of a variable: words and their masks */
};

/* r2 = byte i of the string that is searched, r4 = byte i of the needle. */
static void both_bytes(struct emit *e, const struct needle *d, uint32_t i)
{
	struct mem m;

	asm_load(e->as, 1, R2, R3, (int)i);
	if (literal(d->v)) {
		asm_imm(e->as, R4, (uint8_t)d->v->str[i]);
		return;
	}
	m = emit_mem(e, d->v->reg, R4);
	asm_load(e->as, 1, R4, m.base, m.off + (int)i);
}

/*
 * r1 = 0 if the needle is at r3. Without branches: each would wait in the
 * verifier for the rest of the handler.
 */
static void compare_bytes(struct emit *e, const struct needle *d)
{
	bool lit = literal(d->v);

	asm_imm(e->as, R1, 0);
	if (!lit)
		asm_imm(e->as, R5, -1); /* all ones up to its NUL */
	for (uint32_t i = 0; i < d->n; i++) {
		both_bytes(e, d, i);
		asm_alu(e->as, BPF_XOR, R2, R4); /* 0: they are equal */
		if (!lit) {
			/* 0, or negative for a byte: shifted, 0 or all ones */
			asm_neg(e->as, R4);
			asm_alui(e->as, BPF_ARSH, R4, 63);
			asm_alu(e->as, BPF_AND, R5, R4);
			asm_alu(e->as, BPF_AND, R2, R5);
		}
		asm_alu(e->as, BPF_OR, R1, R2);
	}
}

/*
 * Makes the needle's words and masks: ones for the bytes before its NUL. Of
 * the zero bytes of x, (x - 0x01..01) & ~x & 0x80..80 marks the first for sure.
 */
static void make_masks(struct emit *e, struct needle *d)
{
	struct mem m;

	asm_imm(e->as, R5, -1); /* 0 behind the word with the NUL */
	for (uint32_t i = 0; i < d->n; i += 8) {
		m = emit_mem(e, d->v->reg, R4);
		asm_load(e->as, 8, R1, m.base, m.off + (int)i);
		asm_mov(e->as, R0, R1);
		asm_alui(e->as, BPF_XOR, R0, -1);
		asm_mov(e->as, R2, R1);
		asm_imm(e->as, R3, 0x0101010101010101);
		asm_alu(e->as, BPF_SUB, R2, R3);
		asm_alu(e->as, BPF_AND, R2, R0);
		asm_alui(e->as, BPF_LSH, R3, 7);
		asm_alu(e->as, BPF_AND, R2, R3);
		/* r0 = all below the lowest mark's byte */
		asm_mov(e->as, R0, R2);
		asm_neg(e->as, R0);
		asm_mov(e->as, R3, R0);
		asm_alu(e->as, BPF_AND, R0, R2);
		asm_alui(e->as, BPF_RSH, R0, 7);
		asm_alui(e->as, BPF_SUB, R0, 1);
		asm_alu(e->as, BPF_AND, R0, R5);
		asm_alu(e->as, BPF_AND, R1, R0);
		m = emit_tmp_mem(e, d->tmp, R4);
		asm_store(e->as, 8, m.base, m.off + 2 * (int)i, R1);
		asm_store(e->as, 8, m.base, m.off + 2 * (int)i + 8, R0);
		asm_alu(e->as, BPF_OR, R2, R3); /* < 0 if it has a NUL */
		asm_alui(e->as, BPF_ARSH, R2, 63);
		asm_alui(e->as, BPF_XOR, R2, -1);
		asm_alu(e->as, BPF_AND, R5, R2);
	}
}

/* As compare_bytes(), 8 bytes a time: only for map memory, of which the
 * verifier lets words be read at any address. */
static void compare_words(struct emit *e, const struct needle *d)
{
	uint64_t word;
	uint32_t k;
	struct mem m;

	asm_imm(e->as, R1, 0);
	for (uint32_t i = 0; i < d->n; i += 8) {
		asm_load(e->as, 8, R2, R3, (int)i);
		if (literal(d->v)) {
			k = d->n - i < 8 ? d->n - i : 8;
			word = 0;
			memcpy(&word, d->v->str + i, k);
			asm_imm(e->as, R4, (int64_t)word);
			asm_alu(e->as, BPF_XOR, R2, R4);
			if (k < 8) /* bytes behind the literal do not count */
				asm_alui(e->as, BPF_LSH, R2, 64 - 8 * (int)k);
		} else {
			m = emit_tmp_mem(e, d->tmp, R4);
			asm_load(e->as, 8, R5, m.base, m.off + 2 * (int)i + 8);
			asm_load(e->as, 8, R4, m.base, m.off + 2 * (int)i);
			asm_alu(e->as, BPF_AND, R2, R5);
			asm_alu(e->as, BPF_XOR, R2, R4);
		}
		asm_alu(e->as, BPF_OR, R1, R2);
	}
}

/*
 * r0 = first position of the needle in the string, or -1: a loop over
 * positions. A byte past the text is 0, so nothing matches there. The verifier
 * follows what comes next before where a jump goes; here and in other loops
 * that is the way out, so that at most one turn waits to be walked, and not all
 * of them: it gives up when 8,192 jumps wait.
 */
static void search(struct emit *e)
{
	const struct ir_val *s = arg(e, 0);
	struct needle d = { arg(e, 1), emit_width(e, arg(e, 1)), 0 };
	uint32_t w = emit_width(e, s), t;
	unsigned loop = asm_label(e->as), found = asm_label(e->as);
	unsigned next = asm_label(e->as);
	/* scratch slots are in map memory */
	bool words = e->tmp_kind == HOME_SCRATCH;

	if (literal(d.v))
		d.n = (uint32_t)strlen(d.v->str);
	/* words of a variable are whole ones */
	words = words && (literal(d.v) || d.n % 8 == 0);
	t = copy_with_room(e, s, round8(d.n) + 8);
	/* also in the dry run, which does not know what becomes of it */
	if (!literal(d.v))
		d.tmp = emit_tmp(e, round8(d.n) * 2);
	if (words && !literal(d.v))
		make_masks(e, &d);
	emit_tmp_addr(e, R3, t);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, loop);
	if (words)
		compare_words(e, &d);
	else
		compare_bytes(e, &d);
	asm_jifi(e->as, BPF_JNE, R1, 0, next);
	asm_jmp(e->as, found);
	asm_bind(e->as, next);
	asm_alui(e->as, BPF_ADD, R3, 1);
	asm_alui(e->as, BPF_ADD, R0, 1);
	asm_jifi(e->as, BPF_JLT, R0, (int32_t)w, loop);
	asm_imm(e->as, R0, -1);
	asm_bind(e->as, found);
	emit_opaque(e, R0, R2); /* the verifier would go on once per position */
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

/*
 * r0 = r0 * base + the digit i behind r3, as long as all were digits: r4 is
 * all ones until then, else 0. Without branches: each would wait in the
 * verifier for the rest of the handler.
 */
static void digit(struct emit *e, int32_t base, uint32_t table, int i)
{
	asm_load(e->as, 1, R1, R3, i);
	asm_value(e->as, R5, MAP_RODATA, table);
	asm_alu(e->as, BPF_ADD, R5, R1);
	asm_load(e->as, 1, R1, R5, 0);
	/* 128 is no digit */
	asm_mov(e->as, R5, R1);
	asm_alui(e->as, BPF_RSH, R5, 7);
	asm_alui(e->as, BPF_SUB, R5, 1);
	asm_alu(e->as, BPF_AND, R4, R5);
	asm_mov(e->as, R5, R4);
	asm_alui(e->as, BPF_AND, R5, base - 1);
	asm_alui(e->as, BPF_ADD, R5, 1);
	/* times base, or times 1 when the number has ended */
	asm_alu(e->as, BPF_MUL, R0, R5);
	asm_alu(e->as, BPF_AND, R1, R4);
	asm_alu(e->as, BPF_ADD, R0, R1);
}

/* Offset in RODATA of the values of all bytes as digits. */
static uint32_t digit_table(struct emit *e, int base)
{
	uint8_t *t = arena_alloc(e->c->a, 256);

	memset(t, 128, 256);
	for (int i = 0; i < base; i++) {
		if (i < 10)
			t['0' + i] = (uint8_t)i;
		else
			t['a' + i - 10] = t['A' + i - 10] = (uint8_t)i;
	}
	return plan_rodata(e->c, e->plan, t, 256);
}

/*
 * strtol(): a loop over as many digits as there may be, 8 a time. The first
 * character that is no digit ends it.
 */
static void to_number(struct emit *e)
{
	int base = (int)arg(e, 1)->num;
	uint32_t w = emit_width(e, arg(e, 0)), t, table;
	unsigned end = asm_label(e->as), positive = asm_label(e->as);
	unsigned loop = asm_label(e->as), start = asm_label(e->as);
	unsigned plain = asm_label(e->as), next = asm_label(e->as);

	table = digit_table(e, base);
	t = copy_with_room(e, arg(e, 0), 8);
	emit_tmp_addr(e, R3, t);
	asm_imm(e->as, R0, 0);
	asm_imm(e->as, R2, 0);	/* position */
	asm_imm(e->as, R4, -1);
	asm_load(e->as, 1, R5, R3, 0);
	asm_jifi(e->as, BPF_JNE, R5, '-', start);
	asm_alui(e->as, BPF_ADD, R3, 1);
	asm_bind(e->as, start);
	if (base == 16) { /* 0x */
		asm_load(e->as, 1, R1, R3, 0);
		asm_jifi(e->as, BPF_JNE, R1, '0', plain);
		asm_load(e->as, 1, R1, R3, 1);
		asm_alui(e->as, BPF_OR, R1, 32);
		asm_jifi(e->as, BPF_JNE, R1, 'x', plain);
		asm_alui(e->as, BPF_ADD, R3, 2);
	}
	asm_bind(e->as, plain);
	asm_bind(e->as, loop);
	for (int i = 0; i < 8; i++)
		digit(e, base, table, i);
	asm_jifi(e->as, BPF_JNE, R4, 0, next);
	asm_jmp(e->as, end);
	asm_bind(e->as, next);
	asm_alui(e->as, BPF_ADD, R3, 8);
	asm_alui(e->as, BPF_ADD, R2, 8);
	asm_jifi(e->as, BPF_JLT, R2, (int32_t)w, loop);
	asm_bind(e->as, end);
	emit_tmp_addr(e, R3, t);
	asm_load(e->as, 1, R5, R3, 0);
	asm_jifi(e->as, BPF_JNE, R5, '-', positive);
	asm_neg(e->as, R0);
	asm_bind(e->as, positive);
	emit_put(e, R0);
}

/* The first character only. */
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
	uint32_t w = emit_dst_width(e);
	/* the default is the result's variable: it is read before */
	bool own = with_default && is_dst(e, arg(e, 1));
	uint32_t t = own ? emit_tmp(e, w) : 0;
	unsigned done = asm_label(e->as), size = asm_label(e->as);

	if (own)
		emit_zero(e, emit_tmp_mem(e, t, R1), w);
	else
		clear_result(e);
	asm_imm(e->as, R2, w);
	if (with_n) {
		/* n bytes and a NUL; n <= 0: nothing */
		emit_load(e, R2, arg(e, 1));
		asm_jifi(e->as, BPF_JSLE, R2, 0, done);
		asm_alui(e->as, BPF_ADD, R2, 1);
		/* unsigned: also when n + 1 has wrapped */
		asm_jifi(e->as, BPF_JLE, R2, (int32_t)w, size);
		asm_imm(e->as, R2, w);
	}
	asm_bind(e->as, size);
	emit_load(e, R3, arg(e, 0));
	if (own)
		emit_tmp_addr(e, R1, t);
	else
		emit_dst_addr(e, R1);
	asm_call(e->as, helper);
	if (own) {
		asm_jifi(e->as, BPF_JSLT, R0, 0, done); /* the old text stays */
		emit_tmp_addr(e, R1, t);
		isel_copy_to_dst(e, R1, w);
	} else if (with_default) {
		asm_jifi(e->as, BPF_JSGE, R0, 0, done);
		emit_put_string(e, emit_mem(e, e->ins->dst, R1), arg(e, 1), w);
	} else if (e->ins->target[1]) {
		asm_jifi(e->as, BPF_JSLT, R0, 0,
			 emit_block(e, e->ins->target[1]));
	}
	asm_bind(e->as, done);
}

/*
 * size: of the number in bytes, negative for signed; text_can() has checked it.
 */
static void number_from(struct emit *e, int helper)
{
	int64_t size = arg(e, 1)->kind == VAL_NUM ? arg(e, 1)->num : 0;
	int bytes = (int)(size < 0 ? -size : size);
	uint32_t t = emit_tmp(e, 8);
	unsigned done = asm_label(e->as);
	struct mem m;

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

/* randint(n): 0 to n - 1. The bias of a remainder is below n / 2^32. */
static void random_number(struct emit *e)
{
	unsigned small = asm_label(e->as);

	emit_load(e, R2, arg(e, 0));
	if (e->ins->target[1])
		/* the language's limit */
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

static uint32_t width_at(const struct ir_func *f, const struct ir_val *v)
{
	return v->kind == VAL_STR ? (uint32_t)strlen(v->str) + 1 :
				    f->regs.v[v->reg].width;
}

bool text_can(const struct ir_func *f, const struct ir_ins *i)
{
	int64_t n;

	switch (i->builtin->id) {
	case BI_STRTOL:
		return i->args[1].kind == VAL_NUM && i->args[1].num >= 2 &&
		       i->args[1].num <= 36;
	case BI_ISINSTR:
	case BI_STRPOS:
		return (uint64_t)(width_at(f, &i->args[0]) + 8) *
			       (width_at(f, &i->args[1]) + 1) <= SEARCH_MAX;
	case BI_KERNEL_READ:
	case BI_USER_READ:
		n = i->args[1].kind == VAL_NUM ? i->args[1].num : 0;
		n = n < 0 ? -n : n;
		return n == 1 || n == 2 || n == 4 || n == 8;
	default:
		return true;
	}
}

void isel_text(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_STRLEN:
		isel_length(e, arg(e, 0));
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
		/* the others have BF_HOST */
		if (!memory(e))
			assert(!"a built-in that the host answers");
	}
	emit_ok(e);
}
