/* SPDX-License-Identifier: MIT */
#include "run/peek.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/xalloc.h"
#include "store/insn.h"
#include "store/sysbpf.h"

enum { PIECE = 512 }; /* bytes that one run of the program reads */

/* What the program is given and gives back: its context. */
struct request {
	uint64_t addr; /* 0: only the task is wanted */
	uint64_t size; /* at most PIECE */
	int64_t result; /* of bpf_probe_read_kernel() */
	uint64_t task;
};

struct peek {
	int map, prog;
	const uint8_t *bytes; /* the map's value: what was read */
};

#define LOAD(d, s, field)                                                      \
	INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s,                                 \
	     offsetof(struct request, field), 0)
#define STORE(d, field, s)                                                     \
	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s,                                 \
	     offsetof(struct request, field), 0)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)

/* By way of a map, as helpers do not write to a context. */
static int load(int map)
{
	const struct bpf_insn v[] = {
		MOV_REG(6, 1),
		CALL(BPF_FUNC_get_current_task),
		STORE(6, task, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0,
		     map),
		INSN(0, 0, 0, 0, 0),
		LOAD(2, 6, size),
		/* the verifier wants to see that it fits */
		INSN(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 3, PIECE),
		LOAD(3, 6, addr),
		CALL(BPF_FUNC_probe_read_kernel),
		STORE(6, result, 0),
		MOV_IMM(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE; /* the kind demands it */
	attr.insns = (uintptr_t)v;
	attr.insn_cnt = sizeof(v) / sizeof(*v);
	attr.license = (uintptr_t) "Dual MIT/GPL";
	sysbpf_name(attr.prog_name, "tally_peek");
	return sysbpf(BPF_PROG_LOAD, &attr);
}

static int make_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = PIECE;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	sysbpf_name(attr.map_name, "tally_peek");
	return sysbpf(BPF_MAP_CREATE, &attr);
}

struct peek *peek_open(int *ret_err)
{
	struct peek *p = xcalloc(1, sizeof(*p));
	void *at = MAP_FAILED;

	p->prog = -1;
	*ret_err = p->map = make_map();
	if (p->map >= 0)
		*ret_err = p->prog = load(p->map);
	if (p->prog >= 0) {
		at = mmap(NULL, PIECE, PROT_READ, MAP_SHARED, p->map, 0);
		*ret_err = at == MAP_FAILED ? -errno : 0;
	}
	if (*ret_err) {
		peek_close(p);
		return NULL;
	}
	p->bytes = at;
	return p;
}

void peek_close(struct peek *p)
{
	if (!p)
		return;
	if (p->bytes)
		munmap((void *)(uintptr_t)p->bytes, PIECE);
	if (p->prog >= 0)
		close(p->prog);
	if (p->map >= 0)
		close(p->map);
	free(p);
}

/* The kernel writes the context back to where it came from. */
static int run(const struct peek *p, struct request *r)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)p->prog;
	attr.test.ctx_in = (uintptr_t)r;
	attr.test.ctx_size_in = sizeof(*r);
	return sysbpf(BPF_PROG_TEST_RUN, &attr);
}

int peek_read(struct peek *p, uint64_t addr, void *dst, size_t n)
{
	uint8_t *to = dst;

	while (n) {
		size_t step = n < PIECE ? n : PIECE;
		struct request r = {.addr = addr, .size = step,
				    .result = -EFAULT};

		if (run(p, &r) || r.result)
			return -EFAULT;
		memcpy(to, p->bytes, step);
		to += step;
		addr += step;
		n -= step;
	}
	return 0;
}

uint64_t peek_task(struct peek *p)
{
	struct request r = {.size = 0};

	return run(p, &r) ? 0 : r.task;
}
