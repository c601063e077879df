/* SPDX-License-Identifier: MIT */
/*
 * Control: branches, ends of handlers and functions, run-time errors, the
 * statement counter, and handing a handler over to the host.
 */
#include "gen/isel.h"

#include <stddef.h>
#include <string.h>

static int inverse(int jump)
{
	switch (jump) {
	case BPF_JEQ:
		return BPF_JNE;
	case BPF_JNE:
		return BPF_JEQ;
	case BPF_JSLT:
		return BPF_JSGE;
	case BPF_JSGE:
		return BPF_JSLT;
	case BPF_JSGT:
		return BPF_JSLE;
	default:
		return BPF_JSGT;
	}
}

static void branch(struct emit *e)
{
	struct ir_block *yes = e->ins->target[0], *no = e->ins->target[1];
	int jump = e->ins->op == OP_BR ? BPF_JNE : isel_jump_of(e->ins->op);
	const struct ir_val zero = {.kind = VAL_NUM};
	const struct ir_val *b = e->ins->op == OP_BR ? &zero : &e->ins->args[1];
	int ra;

	/* Both sides are one: optimization leaves such branches. */
	if (yes == no) {
		emit_goto(e, yes);
		return;
	}
	if (yes == e->next_block) {
		struct ir_block *t = yes;

		yes = no;
		no = t;
		jump = inverse(jump);
	}
	ra = emit_unlinked(e, &e->ins->args[0], R0);
	if (emit_is_imm(b))
		asm_jifi(e->as, jump, ra, (int32_t)b->num, emit_block(e, yes));
	else
		asm_jif(e->as, jump, ra, emit_unlinked(e, b, R1),
			emit_block(e, yes));
	emit_goto(e, no);
}

/* --- ends ---------------------------------------------------------------- */

/* Host function: the value to r0, a string to where the caller wants it. */
static void return_value(struct emit *e)
{
	/* ret_reg_type: 0 a number, else the string's width */
	uint32_t n = e->f->ret_reg_type;

	if (!e->f->has_ret || !e->ins->nargs) {
		asm_imm(e->as, R0, 0);
	} else if (!n) {
		emit_load(e, R0, &e->ins->args[0]);
	} else {
		emit_put_string(
		    e, (struct mem){emit_pseudo(e, PS_RET, R1), 0},
		    &e->ins->args[0], n);
		asm_imm(e->as, R0, 0);
	}
	asm_exit(e->as);
}

/*
 * r0: the exit taken, not 0: to the handler's frame; the loop ends. The
 * verifier takes it for any number, or it would walk the body once per exit: to
 * it, the loop may go on even then.
 */
void ctl_body_exit(struct emit *e)
{
	int root;

	emit_opaque(e, R0, R2);
	root = emit_pseudo(e, PS_ROOT, R1);
	e->root->exit_used = true;
	asm_store(e->as, 8, root, e->root->exit_off, R0);
	asm_imm(e->as, R0, 1);
	asm_exit(e->as);
}

static void ret(struct emit *e)
{
	if (e->body) {
		/* 0: next iteration; else the exit taken */
		emit_load(e, R0, &e->ins->args[0]);
		if (e->ins->args[0].kind == VAL_NUM && !e->ins->args[0].num) {
			asm_exit(e->as);
			return;
		}
		ctl_body_exit(e);
	} else if (e->f->kind == IR_FUNCTION) {
		return_value(e);
	} else {
		emit_leave(e);
	}
}

/* The literal or register text of RAISE; NULL: none. */
static const struct ir_val *raise_text(const struct emit *e)
{
	if (!e->ins->nargs || e->ins->args[0].kind == VAL_NONE)
		return NULL;
	return &e->ins->args[0];
}

/* The function's caller asks HOST_FAILED; a probe's handler ends here. */
static void raise_host(struct emit *e)
{
	if (raise_text(e)) {
		emit_addr(e, R1, raise_text(e));
		asm_imm(e->as, R2, e->ins->num);
		asm_imm(e->as, R3, emit_loc(e));
		asm_call(e->as, HOST_RAISE);
	}
	if (e->f->kind == IR_FUNCTION) {
		asm_imm(e->as, R0, 0);
		asm_exit(e->as);
		return;
	}
	asm_call(e->as, HOST_UNCAUGHT);
	emit_leave(e);
}

/* The more than MAXERRORS-th error stops all kernel handlers, unless errors are
 * suppressed: then they only count. */
static void count_error(struct emit *e)
{
	int64_t max = e->c->set.limit[LIMIT_MAXERRORS];
	unsigned go_on = asm_label(e->as);

	emit_count(e, offsetof(struct probe_counts, errors), R0, R1);
	asm_value(e->as, R1, MAP_CONTROL, 0);
	emit_ticket(e, R1, offsetof(struct control, errors));
	if (max >= INT32_MAX || e->c->set.suppress_errors)
		goto out;
	/* errors are counted by all CPUs together */
	asm_jifi(e->as, BPF_JLT, R0, (int32_t)max, go_on);
	asm_storei(e->as, 4, R1, offsetof(struct control, stop), 1);
out:
	asm_bind(e->as, go_on);
}

/* The record has the message; whoever holds the session sees it at once. */
static void raise_kernel(struct emit *e)
{
	const struct ir_val *text = raise_text(e);
	const struct ir_val none = {.kind = VAL_STR, .str = ""};
	uint32_t w;
	unsigned full;

	if (!text)
		text = &none;
	w = emit_width(e, text);
	if (!(e->ins->num & RAISE_QUIET)) {
		count_error(e);
		isel_reserve(e, REC_ERROR, emit_loc(e), w, &full);
		emit_save_ptr(e, R0);
		emit_put_string(e, (struct mem){R0, sizeof(struct record)},
				text, w);
		emit_restore_ptr(e, R1);
		isel_submit(e, true);
		asm_bind(e->as, full); /* no room: counted by isel_reserve() */
	}
	if (e->body) {
		asm_imm(e->as, R0, BODY_LEAVES);
		ctl_body_exit(e);
		return;
	}
	emit_leave(e);
}

/*
 * exit(): nothing new starts; the host is woken up. The host sees `exiting` at
 * the next poll even when the ring had no room for the record.
 */
void isel_exit(struct emit *e)
{
	unsigned full;

	asm_value(e->as, R1, MAP_CONTROL, 0);
	asm_storei(e->as, 4, R1, offsetof(struct control, exiting), 1);
	asm_storei(e->as, 4, R1, offsetof(struct control, stop), 1);
	isel_reserve(e, REC_EXIT, 0, 0, &full);
	asm_mov(e->as, R1, R0);
	isel_submit(e, true);
	asm_bind(e->as, full);
}

/* --- handing over to the host -------------------------------------------- */

static uint32_t live_size(struct emit *e)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < e->ins->nargs; i++) {
		const struct ir_val *v = &e->ins->args[i];

		n += emit_is_str(e, v) ? emit_width(e, v) : 8;
	}
	return n;
}

/*
 * Who hit the probe, into the record whose address is saved. The host's handler
 * asks for pid(), execname(), ... of that task.
 */
static void put_ctx(struct emit *e)
{
	static const struct {
		int helper, off, size;
	} part[] = {
		{KH_PID_TGID, offsetof(struct record_ctx, pid_tgid), 8},
		{KH_UID_GID, offsetof(struct record_ctx, uid_gid), 8},
		{KH_KTIME, offsetof(struct record_ctx, time_ns), 8},
		{KH_CPU, offsetof(struct record_ctx, cpu), 8},
	};
	const int base = sizeof(struct record);

	for (unsigned i = 0; i < sizeof(part) / sizeof(*part); i++) {
		asm_call(e->as, part[i].helper);
		emit_restore_ptr(e, R1);
		asm_store(e->as, part[i].size, R1, base + part[i].off, R0);
	}
	emit_restore_ptr(e, R1);
	emit_add(e, R1, base + (int)offsetof(struct record_ctx, comm));
	asm_imm(e->as, R2, 16); /* TASK_COMM_LEN */
	asm_call(e->as, KH_COMM);
}

/* It can be done later as well: what it reads was sent, and it changes nothing
 * but what the host alone has. */
static bool can_wait(const struct ir_ins *i)
{
	switch (i->op) {
	case OP_KLD: case OP_ULD: case OP_CALL: case OP_ITNEW: case OP_SGET:
	case OP_HGET: case OP_HPRINT: case OP_HSPRINT:
		return false;
	case OP_BCALL: case OP_BCALLE:
		return !(i->builtin->flags & BF_EFFECT) &&
		       (!(i->builtin->flags & BF_HOST) ||
			i->builtin->flags & BF_PURE);
	default:
		return true;
	}
}

/*
 * A wakeup takes some microseconds of the probed thread's time. Where all that
 * the host may do from this point on can wait, it finds the record when it
 * looks at the ring on its own, as it finds what is printed.
 */
static bool needs_wakeup(const struct emit *e)
{
	const struct ir_func *h = e->body ? e->f->parent->host : e->f->host;

	/* from any of its points: they mostly lead to the same code */
	for (const struct ir_block *b = h ? h->blocks : NULL; b; b = b->next)
		for (const struct ir_ins *i = b->first; i; i = i->next)
			if (!can_wait(i))
				return true;
	return !h;
}

/* The record is in r1: submitted, with a wakeup when the ring fills up. */
static void submit_calm(struct emit *e)
{
	unsigned calm = asm_label(e->as), done = asm_label(e->as);

	asm_map(e->as, R1, MAP_RING);
	asm_imm(e->as, R2, 0); /* BPF_RB_AVAIL_DATA */
	asm_call(e->as, KH_RING_QUERY);
	asm_mov(e->as, R3, R0);
	emit_restore_ptr(e, R1);
	asm_jifi(e->as, BPF_JLT, R3, (int32_t)(e->plan->ring_bytes / 4), calm);
	isel_submit(e, true);
	asm_jmp(e->as, done);
	asm_bind(e->as, calm);
	isel_submit(e, false);
	asm_bind(e->as, done);
}

/*
 * All values that the rest of the handler needs go along (args); the rest runs
 * on the host, and here the handler ends.
 */
static void resume(struct emit *e)
{
	uint32_t off = sizeof(struct record) +
		       offsetof(struct record_ctx, live);
	unsigned full;

	isel_reserve(e, REC_RESUME, (uint32_t)e->ins->num,
		     live_size(e) + (uint32_t)offsetof(struct record_ctx, live),
		     &full);
	emit_save_ptr(e, R0);
	put_ctx(e);
	for (unsigned i = 0; i < e->ins->nargs; i++) {
		const struct ir_val *v = &e->ins->args[i];
		uint32_t w = emit_is_str(e, v) ? emit_width(e, v) : 8;

		emit_restore_ptr(e, R1);
		if (emit_is_str(e, v))
			emit_put_string(e, (struct mem){R1, (int)off}, v, w);
		else
			asm_store(e->as, 8, R1, (int)off, emit_use(e, v, R2));
		off += w;
	}
	if (needs_wakeup(e)) {
		emit_restore_ptr(e, R1);
		isel_submit(e, true);
	} else {
		submit_calm(e);
	}
	asm_bind(e->as, full);
	if (e->body) {
		asm_imm(e->as, R0, BODY_LEAVES);
		ctl_body_exit(e);
		return;
	}
	emit_leave(e);
}

/* --- the statement counter ----------------------------------------------- */

/* The count as a value that the verifier does not know: to it the loop goes on
 * even from here, counting on from a known range for ever. */
static void forget_count(struct emit *e, int off)
{
	asm_value(e->as, R2, MAP_CONTROL, offsetof(struct control, pad1));
	asm_load(e->as, 8, R0, R2, 0);
	asm_store(e->as, 8, emit_pseudo(e, PS_ROOT, R1), off, R0);
}

/*
 * root->act_off is final only in the real run; in the dry one it is 0, which
 * costs the same instructions.
 */
static void act(struct emit *e)
{
	int64_t max = e->c->set.limit[LIMIT_MAXACTION_INTERRUPTIBLE];
	int off = e->root->act_off;
	unsigned within = asm_label(e->as);
	int base = FP;

	e->root->act_used = true;
	if (e->body)
		base = emit_pseudo(e, PS_ROOT, R1);
	asm_load(e->as, 8, R0, base, off);
	if (emit_is_imm(&e->ins->args[0]))
		asm_alui(e->as, BPF_ADD, R0, (int32_t)e->ins->args[0].num);
	else
		asm_alu(e->as, BPF_ADD, R0, emit_use(e, &e->ins->args[0], R2));
	asm_store(e->as, 8, base, off, R0);
	if (!e->ins->target[1])
		return;
	/* The comparison is not to tell the verifier about the count. */
	asm_alui(e->as, BPF_OR, R0, 0);
	if (max <= INT32_MAX) {
		asm_jifi(e->as, BPF_JLE, R0, (int32_t)max, within);
	} else {
		asm_imm(e->as, R2, max);
		asm_jif(e->as, BPF_JLE, R0, R2, within);
	}
	if (e->body) /* only there is a loop around */
		forget_count(e, off);
	asm_jmp(e->as, emit_block(e, e->ins->target[1]));
	asm_bind(e->as, within);
	emit_ok(e);
}

void isel_ctl(struct emit *e)
{
	switch (e->ins->op) {
	case OP_JMP:
		emit_goto(e, e->ins->target[0]);
		break;
	case OP_RET:
		ret(e);
		break;
	case OP_RAISE:
		if (e->kernel)
			raise_kernel(e);
		else
			raise_host(e);
		break;
	case OP_CALL:
		isel_host(e);
		break;
	case OP_ACT:
		act(e);
		break;
	case OP_LOOP:
		isel_loop(e);
		break;
	case OP_RESUME:
		resume(e);
		break;
	default:
		branch(e);
	}
}
