/* SPDX-License-Identifier: MIT */
/* Why the kernel said EPERM, and the command that helps. */
#include "run/kern.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "run/state.h"

enum { BIT_PERFMON = 38, BIT_BPF = 39 }; /* CAP_*; older headers lack them */

/* Effective ones of this process, by bit. */
static uint64_t capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* First line of a small file, or "". */
static void read_line(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	ret[0] = 0;
	if (fd < 0)
		return;
	n = read(fd, ret, size - 1);
	close(fd);
	ret[n > 0 ? n : 0] = 0;
	ret[strcspn(ret, "\n")] = 0;
}

bool privilege_locked_down(void)
{
	char line[256];

	/*
	 * "none integrity [confidentiality]": the brackets are around the
	 * current one.
	 */
	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	return strstr(line, "[confidentiality]");
}

/* Kernels before 5.11 say EPERM when there is no more memory to lock, and only
 * CAP_SYS_RESOURCE can raise the limit (store/sysbpf.c). */
static void explain_limit(struct session *s)
{
	struct rlimit lim;

	if (!getrlimit(RLIMIT_MEMLOCK, &lim) && lim.rlim_cur != RLIM_INFINITY)
		session_note(s, "help: kernels before 5.11 count maps and "
			     "programs as locked memory, of which %llu KiB are "
			     "allowed here: ulimit -l unlimited",
			     (unsigned long long)lim.rlim_cur >> 10);
}

/*
 * From what is missed most often to what is rarest: capabilities, lockdown, a
 * container's filter. Each with a command.
 */
void privilege_explain(struct session *s, const char *what)
{
	uint64_t have = capabilities();
	bool admin = have >> CAP_SYS_ADMIN & 1;
	bool bpf = admin || have >> BIT_BPF & 1;
	bool perfmon = admin || have >> BIT_PERFMON & 1;
	char line[256], self[256];
	ssize_t n;

	if (!bpf || !perfmon) {
		session_note(s, "ERROR: tally may not %s: it lacks %s%s%s",
			     what, bpf ? "" : "CAP_BPF",
			     bpf || perfmon ? "" : " and ",
			     perfmon ? "" : "CAP_PERFMON");
		/*
		 * setcap is of a file: its path makes the line ready to be
		 * copied.
		 */
		n = readlink("/proc/self/exe", self, sizeof(self) - 1);
		self[n > 0 ? n : 0] = 0;
		session_note(s, "help: run it as root (sudo tally ...), or "
			     "once as root: setcap cap_bpf,cap_perfmon=ep %s",
			     n > 0 ? self : "tally");
		session_note(s, "help: scripts without kernel probes, and "
			     "--runtime=vm --events FILE, need no privilege");
		return;
	}
	if (privilege_locked_down()) {
		session_note(s, "ERROR: tally may not %s: the kernel is locked "
			     "down (confidentiality)", what);
		session_note(s, "help: boot with lockdown=integrity, or with "
			     "Secure Boot off; it cannot be lowered while the "
			     "system runs");
		return;
	}
	/* Neither can be asked of the kernel, so both are named. */
	session_note(s, "ERROR: tally may not %s, although it has CAP_BPF and "
		     "CAP_PERFMON", what);
	read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	session_note(s, "help: a container's seccomp filter or a security "
		     "module (SELinux, AppArmor, a BPF LSM) stands in the way; "
		     "run it on the host, or with docker run --privileged; "
		     "kernel.perf_event_paranoid is %s", line);
	explain_limit(s);
}
