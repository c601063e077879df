/* SPDX-License-Identifier: MIT */
/*
 * work-ufunc N THREADS: each thread calls the functions below N times with
 * known arguments. They are for probes: exported, never inlined, and what
 * they return depends on what they are given.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* gcc would otherwise specialize a copy for the constant arguments. */
#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noinline, noclone))
#endif

uint64_t work_add(uint64_t a, uint64_t b);
int work_negate(int a);
size_t work_length(const char *s);
void work_nothing(void);

PROBED uint64_t work_add(uint64_t a, uint64_t b)
{
	__asm__ volatile("");
	return a + b;
}

PROBED int work_negate(int a)
{
	__asm__ volatile("");
	return -a;
}

PROBED size_t work_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	__asm__ volatile("");
	return n;
}

PROBED void work_nothing(void)
{
	__asm__ volatile("");
}

static void *work(void *arg)
{
	long n = *(const long *)arg;
	volatile uint64_t sink;

	for (long i = 0; i < n; i++) {
		sink = work_add((uint64_t)i, 2);
		sink = (uint64_t)work_negate((int)i);
		sink = work_length("length");
		work_nothing();
	}
	(void)sink;
	return NULL;
}

enum { THREADS_MAX = 64 };

int main(int argc, char **argv)
{
	long n = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	int threads = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	pthread_t id[THREADS_MAX];

	if (threads < 1 || threads > THREADS_MAX) {
		fputs("usage: work-ufunc N THREADS\n", stderr);
		return 2;
	}
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&id[i], NULL, work, &n)) {
			fputs("work-ufunc: no thread\n", stderr);
			return 1;
		}
	}
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return 0;
}
