/* SPDX-License-Identifier: MIT */
#include "run/peek.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/hostprog.h"
#include "store/insn.h"

enum { PIECE = 512 }; /* bytes that one run of the program reads */

/* What the program is given and gives back: its context. */
struct request {
	uint64_t addr; /* 0: only the task is wanted */
	uint64_t size; /* at most PIECE */
	int64_t result; /* of bpf_probe_read_kernel() */
	uint64_t task;
};

struct peek {
	struct mapped bytes; /* PIECE of them: what was read */
	struct hostprog prog;
};

#define GET(d, field) LOAD(d, 6, offsetof(struct request, field))
#define PUT(field, s) STORE(6, offsetof(struct request, field), s)

/* By way of a map, as helpers do not write to a context. */
static int load(struct peek *p)
{
	const struct bpf_insn v[] = {
		MOV_REG(6, 1),
		CALL(BPF_FUNC_get_current_task),
		PUT(task, 0),
		LOAD_64(1, BPF_PSEUDO_MAP_VALUE, p->bytes.fd, 0),
		GET(2, size),
		/* the verifier wants to see that it fits */
		JUMP_IMM(BPF_JGT, 2, PIECE, 3),
		GET(3, addr),
		CALL(BPF_FUNC_probe_read_kernel),
		PUT(result, 0),
		MOV_IMM(0, 0),
		EXIT,
	};
	const struct hostprog_code code = {
		.name = "tally_peek",
		.type = BPF_PROG_TYPE_SYSCALL,
		.insns = v,
		.n = sizeof(v) / sizeof(*v),
	};

	return hostprog_load(&p->prog, &code);
}

struct peek *peek_open(int *ret_err)
{
	struct peek *p = xcalloc(1, sizeof(*p));

	*ret_err = mapped_open(&p->bytes, "tally_peek", PIECE);
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
	mapped_close(&p->bytes);
	hostprog_close(&p->prog);
	free(p);
}

int peek_read(struct peek *p, uint64_t addr, void *dst, size_t n)
{
	uint8_t *to = dst;

	while (n) {
		size_t step = n < PIECE ? n : PIECE;
		struct request r = {.addr = addr, .size = step,
				    .result = -EFAULT};

		if (hostprog_run(&p->prog, &r, sizeof(r)) || r.result)
			return -EFAULT;
		memcpy(to, p->bytes.at, step);
		to += step;
		addr += step;
		n -= step;
	}
	return 0;
}

uint64_t peek_task(struct peek *p)
{
	struct request r = {.size = 0};

	return hostprog_run(&p->prog, &r, sizeof(r)) ? 0 : r.task;
}
