/* SPDX-License-Identifier: MIT */
/* The programs that add and set. */
#include "store/kern_add.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ir/plan.h"
#include "store/insn.h"

/*
 * A key is copied to the program's stack, which has 512 bytes. Copying takes
 * two instructions a word.
 */
enum { KEY_MAX = 400, INSNS_MAX = 2 * KEY_MAX / 8 + 20 };

/* What the program gets as its context. */
struct request {
	int64_t v, old;
	uint8_t key[KEY_MAX];
};

enum { DONE, MISSING };

/*
 * Puts the program into v, which has INSNS_MAX; returns its length. With the
 * request in r6:
 *     copy key to the stack; r0 = lookup(map, key)
 *     if (!r0) return MISSING
 *     old = set ? xchg(r0->value, v) : fetch_add(r0->value, v)
 *     return DONE
 */
static uint32_t make(struct bpf_insn *v, int map_fd, int key_size, bool set)
{
	uint32_t n = 0;
	int i;

	INSN_PUT(v, n, MOV_REG(6, 1));
	for (i = 0; i < key_size; i += 8)
		INSN_PUT(v, n,
			 LOAD(0, 6, (int)offsetof(struct request, key) + i),
			 STORE(10, i - key_size, 0));
	INSN_PUT(v, n, LOAD_64(1, BPF_PSEUDO_MAP_FD, map_fd, 0), MOV_REG(2, 10),
		 ALU_IMM(BPF_ADD, 2, -key_size),
		 CALL(BPF_FUNC_map_lookup_elem),
		 /* Helpers give a pointer: compared with 0 in 64 bits. */
		 JUMP_IMM(BPF_JNE, 0, 0, 2), MOV_IMM(0, MISSING), EXIT,
		 LOAD(1, 6, offsetof(struct request, v)),
		 /* The whole point: atomic as programs on any CPU see it. */
		 INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1,
		      offsetof(struct plain_value, value),
		      set ? BPF_XCHG : BPF_ADD | BPF_FETCH),
		 STORE(6, offsetof(struct request, old), 1), MOV_IMM(0, DONE),
		 EXIT);
	return n;
}

static void load(struct hostprog *p, int map_fd, uint32_t key_size, bool set)
{
	struct bpf_insn insns[INSNS_MAX];
	struct hostprog_code code = {
		.name = set ? "tally_set" : "tally_add",
		.type = BPF_PROG_TYPE_SYSCALL,
		.insns = insns,
	};

	code.n = make(insns, map_fd, (int)key_size, set);
	hostprog_load(p, &code);
}

int kern_add_run(struct kern_add *a, int map_fd, const void *key,
		 uint32_t key_size, bool set, int64_t v, int64_t *ret_old)
{
	struct hostprog *p = set ? &a->set : &a->add;
	struct request req = { .v = v };
	int rc;

	if (key_size > KEY_MAX)
		return -ENOTSUP;
	if (!hostprog_asked(p))
		load(p, map_fd, key_size, set);
	if (p->fd < 0)
		return -ENOTSUP;
	memcpy(req.key, key, key_size);
	rc = hostprog_run(p, &req, sizeof(req));
	if (rc == MISSING)
		return -ENOENT;
	if (rc == DONE && ret_old)
		*ret_old = req.old;
	return rc;
}

void kern_add_close(struct kern_add *a)
{
	hostprog_close(&a->add);
	hostprog_close(&a->set);
}
