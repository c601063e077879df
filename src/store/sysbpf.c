/* SPDX-License-Identifier: MIT */
/* The bpf system call. */
#include "store/sysbpf.h"

#include <ctype.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int sysbpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long rc;

	/*
	 * EAGAIN: the verifier was interrupted by a signal. Kernels do that to
	 * long loads; nothing is wrong with the program.
	 */
	do
		rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));
	while (rc < 0 && errno == EAGAIN && cmd == BPF_PROG_LOAD);
	return rc < 0 ? -errno : (int)rc;
}

void sysbpf_name(char dst[BPF_OBJ_NAME_LEN], const char *name)
{
	unsigned n = 0;

	/*
	 * The kernel takes letters, digits, _ and . A name with anything else
	 * makes the whole call fail.
	 */
	for (; name && name[n] && n < BPF_OBJ_NAME_LEN - 1; n++)
		dst[n] = isalnum((unsigned char)name[n]) || name[n] == '.'
			 ? name[n] : '_';
	dst[n] = 0;
}
