/* SPDX-License-Identifier: MIT */
/* The program that adds, and running it. */
#include "store/kern_add.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ir/plan.h"
#include "store/insn.h"
#include "store/sysbpf.h"

/*
 * A key is copied to the program's stack, which has 512 bytes. Copying takes
 * two instructions a word.
 */
enum { KEY_MAX = 400, INSNS_MAX = 2 * KEY_MAX / 8 + 20 };

/* What the program gets as its context. */
struct request {
	int64_t delta, old;
	uint8_t key[KEY_MAX];
};

/* Instructions by hand: this program is too small to go through gen/. */
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/*
 * key_size: bytes, a multiple of 8. Puts the program into v, which has
 * INSNS_MAX; returns its length. With the request in r6:
 *     copy key to the stack; r0 = lookup(map, key)
 *     if (!r0) return 1
 *     old = set ? xchg(r0->value, delta) : fetch_add(r0->value, delta)
 *     return 0
 */
static uint32_t make(struct bpf_insn *v, int map_fd, int key_size, bool set)
{
	uint32_t n = 0;
	int i;

	v[n++] = MOV_REG(6, 1);
	for (i = 0; i < key_size; i += 8) {
		v[n++] = LOAD(0, 6, (int)offsetof(struct request, key) + i);
		v[n++] = STORE(10, i - key_size, 0);
	}
	v[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0,
		      map_fd);
	v[n++] = INSN(0, 0, 0, 0, 0);
	v[n++] = MOV_REG(2, 10);
	v[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -key_size);
	v[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	/* Helpers give a pointer: compared with 0 in 64 bits. */
	v[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
	v[n++] = MOV_IMM(0, 1); /* missing */
	v[n++] = EXIT;
	v[n++] = LOAD(1, 6, offsetof(struct request, delta));
	/* The whole point: atomic with respect to programs on any CPU. */
	v[n++] = INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1,
		      offsetof(struct plain_value, value),
		      set ? BPF_XCHG : BPF_ADD | BPF_FETCH);
	v[n++] = STORE(6, offsetof(struct request, old), 1);
	/* The result: 0 done, 1 no such element. */
	v[n++] = MOV_IMM(0, 0);
	v[n++] = EXIT;
	return n;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int kern_add_load(int map_fd, uint32_t key_size, bool set)
{
	struct bpf_insn insns[INSNS_MAX] = { 0 };
	union bpf_attr attr;

	if (key_size > KEY_MAX)
		return -E2BIG;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE; /* the kind demands it */
	attr.insns = pointer(insns);
	attr.insn_cnt = make(insns, map_fd, (int)key_size, set);
	attr.license = pointer("Dual MIT/GPL");
	sysbpf_name(attr.prog_name, set ? "tally_set" : "tally_add");
	return sysbpf(BPF_PROG_LOAD, &attr);
}

int kern_add_run(int prog_fd, const void *key, uint32_t key_size,
		 int64_t delta, int64_t *ret_old)
{
	struct request req = { .delta = delta };
	union bpf_attr attr;
	int rc;

	memcpy(req.key, key, key_size);
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog_fd;
	/*
	 * The kernel copies the context in and, for this kind of program, out
	 * again: req.old is what was there.
	 */
	attr.test.ctx_in = pointer(&req);
	attr.test.ctx_size_in = sizeof(req);
	rc = sysbpf(BPF_PROG_TEST_RUN, &attr);
	if (rc)
		return rc;
	if (ret_old)
		*ret_old = req.old;
	/* No element, but the call itself went well. */
	return attr.test.retval ? -ENOENT : 0;
}
