/* SPDX-License-Identifier: MIT */
/*
 * The print family's conversions. They are not libc's: one flag only, the 0
 * flag pads even when there is a precision, # prefixes a zero too, and c, b, m
 * and M are the language's own.
 */
#include "out/format.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/str.h"

enum {
	/* A wider field than any record's text is a script's mistake; the cap
	 * keeps a wild '*' from eating memory. */
	WIDTH_MAX = 65536,
	DUMP_MAX = 4096, /* %m and %M: a page */
};

/* A conversion with its '*' resolved. */
struct conv {
	char conv, flag;
	bool zero;
	int width; /* 0: none */
	int prec;  /* -1: none */
};

/*
 * Where the operands come from. Taken in order as the format asks for them.
 * Offsets and widths are the compiler's (f); the record's bytes are the
 * kernel's.
 */
struct operands {
	const struct ir_fmt *f; /* the payload: f->size bytes */
	const uint8_t *rec;
	unsigned next; /* of f->off, the first that is not used yet */
};

static int64_t operand_num(struct operands *o)
{
	int64_t v = 0;

	/* The checker made the counts agree; a short record prints zeros. */
	if (o->next < o->f->nargs)
		memcpy(&v, o->rec + o->f->off[o->next++], sizeof(v));
	return v;
}

/*
 * A string in a record takes its full width, zero-padded: strnlen() finds the
 * end of one that fills it.
 */
static const char *operand_str(struct operands *o, size_t *ret_n)
{
	const char *s = "";

	*ret_n = 0;
	if (o->next < o->f->nargs) {
		s = (const char *)o->rec + o->f->off[o->next];
		*ret_n = strnlen(s, o->f->width[o->next]);
		o->next++;
	}
	return s;
}

/*
 * A negative dynamic width or precision counts as 0. So does C's for a
 * precision; for a width C would turn the sign into '-'.
 */
static int star(struct operands *o)
{
	int64_t v = operand_num(o);

	return v < 0 ? 0 : v > INT_MAX ? INT_MAX : (int)v;
}

/* Blanks on the side the flag asks for. */
static void add_padded(struct text *t, const struct conv *c, const char *s,
		       size_t n)
{
	size_t pad = (size_t)c->width > n ? (size_t)c->width - n : 0;

	if (c->flag != '-')
		text_fill(t, ' ', pad);
	text_add(t, s, n);
	if (c->flag == '-')
		text_fill(t, ' ', pad);
}

/*
 * Digits of v, most significant first; buf holds 24. Returns their number. 22
 * octal digits are the most a 64-bit number has.
 */
static unsigned digits_of(uint64_t v, unsigned base, bool upper, char *buf)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char rev[24];
	unsigned n = 0, i;

	do {
		rev[n++] = set[v % base];
		v /= base;
	} while (v);
	for (i = 0; i < n; i++)
		buf[i] = rev[n - 1 - i];
	return n;
}

/* Sign or base prefix of a number. */
static const char *prefix_of(const struct conv *c, int64_t v)
{
	switch (c->conv) {
	case 'd':
	case 'i':
		if (v < 0)
			return "-";
		return c->flag == '+' ? "+" : c->flag == ' ' ? " " : "";
	case 'p':
		return "0x";
	case 'o':
		return c->flag == '#' ? "0" : "";
	case 'x':
		return c->flag == '#' ? "0x" : "";
	case 'X':
		return c->flag == '#' ? "0X" : "";
	default:
		return "";
	}
}

/*
 * The order of the pieces: blanks, sign or base prefix, zeros, digits, blanks.
 * A precision adds zeros first; then the 0 flag fills the width with more,
 * which C would not do when there is a precision.
 */
static void add_number(struct text *t, const struct conv *c, int64_t v)
{
	const char *prefix = prefix_of(c, v);
	unsigned base = c->conv == 'o' ? 8
			: c->conv == 'x' || c->conv == 'X' || c->conv == 'p'
			    ? 16
			    : 10;
	bool is_signed = c->conv == 'd' || c->conv == 'i';
	/* The magnitude without overflow, INT64_MIN included. */
	uint64_t mag = is_signed && v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char digits[24];
	unsigned n = digits_of(mag, base, c->conv == 'X', digits);
	size_t zeros = 0, len;

	if (c->prec > 0 && (unsigned)c->prec > n)
		zeros = (unsigned)c->prec - n;
	len = strlen(prefix) + zeros + n;
	if (c->zero && (size_t)c->width > len) {
		zeros += (size_t)c->width - len;
		len = c->width;
	}
	if (c->flag != '-' && (size_t)c->width > len)
		text_fill(t, ' ', (size_t)c->width - len);
	text_add(t, prefix, strlen(prefix));
	text_fill(t, '0', zeros);
	text_add(t, digits, n);
	if (c->flag == '-' && (size_t)c->width > len)
		text_fill(t, ' ', (size_t)c->width - len);
}

/* %c: the byte; with # as a C character constant would show it. */
static void add_char(struct text *t, const struct conv *c, uint8_t v)
{
	/* What is escaped by a letter, and that letter, at the same places. */
	static const char from[] = "\a\b\f\n\r\t\v'\\";
	static const char to[] = "abfnrtv'\\";
	const char *at;
	char buf[8];
	int n = 1;

	buf[0] = (char)v;
	if (c->flag == '#') {
		/* strchr() would find the NUL at the end of `from`. */
		at = v ? strchr(from, v) : NULL;
		if (at)
			n = snprintf(buf, sizeof(buf), "\\%c", to[at - from]);
		else if (v < 0x20 || v > 0x7e)
			n = snprintf(buf, sizeof(buf), "\\%03o", v);
	}
	add_padded(t, c, buf, n);
}

/*
 * %b: the value's low bytes, little-endian; not padded. Other sizes than 1, 2,
 * 4 (0, 3, 9, ...) mean all 8 bytes. The precision goes before the width.
 */
static void add_binary(struct text *t, const struct conv *c, int64_t v)
{
	int n = c->prec > 0 ? c->prec : c->width;
	char buf[8];
	int i;

	if (n != 1 && n != 2 && n != 4)
		n = 8;
	for (i = 0; i < n; i++)
		buf[i] = (char)((uint64_t)v >> (8 * i));
	text_add(t, buf, n);
}

/*
 * %m and %M. precision bytes (1 without one) at the address; # says that it is
 * in user space. Only host handlers come here: kernel handlers load the bytes
 * when the probe fires (ir/build_print.c).
 */
static int add_memory(struct text *t, const struct conv *c, uint64_t addr,
		      text_reader rd, void *ctx, uint64_t *ret_bad)
{
	uint64_t n = c->prec < 0 ? 1 : (uint64_t)c->prec;
	char bytes[DUMP_MAX], hex[2 * DUMP_MAX];
	uint64_t i;
	int err;

	/*
	 * Not cut: a dump that is shorter than what was asked for would pass
	 * for the whole. *ret_bad then holds the number, not an address.
	 */
	if (n > DUMP_MAX) {
		*ret_bad = n;
		return -E2BIG;
	}
	err = rd ? rd(ctx, addr, bytes, n, c->flag == '#') : -EFAULT;
	if (err) {
		*ret_bad = addr;
		return err;
	}
	/* Raw bytes may hold NULs: the padding counts them all. */
	if (c->conv == 'm') {
		add_padded(t, c, bytes, n);
		return 0;
	}
	for (i = 0; i < n; i++) {
		hex[2 * i] = "0123456789abcdef"[(uint8_t)bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	add_padded(t, c, hex, 2 * n);
	return 0;
}

/* One conversion with its operands. */
static int add_part(struct text *t, const struct fmt_part *p,
		    struct operands *o, text_reader rd, void *ctx,
		    uint64_t *ret_bad)
{
	/*
	 * The part is shared by all prints of this format; the copy takes what
	 * '*' says.
	 */
	struct conv c = {
	    .conv = p->conv,
	    .flag = p->flag,
	    .zero = p->zero || p->flag == '0',
	    .width = p->width < 0 ? 0 : p->width,
	    .prec = p->prec,
	};
	const char *s;
	size_t n;

	/* In the order of the operands: width, precision, value. */
	if (p->width_arg)
		c.width = star(o);
	if (p->prec_arg)
		c.prec = star(o);
	if (c.width > WIDTH_MAX)
		c.width = WIDTH_MAX;
	/* A dump that is too long is refused with the number as written. */
	if (c.prec > WIDTH_MAX && c.conv != 'm' && c.conv != 'M')
		c.prec = WIDTH_MAX;
	switch (c.conv) {
	case 's':
		s = operand_str(o, &n);
		if (c.prec >= 0 && n > (size_t)c.prec)
			n = c.prec;
		add_padded(t, &c, s, n);
		return 0;
	case 'c':
		add_char(t, &c, (uint8_t)operand_num(o));
		return 0;
	case 'b':
		add_binary(t, &c, operand_num(o));
		return 0;
	case 'm':
	case 'M':
		return add_memory(t, &c, operand_num(o), rd, ctx, ret_bad);
	default:
		add_number(t, &c, operand_num(o));
		return 0;
	}
}

int text_record(struct text *t, const struct ir_fmt *f, const uint8_t *rec,
		text_reader rd, void *ctx, uint64_t *ret_bad)
{
	struct operands o = {.f = f, .rec = rec};
	unsigned i;
	int err;

	for (i = 0; i < f->fmt->parts.n; i++) {
		const struct fmt_part *p = &f->fmt->parts.v[i];

		if (!p->conv) {
			text_add(t, p->text, str_len(p->text));
			continue;
		}
		err = add_part(t, p, &o, rd, ctx, ret_bad);
		if (err)
			return err;
	}
	return 0;
}
