/* SPDX-License-Identifier: MIT */
/*
 * Liveness. Most registers are born and die in one block; only the others take
 * part in the data-flow analysis, so that it stays linear for long handlers.
 */
#include "gen/live.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL = UINT32_MAX };

/* The data-flow analysis over those registers that need it, one bit each. */
struct flow {
	struct emit *e;
	struct live *l;
	uint32_t *bit;	      /* register -> bit, or LOCAL */
	uint32_t *reg;	      /* bit -> register */
	unsigned nbits, words;
	uint64_t *use, *def, *in; /* by block id, words each */
	uint32_t *first, *last;	  /* instruction numbers by block id */
};

/*
 * Calls fn(register, is a write) for each register an instruction touches.
 * OP_ENTER (a resume point of the host) writes its arguments.
 */
static void each_reg(struct flow *w, const struct ir_ins *in, uint32_t no,
		     void (*fn)(struct flow *w, uint32_t reg, bool def,
				void *ctx),
		     void *ctx)
{
	bool enter = in->op == OP_ENTER;

	for (unsigned i = 0; i < in->nargs; i++)
		if (in->args[i].kind == VAL_REG)
			fn(w, in->args[i].reg, enter, ctx);
	for (unsigned p = 0; p < PS_MAX; p++)
		if (w->e->notes[no].pseudo & 1u << p)
			fn(w, w->e->nregs + p, false, ctx);
	if (in->has_dst)
		fn(w, in->dst, true, ctx);
}

/* Where the walk is, and what each walk remembers. */
struct site {
	uint32_t no, block, depth;
	uint32_t *seen_block; /* by register: of all its uses; LOCAL: none */
	bool keep_def;	      /* an E instruction: the write may not happen */
};

/* First walk: which registers leave their block, or are read before written. */
static void classify(struct flow *w, uint32_t reg, bool def, void *ctx)
{
	struct site *p = ctx;

	if (p->seen_block[reg] == LOCAL) {
		p->seen_block[reg] = p->block;
		if (!def || p->keep_def)
			w->bit[reg] = 0;
	} else if (p->seen_block[reg] != p->block) {
		w->bit[reg] = 0;
	}
}

/* A write that may not happen does not end the life of the old value. */
static bool may_not_write(const struct ir_ins *in)
{
	return in->target[1] != NULL && in->has_dst;
}

/*
 * Numbers instructions as lowering will: in layout order, reached blocks only.
 */
static void walk(struct flow *w,
		 void (*fn)(struct flow *w, uint32_t reg, bool def, void *ctx),
		 struct site *p)
{
	uint32_t no = 1;

	for (const struct ir_block *b = w->e->f->blocks; b; b = b->next) {
		if (!w->e->reached[b->id])
			continue;
		p->block = b->id;
		p->depth = b->loop_depth;
		w->first[b->id] = no;
		for (const struct ir_ins *in = b->first; in; in = in->next) {
			p->no = no;
			p->keep_def = may_not_write(in);
			each_reg(w, in, no, fn, p);
			no++;
		}
		w->last[b->id] = no - 1;
	}
	w->l->npos = 2 * no;
}

static void number_bits(struct flow *w, struct arena *a)
{
	w->reg = arena_array(a, uint32_t, w->l->n);
	for (uint32_t r = 0; r < w->l->n; r++) {
		if (w->bit[r] == LOCAL)
			continue;
		w->bit[r] = w->nbits;
		w->reg[w->nbits++] = r;
	}
	w->words = (w->nbits + 63) / 64;
}

static void use_def(struct flow *w, uint32_t reg, bool def, void *ctx)
{
	struct site *p = ctx;
	uint32_t bit = w->bit[reg];
	size_t at;

	if (bit == LOCAL)
		return;
	at = (size_t)p->block * w->words + bit / 64;
	if (def && !p->keep_def)
		w->def[at] |= 1ull << bit % 64;
	else if (!def && !(w->def[at] & 1ull << bit % 64))
		w->use[at] |= 1ull << bit % 64;
}

/*
 * out of b, word i: union of its successors' in. The result of an instruction
 * that may fail (it is the block's last) comes to life on the way of success.
 */
static uint64_t out_word(const struct flow *w, const struct ir_block *b,
			 unsigned i)
{
	const struct ir_ins *last = b->last;
	uint64_t out = 0, in;
	uint32_t bit;

	for (int t = 0; t < 2; t++) {
		if (!last || !last->target[t])
			continue;
		in = w->in[(size_t)last->target[t]->id * w->words + i];
		bit = may_not_write(last) && !t ? w->bit[last->dst] : LOCAL;
		if (bit != LOCAL && bit / 64 == i)
			in &= ~(1ull << bit % 64);
		out |= in;
	}
	return out;
}

/*
 * Backwards through the blocks until nothing changes: two or three rounds, as
 * layout order is nearly that of execution.
 */
static void solve(struct flow *w, struct arena *a)
{
	const struct ir_func *f = w->e->f;
	const struct ir_block **order =
	    arena_array(a, const struct ir_block *, f->nblocks + 1);
	unsigned n = 0;
	bool changed = true;

	for (const struct ir_block *b = f->blocks; b; b = b->next)
		if (w->e->reached[b->id])
			order[n++] = b;
	while (changed) {
		changed = false;
		for (unsigned k = n; k-- > 0;) {
			const struct ir_block *b = order[k];
			size_t at = (size_t)b->id * w->words;

			for (unsigned i = 0; i < w->words; i++) {
				uint64_t in = w->use[at + i] |
					      (out_word(w, b, i) &
					       ~w->def[at + i]);

				changed |= in != w->in[at + i];
				w->in[at + i] = in;
			}
		}
	}
}

static void extend(struct interval *iv, uint32_t pos)
{
	if (pos < iv->start)
		iv->start = pos;
	if (pos > iv->end)
		iv->end = pos;
}

/* A use in a loop counts 8 times one outside, in the next loop 64 times. */
static void touch(struct flow *w, uint32_t reg, bool def, void *ctx)
{
	struct site *p = ctx;
	struct interval *iv = &w->l->iv[reg];
	uint32_t weight = 1;

	for (uint32_t i = 0; i < p->depth && i < 5; i++)
		weight *= 8;
	if (iv->weight < UINT32_MAX / 2)
		iv->weight += weight;
	/* A string must not share memory with what the same instruction
	 * reads: lowering writes it in pieces. */
	if (def && reg < w->e->nregs && w->e->f->regs.v[reg].is_str)
		extend(iv, 2 * p->no);
	extend(iv, 2 * p->no + def);
}

/* Extends the intervals of those registers in `set` that are new to `seen`. */
static void first_time(struct flow *w, unsigned word, uint64_t set,
		       uint64_t *seen, uint32_t pos)
{
	uint64_t fresh = set & ~seen[word];

	seen[word] |= set;
	for (; fresh; fresh &= fresh - 1) {
		unsigned bit = word * 64 + (unsigned)__builtin_ctzll(fresh);

		extend(&w->l->iv[w->reg[bit]], pos);
	}
}

/*
 * Live at the edge of a block: the interval reaches over it. Only the first
 * block and the last one matter, so that registers that live through thousands
 * of blocks cost no more than others.
 */
static void across_blocks(struct flow *w, struct arena *a)
{
	const struct ir_func *f = w->e->f;
	const struct ir_block **order =
	    arena_array(a, const struct ir_block *, f->nblocks + 1);
	uint64_t *seen = arena_array(a, uint64_t, 2 * w->words + 1);
	unsigned n = 0;

	for (const struct ir_block *b = f->blocks; b; b = b->next)
		if (w->e->reached[b->id])
			order[n++] = b;
	for (unsigned k = 0; k < n; k++) {
		const struct ir_block *b = order[k], *z = order[n - 1 - k];
		const uint64_t *in = &w->in[(size_t)b->id * w->words];
		const uint64_t *zin = &w->in[(size_t)z->id * w->words];

		for (unsigned i = 0; i < w->words; i++) {
			uint64_t *late = seen + w->words;

			first_time(w, i, in[i], seen, 2 * w->first[b->id]);
			first_time(w, i, out_word(w, b, i), seen,
				   2 * w->last[b->id] + 1);
			first_time(w, i, out_word(w, z, i), late,
				   2 * w->last[z->id] + 1);
			first_time(w, i, zin[i], late, 2 * w->first[z->id]);
		}
	}
}

/*
 * What is live at the very start comes from the prologue. Parameters have
 * values there; others are read as zero.
 */
static void from_prologue(struct flow *w, struct arena *a)
{
	struct emit *e = w->e;
	const struct ir_block *b = e->f->blocks;

	e->zero_regs = arena_array(a, uint32_t, w->nbits + 1);
	for (unsigned i = 0; i < w->nbits; i++) {
		uint32_t r = w->reg[i];

		if (!(w->in[(size_t)b->id * w->words + i / 64] &
		      1ull << i % 64))
			continue;
		extend(&w->l->iv[r], 1);
		if (r < e->nregs && r >= e->f->nparams &&
		    !(e->body && e->f->regs.v[r].shared)) {
			e->zero_regs[e->zero_regs_n++] = r;
			e->merged[r] = true;
		}
	}
	for (uint32_t r = 0; r < e->f->nparams; r++)
		if (w->l->iv[r].start <= w->l->iv[r].end)
			extend(&w->l->iv[r], 1);
}

/* The result in the register of the first operand saves a move. */
static void hints(struct flow *w)
{
	for (const struct ir_block *b = w->e->f->blocks; b; b = b->next) {
		if (!w->e->reached[b->id])
			continue;
		for (const struct ir_ins *in = b->first; in; in = in->next) {
			if (!in->has_dst || !in->nargs ||
			    in->args[0].kind != VAL_REG)
				continue;
			w->l->iv[in->dst].hint = in->args[0].reg;
			if (w->l->iv[in->args[0].reg].hint == UINT32_MAX)
				w->l->iv[in->args[0].reg].hint = in->dst;
		}
	}
}

static void find_heavy(struct live *l, struct emit *e, struct arena *a)
{
	l->heavy = arena_array(a, uint32_t, l->npos / 2 + 1);
	for (uint32_t i = 1; i < l->npos / 2; i++)
		if (e->notes[i].heavy)
			l->heavy[l->nheavy++] = i;
}

/* Three walks: who leaves a block, use and definition by block, positions. */
struct live *live_find(struct emit *e)
{
	struct arena *a = e->c->a, *tmp = arena_new();
	struct live *l = arena_new_of(a, struct live);
	struct flow w = {.e = e, .l = l};
	struct site p = {0};
	size_t cells;

	l->n = e->nregs + PS_MAX;
	l->iv = arena_array(a, struct interval, l->n);
	w.bit = arena_array(tmp, uint32_t, l->n);
	p.seen_block = arena_array(tmp, uint32_t, l->n);
	w.first = arena_array(tmp, uint32_t, e->f->nblocks + 1);
	w.last = arena_array(tmp, uint32_t, e->f->nblocks + 1);
	for (uint32_t r = 0; r < l->n; r++) {
		l->iv[r] = (struct interval){.reg = r, .start = UINT32_MAX,
					     .hint = UINT32_MAX, .phys = -1};
		w.bit[r] = LOCAL;
		p.seen_block[r] = LOCAL;
	}
	walk(&w, classify, &p);
	number_bits(&w, tmp);
	cells = (size_t)e->f->nblocks * w.words + 1;
	w.use = arena_array(tmp, uint64_t, cells);
	w.def = arena_array(tmp, uint64_t, cells);
	w.in = arena_array(tmp, uint64_t, cells);
	walk(&w, use_def, &p);
	solve(&w, tmp);
	walk(&w, touch, &p);
	across_blocks(&w, tmp);
	from_prologue(&w, a);
	hints(&w);
	find_heavy(l, e, a);
	arena_free(tmp);
	return l;
}
