/* SPDX-License-Identifier: MIT */
/*
 * needs:  kernel functions after split; loops with one entry (the builder makes
 *         no others)
 * keeps:  what the handler does
 * breaks: kernel functions have no back edges any more; a loop is a function of
 *         its own (IR_LOOP_BODY) that LOOP runs, one iteration a call.
 *         Registers that both sides, or two iterations, use are marked shared
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/util.h"

/* One loop of one function at a time. */
struct outline {
	struct compile *c;
	struct arena *a;
	struct ir *ir;
	struct ir_func *f;
	uint8_t *in;	  /* by block id: in the loop */
	struct ir_block *head;
	VEC(struct ir_block *) exits; /* blocks that the loop leads to */
};

/* --- finding loops -------------------------------------------------------- */

/*
 * Depth-first, without recursion. state: 0 new, 1 on the path, 2 done. next:
 * which successor to look at.
 */
struct walk {
	struct ir_block *b;
	unsigned next;
};

/*
 * All blocks from which `tail` is reached without passing the header. Backward
 * from the end of the loop: a natural loop.
 */
static void add_body(struct outline *o, struct ir_block *tail,
		     struct ir_block ***pred, const unsigned *npred)
{
	struct ir_block **stack = arena_array(o->a, struct ir_block *,
					      o->f->nblocks + 1);
	unsigned n = 0;

	if (!o->in[tail->id]) {
		o->in[tail->id] = 1;
		stack[n++] = tail;
	}
	while (n) {
		struct ir_block *b = stack[--n];

		for (unsigned i = 0; i < npred[b->id]; i++) {
			struct ir_block *p = pred[b->id][i];

			if (o->in[p->id])
				continue;
			o->in[p->id] = 1;
			stack[n++] = p;
		}
	}
}

/* Two passes: count, then fill. */
static void find_preds(struct outline *o, struct ir_block ****ret_pred,
		       unsigned **ret_n)
{
	unsigned *n = arena_array(o->a, unsigned, o->f->nblocks + 1);
	struct ir_block ***pred = arena_array(o->a, struct ir_block **,
					      o->f->nblocks + 1);

	for (unsigned pass = 0; pass < 2; pass++) {
		for (struct ir_block *b = o->f->blocks; b; b = b->next) {
			struct ir_block *s[2];
			unsigned ns = ir_succ(b, s);

			for (unsigned i = 0; i < ns; i++) {
				unsigned id = s[i]->id;

				if (pass)
					pred[id][n[id]] = b;
				n[id]++;
			}
		}
		for (unsigned id = 0; !pass && id < o->f->nblocks; id++) {
			pred[id] = arena_array(o->a, struct ir_block *, n[id]);
			n[id] = 0;
		}
	}
	*ret_pred = pred;
	*ret_n = n;
}

/*
 * The header of an outermost loop: the first block in depth-first order that a
 * back edge leads to. Its tails come back in list.
 */
static struct ir_block *find_loop(struct outline *o, struct ir_block **list,
				  unsigned *ret_n)
{
	unsigned nb = o->f->nblocks, n = 0;
	struct walk *stack = arena_array(o->a, struct walk, nb + 1);
	uint8_t *state = arena_alloc(o->a, nb + 1);
	unsigned *order = arena_array(o->a, unsigned, nb + 1);
	struct ir_block **tail = arena_array(o->a, struct ir_block *,
					     2 * nb + 1);
	struct ir_block **head = arena_array(o->a, struct ir_block *,
					     2 * nb + 1);
	struct ir_block *best = NULL;
	unsigned nedges = 0, clock = 0;

	stack[n++].b = o->f->blocks;
	state[o->f->blocks->id] = 1;
	order[o->f->blocks->id] = clock++;
	while (n) {
		struct walk *w = &stack[n - 1];
		struct ir_block *s[2];
		unsigned ns = ir_succ(w->b, s);

		if (w->next >= ns) {
			state[w->b->id] = 2;
			n--;
			continue;
		}
		struct ir_block *to = s[w->next++];

		if (state[to->id] == 1) {
			tail[nedges] = w->b;
			head[nedges++] = to;
		} else if (!state[to->id]) {
			state[to->id] = 1;
			order[to->id] = clock++;
			stack[n++] = (struct walk){.b = to};
		}
	}
	*ret_n = 0;
	for (unsigned i = 0; i < nedges; i++)
		if (!best || order[head[i]->id] < order[best->id])
			best = head[i];
	for (unsigned i = 0; i < nedges; i++)
		if (head[i] == best)
			list[(*ret_n)++] = tail[i];
	return best;
}

/* --- shared registers ----------------------------------------------------- */

/* All functions up to the handler keep the register in the frame. */
static void share(struct ir_func *f, uint32_t r)
{
	for (; f; f = f->parent)
		if (r < f->regs.n)
			f->regs.v[r].shared = true;
}

static void mark(uint64_t *set, uint32_t r)
{
	set[r / 64] |= 1ULL << (r % 64);
}

/*
 * Used in the loop, and alive where an iteration starts or the loop ends. Those
 * live in the caller's frame, to which the callback gets a pointer.
 */
static void share_registers(struct outline *o)
{
	struct ir_live *l = ir_liveness(o->a, o->f);
	uint64_t *used = arena_array(o->a, uint64_t, l->words);

	for (struct ir_block *b = o->f->blocks; b; b = b->next) {
		if (!o->in[b->id])
			continue;
		for (struct ir_ins *i = b->first; i; i = i->next) {
			if (i->has_dst)
				mark(used, i->dst);
			for (unsigned k = 0; k < i->nargs; k++)
				if (i->args[k].kind == VAL_REG)
					mark(used, i->args[k].reg);
		}
	}
	for (unsigned r = 0; r < o->f->regs.n; r++) {
		uint64_t bit = 1ULL << (r % 64);
		bool out = l->in[o->head->id][r / 64] & bit;

		for (unsigned k = 0; k < o->exits.n; k++)
			out |= (l->in[o->exits.v[k]->id][r / 64] & bit) != 0;
		if (out && (used[r / 64] & bit))
			share(o->f, r);
	}
}

/* --- taking it out -------------------------------------------------------- */

/* A block's only or last instruction; x VAL_NONE: no operand. */
static void end_block(struct outline *o, struct ir_block *b, enum ir_op op,
		      uint32_t loc, struct ir_val x)
{
	struct ir_ins *i = ins_new(o->a, op, x.kind == VAL_NONE ? 0 : 1);

	if (i->nargs)
		i->args[0] = x;
	i->loc = loc;
	block_append(b, i);
}

/*
 * The body's function: the loop's blocks; leaving is returning. The body
 * returns 0 to be run again, and k + 1 to leave by exit k.
 */
static struct ir_func *take_out(struct outline *o, unsigned number)
{
	struct ir_func *g = arena_new_of(o->a, struct ir_func);
	struct ir_block **link = &o->f->blocks, *b, *next, *last = NULL;
	struct ir_block *again = arena_new_of(o->a, struct ir_block);
	struct ir_block **out = arena_array(o->a, struct ir_block *,
					    o->exits.n + 1);
	uint32_t loc = o->head->first->loc;

	g->name = arena_printf(o->a, "%s loop %u", o->f->name, number);
	g->kind = IR_LOOP_BODY;
	g->probe = o->f->probe;
	g->place = o->f->place;
	g->parent = o->f;
	g->locks = o->f->locks;
	g->has_ret = true;
	for (unsigned i = 0; i < o->f->regs.n; i++)
		vec_push(o->a, &g->regs, o->f->regs.v[i]);
	g->index = o->ir->funcs.n;
	vec_push(o->a, &o->ir->funcs, g);
	end_block(o, again, OP_RET, loc, val_num(0));
	for (unsigned i = 0; i < o->exits.n; i++) {
		out[i] = arena_new_of(o->a, struct ir_block);
		end_block(o, out[i], OP_RET, loc, val_num(i + 1));
	}
	g->blocks = last = o->head;
	for (b = o->f->blocks; b; b = next) {
		next = b->next;
		if (!o->in[b->id]) {
			*link = b;
			link = &b->next;
		} else if (b != o->head) {
			last->next = b;
			last = b;
		}
	}
	*link = NULL;
	last->next = again;
	last = again;
	for (unsigned i = 0; i < o->exits.n; i++) {
		last->next = out[i];
		last = out[i];
	}
	last->next = NULL;
	/*
	 * Edges back to the head return 0; those that leave return their
	 * number.
	 */
	for (b = g->blocks; b != again; b = b->next) {
		for (unsigned t = 0; t < 2; t++) {
			struct ir_block *to = b->last->target[t];

			if (!to)
				continue;
			if (to == o->head)
				b->last->target[t] = again;
			for (unsigned k = 0; k < o->exits.n; k++)
				if (o->exits.v[k] == to)
					b->last->target[t] = out[k];
		}
	}
	return g;
}

/*
 * In the function: run the loop, then go where it left to. BREQ by BREQ: loops
 * have few exits.
 */
static struct ir_block *put_loop(struct outline *o, struct ir_func *g,
				 uint32_t loc)
{
	struct ir_block *first = arena_new_of(o->a, struct ir_block);
	struct ir_block *b = first, *next;
	struct ir_ins *i = ins_new(o->a, OP_LOOP, 0);
	uint32_t r = func_reg(o->a, o->f, 0, NULL);

	i->callee = g;
	i->dst = r;
	i->has_dst = true;
	i->loc = loc;
	block_append(b, i);
	for (unsigned k = 0; k < o->exits.n; k++) {
		next = arena_new_of(o->a, struct ir_block);
		i = ins_new(o->a, OP_BREQ, 2);
		i->args[0] = val_reg(r);
		i->args[1] = val_num(k + 1);
		i->target[0] = o->exits.v[k];
		i->target[1] = next;
		i->loc = loc;
		block_append(b, i);
		b->next = next;
		b = next;
	}
	/* Out of iterations: more than MAXACTION could ever count, but where
	 * the kernel walks each of them before the handler runs. */
	if (o->head->held) {
		i = ins_new(o->a, OP_UNLOCK, 0);
		i->locks = o->f->locks;
		i->loc = loc;
		block_append(b, i);
	}
	i = ins_new(o->a, OP_RAISE, 1);
	i->args[0] = val_str(str_internz(o->c->str, o->c->set.lacks.each ?
		"more rounds of a loop than this kernel can check" :
		"MAXACTION exceeded"));
	i->num = RAISE_UNCATCHABLE;
	i->loc = loc;
	block_append(b, i);
	b->next = NULL;
	return first;
}

/* Ends the handler, perhaps after one jump (an unlock stands before it). */
static bool ends_soon(const struct ir_block *b, const unsigned *npred)
{
	if (b->last->op == OP_JMP && npred[b->last->target[0]->id] == 1)
		b = b->last->target[0];
	return b->last->op == OP_RAISE || b->last->op == OP_RESUME;
}

/* Errors and sends that only the loop leads to end the handler from inside of
 * it: no exit is needed. */
static void add_ends(struct outline *o, struct ir_block ***pred,
		     const unsigned *npred)
{
	bool added = true;

	while (added) {
		added = false;
		for (struct ir_block *b = o->f->blocks; b; b = b->next) {
			bool inside = npred[b->id] > 0;

			if (o->in[b->id] || !ends_soon(b, npred))
				continue;
			for (unsigned i = 0; i < npred[b->id]; i++)
				inside &= o->in[pred[b->id][i]->id];
			if (inside)
				o->in[b->id] = added = true;
		}
	}
}

/* in: marks what belongs to the loop; everything else stays in the function. */
static void outline_loop(struct outline *o, struct ir_block **tails,
			 unsigned ntails, unsigned number)
{
	struct ir_block ***pred, *call, *b;
	uint32_t loc = o->head->first->loc;
	struct ir_func *g;
	unsigned *npred;

	o->in = arena_alloc(o->a, o->f->nblocks + 1);
	o->exits.n = 0;
	o->in[o->head->id] = 1;
	find_preds(o, &pred, &npred);
	for (unsigned i = 0; i < ntails; i++)
		add_body(o, tails[i], pred, npred);
	add_ends(o, pred, npred);
	for (b = o->f->blocks; b; b = b->next) {
		struct ir_block *s[2];
		unsigned ns = ir_succ(b, s);

		if (!o->in[b->id])
			continue;
		for (unsigned i = 0; i < ns; i++) {
			unsigned k = 0;

			if (o->in[s[i]->id])
				continue;
			while (k < o->exits.n && o->exits.v[k] != s[i])
				k++;
			if (k == o->exits.n)
				vec_push(o->a, &o->exits, s[i]);
		}
	}
	share_registers(o);
	g = take_out(o, number);
	call = put_loop(o, g, loc);
	for (b = o->f->blocks; b; b = b->next)
		for (unsigned t = 0; t < 2; t++)
			if (b->last->target[t] == o->head)
				b->last->target[t] = call;
	/* After the entry; or first, when the entry was the header. */
	for (b = call; b->next;)
		b = b->next;
	if (!o->f->blocks) {
		o->f->blocks = call;
	} else {
		b->next = o->f->blocks->next;
		o->f->blocks->next = call;
	}
}

/*
 * Outermost loops first; what is inside of a body is found when the body has
 * its turn (opt_outline).
 */
static void outline_func(struct compile *c, struct ir *ir, struct ir_func *f)
{
	struct outline o = {.c = c, .a = c->a, .ir = ir, .f = f};
	struct ir_block **tails;
	unsigned n, number = 0;

	ir_prune(c->a, f);
	for (;;) {
		tails = arena_array(c->a, struct ir_block *,
				    2 * f->nblocks + 1);
		o.head = find_loop(&o, tails, &n);
		if (!o.head)
			break;
		outline_loop(&o, tails, n, ++number);
		ir_number(f);
		ir_prune(c->a, f);
	}
}

void opt_outline(struct compile *c, struct ir *ir)
{
	/* Loops inside of loops: bodies are appended and come later. */
	for (unsigned i = 0; i < ir->funcs.n; i++)
		if (ir->funcs.v[i]->place == PLACE_KERNEL)
			outline_func(c, ir, ir->funcs.v[i]);
}
