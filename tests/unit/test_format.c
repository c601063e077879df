/* SPDX-License-Identifier: MIT */
/* The print family's conversions: the reference's verified table, and libc
 * where both define the same. */
#include "test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/str.h"
#include "out/format.h"

static struct arena *arena;
static struct strtab *tab;

/* Makes parts of a format text: what the parser does, for valid texts. */
static struct fmt *parse(const char *s)
{
	struct fmt *f;

	if (!arena) {
		arena = arena_new();
		tab = strtab_new(arena);
	}
	f = arena_new_of(arena, struct fmt);
	while (*s) {
		struct fmt_part p = {.width = -1, .prec = -1};
		const char *end = s + strcspn(s, "%");

		/* literal text; a doubled % gives one */
		if (end > s || s[1] == '%') {
			size_t n = end > s ? (size_t)(end - s) : 1;

			p.text = str_intern(tab, s, n);
			vec_push(arena, &f->parts, p);
			s += end > s ? n : 2;
			continue;
		}
		s++;
		if (strchr("0+- #", *s)) {
			p.flag = *s;
			p.zero = *s++ == '0';
		}
		if (*s == '*') {
			p.width_arg = true;
			s++;
		} else if (*s >= '0' && *s <= '9') {
			p.width = (int)strtol(s, (char **)&s, 10);
		}
		if (*s == '.') {
			s++;
			p.prec = 0;
			if (*s == '*') {
				p.prec_arg = true;
				s++;
			} else {
				p.prec = (int)strtol(s, (char **)&s, 10);
			}
		}
		if (*s == 'l')
			s++;
		p.conv = *s++;
		f->nargs += 1u + p.width_arg + p.prec_arg;
		vec_push(arena, &f->parts, p);
	}
	return f;
}

static int read_test(void *ctx, uint64_t addr, void *dst, size_t n, int user)
{
	if (addr != 0x1000 || n > 16)
		return -EFAULT;
	memcpy(dst, user ? "USERUSERUSERUSER" : "abcdefghijklmnop", n);
	return 0;
}

static int last_err;
static uint64_t last_bad;

/* Operands by the format: strings for s, int64_t for the rest. */
static const char *out(const char *fmt, ...)
{
	struct ir_fmt f = {.fmt = parse(fmt)};
	static char result[70000];
	uint8_t rec[2048] = {0};
	struct text t = {0};
	va_list ap;

	va_start(ap, fmt);
	for (unsigned i = 0; i < f.fmt->parts.n; i++) {
		const struct fmt_part *p = &f.fmt->parts.v[i];
		unsigned stars = (unsigned)p->width_arg + p->prec_arg;

		for (unsigned k = 0; p->conv && k <= stars; k++) {
			f.off[f.nargs] = f.size;
			if (p->conv == 's' && k == stars) {
				const char *s = va_arg(ap, const char *);

				f.is_str[f.nargs] = true;
				f.width[f.nargs] =
				    (uint32_t)(strlen(s) + 8) & ~7u;
				memcpy(rec + f.size, s, strlen(s));
				f.size += f.width[f.nargs++];
			} else {
				int64_t v = va_arg(ap, int64_t);

				memcpy(rec + f.size, &v, 8);
				f.nargs++;
				f.size += 8;
			}
		}
	}
	va_end(ap);
	last_err = text_record(&t, &f, rec, read_test, NULL, &last_bad);
	memset(result, 0, sizeof(result));
	if (t.n)
		memcpy(result, t.s, t.n);
	text_free(&t);
	return result;
}

#define L(v) ((int64_t)(v))

TEST(verified_table)
{
	CHECK_STR(out("[%5d][%-5d][%05d][%+d][% d]", L(42), L(42), L(42), L(42),
		      L(42)),
		  "[   42][42   ][00042][+42][ 42]");
	CHECK_STR(out("[%x][%#x][%#X][%o][%#o][%u]", L(255), L(255), L(255),
		      L(8), L(8), L(-1)),
		  "[ff][0xff][0XFF][10][010][18446744073709551615]");
	CHECK_STR(out("[%5s][%-5s][%.2s][%5.2s][%*s][%.*s][%-*s]", "ab", "ab",
		      "abc", "abc", L(6), "x", L(2), "xyz", L(4), "q"),
		  "[   ab][ab   ][ab][   ab][     x][xy][q   ]");
	CHECK_STR(
	    out("[%c][%5c][%-5c][%#c][%#c]", L(65), L(65), L(65), L(10), L(39)),
	    "[A][    A][A    ][\\n][\\']");
	CHECK_STR(out("%#c", L(0)), "\\000");
	CHECK_STR(out("[%p][%20p][%-20p][%i][%ld][%lx]", L(4096), L(4096),
		      L(4096), L(-7), L(-7), L(-1)),
		  "[0x1000][              0x1000][0x1000              ][-7]"
		  "[-7][ffffffffffffffff]");
	CHECK_STR(out("%b%1b%2b%4b", L(0x4142434445464748), L(0x41), L(0x4142),
		      L(0x41424344)),
		  "HGFEDCBAABADCBA");
	CHECK_STR(
	    out("%.3d|%8.3d|%-8.3d|%08.3d|%.0d", L(7), L(7), L(7), L(7), L(0)),
	    "007|     007|007     |00000007|0");
}

TEST(one_flag_only)
{
	/* '+' then width 05: no zero padding */
	CHECK_STR(out("[%+05d]", L(7)), "[   +7]");
	CHECK_STR(out("[%-05d]", L(42)), "[42   ]");
}

TEST(zero_has_its_prefix)
{
	CHECK_STR(out("%#x %#o %p %d", L(0), L(0), L(0), L(0)), "0x0 00 0x0 0");
	CHECK_STR(out("[%#8x]", L(255)), "[    0xff]");
}

TEST(signs_belong_to_signed_conversions)
{
	CHECK_STR(out("%+u % x %+i % i", L(7), L(7), L(7), L(-7)), "7 7 +7 -7");
	CHECK_STR(out("%05d", L(-42)), "-0042");
	CHECK_STR(out("%d", INT64_MIN), "-9223372036854775808");
}

TEST(dynamic_widths)
{
	CHECK_STR(out("[%*d]", L(-5), L(7)), "[7]");
	CHECK_STR(out("[%*d]", L(5), L(7)), "[    7]");
	CHECK_STR(out("[%.*d]", L(-3), L(7)), "[7]");
	CHECK_STR(out("[%.*s]", L(-3), "abc"), "[]");
	CHECK(strlen(out("%*d", INT64_MAX, L(1))) <= 65536);
}

TEST(characters)
{
	static const char *const escaped[] = {"\\a", "\\b", "\\f", "\\n",
					      "\\r", "\\t", "\\v", "\\\\"};
	static const char plain[] = "\a\b\f\n\r\t\v\\";

	for (int i = 0; i < 8; i++)
		CHECK_STR(out("%#c", L(plain[i])), escaped[i]);
	CHECK_STR(out("%#c%#c%#c", L('"'), L('~'), L(0x7f)), "\"~\\177");
	CHECK_STR(out("%#c", L(0x1ff)), "\\377");
	CHECK_STR(out("%c", L(0x141)), "A");
}

TEST(memory)
{
	CHECK_STR(out("%m|%.4m|%#.4m", L(0x1000), L(0x1000), L(0x1000)),
		  "a|abcd|USER");
	CHECK_STR(out("%M|%.4M", L(0x1000), L(0x1000)), "61|61626364");
	out("%m", L(0x2000));
	CHECK_EQ(last_err, -EFAULT);
	CHECK_EQ(last_bad, 0x2000);
	out("%.5000m", L(0x1000));
	CHECK_EQ(last_err, -E2BIG);
	CHECK_EQ(last_bad, 5000);
}

TEST(same_as_libc_where_both_say)
{
	static const char *const fmts[] = {
	    "%ld",   "%5ld",   "%-5ld",   "%05ld",  "%+ld",   "% ld",
	    "%.3ld", "%8.3ld", "%-8.3ld", "%lu",    "%lx",    "%lX",
	    "%lo",   "%20lx",  "%-20lo",  "%020lu", "%.12lx",
	};
	static const int64_t v[] = {0,     1,         -1,        42,        -42,
				    99999, INT64_MAX, INT64_MIN, 0x7fffffff};
	char want[128];

	for (unsigned i = 0; i < sizeof(fmts) / sizeof(fmts[0]); i++)
		for (unsigned k = 0; k < sizeof(v) / sizeof(v[0]); k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(want, sizeof(want), fmts[i], v[k]);
#pragma GCC diagnostic pop
			CHECK_STR(out(fmts[i], v[k]), want);
		}
}

TEST(text_and_percent)
{
	CHECK_STR(out("100%% of %s", "x"), "100% of x");
	CHECK_STR(out(""), "");
	arena_free(arena);
}
