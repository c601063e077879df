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
	bool *reports;	/* by ir_func.index: reads banked aggregates */
	bool errors_end_all;
	int64_t empties; /* bits of LOCK: what the function ends by emptying */
	bool drains;	/* so does the function at hand, on the host */
	uint8_t *held;	/* by block id: at its start */
	uint8_t *ahead; /* by block id: an access may come after its end */
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

/* Draining takes longer than a lock may be held: the host does it before. */
static bool reports_in(const struct locker *k, const struct ir_func *f)
{
	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		for (const struct ir_ins *i = b->first; i; i = i->next) {
			if (i->op == OP_CALL && k->reports[i->callee->index])
				return true;
			if (i->global && i->global->type == TY_STATS &&
			    i->op != OP_SADD)
				return true;
		}
	}
	return false;
}

static void find_reports(struct locker *k)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned n = 0; n < k->ir->funcs.n; n++) {
			const struct ir_func *f = k->ir->funcs.v[n];

			if (f->kind != IR_FUNCTION || k->reports[n] ||
			    !reports_in(k, f))
				continue;
			k->reports[n] = changed = true;
		}
	}
}

/* --- flow ----------------------------------------------------------------- */

/*
 * Held where a block starts: an access may have been on the way there, and one
 * may still come. Where ways meet that do not agree, the edges make up for it,
 * so an access is never split from the one before by a release.
 */
static void flow(struct locker *k)
{
	uint8_t *reached = arena_alloc(k->a, k->f->nblocks + 1);
	bool changed = true;

	while (changed) {
		changed = false;
		for (struct ir_block *b = k->f->blocks; b; b = b->next) {
			struct ir_block *s[2];
			unsigned n = ir_succ(b, s);
			bool had = reached[b->id] || block_touches(k, b);

			for (unsigned i = 0; i < n; i++) {
				bool comes = k->ahead[s[i]->id] ||
					     block_touches(k, s[i]);

				changed |= (had && !reached[s[i]->id]) ||
					   (comes && !k->ahead[b->id]);
				reached[s[i]->id] |= had;
				k->ahead[b->id] |= comes;
			}
		}
	}
	for (struct ir_block *b = k->f->blocks; b; b = b->next)
		k->held[b->id] = reached[b->id] &&
				 (k->ahead[b->id] || block_touches(k, b));
}

/* --- code ----------------------------------------------------------------- */

/* LOCK, going on in `to`; then what happens when it cannot be had. */
static struct ir_block *lock_block(struct locker *k, uint32_t loc,
				   struct ir_block *to)
{
	struct ir_block *b = arena_new_of(k->a, struct ir_block);
	struct ir_block *bad = arena_new_of(k->a, struct ir_block);
	struct ir_ins *i = ins_new(k->a, OP_LOCK, 0);

	i->locks = k->mask;
	i->num = (k->drains ? LOCK_DRAINS : 0) |
		 (k->f->frozen ? LOCK_FREEZES | k->empties : 0);
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

/* Splits b before instruction `at`, with a LOCK between. Returns the tail. */
static struct ir_block *lock_before(struct locker *k, struct ir_block *b,
				    struct ir_ins *at)
{
	struct ir_block *tail = arena_new_of(k->a, struct ir_block), *lk;
	struct ir_ins *i = b->first;

	tail->loop_depth = b->loop_depth;
	tail->first = at;
	tail->last = b->last;
	lk = lock_block(k, at->loc, tail);
	lk->next->next = tail;
	lay_after(b, lk->next);
	if (i == at) {
		b->first = lk->first;
	} else {
		while (i->next != at)
			i = i->next;
		i->next = lk->first;
	}
	b->last = lk->first;
	return tail;
}

/* Takes and releases inside of a block. The block whose end is now the end
 * comes back, and whether the lock is held there. */
static struct ir_block *lock_in_block(struct locker *k, struct ir_block *b,
				      bool *held)
{
	bool more = k->ahead[b->id];
	struct ir_ins *last = NULL, *u;

	for (struct ir_ins *i = b->first; i; i = i->next) {
		if (!touches(k, i))
			continue;
		if (!*held)
			b = lock_before(k, b, i);
		*held = true;
		last = i;
	}
	/* An access that ends the block is released on the way out. */
	if (more || !last || ins_ends(last))
		return b;
	u = unlock(k, last->loc);
	u->next = last->next;
	last->next = u;
	*held = false;
	return b;
}

/* Is a block that ends the handler reached from `from` without passing `b`? An
 * error that ends it does not count. */
static bool ends_without(struct locker *k, struct ir_block *from,
			 const struct ir_block *b)
{
	uint8_t *seen = arena_alloc(k->a, k->f->nblocks + 1);
	struct ir_block **list = arena_array(k->a, struct ir_block *,
					     k->f->nblocks + 1);
	unsigned n = 0;

	list[n++] = from;
	seen[from->id] = 1;
	while (n) {
		struct ir_block *at = list[--n], *s[2];
		unsigned ns = ir_succ(at, s);

		if (at == b)
			continue;
		if (at->last->op == OP_RET)
			return true;
		for (unsigned i = 0; i < ns; i++) {
			if (!seen[s[i]->id])
				list[n++] = s[i];
			seen[s[i]->id] = 1;
		}
	}
	return false;
}

/* Is the global touched after instruction i of b, on any path? */
static bool touched_after(struct locker *k, struct ir_block *b,
			  const struct ir_ins *i)
{
	const struct var *v = i->global;
	uint8_t *seen = arena_alloc(k->a, k->f->nblocks + 1);
	struct ir_block **list = arena_array(k->a, struct ir_block *,
					     k->f->nblocks + 1);
	unsigned n = 0;

	for (;;) {
		struct ir_block *s[2];
		unsigned ns = ir_succ(b, s);

		for (i = n || seen[b->id] ? b->first : i->next; i; i = i->next)
			if (i->global == v)
				return true;
		for (unsigned m = 0; m < ns; m++) {
			if (!seen[s[m]->id])
				list[n++] = s[m];
			seen[s[m]->id] = 1;
		}
		if (!n)
			return false;
		b = list[--n];
	}
}

/* After an error nobody is there to see that an array was emptied too early.
 * (Asked before locks are added: giving up looks like abort().) */
static bool errors_end_all(const struct locker *k)
{
	const struct program *p = k->ir->prog;

	if (k->c->set.suppress_errors || k->c->set.limit[LIMIT_MAXERRORS])
		return false;
	for (unsigned i = 0; i < p->probes.n; i++)
		if (p->probes.v[i]->when == WHEN_ERROR)
			return false;
	for (unsigned n = 0; n < k->ir->funcs.n; n++)
		for (const struct ir_block *b = k->ir->funcs.v[n]->blocks; b;
		     b = b->next)
			for (const struct ir_ins *i = b->first; i; i = i->next)
				if (i->op == OP_RAISE && i->num & RAISE_QUIET)
					return false;
	return true;
}

/*
 * The end of a report: `delete a`, `n = 0`. When each way through the handler
 * comes there, and reads nothing of it afterwards, it can as well be done as
 * soon as there is a copy to report from. Errors on the way would leave what
 * the script did not empty; so only where they end all, without try.
 */
static bool empties(struct locker *k, struct ir_block *b,
		    const struct ir_ins *i)
{
	unsigned g = i->global->index;

	if (i->op == OP_GST && (i->global->type != TY_LONG ||
				i->args[0].kind != VAL_NUM || i->args[0].num))
		return false;
	if (g >= LOCK_NEMPTY || b->loop_depth || k->f->nresume ||
	    !k->errors_end_all || ends_without(k, k->f->blocks, b) ||
	    touched_after(k, b, i))
		return false;
	for (const struct ir_block *t = k->f->blocks; t; t = t->next)
		for (const struct ir_ins *m = t->first; m; m = m->next)
			if (m->op == OP_TAKEERR)
				return false;
	k->empties |= 1ll << (LOCK_EMPTIES + g);
	return true;
}

/* Can this access be to a copy? */
static bool of_copy(struct locker *k, struct ir_block *b,
		    const struct ir_ins *i)
{
	if (i->op == OP_CALL || i->global->type == TY_STATS)
		return false;
	switch (i->op) {
	case OP_GLD:
	case OP_AGET:
	case OP_AHAS:
	case OP_AHASW:
	case OP_ITNEW:
	case OP_ITNEXT:
	case OP_ITKEY:
	case OP_ITVAL:
	case OP_ITEND:
		return true;
	case OP_GST:
	case OP_ACLR:
		return empties(k, b, i);
	default:
		return false;
	}
}

/*
 * A host handler that walks arrays and changes nothing of what is guarded, or
 * only empties it at the end, can work on a copy: the lock is held while that
 * is taken, not for the walk.
 */
static bool only_walks(struct locker *k)
{
	const struct ir_ins *walks = NULL, *other = NULL;

	if (k->f->place != PLACE_HOST)
		return false;
	for (struct ir_block *b = k->f->blocks; b; b = b->next) {
		for (const struct ir_ins *i = b->first; i; i = i->next) {
			if (!touches(k, i))
				continue;
			if (i->op == OP_ITNEW || i->op == OP_AHASW)
				walks = i;
			if (!other && !of_copy(k, b, i))
				other = i;
		}
	}
	if (walks && other)
		log_say(&k->c->log, LOG_IR, 1, "%s: holds its locks while it "
			"walks %s, because of what it does to %s: others wait",
			k->f->probe->pp, walks->global->name,
			other->global ? other->global->name
				      : other->callee->name);
	return walks && !other;
}

static void lock_func(struct locker *k)
{
	struct ir_func *f = k->f;
	struct ir_block *end, **list;
	unsigned n = 0;

	ir_prune(k->a, f);
	k->held = arena_alloc(k->a, f->nblocks + 1);
	k->ahead = arena_alloc(k->a, f->nblocks + 1);
	flow(k);
	list = arena_array(k->a, struct ir_block *, f->nblocks + 1);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		list[n++] = b;
	f->locks |= k->mask;
	k->empties = 0;
	f->frozen = only_walks(k);
	for (unsigned m = 0; m < n; m++) {
		bool held = k->held[list[m]->id];

		list[m]->held = held;
		end = lock_in_block(k, list[m], &held);
		for (unsigned t = 0; t < 2; t++) {
			struct ir_block *to = end->last->target[t];

			/* New blocks have no id yet that held[] knows, but no
			 * old block leads to one at this point. */
			if (to)
				fix_edge(k, end, t, held, k->held[to->id]);
		}
	}
	ir_number(f);
}

static bool func_touches(const struct locker *k, const struct ir_func *f)
{
	for (const struct ir_block *b = f->blocks; b; b = b->next)
		if (block_touches(k, b))
			return true;
	return false;
}

/* -v: the kernel's part lets go of its locks before the host takes them again.
 * Nobody may hold them while a record is on its way. */
static void say_pieces(const struct locker *k, const struct ir_func *kernel,
		       const struct ir_func *host)
{
	const struct program *p = k->ir->prog;
	const char *names = "", *sep = "";

	if (!func_touches(k, kernel) || !func_touches(k, host))
		return;
	for (unsigned i = 0; i < p->globals.n; i++) {
		if (!(k->ir->lock_of[i] & k->mask))
			continue;
		names = arena_printf(k->a, "%s%s%s", names, sep,
				     p->globals.v[i]->name);
		sep = ", ";
	}
	log_say(&k->c->log, LOG_IR, 1, "%s: two pieces: other handlers may "
		"change {%s} before it continues on the host",
		kernel->probe->pp, names);
}

/* The host's part of a kernel handler. */
static const struct ir_func *host_part(const struct ir *ir,
				       const struct ir_func *f)
{
	for (unsigned i = 0; f->nresume && i < ir->funcs.n; i++) {
		const struct ir_func *h = ir->funcs.v[i];

		if (h->kind == IR_PROBE && h->place == PLACE_HOST &&
		    h->probe == f->probe && h->nresume)
			return h;
	}
	return NULL;
}

void opt_lock(struct compile *c, struct ir *ir)
{
	struct locker k = {.c = c, .a = c->a, .ir = ir};

	if (!ir->lock_of || !ir->probe_locks)
		return;
	k.calls = arena_array(c->a, bool, ir->funcs.n + 1);
	find_calls(&k);
	k.reports = arena_array(c->a, bool, ir->funcs.n + 1);
	find_reports(&k);
	k.errors_end_all = errors_end_all(&k);
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		k.f = ir->funcs.v[i];
		if (k.f->kind != IR_PROBE ||
		    !ir->probe_locks[k.f->probe->index])
			continue;
		k.mask = ir->probe_locks[k.f->probe->index];
		if (k.f->place == PLACE_KERNEL && host_part(ir, k.f))
			say_pieces(&k, k.f, host_part(ir, k.f));
		k.drains = k.f->place == PLACE_HOST && reports_in(&k, k.f);
		lock_func(&k);
	}
}
