/* SPDX-License-Identifier: MIT */
/*
 * sprintf() in the kernel, for formats of text, %s, %c and numbers that are not
 * set to the left: the pieces are appended one by one to a temporary that has
 * room for the longest of each, so every append has a constant limit and the
 * verifier can follow.
 */
#include "gen/isel.h"

#include <string.h>

/* A prefix, 22 octal digits, NUL; DIGITS_MAX may be asked for. */
enum { DIGITS = 32, DIGITS_MAX = 28 };

struct sprint {
	struct emit *e;
	uint32_t buf;    /* temporary: the text so far */
	uint32_t pos;    /* temporary: its length */
	uint32_t digits; /* temporary: one number */
	uint32_t room, used;
};

static bool simple(const struct fmt_part *p)
{
	if (!p->conv)
		return true;
	if (p->width_arg || p->prec_arg)
		return false;
	switch (p->conv) {
	case 's':
		return p->width <= 0;
	case 'c':
		return !p->flag && p->width <= 0;
	case 'd':
	case 'i':
		if (p->flag)
			return false;
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'p':
		if (p->flag == '-')
			return false;
		break;
	default:
		return false;
	}
	/* Blanks before zeros before digits would be three parts. */
	return p->width <= DIGITS_MAX && p->prec <= DIGITS_MAX &&
	       (p->zero || p->width <= 0 || p->prec <= 0);
}

static uint32_t room_of(struct emit *e, const struct fmt_part *p,
			const struct ir_val *v)
{
	if (!p->conv)
		return round8((uint32_t)strlen(p->text) + 1);
	if (p->conv != 's')
		return DIGITS;
	if (p->prec >= 0 && (uint32_t)p->prec < emit_width(e, v))
		return (uint32_t)p->prec + 1;
	return emit_width(e, v);
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
	case 'p':
		return 16;
	case 'o':
		return 8;
	default:
		return 10;
	}
}

/* The characters before a number whatever its value. */
static const char *prefix_of(const struct fmt_part *p)
{
	if (p->conv == 'p')
		return "0x";
	if (p->flag != '#')
		return "";
	return p->conv == 'o'   ? "0"
	       : p->conv == 'x' ? "0x"
	       : p->conv == 'X' ? "0X"
				: "";
}

/* The fewest digits that p asks for: by precision, or by zeros to a width. */
static int digits_of(const struct fmt_part *p)
{
	int n = p->zero ? p->width - (int)strlen(prefix_of(p)) : 0;

	return n > p->prec ? n : p->prec;
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
		asm_alui(as, BPF_ADD, R2, (conv == 'X' ? 'A' : 'a') - '9' - 1);
	}
	asm_bind(as, decimal);
}

/* r0 = at most n characters before the end. */
static void begin_by(struct assembler *as, int n)
{
	unsigned enough = asm_label(as);

	asm_jifi(as, BPF_JLE, R0, DIGITS - 1 - n, enough);
	asm_imm(as, R0, DIGITS - 1 - n);
	asm_bind(as, enough);
}

/* Puts s before the character at r0 and moves r0 there. Clobbers r3. */
static void put_before(struct sprint *sp, const char *s)
{
	struct assembler *as = sp->e->as;
	int n = (int)strlen(s);
	unsigned skip = asm_label(as);

	if (!n)
		return;
	asm_jifi(as, BPF_JLT, R0, n, skip); /* never: for the verifier */
	asm_alui(as, BPF_SUB, R0, n);
	emit_tmp_addr(sp->e, R3, sp->digits);
	asm_alu(as, BPF_ADD, R3, R0);
	for (int i = 0; i < n; i++)
		asm_storei(as, 1, R3, i, s[i]);
	asm_bind(as, skip);
}

/* The temporary full of what pads the number at its left. */
static void fill(struct sprint *s, const struct fmt_part *p)
{
	struct mem m = emit_tmp_mem(s->e, s->digits, R3);
	bool zeros = digits_of(p) > 0;

	if (!zeros && p->width <= 0) {
		emit_zero(s->e, m, DIGITS);
		return;
	}
	asm_imm(s->e->as, R2, (zeros ? '0' : ' ') * 0x0101010101010101);
	for (int i = 0; i < DIGITS; i += 8)
		asm_store(s->e->as, 8, m.base, m.off + i, R2);
	asm_storei(s->e->as, 1, m.base, m.off + DIGITS - 1, 0);
}

/* The digits of r1, from the end of the temporary; r0 = where they begin. */
static void digits(struct sprint *s, char conv)
{
	struct assembler *as = s->e->as;
	unsigned done = asm_label(as), loop = asm_label(as);

	emit_tmp_addr(s->e, R3, s->digits);
	asm_imm(as, R0, DIGITS - 1);
	emit_add(s->e, R3, DIGITS - 1);
	asm_bind(as, loop);
	one_digit(s, conv);
	asm_alui(as, BPF_ADD, R3, -1);
	asm_alui(as, BPF_SUB, R0, 1);
	asm_store(as, 1, R3, 0, R2);
	asm_jifi(as, BPF_JEQ, R1, 0, done);
	asm_jifi(as, BPF_JGT, R0, 2, loop);
	asm_bind(as, done);
	/* as one range instead of a case per length */
	emit_opaque(s->e, R0, R2);
	asm_alui(as, BPF_AND, R0, DIGITS - 1);
}

/* A number with what is before its digits; r3 = where it begins. */
static void number(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	struct assembler *as = e->as;
	bool sign = p->conv == 'd' || p->conv == 'i';
	unsigned positive = asm_label(as), plain = asm_label(as);
	unsigned signed_done = asm_label(as);
	int n = digits_of(p);

	fill(s, p);
	emit_load(e, R1, v);
	asm_mov(as, R5, R1);
	if (sign) {
		asm_jifi(as, BPF_JSGE, R1, 0, positive);
		asm_neg(as, R1);
		asm_bind(as, positive);
	}
	digits(s, p->conv);
	if (sign) {
		asm_jifi(as, BPF_JSGE, R5, 0, plain);
		/* the sign takes one of the zeros' places, not of the digits'
		 */
		if (n > 0)
			begin_by(as, n > p->prec ? n - 1 : n);
		put_before(s, "-");
		asm_jmp(as, signed_done);
		asm_bind(as, plain);
	}
	if (n > 0)
		begin_by(as, n);
	put_before(s, prefix_of(p));
	asm_bind(as, signed_done);
	if (p->width > 0 && n <= 0)
		begin_by(as, p->width);
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
		number(s, p, v);
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
			emit_unsupported(e, "sprintf() of text with a width, "
					    "or to the left, in a kernel "
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
