/* SPDX-License-Identifier: MIT */
/* The program that writes a host's cell, and running it. */
#include "store/kern_cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "store/insn.h"
#include "store/sysbpf.h"

/* What a run says. */
enum { WRITTEN, MISSING, DIFFERS };

/*
 * The request is a map's element, mapped here: a key may be longer than a
 * program's stack. It is the key, then two cells: what the host's cell is
 * thought to be, and what it is to be.
 */
struct kern_cell {
	const struct plan_global *g;
	int map_fd;	   /* of the aggregate */
	int buf_fd;	   /* of the request; or a negative errno */
	int prog_fd;	   /* likewise */
	uint8_t *request;
	size_t size;	   /* of the mapping */
	uint64_t *was, *is; /* in the request */
	uint8_t *value;	   /* a whole element */
};

/* Instructions by hand, as in kern_add.c. */
#define LD_MAP(d, kind, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, fd)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/*
 * Puts the program into v; returns its length. With the request in r6:
 *     r0 = lookup(map, key); if (!r0) return MISSING
 *     if (the host's cell at r0 != was) { was = that cell; return DIFFERS }
 *     the host's cell = is; return WRITTEN
 * Only the host writes that cell, one thread of it, so plain stores do. It
 * differs from what the host knows after a program has deleted the element.
 */
static uint32_t make(struct bpf_insn *v, const struct kern_cell *c)
{
	int key = (int)c->g->key.size, cell = (int)c->g->cell.size;
	int at = (int)plan_host_off(c->g), words = cell / 8, i;
	uint32_t n = 0, differs;

	v[n++] = LD_MAP(6, BPF_PSEUDO_MAP_VALUE, c->buf_fd);
	v[n++] = INSN(0, 0, 0, 0, 0);
	v[n++] = LD_MAP(1, BPF_PSEUDO_MAP_FD, c->map_fd);
	v[n++] = INSN(0, 0, 0, 0, 0);
	v[n++] = MOV_REG(2, 6);
	v[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	v[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
	v[n++] = MOV_IMM(0, MISSING);
	v[n++] = EXIT;
	/* 3 instructions a word here, 2 behind, and the end */
	differs = n + 5 * (uint32_t)words + 2;
	for (i = 0; i < cell; i += 8) {
		v[n++] = LOAD(1, 6, key + i);
		v[n++] = LOAD(2, 0, at + i);
		v[n] = INSN(BPF_JMP | BPF_JNE | BPF_X, 1, 2, differs - n - 1,
			    0);
		n++;
	}
	for (i = 0; i < cell; i += 8) {
		v[n++] = LOAD(1, 6, key + cell + i);
		v[n++] = STORE(0, at + i, 1);
	}
	v[n++] = MOV_IMM(0, WRITTEN);
	v[n++] = EXIT;
	for (i = 0; i < cell; i += 8) {
		v[n++] = LOAD(1, 0, at + i);
		v[n++] = STORE(6, key + i, 1);
	}
	v[n++] = MOV_IMM(0, DIFFERS);
	v[n++] = EXIT;
	return n;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* As a raw tracepoint's: such a program can be run on request since Linux
 * 5.10, on this CPU, which is not taken from it meanwhile. */
static int load(const struct kern_cell *c)
{
	struct bpf_insn *v = xcalloc(7 * c->g->cell.size / 8 + 20, sizeof(*v));
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = pointer(v);
	attr.insn_cnt = make(v, c);
	attr.license = pointer("Dual MIT/GPL");
	sysbpf_name(attr.prog_name, "tally_cell");
	fd = sysbpf(BPF_PROG_LOAD, &attr);
	free(v);
	return fd;
}

static int map_request(struct kern_cell *c, uint32_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	c->buf_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tally_cell", 4, size,
				   1, &opts);
	if (c->buf_fd < 0)
		return c->buf_fd;
	c->size = (size + page - 1) / page * page;
	at = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->buf_fd,
		  0);
	if (at == MAP_FAILED)
		return -errno;
	c->request = at;
	return 0;
}

struct kern_cell *kern_cell_new(int map_fd, const struct plan_global *g)
{
	struct kern_cell *c = xcalloc(1, sizeof(*c));

	c->g = g;
	c->map_fd = map_fd;
	c->value = xcalloc(plan_cells(g), g->cell.size);
	c->prog_fd = map_request(c, g->key.size + 2 * g->cell.size);
	if (c->prog_fd)
		return c;
	c->was = (uint64_t *)(c->request + g->key.size);
	c->is = (uint64_t *)(c->request + g->key.size + g->cell.size);
	c->prog_fd = load(c);
	return c;
}

void kern_cell_free(struct kern_cell *c)
{
	if (!c)
		return;
	if (c->request)
		munmap(c->request, c->size);
	if (c->buf_fd >= 0)
		close(c->buf_fd);
	if (c->prog_fd >= 0)
		close(c->prog_fd);
	free(c->value);
	free(c);
}

/* WRITTEN, MISSING, DIFFERS or a negative errno. */
static int run(struct kern_cell *c)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)c->prog_fd;
	rc = sysbpf(BPF_PROG_TEST_RUN, &attr);
	return rc ? rc : (int)attr.test.retval;
}

/* A new element, zeroes but for the host's cell. -EEXIST: a program was
 * faster. */
static int insert(struct kern_cell *c, const void *key, int64_t v)
{
	uint64_t *cell = (uint64_t *)(c->value + plan_host_off(c->g));

	memset(cell, 0, c->g->cell.size);
	cell_add(&c->g->cell, cell, v);
	return bpf_map_update_elem(c->map_fd, key, c->value, BPF_NOEXIST);
}

int kern_cell_add(struct kern_cell *c, const void *key, const uint64_t *was,
		  int64_t v)
{
	const uint32_t size = c->g->cell.size;
	int rc;

	if (c->prog_fd < 0)
		return -ENOTSUP;
	memcpy(c->request, key, c->g->key.size);
	memset(c->was, 0, size);
	if (was)
		memcpy(c->was, was, size);
	/* Ends when no program deletes or makes the element in between. */
	do {
		memcpy(c->is, c->was, size);
		cell_add(&c->g->cell, c->is, v);
		rc = run(c);
		if (rc == MISSING) {
			memset(c->was, 0, size);
			rc = insert(c, key, v);
		}
	} while (rc == DIFFERS || rc == -EEXIST);
	/* Without room the sample goes to "other", with whatever else the
	 * kernel has against it, apart. */
	return rc == 0 || rc == -E2BIG ? rc : -ENOTSUP;
}
