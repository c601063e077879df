/* SPDX-License-Identifier: MIT */
/* The program that writes a host's cell, and running it. */
#include "store/kern_cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/xalloc.h"
#include "store/hostprog.h"
#include "store/insn.h"

/* What a run says. */
enum { WRITTEN, MISSING, DIFFERS };

/*
 * The request is a map's element, mapped here: a key may be longer than a
 * program's stack. It is the key, then two cells: what the host's cell is
 * thought to be, and what it is to be.
 */
struct kern_cell {
	const struct plan_global *g;
	int map_fd; /* of the aggregate */
	struct mapped request;
	struct hostprog prog;
	uint64_t *was, *is; /* in the request */
	uint8_t *value;	    /* a whole element */
};

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

	INSN_PUT(v, n, LOAD_64(6, BPF_PSEUDO_MAP_VALUE, c->request.fd, 0),
		 LOAD_64(1, BPF_PSEUDO_MAP_FD, c->map_fd, 0), MOV_REG(2, 6),
		 CALL(BPF_FUNC_map_lookup_elem), JUMP_IMM(BPF_JNE, 0, 0, 2),
		 MOV_IMM(0, MISSING), EXIT);
	/* 3 instructions a word here, 2 behind, and the end */
	differs = n + 5 * (uint32_t)words + 2;
	for (i = 0; i < cell; i += 8) {
		INSN_PUT(v, n, LOAD(1, 6, key + i), LOAD(2, 0, at + i));
		INSN_PUT(v, n, JUMP_REG(BPF_JNE, 1, 2, differs - n - 1));
	}
	for (i = 0; i < cell; i += 8)
		INSN_PUT(v, n, LOAD(1, 6, key + cell + i), STORE(0, at + i, 1));
	INSN_PUT(v, n, MOV_IMM(0, WRITTEN), EXIT);
	for (i = 0; i < cell; i += 8)
		INSN_PUT(v, n, LOAD(1, 0, at + i), STORE(6, key + i, 1));
	INSN_PUT(v, n, MOV_IMM(0, DIFFERS), EXIT);
	return n;
}

/* As a raw tracepoint's: it is not taken from its CPU meanwhile. */
static void load(struct kern_cell *c)
{
	struct bpf_insn *v = xcalloc(7 * c->g->cell.size / 8 + 20, sizeof(*v));
	struct hostprog_code code = {
		.name = "tally_cell",
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = v,
	};

	code.n = make(v, c);
	hostprog_load(&c->prog, &code);
	free(v);
}

struct kern_cell *kern_cell_new(int map_fd, const struct plan_global *g)
{
	struct kern_cell *c = xcalloc(1, sizeof(*c));

	c->g = g;
	c->map_fd = map_fd;
	c->value = xcalloc(plan_cells(g), g->cell.size);
	c->prog.fd = mapped_open(&c->request, "tally_cell",
				 g->key.size + 2 * g->cell.size);
	if (c->prog.fd)
		return c;
	c->was = (uint64_t *)(c->request.at + g->key.size);
	c->is = (uint64_t *)(c->request.at + g->key.size + g->cell.size);
	load(c);
	return c;
}

void kern_cell_free(struct kern_cell *c)
{
	if (!c)
		return;
	mapped_close(&c->request);
	hostprog_close(&c->prog);
	free(c->value);
	free(c);
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

	if (c->prog.fd < 0)
		return -ENOTSUP;
	memcpy(c->request.at, key, c->g->key.size);
	memset(c->was, 0, size);
	if (was)
		memcpy(c->was, was, size);
	/* Ends when no program deletes or makes the element in between. */
	do {
		memcpy(c->is, c->was, size);
		cell_add(&c->g->cell, c->is, v);
		rc = hostprog_run(&c->prog, NULL, 0);
		if (rc == MISSING) {
			memset(c->was, 0, size);
			rc = insert(c, key, v);
		}
	} while (rc == DIFFERS || rc == -EEXIST);
	/* Without room the sample goes to "other", with whatever else the
	 * kernel has against it, apart. */
	return rc == 0 || rc == -E2BIG ? rc : -ENOTSUP;
}
