/* SPDX-License-Identifier: MIT */
/*
 * work-inbpf MS: spends so much time of a processor inside the bpf system call,
 * where the kernel runs no programs of tracepoints, kprobes and perf events on
 * that CPU.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { VALUE = 32768 /* copied at each look-up, with programs off */ };

static int64_t used_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	static char value[VALUE];
	uint32_t key = 0;
	union bpf_attr attr;
	int64_t end;
	int fd;

	if (argc != 2)
		return 2;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(key);
	attr.value_size = VALUE;
	attr.max_entries = 1;
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0) {
		perror("work-inbpf");
		return 1;
	}
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)value;
	for (end = used_ms() + strtol(argv[1], NULL, 10); used_ms() < end;)
		syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
	return 0;
}
