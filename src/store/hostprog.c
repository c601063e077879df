/* SPDX-License-Identifier: MIT */
#include "store/hostprog.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/btf.h>

#include "store/sysbpf.h"

/*
 * The kernel wants to know the type of a callback. It does not compare it with
 * what the helper calls, so one serves all: static int copy(void).
 */
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
	attr.btf = (uintptr_t)&b;
	attr.btf_size = sizeof(b.h) + b.h.type_len + b.h.str_len;
	return sysbpf(BPF_BTF_LOAD, &attr);
}

int hostprog_load(struct hostprog *p, const struct hostprog_code *code)
{
	enum { FUNC_ID = 3 }; /* the type `func` of load_btf() */
	const struct bpf_func_info info[2] = { { 0, FUNC_ID },
					       { code->callback, FUNC_ID } };
	int btf_fd = code->callback ? load_btf() : -1;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = code->type;
	/* the kind demands it */
	if (code->type == BPF_PROG_TYPE_SYSCALL)
		attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = (uintptr_t)code->insns;
	attr.insn_cnt = code->n;
	attr.license = (uintptr_t) "Dual MIT/GPL";
	sysbpf_name(attr.prog_name, code->name);
	if (btf_fd >= 0) {
		attr.prog_btf_fd = (uint32_t)btf_fd;
		attr.func_info = (uintptr_t)info;
		attr.func_info_cnt = 2;
		attr.func_info_rec_size = sizeof(*info);
	}
	p->fd = sysbpf(BPF_PROG_LOAD, &attr);
	if (btf_fd >= 0)
		close(btf_fd);
	return p->fd < 0 ? p->fd : 0;
}

int hostprog_run(const struct hostprog *p, void *ctx, uint32_t size)
{
	union bpf_attr attr;
	int rc;

	if (p->fd < 0)
		return p->fd;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)p->fd;
	/* The kernel copies it in and, for SYSCALL, out to the same place. */
	attr.test.ctx_in = (uintptr_t)ctx;
	attr.test.ctx_size_in = size;
	rc = sysbpf(BPF_PROG_TEST_RUN, &attr);
	return rc ? rc : (int)attr.test.retval;
}

void hostprog_close(struct hostprog *p)
{
	if (p->fd > 0)
		close(p->fd);
	p->fd = 0;
}

int mapped_open(struct mapped *m, const char *name, uint32_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;
	int rc;

	*m = (struct mapped){ .length = (size + page - 1) / page * page };
	m->fd = sysbpf_map(BPF_MAP_TYPE_ARRAY, name, 4, size, 1,
			   BPF_F_MMAPABLE, 0);
	rc = m->fd < 0 ? m->fd : 0;
	if (!rc) {
		at = mmap(NULL, m->length, PROT_READ | PROT_WRITE, MAP_SHARED,
			  m->fd, 0);
		if (at != MAP_FAILED) {
			m->at = at;
			return 0;
		}
		rc = -errno;
		close(m->fd);
	}
	*m = (struct mapped){ 0 };
	return rc;
}

void mapped_close(struct mapped *m)
{
	if (m->at) {
		munmap(m->at, m->length);
		if (m->fd >= 0)
			close(m->fd);
	}
	*m = (struct mapped){ 0 };
}
