/* SPDX-License-Identifier: MIT */
/*
 * work-inlines: functions that are inlined in some places and called in others,
 * and structs by value, as optimization leaves them. Copies are in no loop,
 * which a compiler could unroll or turn round.
 */
#include <stdio.h>

#define INLINED static inline __attribute__((always_inline))
/* gcc would otherwise specialize a copy for its only caller. */
#ifdef __clang__
#define CALLED __attribute__((noinline))
#else
#define CALLED __attribute__((noinline, noclone))
#endif
/* What a value is cannot be known, nor this be left out. */
#define KEEP(n) __asm__ volatile("" : "+r"(n) : : "memory")

struct inside {
	short p, q;
};

struct small {
	int a;
	unsigned low : 5;
	int high : 6;
	struct inside in;
	short arr[2];
};

struct pair {
	const char *s;
	struct small *t;
};

/* For anybody, so that nothing is known of their arguments. */
int by_value(struct small s, int k);
int by_pair(struct pair s, int k);

INLINED int inner(int n)
{
	KEEP(n);
	return n * 3;
}

/* A copy that begins with another one, at the same address. */
INLINED int outer(int n)
{
	return inner(n) + 1;
}

INLINED int copied(int n, const char *s)
{
	__asm__ volatile("" : "+r"(n) : "r"(s) : "memory");
	return n + s[1];
}

/* The quotient is needed for nothing and not computed. */
INLINED int lost(int n, int gone)
{
	(void)gone;
	KEEP(n);
	return n;
}

static CALLED int nested(int n)
{
	return outer(n);
}

static CALLED int two_calls(int n)
{
	int a = copied(n, "ab");

	KEEP(a);
	return a + copied(n + 100, "cd");
}

static CALLED int one_call(int n, int by)
{
	return copied(n + 1000, "ef") + lost(n, n / by);
}

CALLED int by_value(struct small s, int k)
{
	KEEP(k);
	return s.a * k + s.high + s.in.q + (int)s.low + s.arr[1];
}

CALLED int by_pair(struct pair s, int k)
{
	KEEP(k);
	return s.s[0] * k + s.t->a;
}

int main(void)
{
	/* The compiler is not to know which function it is. */
	int (*volatile copy)(int, const char *) = copied;
	struct small t = {2, 9, -3, {5, -6}, {7, 8}};
	struct pair pair = {"hello", &t};
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		sum += two_calls(i);
		sum += one_call(i, i + 1);
		sum += nested(i);
		sum += copy(i + 10000, "ij");
	}
	/* A probe cannot wait for a page that has not been touched. */
	printf("%s %d\n", pair.s, sum);
	printf("%d\n", by_value(t, 3));
	printf("%d\n", by_pair(pair, 4));
	return 0;
}
