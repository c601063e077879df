/* SPDX-License-Identifier: MIT */
/*
 * needs:  ir.lock_of and ir.probe_locks, from the exclusion analysis
 * keeps:  everything else
 * breaks: nothing; adds LOCK and UNLOCK, and blocks for them
 *
 * The locks of a handler are taken just before the first and released just
 * after the last access to what they guard, on every path. Functions called on
 * the host hold what their caller took: a call that touches shared state counts
 * as an access.
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/util.h"

struct locker {
	struct compile *c;
	struct arena *a;
	struct ir *ir;
	struct ir_func *f;
	uint32_t mask;
	bool *calls;	/* by ir_func.index: touches what is guarded */
	uint8_t *before; /* by block id: an access on every... some path to its start */
	uint8_t *after;  /* an access may still come after its end */
};

static bool touches(const struct locker *k, const struct ir_ins *i)
{
	if (i->op == OP_CALL)
		return k->calls[i->callee->index];
	return i->global && (k->ir->lock_of[i->global->index] & k->mask);
}

static bool block_touches(const struct locker *k, const struct ir_block *b)
{
	for (const struct ir_ins *i = b->first; i; i = i->next)
		if (touches(k, i))
			return true;
	return false;
}

/* Which functions touch guarded globals, themselves or by calls. */
static void find_calls(struct locker *k)
{
	bool changed = true;
	uint32_t mask = k->mask;

	k->mask = UINT32_MAX;
	while (changed) {
		changed = false;
		for (unsigned n = 0; n < k->ir->funcs.n; n++) {
			const struct ir_func *f = k->ir->funcs.v[n];

			for (const struct ir_block *b = f->blocks;
			     b && !k->calls[n]; b = b->next) {
				if (f->kind != IR_FUNCTION ||
				    !block_touches(k, b))
					continue;
				k->calls[n] = changed = true;
			}
		}
	}
	k->mask = mask;
}

/* --- flow ------------------------------------------------------------------------ */

/*
 * Held on entry of a block: when some path to it has an access. All paths must
 * agree, so a block where they do not takes the lock on the edges without.
 */
static void flow(struct locker *k)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (struct ir_block *b = k->f->blocks; b; b = b->next) {
			struct ir_block *s[2];
			unsigned n = ir_succ(b, s);
			bool held = k->before[b->id] || block_touches(k, b);

			for (unsigned i = 0; i < n; i++) {
				if (held && !k->before[s[i]->id]) {
					k->before[s[i]->id] = 1;
					changed = true;
				}
				if (!k->after[b->id] &&
				    (k->after[s[i]->id] ||
				     block_touches(k, s[i]))) {
					k->after[b->id] = 1;
					changed = true;
				}
			}
		}
	}
	/* Held where an access was and another may come. */
	for (struct ir_block *b = k->f->blocks; b; b = b->next)
		k->before[b->id] = k->before[b->id] &&
				   (k->after[b->id] || block_touches(k, b));
}

/* --- code ------------------------------------------------------------------------- */

static struct ir_block *lock_block(struct locker *k, uint32_t loc,
				   struct ir_block *to)
{
	struct ir_block *b = arena_new_of(k->a, struct ir_block);
	struct ir_block *bad = arena_new_of(k->a, struct ir_block);
	struct ir_ins *i = ins_new(k->a, OP_LOCK, 0);

	i->locks = k->mask;
	i->loc = loc;
	i->target[0] = to;
	i->target[1] = bad;
	block_append(b, i);
	/* Skipped: counted by the lock, no message. */
	i = ins_new(k->a, OP_RAISE, 1);
	i->args[0] = val_str(str_internz(k->c->str, ""));
	i->num = RAISE_UNCATCHABLE | RAISE_QUIET;
	i->loc = loc;
	block_append(bad, i);
	b->next = bad;
	return b;
}

static struct ir_ins *unlock(struct locker *k, uint32_t loc)
{
	struct ir_ins *i = ins_new(k->a, OP_UNLOCK, 0);

	i->locks = k->mask;
	i->loc = loc;
	return i;
}

/* Puts a chain of new blocks after b in the layout. */
static void lay_after(struct ir_block *b, struct ir_block *chain)
{
	struct ir_block *end = chain;

	while (end->next)
		end = end->next;
	end->next = b->next;
	b->next = chain;
}

/* An edge between a block that holds and one that does not, or back. */
static void fix_edge(struct locker *k, struct ir_block *b, unsigned t,
		     bool held, bool wants)
{
	struct ir_block *to = b->last->target[t], *e;
	struct ir_ins *j;

	if (held == wants)
		return;
	if (wants) {
		e = lock_block(k, b->last->loc, to);
	} else {
		e = arena_new_of(k->a, struct ir_block);
		block_append(e, unlock(k, b->last->loc));
		j = ins_new(k->a, OP_JMP, 0);
		j->loc = b->last->loc;
		j->target[0] = to;
		block_append(e, j);
	}
	e->loop_depth = b->loop_depth;
	b->last->target[t] = e;
	lay_after(b, e);
}

/* Puts the instruction right after p, or first. */
static void insert(struct ir_block *b, struct ir_ins *p, struct ir_ins *i)
{
	if (p) {
		i->next = p->next;
		p->next = i;
	} else {
		i->next = b->first;
		b->first = i;
	}
	block_fix_last(b);
}

/*
 * One block: where the lock is taken (not held before, an access inside) and
 * where it is released (no access comes after). Returns the block at whose end
 * the edges leave; *ret_held whether it is held there.
 */
static struct ir_block *lock_in_block(struct locker *k, struct ir_block *b,
				      bool held, bool more, bool *ret_held)
{
	struct ir_ins *first = NULL, *last = NULL, *p = NULL, *i;
	struct ir_block *tail, *lk;

	for (i = b->first; i; i = i->next) {
		if (!touches(k, i))
			continue;
		first = first ? first : i;
		last = i;
	}
	*ret_held = more && (held || first);
	if (!more && last && !ins_ends(last))
		insert(b, last, unlock(k, last->loc));
	else if (!more && last)
		*ret_held = true; /* ends the block: released on the edges */
	else if (held && !more)
		insert(b, NULL, unlock(k, b->first->loc));
	else if (!more && b->last && (op_info(b->last->op)->flags & OPF_T) &&
		 !b->last->target[0] && *ret_held)
		*ret_held = false;
	if (held || !first)
		return b;
	for (i = b->first; i != first; i = i->next)
		p = i;
	tail = arena_new_of(k->a, struct ir_block);
	tail->loop_depth = b->loop_depth;
	tail->first = first;
	tail->last = b->last;
	lk = lock_block(k, first->loc, tail);
	/* The lock ends what is left of the block. */
	if (p) {
		p->next = lk->first;
	} else {
		b->first = lk->first;
	}
	b->last = lk->first;
	lk->next->next = tail;
	lay_after(b, lk->next);
	return tail;
}

static void lock_func(struct locker *k)
{
	struct ir_func *f = k->f;
	struct ir_block *b, *next, **list;
	uint8_t *wants;
	unsigned n = 0;

	ir_prune(k->a, f);
	k->before = arena_alloc(k->a, f->nblocks + 1);
	k->after = arena_alloc(k->a, f->nblocks + 1);
	flow(k);
	wants = k->before;
	list = arena_array(k->a, struct ir_block *, f->nblocks + 1);
	for (b = f->blocks; b; b = b->next)
		list[n++] = b;
	f->locks |= k->mask;
	for (unsigned m = 0; m < n; m++) {
		bool held;

		b = list[m];
		next = lock_in_block(k, b, wants[b->id], k->after[b->id],
				     &held);
		for (unsigned t = 0; t < 2; t++) {
			struct ir_block *to = next->last->target[t];

			if (to && next->last->op != OP_LOCK)
				fix_edge(k, next, t, held, wants[to->id]);
		}
	}
	ir_number(f);
}

void opt_lock(struct compile *c, struct ir *ir)
{
	struct locker k = {.c = c, .a = c->a, .ir = ir};

	if (!ir->lock_of || !ir->probe_locks)
		return;
	k.calls = arena_array(c->a, bool, ir->funcs.n + 1);
	find_calls(&k);
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		k.f = ir->funcs.v[i];
		if (k.f->kind != IR_PROBE ||
		    !ir->probe_locks[k.f->probe->index])
			continue;
		k.mask = ir->probe_locks[k.f->probe->index];
		lock_func(&k);
	}
}
