/* SPDX-License-Identifier: MIT */
/*
 * What the host answers with helpers of its own (gen/host.def). Helpers that
 * may fail leave a pending error, which is asked for when the instruction has a
 * failure target.
 */
#include "gen/isel.h"

#include <assert.h>

/*
 * After an F helper: r0 is the result. It is kept in memory over the call that
 * asks for the failure.
 */
static void finish(struct emit *e)
{
	bool number = e->ins->has_dst && !e->f->regs.v[e->ins->dst].is_str;
	uint32_t t = 0;
	struct mem m;

	/* a kernel handler in the VM asks what its event says: that is there */
	if (!e->ins->target[1] || e->kernel) {
		if (number)
			emit_put(e, R0);
		emit_ok(e);
		return;
	}
	if (number) {
		t = emit_tmp(e, 8);
		m = emit_tmp_mem(e, t, R1);
		asm_store(e->as, 8, m.base, m.off, R0);
	}
	asm_call(e->as, HOST_FAILED);
	asm_jifi(e->as, BPF_JNE, R0, 0, emit_block(e, e->ins->target[1]));
	if (number) {
		m = emit_tmp_mem(e, t, R1);
		asm_load(e->as, 8, R0, m.base, m.off);
		emit_put(e, R0);
	}
	emit_ok(e);
}

static const struct plan_global *global(struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

/* --- arrays and aggregates ----------------------------------------------- */

/* r1 = global, r2 = key or 0; the number of operands that the key took. */
static unsigned global_and_key(struct emit *e)
{
	unsigned n = global(e)->key.n;

	if (n) {
		uint32_t k = isel_key(e, 0, 0);

		emit_tmp_addr(e, R2, k);
	} else {
		asm_imm(e->as, R2, 0);
	}
	asm_imm(e->as, R1, e->ins->global->index);
	return n;
}

/* A missing element is 0 or "": the helper cannot fail. */
static void array_get(struct emit *e)
{
	uint32_t t = 0;
	bool str = e->f->regs.v[e->ins->dst].is_str;
	uint32_t w = round8(global(e)->value_width);
	/*
	 * the helper writes value_width bytes: only a result that is as wide
	 * takes them
	 */
	bool direct = str && emit_dst_width(e) == w;
	struct mem m;

	if (!direct)
		t = emit_tmp(e, w);
	global_and_key(e);
	if (direct)
		emit_dst_addr(e, R3);
	else
		emit_tmp_addr(e, R3, t);
	asm_call(e->as, HOST_ARR_GET);
	if (direct)
		return;
	if (str) {
		emit_tmp_addr(e, R1, t);
		isel_copy_to_dst(e, R1, w);
		return;
	}
	m = emit_tmp_mem(e, t, R1);
	asm_load(e->as, 8, R0, m.base, m.off);
	emit_put(e, R0);
}

/* The value goes by address, as strings do. */
static void array_set(struct emit *e)
{
	unsigned n = global(e)->key.n;
	const struct ir_val *v = &e->ins->args[n];
	uint32_t w = emit_is_str(e, v) ? round8(global(e)->value_width) : 8;
	uint32_t t = emit_tmp(e, w);
	struct mem m = emit_tmp_mem(e, t, R1);

	if (emit_is_str(e, v))
		emit_put_string(e, m, v, w);
	else
		asm_store(e->as, 8, m.base, m.off, emit_use(e, v, R2));
	global_and_key(e);
	emit_tmp_addr(e, R3, t);
	asm_imm(e->as, R4, emit_loc(e));
	asm_call(e->as, HOST_ARR_SET);
	finish(e);
}

/* helper(g, key, last operand, loc) */
static void key_and_number(struct emit *e, int helper)
{
	unsigned n = global_and_key(e);

	emit_load(e, R3, &e->ins->args[n]);
	asm_imm(e->as, R4, emit_loc(e));
	asm_call(e->as, helper);
	finish(e);
}

/* helper(g, key, num) num: the mask of wildcards. */
static void key_and_mask(struct emit *e, int helper, int64_t mask)
{
	global_and_key(e);
	asm_imm(e->as, R3, mask);
	asm_call(e->as, helper);
	if (e->ins->has_dst)
		emit_put(e, R0);
	emit_ok(e);
}

/* num: which extractor; for quantiles the operand behind the key. */
static void stat_get(struct emit *e)
{
	unsigned n = global_and_key(e);

	asm_imm(e->as, R3, e->ins->num);
	if (n < e->ins->nargs)
		emit_load(e, R4, &e->ins->args[n]);
	else
		asm_imm(e->as, R4, 0);
	asm_imm(e->as, R5, emit_loc(e));
	asm_call(e->as, HOST_AGG_GET);
	finish(e);
}

/* A histogram as text, to the output or as a string. */
static void hist_text(struct emit *e)
{
	global_and_key(e);
	asm_imm(e->as, R3, e->ins->num);
	if (e->ins->op == OP_HPRINT) {
		asm_imm(e->as, R4, emit_loc(e));
		asm_call(e->as, HOST_HIST_PRINT);
	} else {
		emit_dst_addr(e, R4);
		asm_imm(e->as, R5, emit_dst_width(e));
		asm_call(e->as, HOST_HIST_SPRINT);
	}
	finish(e);
}

static void array(struct emit *e)
{
	switch (e->ins->op) {
	case OP_AGET:
		array_get(e);
		break;
	case OP_ASET:
		array_set(e);
		break;
	case OP_AADD:
	case OP_AXADD:
		key_and_number(e, HOST_ARR_ADD);
		break;
	case OP_AHAS:
		key_and_mask(e, HOST_ARR_HAS, 0);
		break;
	case OP_AHASW:
		key_and_mask(e, HOST_ARR_HAS, e->ins->num);
		break;
	case OP_ADEL:
		key_and_mask(e, HOST_ARR_DEL, 0);
		break;
	case OP_ADELW:
		key_and_mask(e, HOST_ARR_DEL, e->ins->num);
		break;
	case OP_ACLR:
		asm_imm(e->as, R1, e->ins->global->index);
		asm_call(e->as, HOST_ARR_CLEAR);
		break;
	case OP_SADD:
		key_and_number(e, HOST_AGG_ADD);
		break;
	case OP_SGET:
		stat_get(e);
		break;
	case OP_HGET:
		key_and_number(e, HOST_AGG_HIST);
		break;
	default:
		hist_text(e);
	}
}

/* --- iteration ----------------------------------------------------------- */

/* Operands: the limit, if there is one, then the keys of a slice. */
static void iter_new(struct emit *e)
{
	const struct ir_iter *it = e->ins->iter;
	bool limit = it->has_limit && e->ins->nargs;
	uint32_t k = 0;
	bool key = e->ins->nargs > (limit ? 1u : 0u);

	if (key)
		k = isel_key(e, limit ? 1 : 0, it->wild);
	asm_imm(e->as, R1, it->id);
	if (key)
		emit_tmp_addr(e, R2, k);
	else
		asm_imm(e->as, R2, 0);
	if (limit)
		emit_load(e, R3, &e->ins->args[0]);
	else
		asm_imm(e->as, R3, -1); /* no limit */
	asm_call(e->as, HOST_ITER_NEW);
	emit_put(e, R0);
}

/* Key n or the value of the current element: a string is written to the result,
 * whose width the builder made that of the key or value. */
static void iter_part(struct emit *e, int helper)
{
	bool str = e->f->regs.v[e->ins->dst].is_str;
	bool key = helper == HOST_ITER_KEY;

	emit_load(e, R1, &e->ins->args[0]);
	if (key)
		asm_imm(e->as, R2, e->ins->args[1].num);
	if (str)
		emit_dst_addr(e, key ? R3 : R2);
	else
		asm_imm(e->as, key ? R3 : R2, 0);
	asm_call(e->as, helper);
	if (!str)
		emit_put(e, R0);
}

static void iterate(struct emit *e)
{
	switch (e->ins->op) {
	case OP_ITNEW:
		iter_new(e);
		break;
	case OP_ITNEXT:
		emit_load(e, R1, &e->ins->args[0]);
		asm_call(e->as, HOST_ITER_NEXT);
		emit_put(e, R0);
		break;
	case OP_ITKEY:
		iter_part(e, HOST_ITER_KEY);
		break;
	case OP_ITVAL:
		iter_part(e, HOST_ITER_VAL);
		break;
	default:
		emit_load(e, R1, &e->ins->args[0]);
		asm_call(e->as, HOST_ITER_END);
	}
}

/* --- calls --------------------------------------------------------------- */

/*
 * Words for the operands: numbers, and addresses of strings. width[i]: bytes
 * that the callee will read of string i; 0: its own width.
 */
static uint32_t arguments(struct emit *e, const uint32_t *width)
{
	unsigned n = e->ins->nargs;
	uint32_t block = emit_tmp(e, (n ? n : 1) * 8);
	struct mem m;

	for (unsigned i = 0; i < n; i++) {
		const struct ir_val *v = &e->ins->args[i];
		uint32_t w = width ? width[i] : 0;

		if (!emit_is_str(e, v)) {
			emit_load(e, R2, v);
		} else if (!w || w == emit_width(e, v)) {
			emit_addr(e, R2, v);
		} else {
			uint32_t s = emit_tmp(e, w);

			m = emit_tmp_mem(e, s, R1);
			emit_put_string(e, m, v, w);
			emit_tmp_addr(e, R2, s);
		}
		m = emit_tmp_mem(e, block, R1);
		asm_store(e->as, 8, m.base, m.off + (int)i * 8, R2);
	}
	return block;
}

/*
 * HOST_ENTER_CALL counts the depth, HOST_LEAVE_CALL uncounts it, whatever the
 * callee did: a pending error is asked for at the very end.
 */
static void call(struct emit *e)
{
	const struct ir_func *f = e->ins->callee;
	uint32_t *width = arena_array(e->c->a, uint32_t, e->ins->nargs + 1);
	bool str = e->ins->has_dst && e->f->regs.v[e->ins->dst].is_str;
	uint32_t ret = 0, block;
	/* else a string of another width than the result's */
	bool direct = str && emit_dst_width(e) == f->ret_reg_type;

	for (unsigned i = 0; i < e->ins->nargs && i < f->nparams; i++)
		width[i] = f->regs.v[i].is_str ? f->regs.v[i].width : 0;
	if (f->ret_reg_type && !direct)
		ret = emit_tmp(e, f->ret_reg_type);
	block = arguments(e, width);
	asm_imm(e->as, R1, f->index);
	asm_imm(e->as, R2, emit_loc(e));
	asm_call(e->as, HOST_ENTER_CALL);
	/* Too deep: the pending error is the call's own failure. */
	if (e->ins->target[1]) {
		asm_call(e->as, HOST_FAILED);
		asm_jifi(e->as, BPF_JNE, R0, 0,
			 emit_block(e, e->ins->target[1]));
	}
	emit_tmp_addr(e, R1, block);
	if (direct)
		emit_dst_addr(e, R2);
	else if (f->ret_reg_type)
		emit_tmp_addr(e, R2, ret);
	else
		asm_imm(e->as, R2, 0);
	asm_call_func(e->as, f->index);
	if (e->ins->has_dst && !str) {
		struct mem m = emit_tmp_mem(e, block, R1);

		/* the result waits in the block, which nobody needs any more */
		asm_store(e->as, 8, m.base, m.off, R0);
		asm_call(e->as, HOST_LEAVE_CALL);
		m = emit_tmp_mem(e, block, R1);
		asm_load(e->as, 8, R0, m.base, m.off);
	} else {
		asm_call(e->as, HOST_LEAVE_CALL);
	}
	if (str && !direct) {
		/* before the question, which leaves this instruction */
		emit_tmp_addr(e, R1, ret);
		isel_copy_to_dst(e, R1, f->ret_reg_type);
	}
	finish(e);
}

/*
 * Strings are given by address, with their own width: built-ins read up to the
 * NUL.
 */
static void builtin(struct emit *e)
{
	bool str = e->ins->has_dst && e->f->regs.v[e->ins->dst].is_str;
	uint32_t block = arguments(e, NULL);

	asm_imm(e->as, R1, e->ins->builtin->id);
	emit_tmp_addr(e, R2, block);
	if (str) {
		emit_dst_addr(e, R3);
		asm_imm(e->as, R4, emit_dst_width(e));
	} else {
		asm_imm(e->as, R3, 0);
		asm_imm(e->as, R4, 0);
	}
	asm_imm(e->as, R5, emit_loc(e));
	asm_call(e->as, HOST_BUILTIN);
	finish(e);
}

/* --- the rest ------------------------------------------------------------ */

/*
 * The first instruction of a resume point: takes the registers from the record
 * (r0 of HOST_RESUMED) in the order in which resume() of isel_ctl.c has put
 * them.
 */
static void enter(struct emit *e)
{
	uint32_t t = emit_tmp(e, 8);
	uint32_t off = sizeof(struct record_ctx);
	unsigned here = asm_label(e->as);
	struct mem m;

	asm_bind(e->as, here);
	asm_entry(e->as, here); /* entered by the host: reachable */
	e->code->resume.v[e->resume_no] = here;
	asm_call(e->as, HOST_RESUMED);
	m = emit_tmp_mem(e, t, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
	for (unsigned i = 0; i < e->ins->nargs; i++) {
		const struct ir_val *v = &e->ins->args[i];
		const struct ir_reg *r = &e->f->regs.v[v->reg];
		struct home *h = &e->homes[v->reg];

		m = emit_tmp_mem(e, t, R1);
		asm_load(e->as, 8, R1, m.base, m.off);
		if (r->is_str && h->kind != HOME_NONE) {
			struct ir_ins fake = {.dst = v->reg, .has_dst = true};
			const struct ir_ins *ins = e->ins;

			e->ins = &fake;
			emit_add(e, R1, (int32_t)off);
			isel_copy_to_dst(e, R1, r->width);
			e->ins = ins;
		} else if (h->kind == HOME_REG) {
			asm_load(e->as, 8, h->reg, R1, (int)off);
		} else if (h->kind != HOME_NONE) {
			asm_load(e->as, 8, R2, R1, (int)off);
			m = emit_mem(e, v->reg, R1);
			asm_store(e->as, 8, m.base, m.off, R2);
		}
		off += r->is_str ? r->width : 8;
	}
}

/* By number: the host keeps the compiled patterns in that order. */
static void match(struct emit *e)
{
	unsigned id = 0;

	while (id < e->g->ir->regexes.n &&
	       e->g->ir->regexes.v[id] != e->ins->re)
		id++;
	assert(id < e->g->ir->regexes.n);
	asm_imm(e->as, R1, id);
	emit_addr(e, R2, &e->ins->args[0]);
	asm_call(e->as, HOST_MATCH);
	emit_put(e, R0);
}

void isel_host(struct emit *e)
{
	switch (e->ins->op) {
	case OP_CALL:
		call(e);
		break;
	case OP_BCALL:
	case OP_BCALLE:
		builtin(e);
		break;
	case OP_ITNEW ... OP_ITEND:
		iterate(e);
		break;
	case OP_ACT:
		emit_load(e, R1, &e->ins->args[0]);
		asm_imm(e->as, R2, emit_loc(e));
		asm_call(e->as, HOST_ACT);
		finish(e);
		break;
	case OP_TAKEERR:
		emit_dst_addr(e, R1);
		asm_imm(e->as, R2, emit_dst_width(e));
		asm_call(e->as, HOST_TAKEERR);
		break;
	case OP_MATCH:
		match(e);
		break;
	case OP_LOCK:
		asm_imm(e->as, R1, e->ins->locks);
		asm_imm(e->as, R2, e->ins->num);
		asm_call(e->as, HOST_LOCK);
		finish(e);
		break;
	case OP_UNLOCK:
		asm_imm(e->as, R1, e->ins->locks);
		asm_call(e->as, HOST_UNLOCK);
		break;
	case OP_ENTER:
		enter(e);
		break;
	default:
		array(e);
	}
}
