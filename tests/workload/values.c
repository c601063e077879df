/* SPDX-License-Identifier: MIT */
/*
 * work-values FILE: for each number in FILE calls value_sample(number) and a
 * system call (getpgid) with the number as its argument.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noinline, noclone))
#endif

int64_t value_sample(int64_t v);

PROBED int64_t value_sample(int64_t v)
{
	__asm__ volatile("");
	return v;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	volatile int64_t sink = 0;
	int64_t v;

	if (!f) {
		fputs("usage: work-values FILE\n", stderr);
		return 2;
	}
	while (fscanf(f, "%" SCNd64, &v) == 1) {
		sink = value_sample(v);
		syscall(SYS_getpgid, v);
	}
	(void)sink;
	return 0;
}
