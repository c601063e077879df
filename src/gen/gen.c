/* SPDX-License-Identifier: MIT */
/*
 * From ir functions to code: the dry run, registers and frame, the real run.
 * A kernel handler and its loop bodies make one code; a host probe or function
 * makes one each.
 */
#include "gen/code.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "gen/isel.h"
#include "gen/live.h"

/*
 * What the kernel takes: 512 bytes of stack over a chain of calls
 * (MAX_BPF_STACK), a million instructions (BPF_COMPLEXITY_LIMIT_INSNS).
 */
enum {
	KERNEL_STACK = 512,
	BODY_STACK = 64,      /* a loop body's own; most is the handler's */
	/* the lock's slow path and its callback; or those of evicting */
	LOCK_FRAME = 40,
	SPIN_FRAME = 0,
	EVICT_FRAME = 32,
	SLOW_STACK = 96,
	DIGITS_STACK = 32, /* no frame: what the kernel counts at least */
	HOST_STACK = 32 << 10,
	KERNEL_INSNS = 1000000,
	BODIES_DEEP = 8, /* loops in each other */
	FEW_BRANCHES = 8, /* for which paths need not be kept apart */
};

/* A function on its way through the steps. */
struct unit {
	struct emit e;
	struct live *live;
	struct unit *next;
	unsigned depth; /* of loop bodies in each other */
};

/* Of one handler, in the order of ir.funcs. */
struct bodies {
	VEC(struct ir_func *) list;
};

/* --- one function -------------------------------------------------------- */

/*
 * Pushes a block that is new. Only blocks that can be entered are lowered: the
 * kernel refuses instructions that nothing reaches.
 */
static void mark(struct emit *e, struct ir_block *b, struct ir_block **todo,
		 unsigned *n)
{
	if (!b || e->reached[b->id])
		return;
	e->reached[b->id] = true;
	todo[(*n)++] = b;
}

static void reach(struct emit *e)
{
	struct ir_block **todo =
	    arena_array(e->c->a, struct ir_block *, e->f->nblocks + 1);
	unsigned n = 0;

	e->reached = arena_array(e->c->a, bool, e->f->nblocks + 1);
	mark(e, e->f->blocks, todo, &n);
	/* the host enters them from the kernel's records */
	for (unsigned i = 0; !e->kernel && i < e->f->resume.n; i++)
		mark(e, e->f->resume.v[i], todo, &n);
	while (n) {
		struct ir_block *b = todo[--n];

		if (!b->last)
			continue;
		mark(e, b->last->target[0], todo, &n);
		mark(e, b->last->target[1], todo, &n);
	}
}

/*
 * What decides how much is hidden from the verifier: which registers are set at
 * more than one place (starting as zero is one), and if there are many
 * branches.
 */
static void find_merged(struct emit *e)
{
	bool *set = arena_array(e->c->a, bool, e->nregs + 1);
	unsigned branches = 0;

	e->merged = arena_array(e->c->a, bool, e->nregs + 1);
	for (const struct ir_block *b = e->f->blocks; b; b = b->next) {
		if (!e->reached[b->id])
			continue;
		for (const struct ir_ins *in = b->first; in; in = in->next) {
			branches += in->op >= OP_BR && in->op <= OP_BRGE;
			branches += in->op >= OP_EQ && in->op <= OP_GE;
			if (!in->has_dst)
				continue;
			e->merged[in->dst] |= set[in->dst];
			set[in->dst] = true;
		}
	}
	e->branchy = e->kernel && branches > FEW_BRANCHES;
}

static const struct ir_block *next_reached(const struct emit *e,
					   const struct ir_block *b)
{
	do
		b = b->next;
	while (b && !e->reached[b->id]);
	return b;
}

/* Index of the resume point that starts with b, or UINT32_MAX. */
static unsigned resume_of(const struct emit *e, const struct ir_block *b)
{
	for (unsigned i = 0; !e->kernel && i < e->f->resume.n; i++)
		if (e->f->resume.v[i] == b)
			return i;
	return UINT32_MAX;
}

static void lower_ins(struct emit *e, const struct ir_ins *in)
{
	e->ins = in;
	e->tmp_used = 0;
	e->as->loc = in->loc;
	e->as->written = 0;
	isel_ins(e);
	if (e->dry)
		/* r3, r4 or r5 */
		e->notes[e->ins_no].heavy = (e->as->written & 0x38) != 0;
	e->ins_no++;
}

/*
 * Both runs: the dry one without the prologue, which cannot be made before it
 * is known what the instructions need.
 */
static void lower(struct emit *e, struct assembler *as)
{
	e->as = as;
	e->ins_no = 1;
	e->out_used = false;
	for (const struct ir_block *b = e->f->blocks; b; b = b->next)
		e->labels[b->id] = asm_label(as);
	e->out_label = asm_label(as);
	as->loc = UINT32_MAX;
	if (!e->dry) {
		e->tmp_used = 0;
		e->ins = NULL;
		prologue_emit(e);
	}
	for (const struct ir_block *b = e->f->blocks; b; b = b->next) {
		if (!e->reached[b->id])
			continue;
		e->next_block = next_reached(e, b);
		e->resume_no = resume_of(e, b);
		asm_bind(as, e->labels[b->id]);
		for (const struct ir_ins *in = b->first; in; in = in->next)
			lower_ins(e, in);
	}
	as->loc = UINT32_MAX;
	if (!e->dry && e->kernel && !e->body)
		prologue_tail(e);
}

/* What the prologue of a host function needs beyond its instructions. */
enum { PROLOGUE_TMP = 16 };

static void dry_run(struct emit *e)
{
	struct assembler scrap;
	struct arena *a = e->c->a;
	unsigned n = 0;

	for (const struct ir_block *b = e->f->blocks; b; b = b->next)
		for (const struct ir_ins *in = b->first; in; in = in->next)
			n++;
	e->notes = arena_array(a, struct ins_note, n + 2);
	e->labels = arena_array(a, unsigned, e->f->nblocks + 1);
	e->homes = arena_array(a, struct home, e->nregs + PS_MAX);
	/*
	 * Any home will do, as long as the lowering makes the same choices with
	 * it: all that counts is that a register costs at least what it can
	 * cost.
	 */
	for (unsigned i = 0; i < e->nregs + PS_MAX; i++)
		e->homes[i] = (struct home){HOME_FRAME, 0, -8};
	e->tmp_kind = HOME_FRAME;
	e->tmp_max = e->f->kind == IR_FUNCTION && !e->kernel ? PROLOGUE_TMP : 0;
	e->dry = true;
	asm_init(&scrap);
	scrap.counting = true;
	lower(e, &scrap);
	e->dry = false;
	e->ninsns = scrap.insns.n;
	asm_free(&scrap);
	memset(e->homes, 0, sizeof(*e->homes) * (e->nregs + PS_MAX));
}

static bool is_cold(const struct ir_block *b)
{
	return b->last &&
	       (b->last->op == OP_RAISE || b->last->op == OP_RESUME);
}

/* Errors and what goes on elsewhere out of the way, so that the usual path
 * falls through. */
static void cold_last(struct ir_func *f)
{
	struct ir_block *cold = NULL, **cold_end = &cold, **link;

	if (!f->blocks)
		return;
	for (link = &f->blocks->next; *link;) {
		struct ir_block *b = *link;

		if (!is_cold(b)) {
			link = &b->next;
			continue;
		}
		*link = b->next;
		b->next = NULL;
		*cold_end = b;
		cold_end = &b->next;
	}
	*link = cold;
}

static struct unit *unit_new(struct gen *g, struct ir_func *f,
			     struct code *code, struct root *root)
{
	struct unit *u = arena_new_of(g->c->a, struct unit);
	struct emit *e = &u->e;
	unsigned id = 0;

	/*
	 * Blocks are numbered in their final order; ids index labels and
	 * reached.
	 */
	cold_last(f);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		b->id = id++;
	f->nblocks = id;
	e->c = g->c;
	e->g = g;
	e->plan = g->plan;
	e->f = f;
	e->code = code;
	e->root = root;
	e->kernel = f->place == PLACE_KERNEL;
	e->body = f->kind == IR_LOOP_BODY;
	e->nregs = f->regs.n;
	reach(e);
	find_merged(e);
	return u;
}

/* --- a kernel handler and its bodies ------------------------------------- */

/*
 * The kernel rounds each frame up to 32 bytes before it adds them
 * (check_max_stack_depth in kernel/bpf/verifier.c).
 */
static uint32_t round32(uint32_t n)
{
	return n ? (n + 31) & ~31u : 32;
}

/*
 * What bodies use of the prologue's must be in the handler's frame, where they
 * can reach it, not in a register.
 */
static void note_shared_pseudo(struct unit *u, struct root *r)
{
	unsigned n = 0;

	for (const struct ir_block *b = u->e.f->blocks; b; b = b->next)
		if (u->e.reached[b->id])
			for (const struct ir_ins *i = b->first; i; i = i->next)
				r->pseudo |= u->e.notes[++n].pseudo;
}

/* A body reaches what the handler's prologue found through its frame. */
static void place_shared(struct unit *u, struct root *r)
{
	struct emit *e = &u->e;

	for (uint32_t i = 0; i < e->nregs; i++)
		if (e->f->regs.v[i].shared)
			e->homes[i].kind = HOME_ROOT;
	for (unsigned p = 0; p < PS_MAX; p++)
		if (p != PS_ROOT)
			e->homes[e->nregs + p].kind = HOME_ROOT;
}

/*
 * The handler's frame is laid out after its bodies', so the offsets come late:
 * before lowering, after all layouts.
 */
static void resolve_shared(struct unit *u, struct root *r)
{
	struct emit *e = &u->e;

	for (uint32_t i = 0; i < e->nregs; i++)
		if (e->f->regs.v[i].shared && i < r->nregs) {
			e->homes[i].off = r->homes[i].off;
			if (r->homes[i].kind == HOME_SCRATCH)
				e->homes[i].kind = HOME_SCRATCH;
		}
	for (unsigned p = 0; p < PS_MAX; p++)
		if (p != PS_ROOT)
			e->homes[e->nregs + p].off = r->homes[r->nregs + p].off;
	/* of the slot itself the handler keeps the address in its frame */
	e->homes[e->nregs + PS_SCR].off = r->scr_off;
}

/* Interval of PS_ROOT: the whole body. */
static void live_root(struct unit *u)
{
	struct interval *iv = &u->live->iv[u->e.nregs + PS_ROOT];

	iv->start = 1;
	iv->end = u->live->npos;
	if (!iv->weight)
		iv->weight = 1;
}

static void reserve_turns(struct emit *e)
{
	if (!e->turns_used || !e->c->set.lacks.each)
		return;
	e->reserved += 8;
	e->turns_off = -(int)e->reserved;
}

static bool layout_body(struct unit *u, struct root *r)
{
	struct emit *e = &u->e;

	place_shared(u, r);
	u->live = live_find(e);
	live_root(u);
	regalloc_run(e, u->live);
	reserve_turns(e);
	return frame_layout(e, u->live, BODY_STACK);
}

static bool layout_handler(struct unit *u, struct root *r, uint32_t limit)
{
	struct emit *e = &u->e;

	/*
	 * The counters come first, at offsets that are known before the rest.
	 */
	if (r->act_used) {
		e->reserved += 8;
		r->act_off = -(int)e->reserved;
	}
	if (r->exit_used) {
		e->reserved += 8;
		r->exit_off = -(int)e->reserved;
	}
	reserve_turns(e);
	if (e->plan->timed) {
		e->reserved += 8;
		r->time_off = -(int)e->reserved;
	}
	u->live = live_find(e);
	for (unsigned p = 0; p < PS_MAX; p++)
		if (r->pseudo & 1u << p && p != PS_ROOT && p != PS_SCR)
			e->homes[e->nregs + p].kind = HOME_FRAME;
	regalloc_run(e, u->live);
	if (!frame_layout(e, u->live, limit))
		return false;
	r->homes = e->homes;
	r->nregs = e->nregs;
	return true;
}

/* -8: the slot's first word says that it is taken (prologue.c). */
static bool scratch_fits(struct gen *g, struct code *code, struct root *r)
{
	uint32_t room = g->plan->scratch_size > 8 && g->plan->scratch_slots ?
			    g->plan->scratch_size - 8 : 0;
	struct span at = code->fn->probe->span;

	code->needs_scratch = r->scr_used;
	if (!r->scr_used || r->scratch <= room)
		return true;
	complain(g->c, SCRATCH_FULL, &at, r->scratch, "scratch memory",
		 room);
	code->limit = "scratch memory";
	return false;
}

static unsigned depth_of(const struct ir_func *f)
{
	unsigned n = 0;

	for (; f->kind == IR_LOOP_BODY && f->parent && n < BODIES_DEEP; n++)
		f = f->parent;
	return n;
}

/*
 * The handler whose code the body belongs to; NULL: too deep, which lowering
 * has refused.
 */
static const struct ir_func *handler_of(const struct ir_func *f)
{
	for (unsigned n = 0; f->kind == IR_LOOP_BODY && f->parent; n++) {
		if (n > BODIES_DEEP)
			return NULL;
		f = f->parent;
	}
	return f;
}

/* Its start is a label until the instructions have their places. */
static void start_subprog(struct compile *c, struct code *code,
			  struct assembler *as, const struct ir_func *f,
			  const char *name, uint32_t frame)
{
	struct subprog s = {
		.start = asm_label(as),
		.frame = frame,
		.name = name,
		.func = f->index,
	};

	asm_bind(as, s.start);
	vec_push(c->a, &code->subprogs, s);
}

static struct subprog *last_subprog(struct code *code)
{
	return &code->subprogs.v[code->subprogs.n - 1];
}

/* Labels become instructions; a subprogram that nothing calls has none. */
static void place_entries(struct code *code, const struct assembler *as)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < code->resume.n; i++)
		code->resume.v[i] = as->labels.v[code->resume.v[i]];
	for (unsigned i = 0; i < code->subprogs.n; i++) {
		struct subprog s = code->subprogs.v[i];
		uint32_t end = i + 1 < code->subprogs.n ?
			as->labels.v[code->subprogs.v[i + 1].start] :
			as->insns.n;

		s.start = as->labels.v[s.start];
		if (s.start < end)
			code->subprogs.v[kept++] = s;
	}
	code->subprogs.n = kept;
}

/* What is kept of the assembler, which held several times as much. */
static void take(struct compile *c, struct code *code, struct assembler *as)
{
	asm_finish(as, c->a);
	place_entries(code, as);
	code->ninsns = as->insns.n;
	code->insns = as->insns.v;
	code->loc = as->locs.v;
	code->relocs.v = arena_grow(c->a, as->relocs.v,
				    as->relocs.n * sizeof(*code->relocs.v),
				    (as->relocs.n + 1) *
				    sizeof(*code->relocs.v));
	code->relocs.n = code->relocs.cap = as->relocs.n;
}

static void check_length(struct gen *g, struct code *code,
			 const struct assembler *as)
{
	struct span at = code->fn->probe ? code->fn->probe->span :
					   code->fn->fn->span;

	if (as->far_jump) {
		complain(g->c, JUMP_FAR, &at);
		code->limit = "jump distance";
	}
	/* The prologue jumps to the tail, so no kernel handler without a far
	 * jump comes near the kernel's limit. */
	assert(code->limit || code->fn->place != PLACE_KERNEL ||
	       code->ninsns <= KERNEL_INSNS);
}

/* Bodies first: what they need decides what is left of the stack. */
static bool layout_all(struct gen *g, struct unit *units, struct code *code,
		       struct root *r)
{
	/*
	 * below: the biggest frame at each depth, since only one body of a
	 * depth is on the stack at a time.
	 */
	uint32_t below[BODIES_DEEP + 2] = {0};
	uint32_t chain = 0;

	for (struct unit *u = units->next; u; u = u->next) {
		if (!layout_body(u, r))
			return false;
		if (round32(u->e.frame) > below[u->depth])
			below[u->depth] = round32(u->e.frame);
	}
	for (unsigned i = 0; i < BODIES_DEEP + 2; i++)
		chain += below[i];
	if (r->slow_lock_used || r->evict_used)
		chain += SLOW_STACK;
	else if (r->digits_used)
		chain += DIGITS_STACK;
	/* the handler's own frame has 32 bytes at least */
	if (chain + 32 > KERNEL_STACK) {
		complain(g->c, SCRATCH_FULL, &code->fn->probe->span, chain + 32,
			 "stack", (unsigned)KERNEL_STACK);
		return false;
	}
	if (!layout_handler(units, r, KERNEL_STACK - chain))
		return false;
	code->frame = round32(units->e.frame) + chain;
	return scratch_fits(g, code, r);
}

static void emit_evict(struct unit *u, struct code *code, struct assembler *as)
{
	static const struct {
		const char *name;
		void (*make)(struct emit *e);
	} parts[] = {
		{"evict_oldest", isel_evict_oldest},
		{"evict_drop", isel_evict_drop},
	};

	u->e.as = as;
	for (unsigned i = 0; i < u->e.root->evicts.n; i++) {
		start_subprog(u->e.c, code, as, u->e.f, "evict", EVICT_FRAME);
		isel_evict(&u->e, &u->e.root->evicts.v[i]);
	}
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		start_subprog(u->e.c, code, as, u->e.f, parts[i].name,
			      EVICT_FRAME);
		parts[i].make(&u->e);
	}
}

static void emit_digits(struct unit *u, struct code *code, struct assembler *as)
{
	for (unsigned k = 0; k < DIGITS_KINDS; k++) {
		if (!(u->e.root->digits_used & 1u << k))
			continue;
		u->e.as = as;
		asm_bind(as, u->e.root->digits[k]);
		start_subprog(u->e.c, code, as, u->e.f, "digits", 0);
		last_subprog(code)->nparams = 2;
		last_subprog(code)->memory = DIGITS_SIZE;
		isel_digits(&u->e, k);
	}
}

static void emit_all(struct gen *g, struct unit *units, struct code *code,
		     struct root *r)
{
	const struct ir_func *f = units->e.f;
	struct assembler as;

	asm_init(&as);
	/*
	 * Labels exist before the first instruction: a handler calls bodies
	 * that come behind it.
	 */
	for (struct unit *u = units; u; u = u->next)
		r->labels[u->e.f->index] = asm_label(&as);
	r->slow_lock = asm_label(&as);
	r->slow_lock_body = asm_label(&as);
	for (unsigned i = 0; i < r->evicts.n; i++)
		r->evicts.v[i].label = asm_label(&as);
	r->evict_oldest = asm_label(&as);
	r->evict_drop = asm_label(&as);
	for (unsigned k = 0; k < DIGITS_KINDS; k++)
		r->digits[k] = asm_label(&as);
	for (struct unit *u = units; u; u = u->next) {
		if (u->e.body)
			resolve_shared(u, r);
		asm_bind(&as, r->labels[u->e.f->index]);
		start_subprog(g->c, code, &as, u->e.f, u->e.f->name,
			      u->e.frame);
		lower(&u->e, &as);
	}
	if (r->slow_lock_used) {
		units->e.as = &as;
		start_subprog(g->c, code, &as, f, "lock_slow", LOCK_FRAME);
		last_subprog(code)->nparams = 3;
		isel_slow_lock(&units->e);
		if (isel_lock_spins(&units->e)) {
			start_subprog(g->c, code, &as, f, "lock_spin",
				      SPIN_FRAME);
			isel_slow_lock_body(&units->e);
		}
	}
	if (r->evict_used)
		emit_evict(units, code, &as);
	emit_digits(units, code, &as);
	take(g->c, code, &as);
	check_length(g, code, &as);
	asm_free(&as);
}

/* Of a handler that was laid out and waits to be lowered; NULL units: it was
 * refused. */
struct laid_out {
	struct unit *units;
	struct root *root;
};

/*
 * Up to the layout: only when that of all handlers is known, is it known where
 * in a row things are.
 */
static void lay_out_kernel(struct gen *g, struct ir_func *f, struct code *code,
			   struct laid_out *ret)
{
	struct root *r = arena_new_of(g->c->a, struct root);
	struct unit *units = unit_new(g, f, code, r), *last = units;
	const struct bodies *bodies = &g->bodies[f->index];
	bool failed = false;

	r->labels = g->labels;
	for (unsigned i = 0; i < bodies->list.n; i++) {
		struct ir_func *b = bodies->list.v[i];

		last->next = unit_new(g, b, code, r);
		last = last->next;
		last->depth = depth_of(b);
	}
	/*
	 * All dry runs before any layout: what bodies share decides about the
	 * handler.
	 */
	for (struct unit *u = units; u; u = u->next) {
		dry_run(&u->e);
		failed |= u->e.failed;
		if (u->e.body)
			note_shared_pseudo(u, r);
	}
	if (failed || !layout_all(g, units, code, r)) {
		if (!code->limit)
			code->limit = failed ? "unsupported" : "stack";
		return;
	}
	code->needs_row = true;
	*ret = (struct laid_out){units, r};
}

/* --- the host ------------------------------------------------------------ */

static void compile_host(struct gen *g, struct ir_func *f, struct code *code)
{
	struct root *r = arena_new_of(g->c->a, struct root);
	struct unit *u = unit_new(g, f, code, r);
	struct emit *e = &u->e;
	struct assembler as;

	/*
	 * Numbers are filled in while lowering: each resume point is an entry
	 * of the code.
	 */
	for (unsigned i = 0; i < f->resume.n; i++)
		vec_push(g->c->a, &code->resume, 0u);
	dry_run(e);
	if (e->failed) {
		code->limit = "unsupported";
		return;
	}
	u->live = live_find(e);
	regalloc_run(e, u->live);
	if (!frame_layout(e, u->live, HOST_STACK)) {
		code->limit = "stack";
		return;
	}
	code->frame = e->frame;
	asm_init(&as);
	/* Values that found no register cost a little more than was counted. */
	asm_reserve(&as, e->ninsns + e->ninsns / 4 + 64);
	as.long_jumps = true;
	start_subprog(g->c, code, &as, f, f->name, e->frame);
	lower(e, &as);
	take(g->c, code, &as);
	check_length(g, code, &as);
	asm_free(&as);
}

static void list_bodies(struct gen *g)
{
	g->bodies = arena_array(g->c->a, struct bodies, g->ir->funcs.n + 1);
	for (unsigned i = 0; i < g->ir->funcs.n; i++) {
		struct ir_func *b = g->ir->funcs.v[i];
		const struct ir_func *h = handler_of(b);

		if (b->kind == IR_LOOP_BODY && h)
			vec_push(g->c->a, &g->bodies[h->index].list, b);
	}
}

struct gen *gen_run(struct compile *c, struct ir *ir, struct plan *plan)
{
	struct gen *g = arena_new_of(c->a, struct gen);
	struct laid_out *laid;
	uint32_t scratch = 0;

	g->c = c;
	g->ir = ir;
	g->plan = plan;
	/* The order of ir.funcs is what relocations and labels count by. */
	for (unsigned i = 0; i < ir->funcs.n; i++)
		ir->funcs.v[i]->index = i;
	g->labels = arena_array(c->a, unsigned, ir->funcs.n + 1);
	list_bodies(g);
	laid = arena_array(c->a, struct laid_out, ir->funcs.n + 1);
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		struct ir_func *f = ir->funcs.v[i];
		struct code *code = NULL;

		if (f->kind != IR_LOOP_BODY) {
			code = arena_new_of(c->a, struct code);
			code->fn = f;
			if (f->place == PLACE_KERNEL)
				lay_out_kernel(g, f, code, &laid[i]);
		}
		vec_push(c->a, &g->codes, code);
		if (laid[i].units && laid[i].root->scratch > scratch)
			scratch = laid[i].root->scratch;
	}
	plan_shrink_scratch(plan, scratch ? scratch + 8 : 0);
	log_say(&c->log, LOG_GEN, 2, "scratch slots of %u bytes, rows of %u",
		plan->scratch_size, plan->row_size);
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		struct code *code = g->codes.v[i];

		if (laid[i].units)
			emit_all(g, laid[i].units, code, laid[i].root);
		else if (code && code->fn->place != PLACE_KERNEL)
			compile_host(g, ir->funcs.v[i], code);
	}
	return g;
}
