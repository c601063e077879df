/* SPDX-License-Identifier: MIT */
/* The process a session is about: started by -c, or found by -x. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Zeroed by child_init(); closed by child_close(). */
struct child {
	pid_t pid;	/* 0: none */
	int pidfd;	/* readable when it has ended; -1 */
	int gate;	/* write end: the command starts when a byte comes */
	bool is_ours;	/* started by -c */
	bool started, ended;
	int status;	/* of wait, when ended and ours */
};

/* No process. */
void child_init(struct child *ch);
/* -c: forks; the process waits for child_release() before it runs cmd. 0, or
 * a negative errno. */
int child_prepare(struct child *ch, const char *cmd);
/* -x. 0, or a negative errno (-ESRCH: no such process). */
int child_find(struct child *ch, pid_t pid);
/* Does nothing a second time. */
void child_release(struct child *ch);
/* Call when pidfd is readable: fetches the status. */
void child_reap(struct child *ch);
/* Ends a command that is still running (SIGTERM) and forgets the process. */
void child_close(struct child *ch);

#endif
