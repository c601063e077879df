/* SPDX-License-Identifier: MIT */
#include "run/peek.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/hostprog.h"
#include "store/insn.h"

enum { PIECE = 512 }; /* bytes that one run of the program reads */

/* In the map that the program and this process share: what it is asked, what it
 * answers, and what was read. */
struct request {
	uint64_t addr; /* 0: only the task is wanted */
	uint64_t size; /* at most PIECE */
	int64_t result; /* of bpf_probe_read_kernel() */
	uint64_t task;
	uint8_t bytes[PIECE];
};

struct peek {
	struct mapped shared;
	struct hostprog prog;
};

#define AT(field) ((int)offsetof(struct request, field))

/* As a raw tracepoint's: kernels have run those on request since 5.10. */
static int load(struct peek *p)
{
	const struct bpf_insn v[] = {
		LOAD_64(6, BPF_PSEUDO_MAP_VALUE, p->shared.fd, 0),
		CALL(BPF_FUNC_get_current_task),
		STORE(6, AT(task), 0),
		MOV_REG(1, 6),
		ALU_IMM(BPF_ADD, 1, AT(bytes)),
		LOAD(2, 6, AT(size)),
		/* the verifier wants to see that it fits */
		JUMP_IMM(BPF_JGT, 2, PIECE, 3),
		LOAD(3, 6, AT(addr)),
		CALL(BPF_FUNC_probe_read_kernel),
		STORE(6, AT(result), 0),
		MOV_IMM(0, 0),
		EXIT,
	};
	const struct hostprog_code code = {
		.name = "tally_peek",
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = v,
		.n = sizeof(v) / sizeof(*v),
	};

	return hostprog_load(&p->prog, &code);
}

/* The answer is there once the system call has returned. */
static int ask(struct peek *p, uint64_t addr, uint64_t size)
{
	struct request *r = (struct request *)p->shared.at;

	r->addr = addr;
	r->size = size;
	r->result = -EFAULT;
	return hostprog_run(&p->prog, NULL, 0);
}

static const struct request *answer(const struct peek *p)
{
	return (const struct request *)p->shared.at;
}

struct peek *peek_open(int *ret_err)
{
	struct peek *p = xcalloc(1, sizeof(*p));

	*ret_err = mapped_open(&p->shared, "tally_peek",
			       sizeof(struct request));
	if (!*ret_err)
		*ret_err = load(p);
	if (*ret_err) {
		peek_close(p);
		return NULL;
	}
	return p;
}

void peek_close(struct peek *p)
{
	if (!p)
		return;
	mapped_close(&p->shared);
	hostprog_close(&p->prog);
	free(p);
}

int peek_read(struct peek *p, uint64_t addr, void *dst, size_t n)
{
	uint8_t *to = dst;

	while (n) {
		size_t step = n < PIECE ? n : PIECE;

		if (ask(p, addr, step) || answer(p)->result)
			return -EFAULT;
		memcpy(to, answer(p)->bytes, step);
		to += step;
		addr += step;
		n -= step;
	}
	return 0;
}

uint64_t peek_task(struct peek *p)
{
	return ask(p, 0, 0) ? 0 : answer(p)->task;
}
