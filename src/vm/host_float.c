/* SPDX-License-Identifier: MIT */
/*
 * Built-ins of floating point. The language has none: a script carries the bits
 * of a double in a number, as the variables of programs come. The kernel cannot
 * compute with them, so all of these run on the host.
 */
#include "vm/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double to_double(int64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static uint64_t from_float(int64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float f;

	memcpy(&f, &low, sizeof(f));
	return bits_of(f);
}

/* Decimal numbers only: strtod() would take "nan", "inf" and hexadecimal. */
static uint64_t from_text(struct vm *vm, const struct builtin_call *b)
{
	size_t n;
	const char *s = barg_str(vm, b, 0, &n);
	char text[512], *end;
	double d;

	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memcpy(text, s, n);
	text[n] = 0;
	d = strtod(text, &end);
	if (end == text || *end || strspn(text, "+-0123456789.eE \t") != n)
		return vm_raise(vm, b->loc, "invalid format");
	return bits_of(d);
}

/*
 * Numbers of more than 18 digits before the point are written with 18 of them
 * and a power of ten, as the reference does: "922337203685477581e1".
 */
static uint64_t to_text(struct vm *vm, const struct builtin_call *b)
{
	long double d = to_double(barg_num(vm, b, 0));
	int64_t digits = barg_num(vm, b, 1);
	char text[64], power[16] = "";
	int exponent = 0;

	if (digits < 0)
		digits = 0;
	/* More would not fit the result, and a double has 17 that mean
	 * something. */
	if (digits > 30)
		digits = 30;
	if (isfinite(d) && fabsl(d) >= 1e18L) {
		exponent = (int)floorl(log10l(fabsl(d))) - 17;
		d /= powl(10, exponent);
		snprintf(power, sizeof(power), "e%d", exponent);
	}
	if (isnan(d))
		d = (long double)NAN; /* without its sign */
	snprintf(text, sizeof(text), "%.*Lf%s", (int)digits, d, power);
	return bret_str(vm, b, text, strlen(text));
}

/* What is not exact goes to its odd neighbour (IEEE 754 has no such mode; it
 * keeps that a result was rounded, for one that is rounded again). */
static double to_odd(double d)
{
	double down = floor(d);

	if (down == d || fmod(down, 2) != 0)
		return down;
	return down + 1;
}

/* Half goes away from zero. */
static uint64_t to_number(double d, int64_t mode)
{
	switch (mode) {
	case 1:
		d = trunc(d);
		break;
	case 2:
		d = floor(d);
		break;
	case 3:
		d = ceil(d);
		break;
	case 4:
		d = round(d);
		break;
	case 6:
		d = to_odd(d);
		break;
	default:
		d = rint(d); /* the mode of a process that never set it */
		break;
	}
	/* What has no number is the smallest one, as x86's own conversion. */
	if (!(d >= -0x1p63 && d < 0x1p63))
		return (uint64_t)INT64_MIN;
	return (uint64_t)(int64_t)d;
}

bool builtin_float(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret)
{
	double x, y;

	if (id < BI_STRING_TO_FP || id > BI_FP_LT)
		return false;
	if (id == BI_STRING_TO_FP) {
		*ret = from_text(vm, b);
		return true;
	}
	x = to_double(barg_num(vm, b, 0));
	y = id >= BI_FP_ADD && id != BI_FP_SQRT ? to_double(barg_num(vm, b, 1))
						: 0;
	switch (id) {
	case BI_LONG_TO_FP:
		*ret = bits_of((double)barg_num(vm, b, 0));
		break;
	case BI_FP32_TO_FP64:
		*ret = from_float(barg_num(vm, b, 0));
		break;
	case BI_FP_TO_STRING:
		*ret = to_text(vm, b);
		break;
	case BI_FP_TO_LONG:
		*ret = to_number(x, barg_num(vm, b, 1));
		break;
	case BI_FP_ADD:
		*ret = bits_of(x + y);
		break;
	case BI_FP_SUB:
		*ret = bits_of(x - y);
		break;
	case BI_FP_MUL:
		*ret = bits_of(x * y);
		break;
	case BI_FP_DIV:
		*ret = bits_of(x / y);
		break;
	case BI_FP_REM:
		*ret = bits_of(remainder(x, y));
		break;
	case BI_FP_SQRT:
		*ret = bits_of(sqrt(x));
		break;
	case BI_FP_EQ:
		*ret = x == y;
		break;
	case BI_FP_LE:
		*ret = x <= y;
		break;
	case BI_FP_LT:
		*ret = x < y;
		break;
	default:
		break;
	}
	return true;
}
