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
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/btf.h>

#include "base/xalloc.h"
#include "store/insn.h"
#include "store/sysbpf.h"

enum {
	/* Memory of a buffer, which stays; larger arrays are read slowly. */
	BUF_MAX = 32 << 20,
	/* Instructions that are not copying. */
	INSNS_BASE = 40,
};

/* Instructions by hand: this program is too small to go through gen/. */
#define ALU_IMM(op, d, i) INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALU_REG(op, d, s) INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define LD_MAP(d, kind, v)                                                     \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, v), INSN(0, 0, 0, 0, 0)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static uint32_t put(struct bpf_insn *v, uint32_t n, const struct bpf_insn *from,
		    uint32_t count)
{
	memcpy(v + n, from, count * sizeof(*v));
	return n + count;
}

#define PUT(...)                                                               \
	do {                                                                   \
		const struct bpf_insn some[] = { __VA_ARGS__ };                \
		n = put(v, n, some, sizeof(some) / sizeof(*some));             \
	} while (0)

static uint32_t copy(struct bpf_insn *v, uint32_t n, int from, int to,
		     uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size; i += 8)
		PUT(LOAD(0, from, (int)i), STORE(2, to + (int)i, 0));
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

	PUT(LD_MAP(2, BPF_PSEUDO_MAP_VALUE, buf_fd), MOV_IMM(1, 0),
	    STORE(2, 0, 1), LD_MAP(1, BPF_PSEUDO_MAP_FD, map_fd),
	    LD_MAP(2, BPF_PSEUDO_FUNC, 0), MOV_IMM(3, 0), MOV_IMM(4, 0),
	    CALL(BPF_FUNC_for_each_map_elem), MOV_IMM(0, 0), EXIT);
	*ret_callback = n;
	v[FUNC_AT].imm = (int32_t)n - FUNC_AT - 1;
	PUT(MOV_REG(6, 2), LD_MAP(2, BPF_PSEUDO_MAP_VALUE, buf_fd),
	    LOAD(1, 2, 0), MOV_IMM(0, 1),
	    INSN(BPF_JMP | BPF_JLT | BPF_K, 1, 0, 1, (int32_t)entries), EXIT,
	    MOV_REG(5, 1), ALU_IMM(BPF_ADD, 5, 1), STORE(2, 0, 5),
	    ALU_IMM(BPF_MUL, 1, (int32_t)(key_size + value_size)),
	    ALU_REG(BPF_ADD, 2, 1));
	n = copy(v, n, 6, 8, key_size);
	n = copy(v, n, 3, 8 + (int)key_size, value_size);
	PUT(MOV_IMM(0, 0), EXIT);
	return n;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* The kernel wants to know the type of a callback: static int copy(void). */
static int load_btf(void)
{
	static const struct {
		struct btf_header h;
		struct btf_type number;
		uint32_t signed_32;
		struct btf_type proto, func;
		char strings[10];
	} b = {
		.h = { BTF_MAGIC, 1, 0, sizeof(b.h), 0,
		       3 * sizeof(b.func) + 4, 3 * sizeof(b.func) + 4,
		       sizeof(b.strings) },
		.number = { 1, BTF_KIND_INT << 24, { 4 } },
		.signed_32 = BTF_INT_SIGNED << 24 | 32,
		.proto = { 0, BTF_KIND_FUNC_PROTO << 24, { 1 } },
		.func = { 5, BTF_KIND_FUNC << 24, { 2 } },
		.strings = "\0int\0copy",
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = pointer(&b);
	attr.btf_size = sizeof(b.h) + b.h.type_len + b.h.str_len;
	return sysbpf(BPF_BTF_LOAD, &attr);
}

/* v is for_each's handler, with its callback at instruction `callback`. */
static int load(const struct bpf_insn *v, uint32_t n, uint32_t callback)
{
	enum { FUNC_ID = 3 };
	const struct bpf_func_info info[2] = { { 0, FUNC_ID },
					       { callback, FUNC_ID } };
	union bpf_attr attr;
	int fd, btf_fd = load_btf();

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE; /* the kind demands it */
	attr.insns = pointer(v);
	attr.insn_cnt = n;
	attr.license = pointer("Dual MIT/GPL");
	sysbpf_name(attr.prog_name, "tally_copy");
	if (btf_fd >= 0) {
		attr.prog_btf_fd = (uint32_t)btf_fd;
		attr.func_info = pointer(info);
		attr.func_info_cnt = 2;
		attr.func_info_rec_size = sizeof(*info);
	}
	fd = sysbpf(BPF_PROG_LOAD, &attr);
	if (btf_fd >= 0)
		close(btf_fd);
	return fd;
}

static int load_copy(int map_fd, int buf_fd, uint32_t key_size,
		     uint32_t value_size, uint32_t entries)
{
	struct bpf_insn *v = xcalloc(INSNS_BASE + (key_size + value_size) / 4,
				     sizeof(*v));
	uint32_t callback, n;
	int fd;

	n = make(v, map_fd, buf_fd, key_size, value_size, entries, &callback);
	fd = load(v, n, callback);
	free(v);
	return fd;
}

/* Its callback (map, key) removes the element. */
static int load_clear(int map_fd)
{
	enum { FUNC_AT = 2, CALLBACK = 9 };
	const struct bpf_insn v[] = {
		LD_MAP(1, BPF_PSEUDO_MAP_FD, map_fd),
		LD_MAP(2, BPF_PSEUDO_FUNC, CALLBACK - FUNC_AT - 1),
		MOV_IMM(3, 0), MOV_IMM(4, 0), CALL(BPF_FUNC_for_each_map_elem),
		MOV_IMM(0, 0), EXIT,
		CALL(BPF_FUNC_map_delete_elem), MOV_IMM(0, 0), EXIT,
	};

	return load(v, sizeof(v) / sizeof(*v), CALLBACK);
}

int kern_copy_open(struct kern_copy *c, int map_fd, uint32_t key_size,
		   uint32_t value_size, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = 8 + (size_t)entries * (key_size + value_size);
	void *at;

	if (c->prog_fd)
		return c->prog_fd < 0 ? c->prog_fd : 0;
	c->prog_fd = -E2BIG;
	if (size > BUF_MAX)
		return c->prog_fd;
	c->buf_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tally_copy", 4,
				   (uint32_t)size, 1, &opts);
	if (c->buf_fd < 0) {
		c->prog_fd = c->buf_fd;
		c->buf_fd = 0;
		return c->prog_fd;
	}
	c->buf_size = (size + page - 1) / page * page;
	at = mmap(NULL, c->buf_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		  c->buf_fd, 0);
	c->prog_fd = at == MAP_FAILED ? -errno
				      : load_copy(map_fd, c->buf_fd,
						  key_size, value_size,
						  entries);
	c->buf = at == MAP_FAILED ? NULL : at;
	c->clear_fd = c->prog_fd < 0 ? c->prog_fd : load_clear(map_fd);
	return c->prog_fd < 0 ? c->prog_fd : 0;
}

void kern_copy_close(struct kern_copy *c)
{
	if (c->buf)
		munmap(c->buf, c->buf_size);
	if (c->buf_fd > 0)
		close(c->buf_fd);
	if (c->prog_fd > 0)
		close(c->prog_fd);
	if (c->clear_fd > 0)
		close(c->clear_fd);
}

static int run(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	return sysbpf(BPF_PROG_TEST_RUN, &attr);
}

int64_t kern_copy_run(struct kern_copy *c)
{
	int rc = run(c->prog_fd);
	uint64_t n;

	if (rc < 0)
		return rc;
	memcpy(&n, c->buf, sizeof(n));
	return (int64_t)n;
}

int kern_copy_clear(struct kern_copy *c)
{
	return c->clear_fd > 0 ? run(c->clear_fd) : -ENOTSUP;
}
