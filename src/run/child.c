/* SPDX-License-Identifier: MIT */
/* Starting the command of -c behind a gate, and watching processes end. */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void child_init(struct child *ch)
{
	memset(ch, 0, sizeof(*ch));
	ch->pidfd = ch->gate = -1;
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Words of a command without shell syntax; NULL when it needs a shell. */
static char **split(const char *cmd)
{
	char *p, **argv;
	size_t n = 0;

	if (strpbrk(cmd, "\"'`$\\|&;<>()*?[]{}~#!=%\n"))
		return NULL;
	p = strdup(cmd);
	argv = calloc(strlen(cmd) / 2 + 2, sizeof(*argv));
	if (!p || !argv)
		return NULL;
	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		argv[n++] = p;
		p += strcspn(p, " \t");
		if (*p)
			*p++ = '\0';
	}
	return n ? argv : NULL;
}

/* In the new process: never returns. */
static void run_command(const char *cmd, int gate)
{
	char go, **argv;
	ssize_t n;
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0); /* tally gave up before it began */
	argv = split(cmd);
	if (argv)
		execvp(argv[0], argv);
	/* The shell for its syntax, its own commands, and its messages. */
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	err = errno;
	fprintf(stderr, "tally: cannot run '%s': %s\n", cmd, strerror(err));
	_exit(127);
}

int child_prepare(struct child *ch, const char *cmd)
{
	int gate[2];
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		int rc = -errno;

		close(gate[0]);
		close(gate[1]);
		return rc;
	}
	if (!pid) {
		close(gate[1]);
		run_command(cmd, gate[0]);
	}
	close(gate[0]);
	ch->pid = pid;
	ch->gate = gate[1];
	ch->is_ours = true;
	ch->pidfd = open_pidfd(pid);
	return ch->pidfd < 0 ? -errno : 0;
}

int child_find(struct child *ch, pid_t pid)
{
	ch->pidfd = open_pidfd(pid);
	if (ch->pidfd < 0)
		return -errno;
	ch->pid = pid;
	return 0;
}

void child_release(struct child *ch)
{
	char go = 1;

	if (ch->gate < 0)
		return;
	/* Fails only when the process is gone, which the pidfd tells too. */
	if (write(ch->gate, &go, 1) == 1)
		ch->started = true;
	close(ch->gate);
	ch->gate = -1;
}

void child_reap(struct child *ch)
{
	ch->ended = true;
	if (ch->is_ours && waitpid(ch->pid, &ch->status, WNOHANG) != ch->pid)
		ch->status = 0;
}

void child_close(struct child *ch)
{
	if (ch->gate >= 0)
		close(ch->gate);
	else if (ch->is_ours && !ch->ended && ch->pid)
		kill(ch->pid, SIGTERM);
	if (ch->is_ours && !ch->ended && !ch->started && ch->pid)
		waitpid(ch->pid, NULL, 0);
	if (ch->pidfd >= 0)
		close(ch->pidfd);
	child_init(ch);
}
