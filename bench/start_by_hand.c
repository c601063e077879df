/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of start-up: count sys_enter while /bin/true runs, with bare
 * bpf system calls and instructions written by hand, then print the count.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

int main(void)
{
	union bpf_attr a = { .map_type = BPF_MAP_TYPE_ARRAY,
			     .key_size = 4,
			     .value_size = 64,
			     .max_entries = 1,
			     .map_flags = BPF_F_MMAPABLE };
	uint64_t *count;
	int map, prog, link, status;
	pid_t child;

	map = bpf(BPF_MAP_CREATE, &a);
	count = mmap(NULL, 4096, PROT_READ, MAP_SHARED, map, 0);
	if (map < 0 || count == MAP_FAILED)
		return 1;
	struct bpf_insn insns[] = {
		{ BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, map },
		{ 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 1 },
		{ BPF_STX | BPF_ATOMIC | BPF_DW, 1, 2, 0, BPF_ADD },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insn_cnt = sizeof(insns) / sizeof(*insns);
	a.insns = (uint64_t)(uintptr_t)insns;
	a.license = (uint64_t)(uintptr_t) "GPL";
	prog = bpf(BPF_PROG_LOAD, &a);
	if (prog < 0)
		return 1;
	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.name = (uint64_t)(uintptr_t) "sys_enter";
	a.raw_tracepoint.prog_fd = (uint32_t)prog;
	link = bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
	if (link < 0)
		return 1;
	child = fork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	close(link);
	printf("%llu\n", (unsigned long long)*count);
	return 0;
}
