/* SPDX-License-Identifier: MIT */
/*
 * work-ends HOW THREADS [ROUNDS]: processes with threads that end in one way:
 * exit: the first thread exits while the others run; last: it ends first, and
 * they later; fork: as exit, in a child that runs no program of its own; run:
 * not at all, to be killed. Rounds after the first run in forked children, too.
 * Prints nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *spin(void *arg)
{
	(void)arg;
	for (;;)
		getppid();
	return NULL;
}

static void *linger(void *arg)
{
	usleep(20000);
	return arg;
}

static void end(const char *how, long threads)
{
	pthread_t id;
	long i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&id, NULL,
				   strcmp(how, "last") ? spin : linger, NULL))
			exit(1);
	/* Not pthread_exit(): that needs libgcc_s, which guests have not. */
	if (!strcmp(how, "last"))
		syscall(SYS_exit, 0);
	if (!strcmp(how, "run"))
		pause();
	exit(0);
}

int main(int argc, char **argv)
{
	long i, rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 1;

	if (argc < 3) {
		fputs("usage: work-ends HOW THREADS [ROUNDS]\n", stderr);
		return 2;
	}
	for (i = !strcmp(argv[1], "fork") ? 0 : 1; i < rounds; i++) {
		pid_t pid = fork();

		if (!pid)
			end(argv[1], strtol(argv[2], NULL, 10));
		waitpid(pid, NULL, 0);
	}
	if (!strcmp(argv[1], "fork"))
		return 0;
	end(argv[1], strtol(argv[2], NULL, 10));
}
