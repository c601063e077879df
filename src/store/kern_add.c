/* SPDX-License-Identifier: MIT */
/* The programs that add and set. */
#include "store/kern_add.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ir/plan.h"
#include "store/insn.h"

/* In the map that the program and this process share; the key follows. */
struct request {
	int64_t v, old;
	uint8_t key[];
};

enum { DONE, MISSING, INSNS_MAX = 24 };

/*
 * Puts the program into v, which has INSNS_MAX; returns its length. With the
 * request in r6:
 *     r0 = lookup(map, key); if (!r0) return MISSING
 *     old = set ? xchg(r0->value, v) : fetch_add(r0->value, v)
 *     return DONE
 * Kernels before 5.12 have no atomics that fetch. There the old value is read
 * first, and may lack what others add in between; the sum does not.
 */
static uint32_t make(struct bpf_insn *v, int map_fd, int request_fd, bool set,
		     bool fetch)
{
	const int value = offsetof(struct plain_value, value);
	uint32_t n = 0;

	INSN_PUT(v, n, LOAD_64(6, BPF_PSEUDO_MAP_VALUE, request_fd, 0),
		 LOAD_64(1, BPF_PSEUDO_MAP_FD, map_fd, 0), MOV_REG(2, 6),
		 ALU_IMM(BPF_ADD, 2, offsetof(struct request, key)),
		 CALL(BPF_FUNC_map_lookup_elem),
		 /* Helpers give a pointer: compared with 0 in 64 bits. */
		 JUMP_IMM(BPF_JNE, 0, 0, 2), MOV_IMM(0, MISSING), EXIT,
		 LOAD(1, 6, offsetof(struct request, v)));
	if (!fetch)
		INSN_PUT(v, n, LOAD(2, 0, value),
			 STORE(6, offsetof(struct request, old), 2));
	/* The whole point: atomic as programs on any CPU see it. */
	if (fetch)
		INSN_PUT(v, n, INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, value,
				    set ? BPF_XCHG : BPF_ADD | BPF_FETCH),
			 STORE(6, offsetof(struct request, old), 1));
	else if (set)
		INSN_PUT(v, n, STORE(0, value, 1));
	else
		INSN_PUT(v, n, INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, value,
				    BPF_ADD));
	INSN_PUT(v, n, MOV_IMM(0, DONE), EXIT);
	return n;
}

/* As a raw tracepoint's: kernels have run those on request since 5.10. */
static void load(struct hostprog *p, int map_fd, int request_fd, bool set)
{
	struct bpf_insn insns[INSNS_MAX];
	struct hostprog_code code = {
		.name = set ? "tally_set" : "tally_add",
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = insns,
	};

	code.n = make(insns, map_fd, request_fd, set, true);
	if (!hostprog_load(p, &code))
		return;
	code.n = make(insns, map_fd, request_fd, set, false);
	hostprog_load(p, &code);
}

int kern_add_run(struct kern_add *a, int map_fd, const void *key,
		 uint32_t key_size, bool set, int64_t v, int64_t *ret_old)
{
	struct hostprog *p = set ? &a->set : &a->add;
	struct request *req;
	int rc;

	if (!hostprog_asked(p)) {
		rc = a->request.at ? 0 :
		     mapped_open(&a->request, "tally_add",
				 (uint32_t)sizeof(*req) + key_size);
		if (rc)
			p->fd = rc; /* the same answer next time */
		else
			load(p, map_fd, a->request.fd, set);
	}
	if (p->fd < 0)
		return -ENOTSUP;
	req = (struct request *)a->request.at;
	req->v = v;
	memcpy(req->key, key, key_size);
	rc = hostprog_run(p, NULL, 0);
	if (rc == MISSING)
		return -ENOENT;
	if (rc == DONE && ret_old)
		*ret_old = req->old;
	return rc;
}

void kern_add_close(struct kern_add *a)
{
	mapped_close(&a->request);
	hostprog_close(&a->add);
	hostprog_close(&a->set);
}
