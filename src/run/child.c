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

#include "base/command.h"

void child_init(struct child *ch)
{
	memset(ch, 0, sizeof(*ch));
	ch->pidfd = ch->gate = -1;
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* In the new process: never returns. */
static void run_command(const char *cmd, int gate)
{
	char go, **argv;
	ssize_t n;
	sigset_t none;
	int err;

	/*
	 * What was changed for tally's own good is undone: blocked signals
	 * would be inherited for ever.
	 */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0); /* tally gave up before it began */
	argv = command_words(cmd);
	if (argv)
		execvp(argv[0], argv);
	if (command_kind(cmd) == COMMAND_EXECS)
		cmd = command_exec(cmd);
	/* The shell for its syntax, its own commands, and its messages; also
	 * when execvp() found nothing. */
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	err = errno;
	fprintf(stderr, "tally: cannot run '%s': %s\n", cmd, strerror(err));
	_exit(127);
}

int child_prepare(struct child *ch, const char *cmd)
{
	int gate[2];
	pid_t pid;

	/*
	 * The gate: a process that waits in read() until tally is attached, so
	 * that its first event is counted. If tally dies, read() gives 0 and
	 * nothing is run.
	 */
	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	/* Or both processes would write what is buffered. */
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

/* A pidfd, not the number: numbers are used again. */
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

/*
 * Signals are in the wait status, which report_child() reads. Of a process that
 * is not ours only the end is known.
 */
void child_reap(struct child *ch)
{
	ch->ended = true;
	if (ch->is_ours && waitpid(ch->pid, &ch->status, WNOHANG) != ch->pid)
		ch->status = 0;
}

/*
 * A gate that is closed without a byte ends the process that waits at it; a
 * command that runs is asked to end.
 */
void child_close(struct child *ch)
{
	if (ch->gate >= 0)
		close(ch->gate);
	else if (ch->is_ours && !ch->ended && ch->pid)
		kill(ch->pid, SIGTERM);
	/* Never started: it ends at once, so waiting for it is short. */
	if (ch->is_ours && !ch->ended && !ch->started && ch->pid)
		waitpid(ch->pid, NULL, 0);
	if (ch->pidfd >= 0)
		close(ch->pidfd);
	child_init(ch);
}
