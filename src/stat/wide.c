/* SPDX-License-Identifier: MIT */
/* 256-bit arithmetic for exact variances: schoolbook, run once per report. */
#include "stat/wide.h"

#include <assert.h>

/*
 * Partial products by words; carry never exceeds 64 bits, since (2^64 - 1)^2 +
 * 2^64 - 1 < 2^128.
 */
struct wide wide_mul(const uint64_t a[3], uint64_t b)
{
	struct wide r = { { 0 } };
	u128 carry = 0;
	int i;

	for (i = 0; i < 3; i++) {
		carry += (u128)a[i] * b;
		r.w[i] = (uint64_t)carry;
		carry >>= 64;
	}
	r.w[3] = (uint64_t)carry;
	return r;
}

/*
 * r += v << (64 * i). What would run past the fourth word is not there:
 * callers' results fit 256 bits.
 */
static void add_at(struct wide *r, int i, u128 v)
{
	u128 carry = (u128)r->w[i] + (uint64_t)v;

	r->w[i] = (uint64_t)carry;
	carry = (carry >> 64) + (v >> 64);
	for (i++; carry && i < 4; i++) {
		carry += r->w[i];
		r->w[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

/*
 * (hi * 2^64 + lo)^2. The cross term counts twice and is added twice, because
 * doubling it might overflow 128 bits.
 */
struct wide wide_square(u128 a)
{
	uint64_t lo = (uint64_t)a, hi = (uint64_t)(a >> 64);
	u128 cross = (u128)lo * hi;
	struct wide r = { { 0 } };

	add_at(&r, 0, (u128)lo * lo);
	add_at(&r, 1, cross);
	add_at(&r, 1, cross);
	add_at(&r, 2, (u128)hi * hi);
	return r;
}

struct wide wide_sub(struct wide a, struct wide b)
{
	struct wide r;
	uint64_t borrow = 0;
	int i;

	assert(!wide_less(a, b));
	for (i = 0; i < 4; i++) {
		u128 d = (u128)a.w[i] - b.w[i] - borrow;

		r.w[i] = (uint64_t)d;
		/* A difference below 0 has all of its high word set. */
		borrow = (uint64_t)(d >> 64) ? 1 : 0;
	}
	return r;
}

bool wide_less(struct wide a, struct wide b)
{
	int i;

	for (i = 3; i > 0 && a.w[i] == b.w[i]; i--)
		;
	return a.w[i] < b.w[i];
}

u128 wide_div(struct wide a, u128 b)
{
	u128 q = 0, rem = 0;
	int i;

	/*
	 * Long division, a bit at a time. rem < b holds before each step; rem *
	 * 2 may need a 129th bit, kept in `top`, and the subtraction in 128
	 * bits is right all the same because the true difference is below b.
	 */
	assert(b);
	for (i = 255; i >= 0; i--) {
		bool top = rem >> 127;

		rem = rem << 1 | (a.w[i / 64] >> (i % 64) & 1);
		/*
		 * Another bit would be lost at the top: the quotient does not
		 * fit.
		 */
		if (q >> 127)
			return ~(u128)0;
		q <<= 1;
		if (top || rem >= b) {
			rem -= b;
			q |= 1;
		}
	}
	return q;
}

/* A bit at a time from above: r * r <= v holds throughout. */
uint64_t wide_sqrt(u128 v)
{
	uint64_t r = 0;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		uint64_t t = r | 1ull << bit;

		if ((u128)t * t <= v)
			r = t;
	}
	return r;
}
