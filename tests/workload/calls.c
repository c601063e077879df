/* SPDX-License-Identifier: MIT */
/*
 * work-calls SYSCALL N THREADS [pin] [FILE]: N calls of SYSCALL from each of
 * THREADS threads, started together; with "pin", thread i stays on the i-th CPU
 * that this process may use. The calls are made directly, so that libc neither
 * caches nor skips one. Prints nothing: a test counts what the kernel saw. With
 * FILE every thread begins again until FILE exists; the sum of the threads'
 * rounds is then written into it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct call {
	const char *name;
	long number;
	long arg[2];
} calls[] = {
    {"getppid", SYS_getppid, {0, 0}},
    {"getpgid", SYS_getpgid, {0, 0}},
    {"getpriority", SYS_getpriority, {0, 0}},
    {"sched_yield", SYS_sched_yield, {0, 0}},
    {"close", SYS_close, {-1, 0}},	  /* fails: EBADF */
    {"personality", SYS_personality, {0xffffffff, 0}}, /* asks only */
};

struct work {
	const struct call *call;
	long n;
	int cpu; /* -1: any */
	pthread_barrier_t *start;
	const char *until; /* the file that ends it, or NULL: one round */
	long rounds;
};

static void *work(void *arg)
{
	struct work *w = arg;
	const struct call *c = w->call;

	if (w->cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(w->cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("work-calls: sched_setaffinity");
			exit(1);
		}
	}
	pthread_barrier_wait(w->start);
	do {
		for (long i = 0; i < w->n; i++)
			syscall(c->number, c->arg[0], c->arg[1], 0);
		w->rounds++;
	} while (w->until && access(w->until, F_OK));
	return NULL;
}

/* The i-th CPU of the set, round and round. */
static int nth_cpu(const cpu_set_t *set, int i)
{
	int skip = i % CPU_COUNT(set), cpu = 0;

	for (;; cpu++) {
		if (CPU_ISSET(cpu, set) && skip-- == 0)
			return cpu;
	}
}

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!strcmp(name, calls[i].name))
			return &calls[i];
	}
	return NULL;
}

enum { THREADS_MAX = 64 };

/* 0, or 1 when the number of rounds cannot be told. */
static int tell(const char *name, const struct work *w, int threads)
{
	long rounds = 0;
	FILE *f = fopen(name, "w");
	int bad;

	for (int i = 0; i < threads; i++)
		rounds += w[i].rounds;
	bad = !f || fprintf(f, "%ld\n", rounds) < 0;
	return (f && fclose(f)) || bad;
}

int main(int argc, char **argv)
{
	bool pin = argc > 4 && !strcmp(argv[4], "pin");
	const char *until = argc > 4 + pin ? argv[4 + pin] : NULL;
	const struct call *call = argc >= 4 ? find_call(argv[1]) : NULL;
	int threads = argc >= 4 ? (int)strtol(argv[3], NULL, 10) : 0;
	struct work w[THREADS_MAX];
	pthread_t id[THREADS_MAX];
	pthread_barrier_t start;
	cpu_set_t set;

	if (!call || threads < 1 || threads > THREADS_MAX) {
		fputs("usage: work-calls SYSCALL N THREADS [pin] [FILE]\n"
		      "SYSCALL:", stderr);
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			fprintf(stderr, " %s", calls[i].name);
		fputc('\n', stderr);
		return 2;
	}
	sched_getaffinity(0, sizeof(set), &set);
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		w[i] = (struct work){.call = call,
				     .n = strtol(argv[2], NULL, 10),
				     .cpu = pin ? nth_cpu(&set, i) : -1,
				     .start = &start,
				     .until = until};
		errno = pthread_create(&id[i], NULL, work, &w[i]);
		if (errno) {
			perror("work-calls: pthread_create");
			return 1;
		}
	}
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return until ? tell(until, w, threads) : 0;
}
