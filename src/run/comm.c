/* SPDX-License-Identifier: MIT */
/*
 * Finding a task's name in the kernel. A program run on request copies the
 * start of this task's task_struct; our own name is looked for in it. A second
 * program, which loads from there as handlers will, then has to give that name
 * too: so the verifier agrees that it is a readable member, and that it is the
 * right one.
 */
#include "run/comm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/xalloc.h"
#include "store/insn.h"
#include "store/sysbpf.h"

enum {
	COMM = 16,	  /* TASK_COMM_LEN, since ever */
	COPY = 8 * 1024,  /* comm is in its first 4 KiB, of 9 to 14 */
	STEP = 1024,	  /* what is behind its end need not be there */
};

#define ADD_IMM(d, i) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Runs a program of our own on this task with `size` bytes as its context. 0 or
 * a negative errno. */
static int run(const struct bpf_insn *insns, uint32_t n, void *mem,
	       uint32_t size)
{
	union bpf_attr attr;
	int fd, rc;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE; /* the kind demands it */
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t) "Dual MIT/GPL";
	sysbpf_name(attr.prog_name, "tally_comm");
	fd = sysbpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return fd;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.ctx_in = (uintptr_t)mem;
	attr.test.ctx_size_in = size;
	rc = sysbpf(BPF_PROG_TEST_RUN, &attr);
	close(fd);
	return rc;
}

/* mem = the first COPY bytes of task_struct, in steps until one fails. By way
 * of a map: helpers do not write to the context. */
static int copy_task(uint8_t *mem)
{
	struct bpf_insn v[7 * COPY / STEP + 8];
	uint32_t n = 0, key = 0;
	union bpf_attr attr;
	int map, rc;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(key);
	attr.value_size = COPY;
	attr.max_entries = 1;
	sysbpf_name(attr.map_name, "tally_comm");
	map = sysbpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		return map;
	v[n++] = CALL(BPF_FUNC_get_current_task);
	v[n++] = MOV_REG(7, 0);
	for (int at = 0; at < COPY; at += STEP) {
		v[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 1,
			      BPF_PSEUDO_MAP_VALUE, 0, map);
		v[n++] = INSN(0, 0, 0, 0, at);
		v[n++] = MOV_IMM(2, STEP);
		v[n++] = MOV_REG(3, 7);
		v[n++] = ADD_IMM(3, at);
		v[n++] = CALL(BPF_FUNC_probe_read_kernel);
	}
	v[n++] = MOV_IMM(0, 0);
	v[n++] = EXIT;
	rc = run(v, n, NULL, 0);
	if (!rc) {
		memset(&attr, 0, sizeof(attr));
		attr.map_fd = (uint32_t)map;
		attr.key = (uintptr_t)&key;
		attr.value = (uintptr_t)mem;
		rc = sysbpf(BPF_MAP_LOOKUP_ELEM, &attr);
	}
	close(map);
	return rc;
}

/* Does a load from there give the name? */
static bool is_there(uint32_t off, const char name[COMM])
{
	const struct bpf_insn v[] = {
		MOV_REG(6, 1),
		CALL(BPF_FUNC_get_current_task_btf),
		ADD_IMM(0, (int32_t)off),
		LOAD(1, 0, 0),
		LOAD(2, 0, 8),
		STORE(6, 0, 1),
		STORE(6, 8, 2),
		MOV_IMM(0, 0),
		EXIT,
	};
	char got[COMM] = { 0 };

	return !run(v, sizeof(v) / sizeof(*v), got, COMM) &&
	       !strncmp(got, name, COMM);
}

uint32_t comm_find(void)
{
	char name[COMM] = { 0 };
	uint8_t *mem;
	uint32_t off, found = 0, n = 0;

	if (prctl(PR_GET_NAME, name))
		return 0;
	mem = xcalloc(1, COPY);
	if (!copy_task(mem))
		for (off = 8; off + COMM <= COPY; off += 8)
			if (!memcmp(mem + off, name, COMM)) {
				found = off;
				n++;
			}
	free(mem);
	/* A name that is found twice tells nothing. */
	return n == 1 && is_there(found, name) ? found : 0;
}
