/* SPDX-License-Identifier: MIT */
/*
 * Unsigned 256-bit arithmetic, as much of it as an exact variance needs:
 * n * sum(x^2) of 2^64 samples of 64 bits stays below 2^254.
 */
#ifndef STAT_WIDE_H
#define STAT_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

struct wide {
	uint64_t w[4]; /* low word first */
};

/* a * b, a of 192 bits (3 words). */
struct wide wide_mul(const uint64_t a[3], uint64_t b);
/* a * a of a 128-bit number. */
struct wide wide_square(u128 a);
/* a - b; a >= b. */
struct wide wide_sub(struct wide a, struct wide b);
bool wide_less(struct wide a, struct wide b);
/* floor(a / b), b != 0; all ones when it does not fit 128 bits. */
u128 wide_div(struct wide a, u128 b);
/* floor(sqrt(v)) */
uint64_t wide_sqrt(u128 v);

#endif
