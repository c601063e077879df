/* SPDX-License-Identifier: MIT */
/*
 * For tests of gen/: builds ir by hand, compiles it, loads it into the kernel
 * as a raw tracepoint program and runs it there (BPF_PROG_RUN), with the areas
 * of the plan mapped.
 */
#ifndef TESTS_UNIT_GEN_KIT_H
#define TESTS_UNIT_GEN_KIT_H

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/compile.h"
#include "gen/code.h"
#include "ir/ir.h"
#include "ir/plan.h"
#include "ir/util.h"
#include "sema/program.h"

struct kit {
	struct compile *c;
	struct program *prog;
	struct ir *ir;
	struct probe *probe;
	struct ir_func *f;
	struct ir_block *cur, *last;
	struct plan *plan;
	struct gen *gen;
	struct code *code;
	unsigned ncpus; /* 0: those of this machine */
	int fd[64], inner[64][2], prog_fd;
	uint8_t *control, *rows;
	char *log;
};

static inline struct kit *kit_new(enum place place, enum guard guard)
{
	struct compile *c = compile_new();
	struct kit *k = arena_new_of(c->a, struct kit);
	struct ir_loc loc = {.caller = -1};

	k->c = c;
	k->prog = arena_new_of(c->a, struct program);
	k->ir = arena_new_of(c->a, struct ir);
	k->ir->prog = k->prog;
	k->probe = arena_new_of(c->a, struct probe);
	k->probe->place = place;
	k->probe->prog = PROG_RAW_TP;
	k->probe->guard = guard;
	k->probe->pp = "kernel.trace(\"test\")";
	vec_push(c->a, &k->prog->probes, k->probe);
	vec_push(c->a, &k->ir->locs, loc);
	k->f = arena_new_of(c->a, struct ir_func);
	k->f->name = "probe 0";
	k->f->probe = k->probe;
	k->f->place = place;
	vec_push(c->a, &k->ir->funcs, k->f);
	k->prog_fd = -1;
	return k;
}

static inline void kit_free(struct kit *k)
{
	for (unsigned i = 0; k->plan && i < k->plan->maps.n; i++) {
		if (k->fd[i] > 0)
			close(k->fd[i]);
		for (int b = 0; b < 2; b++)
			if (k->inner[i][b] > 0)
				close(k->inner[i][b]);
	}
	if (k->control)
		munmap(k->control, k->plan->maps.v[MAP_CONTROL].value_size);
	if (k->rows)
		munmap(k->rows, k->plan->maps.v[MAP_ROWS].value_size);
	if (k->prog_fd >= 0)
		close(k->prog_fd);
	free(k->log);
	arena_free(k->c->a);
}

static inline struct var *kit_global(struct kit *k, const char *name,
				     enum type t, uint32_t width, int arity)
{
	struct var *v = arena_new_of(k->c->a, struct var);

	v->name = name;
	v->type = t;
	v->width = width;
	v->is_global = true;
	v->arity = arity;
	v->index = k->prog->globals.n;
	for (int i = 0; i < arity; i++) {
		v->key_type[i] = TY_LONG;
		v->key_width[i] = 8;
	}
	vec_push(k->c->a, &k->prog->globals, v);
	return v;
}

static inline struct ir_block *kit_block(struct kit *k)
{
	return arena_new_of(k->c->a, struct ir_block);
}

static inline void kit_start(struct kit *k, struct ir_block *b)
{
	if (k->last)
		k->last->next = b;
	else
		k->f->blocks = b;
	k->last = k->cur = b;
}

/* Appends an instruction; operands: n values. */
static inline struct ir_ins *kit_ins(struct kit *k, enum ir_op op, int dst,
				     unsigned n, ...)
{
	struct ir_ins *i = arena_new_of(k->c->a, struct ir_ins);
	va_list ap;

	i->op = op;
	i->has_dst = dst >= 0;
	i->dst = dst >= 0 ? (uint32_t)dst : 0;
	i->nargs = n;
	i->args = arena_array(k->c->a, struct ir_val, n + 1);
	va_start(ap, n);
	for (unsigned a = 0; a < n; a++)
		i->args[a] = va_arg(ap, struct ir_val);
	va_end(ap);
	if (!k->cur)
		kit_start(k, kit_block(k));
	if (k->cur->last)
		k->cur->last->next = i;
	else
		k->cur->first = i;
	k->cur->last = i;
	return i;
}

static inline int kit_reg(struct kit *k, uint32_t width)
{
	return (int)func_reg(k->c->a, k->f, width, NULL);
}

/* global = v. */
static inline void kit_set(struct kit *k, struct var *g, struct ir_val v)
{
	kit_ins(k, OP_GST, -1, 1, v)->global = g;
}

static inline struct ir_val kit_str(struct kit *k, const char *s)
{
	return val_str(str_internz(k->c->str, s));
}

/* Ends with ret, plans and compiles. */
static inline bool kit_compile(struct kit *k)
{
	kit_ins(k, OP_RET, -1, 0);
	k->plan = plan_make(k->c, k->ir, k->ncpus);
	if (!k->plan)
		return false;
	k->gen = gen_run(k->c, k->ir, k->plan);
	k->code = k->gen->codes.v[0];
	if (getenv("GEN_DUMP"))
		gen_dump(k->gen, k->code, stderr);
	if (diags_errors(k->c->diag)) {
		struct diag_style style = {0};

		diags_print(k->c->diag, stderr, &style);
	}
	return !k->code->limit;
}

static inline int kit_one_map(const struct plan_map *m, enum map_kind kind,
			      const char *name)
{
	LIBBPF_OPTS(bpf_map_create_opts, o);
	int type = BPF_MAP_TYPE_ARRAY;
	unsigned key = m->key_size, value = m->value_size;

	if (kind == PM_ARRAY_MMAP)
		o.map_flags = BPF_F_MMAPABLE;
	if (kind == PM_ARRAY_RDONLY)
		o.map_flags = BPF_F_RDONLY_PROG;
	if (kind == PM_HASH)
		type = BPF_MAP_TYPE_HASH;
	if (kind == PM_PERCPU_HASH)
		type = BPF_MAP_TYPE_PERCPU_HASH;
	if (kind == PM_RINGBUF) {
		type = BPF_MAP_TYPE_RINGBUF;
		key = value = 0;
	}
	return bpf_map_create(type, name, key, value, m->max_entries, &o);
}

static inline int kit_map(struct kit *k, unsigned i)
{
	const struct plan_map *m = &k->plan->maps.v[i];
	uint32_t zero = 0;

	if (m->kind != PM_BANKS)
		k->fd[i] = kit_one_map(m, m->kind, NULL);
	for (int b = 0; b < 2 && m->kind == PM_BANKS; b++) {
		k->inner[i][b] = kit_one_map(m, m->inner, NULL);
		if (k->inner[i][b] < 0)
			return -1;
	}
	if (m->kind == PM_BANKS) {
		LIBBPF_OPTS(bpf_map_create_opts, o,
			    .inner_map_fd = (uint32_t)k->inner[i][0]);

		k->fd[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, 4,
					  4, 2, &o);
		for (uint32_t b = 0; b < 2; b++)
			bpf_map_update_elem(k->fd[i], &b, &k->inner[i][b], 0);
	}
	if (m->kind == PM_ARRAY_RDONLY) {
		bpf_map_update_elem(k->fd[i], &zero, k->plan->rodata, 0);
		bpf_map_freeze(k->fd[i]);
	}
	return k->fd[i];
}

static inline uint8_t *kit_mmap(struct kit *k, unsigned map)
{
	void *p = mmap(NULL, k->plan->maps.v[map].value_size,
		       PROT_READ | PROT_WRITE, MAP_SHARED, k->fd[map], 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Loads into the kernel. 0, 1: bpf() is refused here, -1: rejected (shown). */
static inline int kit_load(struct kit *k)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o);
	struct code_btf *btf;
	int btf_fd = -1;

	for (unsigned i = 0; i < k->plan->maps.n; i++)
		if (kit_map(k, i) < 0)
			return errno == EPERM ? 1 : -1;
	for (unsigned i = 0; i < k->code->relocs.n; i++) {
		const struct reloc *r = &k->code->relocs.v[i];

		if (r->kind == RELOC_MAP || r->kind == RELOC_VALUE)
			k->code->insns[r->insn].imm = k->fd[r->map];
	}
	k->control = kit_mmap(k, MAP_CONTROL);
	k->rows = kit_mmap(k, MAP_ROWS);
	k->log = malloc(4 << 20);
	k->log[0] = 0;
	btf = gen_btf(k->c, k->gen, k->code, true);
	if (btf) {
		LIBBPF_OPTS(bpf_btf_load_opts, b, .log_buf = k->log,
			    .log_size = 4 << 20, .log_level = 1);

		btf_fd = bpf_btf_load(btf->btf, btf->btf_size, &b);
		if (btf_fd < 0) {
			fprintf(stderr, "BTF: %s\n%s\n", strerror(errno),
				k->log);
			return -1;
		}
		o.prog_btf_fd = (uint32_t)btf_fd;
		o.func_info = btf->func_info;
		o.func_info_cnt = btf->nfuncs;
		o.func_info_rec_size = sizeof(struct bpf_func_info);
		o.line_info = btf->line_info;
		o.line_info_cnt = btf->nlines;
		o.line_info_rec_size = sizeof(struct bpf_line_info);
	}
	o.log_buf = k->log;
	o.log_size = 4 << 20;
	o.log_level = getenv("GEN_LOG") ? 2 : 1;
	k->prog_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test",
				   "Dual MIT/GPL", k->code->insns,
				   k->code->ninsns, &o);
	if (btf_fd >= 0)
		close(btf_fd);
	if (getenv("GEN_LOG"))
		fprintf(stderr, "%s\n", k->log);
	if (k->prog_fd >= 0)
		return 0;
	if (errno == EPERM)
		return 1;
	{
		size_t n = strlen(k->log);

		fprintf(stderr, "%s\n%s\n", strerror(errno),
			n > 6000 ? k->log + n - 6000 : k->log);
		gen_dump(k->gen, k->code, stderr);
	}
	return -1;
}

/* Ends a TEST whose program is not loaded: as skipped where bpf() is refused,
 * as failed where the program is. rc: of kit_load(). */
#define KIT_LOADED(k, rc)                                                      \
	do {                                                                   \
		int rc_ = (rc);                                                \
		if (rc_)                                                       \
			kit_free(k);                                           \
		if (rc_ == 1)                                                  \
			SKIP("bpf() is refused");                              \
		CHECK_EQ(rc_, 0);                                              \
		if (rc_)                                                       \
			return;                                                \
	} while (0)

/* One event with these context words. */
static inline int kit_run(struct kit *k, const uint64_t *ctx, unsigned n)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = ctx,
		    .ctx_size_in = n * 8);

	return bpf_prog_test_run_opts(k->prog_fd, &o);
}

static inline int64_t kit_num(struct kit *k, const struct var *g)
{
	int64_t v;

	memcpy(&v, k->control + k->plan->globals[g->index].off, 8);
	return v;
}

static inline void kit_put(struct kit *k, const struct var *g, int64_t v)
{
	memcpy(k->control + k->plan->globals[g->index].off, &v, 8);
}

static inline const char *kit_text(struct kit *k, const struct var *g)
{
	return (const char *)k->control + k->plan->globals[g->index].off;
}

/* Sum over CPUs of a counter of the probe. */
static inline uint64_t kit_count(struct kit *k, size_t field)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < k->plan->nrows; r++)
		sum += *(uint64_t *)(k->rows + r * k->plan->row_size +
				     k->plan->counts_off + field);
	return sum;
}

#endif
