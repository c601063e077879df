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

#include <linux/bpf.h>

#include "base/xalloc.h"
#include "store/hostprog.h"
#include "store/insn.h"

enum {
	COMM = 16,	  /* TASK_COMM_LEN, since ever */
	COPY = 8 * 1024,  /* comm is in its first 4 KiB, of 9 to 14 */
	STEP = 1024,	  /* what is behind its end need not be there */
};

/* Runs a program of our own, once, with `size` bytes as its context. 0 or a
 * negative errno. */
static int run(const struct bpf_insn *insns, uint32_t n, void *mem,
	       uint32_t size)
{
	const struct hostprog_code code = {
		.name = "tally_comm",
		.type = BPF_PROG_TYPE_SYSCALL,
		.insns = insns,
		.n = n,
	};
	struct hostprog p = { 0 };
	int rc;

	hostprog_load(&p, &code);
	rc = hostprog_run(&p, mem, size);
	hostprog_close(&p);
	return rc;
}

/* mem = the first COPY bytes of task_struct, in steps until one fails. By way
 * of a map: helpers do not write to the context. */
static int copy_task(uint8_t *mem)
{
	struct bpf_insn v[7 * COPY / STEP + 8];
	struct mapped copy;
	uint32_t n = 0;
	int rc = mapped_open(&copy, "tally_comm", COPY);

	if (rc)
		return rc;
	INSN_PUT(v, n, CALL(BPF_FUNC_get_current_task), MOV_REG(7, 0));
	for (int at = 0; at < COPY; at += STEP)
		INSN_PUT(v, n, LOAD_64(1, BPF_PSEUDO_MAP_VALUE, copy.fd, at),
			 MOV_IMM(2, STEP), MOV_REG(3, 7),
			 ALU_IMM(BPF_ADD, 3, at),
			 CALL(BPF_FUNC_probe_read_kernel));
	INSN_PUT(v, n, MOV_IMM(0, 0), EXIT);
	rc = run(v, n, NULL, 0);
	if (!rc)
		memcpy(mem, copy.at, COPY);
	mapped_close(&copy);
	return rc;
}

/* Does a load from there give the name? */
static bool is_there(uint32_t off, const char name[COMM])
{
	const struct bpf_insn v[] = {
		MOV_REG(6, 1),
		CALL(BPF_FUNC_get_current_task_btf),
		ALU_IMM(BPF_ADD, 0, (int32_t)off),
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
