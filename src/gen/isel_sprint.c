/* SPDX-License-Identifier: MIT */
/*
 * sprintf() in the kernel, for formats whose widths are constants: the pieces
 * are appended one by one to a temporary that has room for the longest of each,
 * so every append has a constant limit and the verifier can follow. Padding is
 * the end of a literal that is as long as it can get.
 */
#include "gen/isel.h"

#include <string.h>

enum {
	FIELD_MAX = 100, /* width or precision */
	ROOM_MAX = 1024, /* bytes of all pieces together */
};

struct sprint {
	struct emit *e;
	uint32_t buf;	 /* temporary: the text so far */
	uint32_t pos;	 /* temporary: its length */
	uint32_t digits; /* temporary: one number */
	uint32_t ndigits; /* temporary: digits of a number */
	uint32_t len;	 /* temporary: length of the piece without padding */
	unsigned end;	 /* label: no more pieces */
	/* room: bytes of buf; used: most that pos can be by now */
	uint32_t room, used;
};

static bool is_number(const struct fmt_part *p)
{
	return strchr("diuxXop", p->conv);
}

/* %05d is parsed as a flag or as `zero`, by where the 0 stood. */
static bool is_zero(const struct fmt_part *p)
{
	return p->zero || p->flag == '0';
}

/* What the rest can do; everything else is left to the host. */
static bool part_can(const struct fmt_part *p)
{
	if (!p->conv)
		return true;
	if (p->width_arg || p->prec_arg || p->width > FIELD_MAX ||
	    (p->conv != 's' && p->prec > FIELD_MAX))
		return false;
	return is_number(p) || p->conv == 's' ||
	       (p->conv == 'c' && p->flag != '#');
}

/* Bytes that a part may take, and a NUL. width: of a string operand. */
static uint32_t most_of(const struct fmt_part *p, uint32_t width)
{
	uint32_t n;

	if (!p->conv)
		return (uint32_t)strlen(p->text) + 1;
	n = p->conv == 's' ? width : DIGITS_SIZE;
	if (is_number(p) && p->prec > 0)
		n += (uint32_t)p->prec;
	if (p->width > 0)
		n += (uint32_t)p->width;
	return n;
}

/* gen_kernel_can() asks this: the answer must be that of the lowering. */
bool sprint_can(const struct ir_fmt *f)
{
	uint32_t room = 0;
	unsigned arg = 0;

	for (unsigned i = 0; i < f->fmt->parts.n; i++) {
		const struct fmt_part *p = &f->fmt->parts.v[i];

		if (!part_can(p))
			return false;
		room += most_of(p, f->width[arg]);
		arg += p->conv != 0;
	}
	return room <= ROOM_MAX;
}

/* Appends the C string at r3 of at most n - 1 bytes. */
static void append(struct sprint *s, uint32_t n)
{
	struct assembler *as = s->e->as;
	unsigned skip = asm_label(as);
	struct mem m = emit_tmp_mem(s->e, s->pos, R4);

	asm_load(as, 8, R4, m.base, m.off);
	/*
	 * from map memory it comes back without bounds (when buf is in the
	 * scratch slot)
	 */
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

static enum digits_kind kind_of(char conv)
{
	switch (conv) {
	case 'x':
	case 'p':
		return DIGITS_HEX;
	case 'X':
		return DIGITS_UPPER;
	case 'o':
		return DIGITS_OCTAL;
	default:
		return DIGITS_DECIMAL;
	}
}

/*
 * Appends r2 times ch, if that is positive; it is at most `most`. The text of
 * that many characters is a literal; its end is appended.
 */
static void fill(struct sprint *s, char ch, uint32_t most)
{
	struct assembler *as = s->e->as;
	char *text = arena_alloc(s->e->c->a, most + 1);
	struct ir_val v = {.kind = VAL_STR, .str = text};
	unsigned none = asm_label(as);

	memset(text, ch, most);
	asm_jifi(as, BPF_JSLE, R2, 0, none);
	asm_imm(as, R1, (int32_t)most);
	asm_alu(as, BPF_SUB, R1, R2);
	/* never: for the verifier */
	asm_jifi(as, BPF_JGT, R1, (int32_t)most, none);
	emit_addr(s->e, R3, &v); /* from the end: r1 characters are left out */
	asm_alu(as, BPF_ADD, R3, R1);
	append(s, most + 1);
	asm_bind(as, none);
}

/*
 * Blanks for a piece whose length is in s->len. before: on this side of the
 * piece; '-' asks for the other one.
 */
static void pad(struct sprint *s, const struct fmt_part *p, bool before)
{
	struct emit *e = s->e;
	struct mem m;

	if (p->width <= 0 || before == (p->flag == '-'))
		return;
	asm_imm(e->as, R2, p->width);
	m = emit_tmp_mem(e, s->len, R1);
	asm_load(e->as, 8, R1, m.base, m.off);
	asm_alu(e->as, BPF_SUB, R2, R1);
	fill(s, ' ', (uint32_t)p->width);
}

static void set_len(struct sprint *s, int reg)
{
	struct mem m = emit_tmp_mem(s->e, s->len, reg == R1 ? R2 : R1);

	asm_store(s->e->as, 8, m.base, m.off, reg);
}

static bool has_sign(const struct fmt_part *p)
{
	return p->conv == 'd' || p->conv == 'i';
}

/* What stands before the digits of a number that is not negative. */
static const char *prefix_of(const struct fmt_part *p)
{
	switch (p->conv) {
	case 'd':
	case 'i':
		return p->flag == '+' ? "+" : p->flag == ' ' ? " " : "";
	case 'p':
		return "0x";
	case 'o':
		return p->flag == '#' ? "0" : "";
	case 'x':
		return p->flag == '#' ? "0x" : "";
	case 'X':
		return p->flag == '#' ? "0X" : "";
	default:
		return "";
	}
}

/* Digits to the end of the temporary; s->len = their number. */
static void digits(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	enum digits_kind k = kind_of(p->conv);

	emit_zero(e, emit_tmp_mem(e, s->digits, R3), DIGITS_SIZE);
	emit_load(e, R2, v);
	if (has_sign(p)) {
		/* INT64_MIN is its own negative, and right as an unsigned
		 * number. */
		asm_mov(e->as, R1, R2);
		asm_alui(e->as, BPF_ARSH, R1, 63);
		asm_alu(e->as, BPF_XOR, R2, R1);
		asm_alu(e->as, BPF_SUB, R2, R1);
	}
	emit_tmp_addr(e, R1, s->digits);
	e->root->digits_used |= 1u << k;
	asm_call_label(e->as, e->root->digits[k]);
	set_len(s, R0);
}

/*
 * Zeros between prefix and digits: up to the precision, or the width. A width
 * is filled with zeros only where the flag 0 is given.
 */
static void zeros(struct sprint *s, const struct fmt_part *p,
		  const struct ir_val *v)
{
	struct emit *e = s->e;
	unsigned positive = asm_label(e->as), enough = asm_label(e->as);
	int prec = p->prec > 0 ? p->prec : 0;
	int width = is_zero(p) && p->width > 0 ?
			    p->width - (int)strlen(prefix_of(p)) : 0;
	int most = prec > width ? prec : width;
	struct mem m;

	if (most <= 0)
		return;
	/* with a sign, one character of the width is the sign's */
	asm_imm(e->as, R2, width > prec ? width : prec);
	if (width > 0 && has_sign(p) && !*prefix_of(p)) {
		emit_load(e, R1, v);
		asm_jifi(e->as, BPF_JSGE, R1, 0, positive);
		asm_imm(e->as, R2, width - 1 > prec ? width - 1 : prec);
		asm_bind(e->as, positive);
	}
	m = emit_tmp_mem(e, s->len, R1);
	asm_load(e->as, 8, R1, m.base, m.off);
	asm_jif(e->as, BPF_JGE, R1, R2, enough);
	/* the length now counts the zeros, too */
	m = emit_tmp_mem(e, s->len, R3);
	asm_store(e->as, 8, m.base, m.off, R2);
	asm_alu(e->as, BPF_SUB, R2, R1);
	fill(s, '0', (uint32_t)most);
	asm_bind(e->as, enough);
}

/*
 * Appends the sign or what marks the base. A sign is computed, in the unused
 * half of the digits: chosen by a branch or as an address, it would be two
 * paths to the verifier.
 */
static void prefix(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	const char *text = prefix_of(p);
	struct ir_val other = {.kind = VAL_STR, .str = text};
	uint32_t n = (uint32_t)strlen(text);
	struct mem m;

	if (!has_sign(p) && !n)
		return;
	if (!has_sign(p)) {
		emit_addr(e, R3, &other);
		append(s, n + 1);
		return;
	}
	/* '-' or *text: r2 is all ones or 0 */
	emit_load(e, R2, v);
	asm_alui(e->as, BPF_ARSH, R2, 63);
	asm_alui(e->as, BPF_AND, R2, '-' ^ *text);
	asm_alui(e->as, BPF_XOR, R2, *text);
	m = emit_tmp_mem(e, s->digits, R1);
	asm_store(e->as, 8, m.base, m.off, R2);
	emit_tmp_addr(e, R3, s->digits);
	append(s, 2);
}

/* Blanks before a number: what its prefix, zeros and digits leave. */
static void blanks(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	unsigned many = asm_label(e->as), positive = asm_label(e->as);
	int n = (int)strlen(prefix_of(p));
	struct mem m;

	if (p->width <= 0 || is_zero(p))
		return;
	m = emit_tmp_mem(e, s->len, R1);
	asm_load(e->as, 8, R1, m.base, m.off);
	if (p->prec > 0) {
		asm_jifi(e->as, BPF_JGE, R1, p->prec, many);
		asm_imm(e->as, R1, p->prec);
		asm_bind(e->as, many);
	}
	asm_imm(e->as, R2, p->width - n);
	asm_alu(e->as, BPF_SUB, R2, R1);
	if (has_sign(p) && !n) {
		emit_load(e, R1, v);
		asm_jifi(e->as, BPF_JSGE, R1, 0, positive);
		asm_alui(e->as, BPF_SUB, R2, 1);
		asm_bind(e->as, positive);
	}
	fill(s, ' ', (uint32_t)p->width);
}

/* sign or base mark, zeros, digits, with blanks on one side. */
static void number(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	unsigned bad = asm_label(e->as);
	struct mem m;

	digits(s, p, v);
	if (p->flag != '-')
		blanks(s, p, v);
	prefix(s, p, v);
	m = emit_tmp_mem(e, s->len, R1);
	/* zeros() changes len, and the digits are still that many */
	asm_load(e->as, 8, R5, m.base, m.off);
	m = emit_tmp_mem(e, s->ndigits, R1);
	asm_store(e->as, 8, m.base, m.off, R5);
	zeros(s, p, v);
	m = emit_tmp_mem(e, s->ndigits, R1);
	asm_load(e->as, 8, R1, m.base, m.off);
	asm_imm(e->as, R2, DIGITS_END);
	asm_alu(e->as, BPF_SUB, R2, R1);
	asm_jifi(e->as, BPF_JGT, R2, DIGITS_END, bad);
	emit_tmp_addr(e, R3, s->digits);
	asm_alu(e->as, BPF_ADD, R3, R2);
	append(s, DIGITS_SIZE); /* from the end of their temporary */
	asm_bind(e->as, bad);
	if (p->flag == '-')
		blanks(s, p, v);
}

static void string(struct sprint *s, const struct fmt_part *p,
		   const struct ir_val *v)
{
	struct emit *e = s->e;
	uint32_t w = emit_width(e, v);
	unsigned shorter = asm_label(e->as);
	bool cut = p->prec >= 0 && (uint32_t)p->prec + 1 < w;

	if (p->width > 0) {
		isel_length(e, v);
		if (cut) {
			asm_jifi(e->as, BPF_JLE, R0, p->prec, shorter);
			asm_imm(e->as, R0, p->prec);
			asm_bind(e->as, shorter);
		}
		set_len(s, R0);
	}
	pad(s, p, true);
	emit_addr(e, R3, v);
	append(s, cut ? (uint32_t)p->prec + 1 : w);
	pad(s, p, false);
}

/* A NUL ends the text, as it does for the host. */
static void character(struct sprint *s, const struct fmt_part *p,
		      const struct ir_val *v)
{
	struct emit *e = s->e;
	struct mem m;

	asm_imm(e->as, R2, 1);
	set_len(s, R2);
	pad(s, p, true);
	emit_load(e, R2, v);
	asm_alui(e->as, BPF_AND, R2, 255);
	asm_jifi(e->as, BPF_JEQ, R2, 0, s->end);
	m = emit_tmp_mem(e, s->digits, R1);
	asm_store(e->as, 8, m.base, m.off, R2);
	emit_tmp_addr(e, R3, s->digits);
	append(s, 2);
	pad(s, p, false);
}

static void piece(struct sprint *s, const struct fmt_part *p,
		  const struct ir_val *v)
{
	struct ir_val text = {.kind = VAL_STR, .str = p->text};

	if (!p->conv) {
		emit_addr(s->e, R3, &text);
		append(s, (uint32_t)strlen(p->text) + 1);
	} else if (p->conv == 's') {
		string(s, p, v);
	} else if (p->conv == 'c') {
		character(s, p, v);
	} else {
		number(s, p, v);
	}
}

void isel_sprint(struct emit *e)
{
	const struct fmt *f = e->ins->fmt->fmt;
	struct sprint s = {.e = e};
	unsigned arg = 0;
	struct mem m;

	/*
	 * The sum of the longest is known before the first piece: every append
	 * has its constant limit.
	 */
	for (unsigned i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		s.room += most_of(p, p->conv == 's' ?
				  emit_width(e, &e->ins->args[arg]) : 0);
		arg += p->conv != 0;
	}
	s.room = round8(s.room + 8);
	s.pos = emit_tmp(e, 8);
	s.digits = emit_tmp(e, DIGITS_SIZE);
	s.len = emit_tmp(e, 8);
	s.ndigits = emit_tmp(e, 8);
	s.end = asm_label(e->as);
	/*
	 * pos and digits come first: a big buffer would put them beyond a
	 * store's offset.
	 */
	s.buf = emit_tmp(e, s.room);
	m = emit_tmp_mem(e, s.buf, R1);
	emit_zero(e, m, s.room);
	m = emit_tmp_mem(e, s.pos, R1);
	asm_storei(e->as, 8, m.base, m.off, 0);
	arg = 0;
	for (unsigned i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		piece(&s, p, p->conv ? &e->ins->args[arg] : NULL);
		arg += p->conv != 0;
	}
	asm_bind(e->as, s.end);
	emit_tmp_addr(e, R1, s.buf);
	isel_copy_to_dst(e, R1, s.room); /* cut to the result's width */
}
