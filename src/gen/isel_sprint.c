/* SPDX-License-Identifier: MIT */
/*
 * sprintf() in the kernel, for formats of text, %s, %c and plain numbers: the
 * pieces are appended one by one to a temporary that has room for the longest
 * of each, so every append has a constant limit and the verifier can follow.
 */
#include "gen/isel.h"

#include <string.h>

enum { DIGITS = 32 /* sign, 22 octal digits, NUL */ };

struct sprint {
	struct emit *e;
	uint32_t buf;	 /* temporary: the text so far */
	uint32_t pos;	 /* temporary: its length */
	uint32_t digits; /* temporary: one number */
	uint32_t room, used;
};

static bool simple(const struct fmt_part *p)
{
	if (!p->conv)
		return true;
	return strchr("dsiuxXoc", p->conv) && !p->flag && !p->zero &&
	       !p->width_arg && !p->prec_arg && p->width < 0 && p->prec < 0;
}

static uint32_t room_of(struct emit *e, const struct fmt_part *p,
			const struct ir_val *v)
{
	if (!p->conv)
		return round8((uint32_t)strlen(p->text) + 1);
	return p->conv == 's' ? emit_width(e, v) : DIGITS;
}

/* Appends the C string at r3 of at most n - 1 bytes. */
static void append(struct sprint *s, uint32_t n)
{
	struct assembler *as = s->e->as;
	unsigned skip = asm_label(as);
	struct mem m = emit_tmp_mem(s->e, s->pos, R4);

	asm_load(as, 8, R4, m.base, m.off);
	/* from map memory it comes back without bounds */
	asm_jifi(as, BPF_JGT, R4, (int32_t)s->used, skip);
	emit_tmp_addr(s->e, R1, s->buf);
	asm_alu(as, BPF_ADD, R1, R4);
	asm_imm(as, R2, n);
	asm_call(as, KH_READ_KERNEL_STR);
	asm_alui(as, BPF_SUB, R0, 1);
	/* never: for the verifier */
	asm_jifi(as, BPF_JGE, R0, (int32_t)n, skip);
	m = emit_tmp_mem(s->e, s->pos, R1);
	asm_load(as, 8, R2, m.base, m.off);
	asm_alu(as, BPF_ADD, R2, R0);
	/* one walk for all lengths */
	emit_opaque(s->e, R2, R0);
	asm_jifi(as, BPF_JGT, R2, (int32_t)(s->used + n - 1), skip);
	m = emit_tmp_mem(s->e, s->pos, R1);
	asm_store(as, 8, m.base, m.off, R2);
	asm_bind(as, skip);
	s->used += n - 1;
}

static int base_of(char conv)
{
	switch (conv) {
	case 'x':
	case 'X':
		return 16;
	case 'o':
		return 8;
	default:
		return 10;
	}
}

/* r2 = r1 % base as a character, r1 /= base. */
static void one_digit(struct sprint *s, char conv)
{
	struct assembler *as = s->e->as;
	unsigned decimal = asm_label(as);
	int base = base_of(conv);

	asm_mov(as, R2, R1);
	if (base == 10) {
		asm_alui(as, BPF_DIV, R1, 10);
		asm_mov(as, R4, R1);
		asm_alui(as, BPF_MUL, R4, 10);
		asm_alu(as, BPF_SUB, R2, R4);
	} else {
		asm_alui(as, BPF_AND, R2, base - 1);
		asm_alui(as, BPF_RSH, R1, base == 16 ? 4 : 3);
	}
	asm_alui(as, BPF_ADD, R2, '0');
	if (base == 16) {
		asm_jifi(as, BPF_JLE, R2, '9', decimal);
		asm_alui(as, BPF_ADD, R2,
			 (conv == 'x' ? 'a' : 'A') - '9' - 1);
	}
	asm_bind(as, decimal);
}

/* The digits from the end of the temporary; r3 = where they begin. */
static void number(struct sprint *s, char conv, const struct ir_val *v)
{
	struct emit *e = s->e;
	struct assembler *as = e->as;
	unsigned done = asm_label(as), positive = asm_label(as);
	unsigned loop = asm_label(as);
	bool sign = conv == 'd' || conv == 'i';
	struct mem m = emit_tmp_mem(e, s->digits, R3);

	emit_zero(e, m, DIGITS);
	emit_load(e, R1, v);
	asm_mov(as, R5, R1);
	if (sign) {
		asm_jifi(as, BPF_JSGE, R1, 0, positive);
		asm_neg(as, R1);
		asm_bind(as, positive);
	}
	emit_tmp_addr(e, R3, s->digits);
	asm_imm(as, R0, DIGITS - 1);
	emit_add(e, R3, DIGITS - 1);
	asm_bind(as, loop);
	one_digit(s, conv);
	asm_alui(as, BPF_ADD, R3, -1);
	asm_alui(as, BPF_SUB, R0, 1);
	asm_store(as, 1, R3, 0, R2);
	asm_jifi(as, BPF_JEQ, R1, 0, done);
	asm_jifi(as, BPF_JGT, R0, 2, loop);
	asm_bind(as, done);
	/* where they begin, as one range instead of a case per length */
	emit_opaque(e, R0, R2);
	asm_alui(as, BPF_AND, R0, DIGITS - 1);
	if (sign) {
		unsigned plain = asm_label(as);

		asm_jifi(as, BPF_JSGE, R5, 0, plain);
		asm_jifi(as, BPF_JEQ, R0, 0, plain);
		asm_alui(as, BPF_SUB, R0, 1);
		emit_tmp_addr(e, R3, s->digits);
		asm_alu(as, BPF_ADD, R3, R0);
		asm_storei(as, 1, R3, 0, '-');
		asm_bind(as, plain);
	}
	emit_tmp_addr(e, R3, s->digits);
	asm_alu(as, BPF_ADD, R3, R0);
}

static void piece(struct sprint *s, const struct fmt_part *p,
		  const struct ir_val *v)
{
	struct emit *e = s->e;
	struct ir_val text = {.kind = VAL_STR, .str = p->text};
	struct mem m;

	if (!p->conv) {
		emit_addr(e, R3, &text);
	} else if (p->conv == 's') {
		emit_addr(e, R3, v);
	} else if (p->conv == 'c') {
		emit_load(e, R2, v);
		asm_alui(e->as, BPF_AND, R2, 255);
		m = emit_tmp_mem(e, s->digits, R1);
		asm_store(e->as, 8, m.base, m.off, R2);
		emit_tmp_addr(e, R3, s->digits);
	} else {
		number(s, p->conv, v);
	}
	append(s, room_of(e, p, v));
}

void isel_sprint(struct emit *e)
{
	const struct fmt *f = e->ins->fmt->fmt;
	struct sprint s = {.e = e};
	unsigned arg = 0;
	struct mem m;

	for (unsigned i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		if (!simple(p)) {
			emit_unsupported(e, "sprintf() with a width, a "
					    "precision or a flag in a kernel "
					    "probe");
			return;
		}
		s.room += room_of(e, p, &e->ins->args[arg]);
		arg += p->conv != 0;
	}
	s.room = round8(s.room + 8);
	s.pos = emit_tmp(e, 8);
	s.digits = emit_tmp(e, DIGITS);
	s.buf = emit_tmp(e, s.room);
	m = emit_tmp_mem(e, s.buf, R1);
	emit_zero(e, m, s.room);
	m = emit_tmp_mem(e, s.pos, R1);
	asm_storei(e->as, 8, m.base, m.off, 0);
	arg = 0;
	for (unsigned i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		piece(&s, p, &e->ins->args[arg]);
		arg += p->conv != 0;
	}
	emit_tmp_addr(e, R1, s.buf);
	isel_copy_to_dst(e, R1, s.room);
}
