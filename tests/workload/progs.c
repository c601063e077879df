/* SPDX-License-Identifier: MIT */
/* work-progs ID...: prints how many of these BPF programs the kernel holds. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	int held = 0;

	for (int i = 1; i < argc; i++) {
		union bpf_attr attr = {
		    .prog_id = (unsigned)strtoul(argv[i], NULL, 10)};
		long fd = syscall(__NR_bpf, BPF_PROG_GET_FD_BY_ID, &attr,
				  sizeof(attr));

		if (fd < 0)
			continue;
		held++;
		close((int)fd);
	}
	printf("%d\n", held);
	return 0;
}
