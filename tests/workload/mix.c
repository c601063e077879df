/* SPDX-License-Identifier: MIT */
/*
 * work-mix CALLS FUNCTIONS PAGES THREADS [FILE]: each thread, on a CPU of its
 * own if there are enough, makes CALLS system calls (getppid), FUNCTIONS calls
 * of mix_step(0, 1, ...) and takes PAGES page faults, each of these spread
 * evenly over the run. Prints nothing. With FILE every thread begins again
 * until FILE exists; the sum of the threads' rounds is then written into it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noinline, noclone))
#endif

enum { THREADS_MAX = 64, PAGE = 4096, BLOCK = 64 * PAGE };

uint64_t mix_step(uint64_t i);

PROBED uint64_t mix_step(uint64_t i)
{
	__asm__ volatile("");
	return i + 1;
}

struct work {
	long calls, steps, pages;
	const char *until; /* the file that ends it, or NULL: one round */
	long rounds;	   /* of all threads */
};

/* Touches a page that is not there. */
static void fault(char *block, long i)
{
	long at = i % (BLOCK / PAGE);

	if (!at)
		madvise(block, BLOCK, MADV_DONTNEED);
	*(volatile char *)(block + at * PAGE) = 1;
}

/* Whether turn i of `turns` is one of the n that are to be spread over them. */
static int due(long i, long n, long turns)
{
	return i * n / turns != (i + 1) * n / turns;
}

static void one_round(const struct work *w, char *block)
{
	long i, turns = w->calls > w->steps ? w->calls : w->steps;
	long step = 0, page = 0;
	volatile uint64_t sink = 0;

	if (w->pages > turns)
		turns = w->pages;
	for (i = 0; i < turns; i++) {
		if (due(i, w->calls, turns))
			syscall(SYS_getppid);
		if (due(i, w->steps, turns))
			sink += mix_step((uint64_t)step++);
		if (due(i, w->pages, turns))
			fault(block, page++);
	}
	(void)sink; /* for clang, which sees no use in adding to it */
}

static void *work(void *arg)
{
	struct work *w = arg;
	char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		exit(1);
	do {
		one_round(w, block);
		__atomic_fetch_add(&w->rounds, 1, __ATOMIC_RELAXED);
	} while (w->until && access(w->until, F_OK));
	return NULL;
}

/* 0, or 1 when the number of rounds cannot be told. */
static int tell(const struct work *w)
{
	FILE *f = fopen(w->until, "w");
	int bad = !f || fprintf(f, "%ld\n", w->rounds) < 0;

	return (f && fclose(f)) || bad;
}

int main(int argc, char **argv)
{
	struct work w = { 0 };
	pthread_t id[THREADS_MAX];
	int i, threads;

	if (argc != 5 && argc != 6) {
		fputs("usage: work-mix CALLS FUNCTIONS PAGES THREADS [FILE]\n",
		      stderr);
		return 2;
	}
	w.calls = strtol(argv[1], NULL, 10);
	w.steps = strtol(argv[2], NULL, 10);
	w.pages = strtol(argv[3], NULL, 10);
	threads = (int)strtol(argv[4], NULL, 10);
	w.until = argv[5];
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	for (i = 0; i < threads; i++) {
		if (pthread_create(&id[i], NULL, work, &w)) {
			fputs("work-mix: no thread\n", stderr);
			return 1;
		}
	}
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return w.until ? tell(&w) : 0;
}
