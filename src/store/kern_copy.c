/* SPDX-License-Identifier: MIT */
/*
 * Reading a map by system calls takes 0.3 us an element; a lock that is held
 * meanwhile keeps handlers waiting, which give up after 1 ms. A program that
 * the kernel calls for each element takes 70 ns, into a buffer mapped here.
 */
#include "store/kern_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/insn.h"

enum {
	/* Memory of a buffer, which stays; larger arrays are read slowly. */
	BUF_MAX = 32 << 20,
	/* Instructions that are not copying. */
	INSNS_BASE = 40,
};

static uint32_t copy(struct bpf_insn *v, uint32_t n, int from, int to,
		     uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size; i += 8)
		INSN_PUT(v, n, LOAD(0, from, (int)i),
			 STORE(2, to + (int)i, 0));
	return n;
}

/*
 * The handler: buf.n = 0; for_each(map, callback, 0, 0).
 * The callback (map, key, value):
 *     if (buf.n >= entries) return 1
 *     to = buf + 8 + buf.n++ * (key_size + value_size); copy key and value
 *     return 0
 * The number is in the buffer, not on the stack: the verifier would know it
 * there, and walk the callback once for each value.
 */
static uint32_t make(struct bpf_insn *v, int map_fd, int buf_fd,
		     uint32_t key_size, uint32_t value_size, uint32_t entries,
		     uint32_t *ret_callback)
{
	enum { FUNC_AT = 6 };
	uint32_t n = 0;

	INSN_PUT(v, n, LOAD_64(2, BPF_PSEUDO_MAP_VALUE, buf_fd, 0),
		 MOV_IMM(1, 0), STORE(2, 0, 1),
		 LOAD_64(1, BPF_PSEUDO_MAP_FD, map_fd, 0),
		 LOAD_64(2, BPF_PSEUDO_FUNC, 0, 0), MOV_IMM(3, 0),
		 MOV_IMM(4, 0), CALL(BPF_FUNC_for_each_map_elem), MOV_IMM(0, 0),
		 EXIT);
	*ret_callback = n;
	v[FUNC_AT].imm = (int32_t)n - FUNC_AT - 1;
	INSN_PUT(v, n, MOV_REG(6, 2),
		 LOAD_64(2, BPF_PSEUDO_MAP_VALUE, buf_fd, 0), LOAD(1, 2, 0),
		 MOV_IMM(0, 1), JUMP_IMM(BPF_JLT, 1, (int32_t)entries, 1), EXIT,
		 MOV_REG(5, 1), ALU_IMM(BPF_ADD, 5, 1), STORE(2, 0, 5),
		 ALU_IMM(BPF_MUL, 1, (int32_t)(key_size + value_size)),
		 ALU_REG(BPF_ADD, 2, 1));
	n = copy(v, n, 6, 8, key_size);
	n = copy(v, n, 3, 8 + (int)key_size, value_size);
	INSN_PUT(v, n, MOV_IMM(0, 0), EXIT);
	return n;
}

static int load_copy(struct hostprog *p, int map_fd, int buf_fd,
		     uint32_t key_size, uint32_t value_size, uint32_t entries)
{
	struct bpf_insn *v = xcalloc(INSNS_BASE + (key_size + value_size) / 4,
				     sizeof(*v));
	struct hostprog_code code = {
		.name = "tally_copy",
		.type = BPF_PROG_TYPE_SYSCALL,
		.insns = v,
	};
	int rc;

	code.n = make(v, map_fd, buf_fd, key_size, value_size, entries,
		      &code.callback);
	rc = hostprog_load(p, &code);
	free(v);
	return rc;
}

/* Its callback (map, key) removes the element. */
static int load_clear(struct hostprog *p, int map_fd)
{
	enum { FUNC_AT = 2, CALLBACK = 9 };
	const struct bpf_insn v[] = {
		LOAD_64(1, BPF_PSEUDO_MAP_FD, map_fd, 0),
		LOAD_64(2, BPF_PSEUDO_FUNC, CALLBACK - FUNC_AT - 1, 0),
		MOV_IMM(3, 0), MOV_IMM(4, 0), CALL(BPF_FUNC_for_each_map_elem),
		MOV_IMM(0, 0), EXIT,
		CALL(BPF_FUNC_map_delete_elem), MOV_IMM(0, 0), EXIT,
	};
	const struct hostprog_code code = {
		.name = "tally_clear",
		.type = BPF_PROG_TYPE_SYSCALL,
		.insns = v,
		.n = sizeof(v) / sizeof(*v),
		.callback = CALLBACK,
	};

	return hostprog_load(p, &code);
}

int kern_copy_open(struct kern_copy *c, int map_fd, uint32_t key_size,
		   uint32_t value_size, uint32_t entries)
{
	size_t size = 8 + (size_t)entries * (key_size + value_size);
	int rc;

	if (hostprog_asked(&c->copy))
		return c->copy.fd < 0 ? c->copy.fd : 0;
	rc = size > BUF_MAX ? -E2BIG
			    : mapped_open(&c->buf, "tally_copy",
					  (uint32_t)size);
	if (!rc)
		rc = load_copy(&c->copy, map_fd, c->buf.fd, key_size,
			       value_size, entries);
	if (rc)
		c->copy.fd = rc; /* the same answer next time */
	else
		load_clear(&c->clear, map_fd);
	return rc;
}

void kern_copy_close(struct kern_copy *c)
{
	mapped_close(&c->buf);
	hostprog_close(&c->copy);
	hostprog_close(&c->clear);
}

int64_t kern_copy_run(struct kern_copy *c)
{
	int rc = hostprog_run(&c->copy, NULL, 0);
	uint64_t n;

	if (rc < 0)
		return rc;
	memcpy(&n, c->buf.at, sizeof(n));
	return (int64_t)n;
}

int kern_copy_clear(struct kern_copy *c)
{
	return hostprog_run(&c->clear, NULL, 0);
}
