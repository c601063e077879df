/* SPDX-License-Identifier: MIT */
/*
 * work-watch N [wait]: N writes to counter by each of two threads, N reads and
 * N writes of used, one thread after the other; pair is written once, word by
 * word. With "wait", a byte is read from standard input before and after.
 * Each is one access of memory: compilers make one of a read and a write.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

volatile uint32_t counter = 7;
volatile uint16_t used = 7;
volatile uint64_t pair[2] = {1, 2};

static __attribute__((noinline)) void *work(void *arg)
{
	const long *n = arg;

	uint16_t old;
	long i = 0;

again:
	__asm__ volatile("movw %1, %w0" : "=r"(old) : "m"(used));
	old++;
	__asm__ volatile("movw %w1, %0" : "=m"(used) : "r"(old));
	counter = i;
	if (++i < *n)
		goto again;
	return NULL;
}

static void wait_for_a_byte(void)
{
	char go;

	if (read(STDIN_FILENO, &go, 1) != 1)
		exit(1);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	pthread_t other;

	if (argc > 2)
		wait_for_a_byte();
	work(&n);
	pair[0] = n;
	pair[1] = n;
	if (pthread_create(&other, NULL, work, &n))
		return 1;
	pthread_join(other, NULL);
	if (argc > 2)
		wait_for_a_byte();
	return 0;
}
