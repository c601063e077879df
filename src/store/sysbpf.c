/* SPDX-License-Identifier: MIT */
/* The bpf system call. */
#include "store/sysbpf.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernels before 5.11 charge maps and programs to RLIMIT_MEMLOCK, which is 64
 * KiB by default, and say EPERM. True: there is more now than there was. */
static bool raise_limit(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit now;

	return !getrlimit(RLIMIT_MEMLOCK, &now) &&
	       now.rlim_cur != RLIM_INFINITY &&
	       !setrlimit(RLIMIT_MEMLOCK, &all);
}

int sysbpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	const bool makes = cmd == BPF_MAP_CREATE || cmd == BPF_PROG_LOAD ||
			   cmd == BPF_BTF_LOAD;
	long rc;

	/*
	 * EAGAIN: the verifier was interrupted by a signal. Kernels do that to
	 * long loads; nothing is wrong with the program.
	 */
	do
		rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));
	while (rc < 0 && ((errno == EAGAIN && cmd == BPF_PROG_LOAD) ||
			  (errno == EPERM && makes && raise_limit())));
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

int sysbpf_map(enum bpf_map_type type, const char *name, uint32_t key,
	       uint32_t value, uint32_t entries, uint32_t flags, int inner_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	attr.map_flags = flags;
	attr.inner_map_fd = inner_fd > 0 ? (uint32_t)inner_fd : 0;
	sysbpf_name(attr.map_name, name);
	return sysbpf(BPF_MAP_CREATE, &attr);
}
