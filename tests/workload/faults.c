/* SPDX-License-Identifier: MIT */
/*
 * work-faults ROUNDS PAGES THREADS: each thread touches PAGES new pages, and as
 * many more as its own number, between two functions that probes see. It gives
 * way to others now and then, so that they touch theirs on the same CPU
 * meanwhile. Round 0 also maps what the functions themselves need. At its end a
 * thread says several times what the kernel has counted of it: its switches and
 * its page faults. All begin when all are there, and none ends before the last.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* gcc would otherwise specialize a copy for the constant arguments. */
#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noinline, noclone))
#endif

enum { THREADS_MAX = 64, REPORTS = 20 };

void work_before(int round, int pages);
void work_after(int round, int pages);
void work_report(long switches, long faults);

PROBED void work_before(int round, int pages)
{
	__asm__ volatile("" : : "r"(round), "r"(pages));
}

PROBED void work_after(int round, int pages)
{
	__asm__ volatile("" : : "r"(round), "r"(pages));
}

PROBED void work_report(long switches, long faults)
{
	__asm__ volatile("" : : "r"(switches), "r"(faults));
}

static struct {
	int rounds, pages;
	pthread_barrier_t all;
} ask;

static void *work(void *arg)
{
	int pages = ask.pages + (int)(long)arg;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * pages;
	struct rusage u;

	pthread_barrier_wait(&ask.all);
	for (int i = 0; i < ask.rounds; i++) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(1);
		madvise(p, size, MADV_NOHUGEPAGE);
		work_before(i, pages);
		for (int k = 0; k < pages; k++) {
			*(volatile char *)(p + k * page) = 1;
			if (k % 8 == 7)
				sched_yield();
		}
		work_after(i, pages);
		munmap(p, size);
	}
	for (int i = 0; i < REPORTS; i++) {
		getrusage(RUSAGE_THREAD, &u);
		work_report(u.ru_nvcsw + u.ru_nivcsw,
			    u.ru_minflt + u.ru_majflt);
	}
	pthread_barrier_wait(&ask.all);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	pthread_t id[THREADS_MAX];

	if (threads < 1 || threads > THREADS_MAX) {
		fputs("usage: work-faults ROUNDS PAGES THREADS\n", stderr);
		return 2;
	}
	ask.rounds = (int)strtol(argv[1], NULL, 10);
	ask.pages = (int)strtol(argv[2], NULL, 10);
	pthread_barrier_init(&ask.all, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, work, (void *)i))
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return 0;
}
