/* SPDX-License-Identifier: MIT */
/*
 * Calls whose arguments a test sees as text. They are made directly, between
 * two calls of personality(); most fail, the same way everywhere, and none
 * changes anything. What they point to has been written to here, so that the
 * pages are there when a probe looks.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A copy that has been touched. */
static long text(const char *s)
{
	return (long)strdup(s);
}

static void files(void)
{
	long none = text("no such \"file\""), other = text("other\n");
	struct timespec times[2] = {{1, 2}, {0, 0x3ffffffe}};

	syscall(SYS_openat, AT_FDCWD, none,
		O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0);
	syscall(SYS_open, 0, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	syscall(SYS_linkat, 77, none, AT_FDCWD, other, AT_SYMLINK_FOLLOW);
	syscall(SYS_renameat2, -1, none, -1, other, 3);
	syscall(SYS_unlinkat, -1, none, AT_REMOVEDIR);
	syscall(SYS_faccessat, AT_FDCWD, none, R_OK | X_OK);
	syscall(SYS_mknodat, -1, none, S_IFIFO | 0600, 0);
	syscall(SYS_utimensat, -1, none, times, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_fcntl, -1, F_SETFD, FD_CLOEXEC);
	syscall(SYS_lseek, -1, 5, SEEK_END);
	syscall(SYS_write, -1, text("some\tdata"), 9);
	syscall(SYS_pwritev2, -1, 0, 2, 4096, 0, 2 | 8);
}

static void sockets(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	in.sin_port = htons(8080);
	in.sin_addr.s_addr = htonl(0x0a010203);
	memcpy(un.sun_path, "/run/x", 7);
	syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 99999);
	syscall(SYS_connect, -1, &in, sizeof(in));
	syscall(SYS_bind, -1, &un, sizeof(un));
	syscall(SYS_sendto, -1, text("hello"), 5, MSG_NOSIGNAL, &in,
		sizeof(in));
	syscall(SYS_setsockopt, -1, SOL_SOCKET, SO_KEEPALIVE, 0, 4);
	syscall(SYS_setsockopt, -1, IPPROTO_TCP, 1, 0, 4);
	syscall(SYS_shutdown, -1, SHUT_RDWR);
}

static void memory(void)
{
	syscall(SYS_mmap, 0, 0, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	syscall(SYS_mprotect, 1, 4096, PROT_NONE);
	syscall(SYS_madvise, 1, 4096, MADV_DONTNEED);
	syscall(SYS_mremap, 1, 4096, 8192, MREMAP_MAYMOVE, 0);
}

static void signals(void)
{
	struct kernel_sigaction {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} act = {SIG_IGN, 0, 0, 0}, *acts = &act;
	uint64_t set = 1ull << (SIGINT - 1) | 1ull << (SIGTERM - 1);

	syscall(SYS_rt_sigprocmask, 77, &set, 0, 8);
	syscall(SYS_rt_sigaction, SIGUSR1, acts, 0, 3);
	syscall(SYS_kill, 0, 0);
	syscall(SYS_tgkill, -1, 5, SIGHUP);
}

static void time_and_processes(void)
{
	struct timespec wait = {-1, 500};
	struct timeval tv = {2, 77};
	struct itimerval timer = {{1, 5}, {-2, 0}};
	uint64_t limits[2] = {10, 5};
	char *argv[] = {(char *)text("a"), (char *)text("b \"c\""),
			(char *)text(""), NULL};
	char *envp[] = {(char *)text("HOME=/"), NULL};

	syscall(SYS_nanosleep, &wait, 0);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &wait, 0);
	syscall(SYS_setitimer, ITIMER_PROF, &timer, 0);
	syscall(SYS_select, -1, 0, 0, 0, &tv);
	syscall(SYS_futex, 0, 1 | 128, 3, 0, 0, 0);
	syscall(SYS_prlimit64, 0, 7, limits, 0);
	syscall(SYS_wait4, -1, 0, WNOHANG | WUNTRACED, 0);
	syscall(SYS_unshare, CLONE_VM | CLONE_NEWNS | 1);
	syscall(SYS_getpriority, 2, 0x7fffffff);
	syscall(SYS_execve, text("/no/such"), argv, envp);
	syscall(SYS_execveat, -1, text("no"), argv, 0, AT_EMPTY_PATH);
}

int main(void)
{
	syscall(SYS_personality, 0xffffffff);
	files();
	sockets();
	memory();
	signals();
	time_and_processes();
	syscall(SYS_personality, 0xffffffff);
	return 0;
}
