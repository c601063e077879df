/* SPDX-License-Identifier: MIT */
/* Operands, temporaries and leaving: what all lowering is written with. */
#include "gen/emit.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum {
	/* Longer strings are copied by a helper: 16 loads and stores cost
	 * about what the call does. */
	COPY_INLINE = 128,
	PROBE_READ_KERNEL = 113,
};

/* Only the dry run has to know: the real one finds the homes filled. */
static void note_pseudo(struct emit *e, enum pseudo p)
{
	if (e->dry)
		e->notes[e->ins_no].pseudo |= 1u << p;
}

/* --- homes --------------------------------------------------------------- */

/* Where a home is; tmp is loaded with the base when that is not r10. */
static struct mem home_mem(struct emit *e, const struct home *h, int tmp)
{
	const struct home *via;

	switch (h->kind) {
	case HOME_FRAME:
		return (struct mem){FP, h->off};
	case HOME_ROOT:
	case HOME_SCRATCH:
		via = &e->homes[e->nregs +
				(h->kind == HOME_ROOT ? PS_ROOT : PS_SCR)];
		if (via->kind == HOME_REG)
			return (struct mem){via->reg, h->off};
		struct mem m = home_mem(e, via, tmp);

		asm_load(e->as, 8, tmp, m.base, m.off);
		return (struct mem){tmp, h->off};
	default:
		assert(!"a register has no memory");
		return (struct mem){FP, 0};
	}
}

struct mem emit_mem(struct emit *e, uint32_t r, int tmp)
{
	return home_mem(e, &e->homes[r], tmp);
}

/* reg may be the home itself. */
static int reg_of(struct emit *e, uint32_t r, int tmp)
{
	const struct home *h = &e->homes[r];
	struct mem m;

	if (h->kind == HOME_REG)
		return h->reg;
	m = home_mem(e, h, tmp);
	asm_load(e->as, 8, tmp, m.base, m.off);
	return tmp;
}

int emit_use(struct emit *e, const struct ir_val *v, int tmp)
{
	if (v->kind == VAL_NUM) {
		asm_imm(e->as, tmp, v->num);
		return tmp;
	}
	assert(v->kind == VAL_REG);
	return reg_of(e, v->reg, tmp);
}

int emit_unlinked(struct emit *e, const struct ir_val *v, int tmp)
{
	int reg = emit_use(e, v, tmp);

	if (!(e->body || e->branchy) || v->kind != VAL_REG)
		return reg;
	asm_mov(e->as, tmp, reg);
	asm_alui(e->as, BPF_OR, tmp, 0);
	return tmp;
}

void emit_unlink(struct emit *e, int reg)
{
	if (e->body || e->branchy)
		asm_alui(e->as, BPF_OR, reg, 0);
}

void emit_load(struct emit *e, int reg, const struct ir_val *v)
{
	asm_mov(e->as, reg, emit_use(e, v, reg));
}

bool emit_is_imm(const struct ir_val *v)
{
	return v->kind == VAL_NUM && v->num >= INT32_MIN && v->num <= INT32_MAX;
}

int emit_dst(struct emit *e, int tmp)
{
	const struct home *h;

	if (!e->ins->has_dst)
		return tmp;
	h = &e->homes[e->ins->dst];
	return h->kind == HOME_REG ? h->reg : tmp;
}

/*
 * reg ^= a zero that the verifier cannot see. A variable of a loop must not
 * have a known value: the verifier would walk the body once per value.
 */
void emit_opaque(struct emit *e, int reg, int tmp)
{
	asm_value(e->as, tmp, MAP_CONTROL, offsetof(struct control, pad1));
	asm_load(e->as, 8, tmp, tmp, 0);
	asm_alu(e->as, BPF_XOR, reg, tmp);
}

void emit_unknown_zero(struct emit *e, int reg)
{
	asm_value(e->as, reg, MAP_CONTROL, offsetof(struct control, pad1));
	asm_load(e->as, 8, reg, reg, 0);
}

/*
 * Must what is stored as the instruction's result be unknown to the verifier?
 * So it is for variables that are set at several places and live on the stack:
 * paths are one to it only where each slot holds the same kind of thing, and a
 * constant, a zero, a bounded number and an unknown one are four kinds
 * (docs/design/verifier.md).
 */
static bool is_merged(const struct emit *e)
{
	enum home_kind k;

	if (!e->kernel || !e->ins->has_dst)
		return false;
	k = e->homes[e->ins->dst].kind;
	return (k == HOME_FRAME || k == HOME_ROOT) &&
	       (e->merged[e->ins->dst] || e->f->regs.v[e->ins->dst].shared);
}

/*
 * Lowering makes these of several constants, one a path: to be on the stack
 * they must be unknown even where the variable is set at this place only.
 */
static bool has_paths(enum ir_op op)
{
	switch (op) {
	case OP_EQ ... OP_GE:
	case OP_SEQ ... OP_SGE:
	case OP_NOT:
	case OP_AHAS:
	case OP_AGET:
	case OP_MATCH:
	case OP_BCALL:
	case OP_BCALLE:
		return true;
	default:
		return false;
	}
}

void emit_put(struct emit *e, int reg)
{
	const struct home *h;
	struct mem m;

	if (!e->ins->has_dst)
		return;
	h = &e->homes[e->ins->dst];
	/*
	 * Registers that a loop shares are in memory; what comes out of there
	 * must not be a constant to the verifier.
	 */
	if (e->kernel && (e->f->regs.v[e->ins->dst].shared ||
			  is_merged(e) ||
			  (h->kind == HOME_FRAME && has_paths(e->ins->op)))) {
		asm_mov(e->as, R0, reg);
		emit_opaque(e, R0, R2);
		reg = R0;
	}
	if (h->kind == HOME_REG) {
		asm_mov(e->as, h->reg, reg);
		return;
	}
	/* the base must not destroy the value */
	m = home_mem(e, h, reg == R1 ? R2 : R1);
	asm_store(e->as, 8, m.base, m.off, reg);
}

int emit_pseudo(struct emit *e, enum pseudo p, int tmp)
{
	note_pseudo(e, p);
	return reg_of(e, e->nregs + p, tmp);
}

/* --- strings ------------------------------------------------------------- */

bool emit_is_str(const struct emit *e, const struct ir_val *v)
{
	return v->kind == VAL_STR ||
	       (v->kind == VAL_REG && e->f->regs.v[v->reg].is_str);
}

int64_t emit_literal_word(const char *s, uint32_t at)
{
	size_t len = strlen(s);
	int64_t w = 0;

	if (at < len)
		memcpy(&w, s + at, len - at < 8 ? len - at : 8);
	return w;
}

uint32_t emit_width(struct emit *e, const struct ir_val *v)
{
	if (v->kind == VAL_STR)
		return round8((uint32_t)strlen(v->str) + 1);
	assert(v->kind == VAL_REG);
	return e->f->regs.v[v->reg].width;
}

/*
 * A literal is a constant in the RODATA map, padded with zeros: copies by words
 * read up to its width.
 */
void emit_addr(struct emit *e, int reg, const struct ir_val *v)
{
	struct mem m;

	if (v->kind == VAL_STR) {
		uint32_t n = emit_width(e, v);
		char *padded = arena_alloc(e->c->a, n);

		memcpy(padded, v->str, strlen(v->str));
		asm_value(e->as, reg, MAP_RODATA,
			  plan_rodata(e->c, e->plan, padded, n));
		return;
	}
	m = emit_mem(e, v->reg, reg);
	asm_mov(e->as, reg, m.base);
	emit_add(e, reg, m.off);
}

void emit_dst_addr(struct emit *e, int reg)
{
	const struct ir_val v = {.kind = VAL_REG, .reg = e->ins->dst};

	emit_addr(e, reg, &v);
}

uint32_t emit_dst_width(struct emit *e)
{
	return e->f->regs.v[e->ins->dst].width;
}

void emit_add(struct emit *e, int reg, int32_t imm)
{
	if (imm)
		asm_alui(e->as, BPF_ADD, reg, imm);
}

void emit_zero(struct emit *e, struct mem dst, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 8)
		asm_storei(e->as, 8, dst.base, dst.off + (int)i, 0);
}

/* Is dst the variable itself? Perhaps: temporaries are treated alike. */
static bool to_merged(const struct emit *e, struct mem dst)
{
	return is_merged(e) &&
	       (dst.base == FP || e->homes[e->ins->dst].kind == HOME_ROOT);
}

void emit_zero_dst(struct emit *e, struct mem dst, uint32_t n)
{
	if (!n || !to_merged(e, dst)) {
		emit_zero(e, dst, n);
		return;
	}
	emit_unknown_zero(e, R5);
	for (uint32_t i = 0; i < n; i += 8)
		asm_store(e->as, 8, dst.base, dst.off + (int)i, R5);
}

/* A byte of a word whose others are unknown would make it a fifth kind. */
void emit_end_dst(struct emit *e, struct mem dst, uint32_t n)
{
	int last = dst.off + (int)n - 8;

	if (!to_merged(e, dst)) {
		asm_storei(e->as, 1, dst.base, dst.off + (int)n - 1, 0);
		return;
	}
	asm_load(e->as, 8, R5, dst.base, last);
	asm_alui(e->as, BPF_LSH, R5, 8);
	asm_alui(e->as, BPF_RSH, R5, 8);
	emit_opaque(e, R5, dst.base == R4 ? R0 : R4);
	asm_store(e->as, 8, dst.base, last, R5);
}

/*
 * Words of a literal as immediates; r5 for those that do not fit 32 bits.
 * Little-endian words, as both machines are.
 */
static void put_literal(struct emit *e, struct mem dst, const char *s,
			uint32_t n)
{
	bool merged = to_merged(e, dst);
	size_t len = strlen(s);

	if (len >= n)
		len = n - 1;
	if (merged)
		emit_unknown_zero(e, R4);
	for (uint32_t i = 0; i < n; i += 8) {
		int64_t w = 0;

		if (i < len)
			memcpy(&w, s + i, len - i < 8 ? len - i : 8);
		if (merged) {
			if (w)
				asm_imm(e->as, R5, w);
			if (w)
				asm_alu(e->as, BPF_XOR, R5, R4);
			asm_store(e->as, 8, dst.base, dst.off + (int)i,
				  w ? R5 : R4);
		} else if (w >= INT32_MIN && w <= INT32_MAX) {
			asm_storei(e->as, 8, dst.base, dst.off + (int)i,
				   (int32_t)w); /* r5 is written only here */
		} else {
			asm_imm(e->as, R5, w);
			asm_store(e->as, 8, dst.base, dst.off + (int)i, R5);
		}
	}
}

/* The shorter of both widths is copied. */
bool emit_string_calls(struct emit *e, const struct ir_val *v, uint32_t n)
{
	uint32_t w = emit_width(e, v);

	return (w < n ? w : n) > COPY_INLINE;
}

void emit_put_string(struct emit *e, struct mem dst, const struct ir_val *v,
		     uint32_t n)
{
	uint32_t w = emit_width(e, v);
	uint32_t copy = w < n ? w : n;
	struct mem src;

	assert(dst.base != R4 && dst.base != R5);
	/* The tail and the cut come first: a call clobbers dst.base. */
	if (w < n)
		emit_zero_dst(e, (struct mem){dst.base, dst.off + (int)w},
			      n - w);
	if (v->kind == VAL_STR && copy <= COPY_INLINE) {
		put_literal(e, dst, v->str, copy);
		return;
	}
	if (copy <= COPY_INLINE) {
		src = emit_mem(e, v->reg, R4);
		for (uint32_t i = 0; i < copy; i += 8) {
			asm_load(e->as, 8, R5, src.base, src.off + (int)i);
			asm_store(e->as, 8, dst.base, dst.off + (int)i, R5);
		}
		if (w > n)
			/* cut: the last byte is the NUL */
			emit_end_dst(e, dst, n);
		return;
	}
	if (w > n) {
		/* the last byte stays the NUL that is written here */
		asm_storei(e->as, 1, dst.base, dst.off + (int)n - 1, 0);
		copy = n - 1;
	}
	asm_mov(e->as, R1, dst.base);
	emit_add(e, R1, dst.off);
	emit_addr(e, R3, v);
	asm_imm(e->as, R2, copy);
	asm_call(e->as, PROBE_READ_KERNEL);
}

/* --- temporaries --------------------------------------------------------- */

/* Handles are offsets: they do not move when tmp_off is set. */
uint32_t emit_tmp(struct emit *e, uint32_t bytes)
{
	uint32_t at = e->tmp_used;

	e->tmp_used += round8(bytes);
	/* what the dry run did not ask for was given to others */
	assert(e->dry || e->tmp_used <= e->tmp_max);
	if (e->tmp_used > e->tmp_max)
		e->tmp_max = e->tmp_used;
	return at;
}

struct mem emit_tmp_mem(struct emit *e, uint32_t handle, int tmp)
{
	const struct home h = {
		.kind = e->tmp_kind,
		.off = e->tmp_off + (int)handle,
	};

	return home_mem(e, &h, tmp);
}

void emit_tmp_addr(struct emit *e, int reg, uint32_t handle)
{
	struct mem m = emit_tmp_mem(e, handle, reg);

	asm_mov(e->as, reg, m.base);
	emit_add(e, reg, m.off);
}

/* One word for all instructions, in the frame of this function. */
void emit_save_ptr(struct emit *e, int reg)
{
	e->ptr_used = true;
	asm_store(e->as, 8, FP, e->ptr_off, reg);
}

void emit_restore_ptr(struct emit *e, int reg)
{
	asm_load(e->as, 8, reg, FP, e->ptr_off);
}

/* --- control ------------------------------------------------------------- */

unsigned emit_block(struct emit *e, const struct ir_block *b)
{
	return e->labels[b->id];
}

void emit_goto(struct emit *e, const struct ir_block *b)
{
	if (b != e->next_block)
		asm_jmp(e->as, emit_block(e, b));
}

void emit_ok(struct emit *e)
{
	if (e->ins->target[0])
		emit_goto(e, e->ins->target[0]);
}

/* Without a scratch slot or the time to take, leaving is two instructions. */
void emit_leave(struct emit *e)
{
	if (e->kernel && !e->body &&
	    (e->code->needs_scratch || e->plan->timed)) {
		asm_jmp(e->as, e->out_label);
		e->out_used = true;
		return;
	}
	/* a body that leaves ends its loop */
	asm_imm(e->as, R0, e->body ? 1 : 0);
	asm_exit(e->as);
}

struct span emit_span(struct emit *e)
{
	if (e->ins && e->ins->loc < e->g->ir->locs.n)
		return e->g->ir->locs.v[e->ins->loc].span;
	if (e->f->probe)
		return e->f->probe->span;
	return (struct span){0};
}

uint32_t emit_loc(struct emit *e)
{
	return e->ins->loc;
}

void emit_swap(struct emit *e, int base, int off, int src, int t)
{
	unsigned differs;

	if (!e->c->set.lacks.fetch) {
		asm_atomic(e->as, BPF_CMPXCHG, base, off, src);
		return;
	}
	differs = asm_label(e->as);
	asm_mov(e->as, t, R0);
	asm_load(e->as, 8, R0, base, off);
	asm_jif(e->as, BPF_JNE, R0, t, differs);
	asm_store(e->as, 8, base, off, src);
	asm_bind(e->as, differs);
}

void emit_ticket(struct emit *e, int base, int off)
{
	asm_imm(e->as, R0, 1);
	if (!e->c->set.lacks.fetch) {
		asm_atomic(e->as, BPF_ADD | BPF_FETCH, base, off, R0);
		return;
	}
	asm_atomic(e->as, BPF_ADD, base, off, R0);
	asm_load(e->as, 8, R0, base, off);
	asm_alui(e->as, BPF_SUB, R0, 1);
}

void emit_lacking(struct emit *e, const char *what, const char *since)
{
	struct span at = emit_span(e);

	if (!e->kernel) /* the VM has it all */
		return;
	if (!e->failed)
		complain(e->c, KERNEL_LACKS, &at, what, since);
	e->failed = true;
}

bool emit_locked(const struct emit *e)
{
	const struct ir *ir = e->g->ir;
	const struct probe *p = e->f->probe;

	return p && e->ins->global && ir->lock_of && ir->probe_locks &&
	       (ir->probe_locks[p->index] & ir->lock_of[e->ins->global->index]);
}

void emit_count(struct emit *e, uint32_t field, int t0, int t1)
{
	uint32_t off = e->plan->counts_off +
		       e->f->probe->index *
			   (uint32_t)sizeof(struct probe_counts) +
		       field;
	int row = emit_pseudo(e, PS_ROW, t0);

	if (off > INT16_MAX) { /* off fits 16 bits signed */
		asm_mov(e->as, t0, row);
		emit_add(e, t0, (int32_t)off);
		row = t0;
		off = 0;
	}
	/*
	 * The same program may be preempted by itself here, between load and
	 * store.
	 */
	if (e->f->probe->guard == GUARD_PREEMPTIBLE) {
		asm_imm(e->as, t1, 1);
		asm_atomic(e->as, BPF_ADD, row, (int)off, t1);
		return;
	}
	asm_load(e->as, 8, t1, row, (int)off);
	asm_alui(e->as, BPF_ADD, t1, 1);
	asm_store(e->as, 8, row, (int)off, t1);
}
