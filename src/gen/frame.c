/* SPDX-License-Identifier: MIT */
/*
 * The frame: memory for what has no register, shared by intervals that do not
 * overlap. When it outgrows the stack, the biggest strings move to the claimed
 * scratch slot, one at a time, until the rest fits; when only numbers are left,
 * those that are kept longest move too.
 */
#include "gen/live.h"

#include <stdlib.h>

/* A register or the like that needs memory. */
struct slot {
	struct interval *iv;
	uint32_t size;
	bool forever; /* shared with loop bodies: never reused */
	bool in_scratch;
};

/* What a place of the frame or of the scratch slot is taken by, until when. */
struct used {
	uint32_t end; /* of the interval; UINT32_MAX forever */
	uint32_t off, size;
};

struct layout {
	struct emit *e;
	struct slot *slots; /* ordered by start */
	unsigned n;
	struct used *used[2]; /* [0] frame, [1] scratch slot */
	unsigned nused[2];
	/* frame, scratch: first byte, high-water mark */
	uint32_t base[2], top[2];
};

/*
 * By register where the start is the same: the layout must not depend on
 * qsort().
 */
static int by_start(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	if (a->iv->start != b->iv->start)
		return a->iv->start < b->iv->start ? -1 : 1;
	return a->iv->reg < b->iv->reg ? -1 : a->iv->reg > b->iv->reg;
}

/*
 * First fit among what is live at start; `used` is kept sorted by offset.
 * That keeps frames small without trying combinations.
 */
static uint32_t put(struct layout *y, int where, uint32_t start, uint32_t end,
		    uint32_t size)
{
	struct used *u = y->used[where];
	unsigned n = 0, at;
	uint32_t off = y->base[where];

	for (unsigned i = 0; i < y->nused[where]; i++)
		if (u[i].end >= start)
			u[n++] = u[i];
	for (at = 0; at < n; at++) {
		if (u[at].off >= off + size)
			break;
		off = u[at].off + u[at].size;
	}
	for (unsigned i = n; i > at; i--)
		u[i] = u[i - 1];
	u[at] = (struct used){end, off, size};
	y->nused[where] = n + 1;
	if (off + size > y->top[where])
		y->top[where] = off + size;
	return off;
}

/* Lays everything out from nothing: called again after each move. */
static void pack(struct layout *y)
{
	struct emit *e = y->e;

	y->base[0] = e->reserved;
	/* bodies' slots come after one another, the handler's last */
	y->base[1] = e->kernel ? e->root->scratch : 0;

	y->nused[0] = y->nused[1] = 0;
	y->top[0] = y->base[0];
	y->top[1] = y->base[1];
	for (unsigned i = 0; i < y->n; i++) {
		struct slot *s = &y->slots[i];
		uint32_t end = s->forever ? UINT32_MAX : s->iv->end;
		uint32_t start = s->forever ? 0 : s->iv->start;
		int where = s->in_scratch;
		uint32_t off = put(y, where, start, end, s->size);
		struct home *h = &e->homes[s->iv->reg];

		h->kind = where ? HOME_SCRATCH : HOME_FRAME;
		/* the frame grows down */
		h->off = where ? (int)off : -(int)(off + s->size);
	}
	if (e->ptr_used) {
		y->top[0] += 8;
		e->ptr_off = -(int)y->top[0];
	}
	if (e->tmp_kind == HOME_SCRATCH) {
		e->tmp_off = (int)y->top[1];
		y->top[1] += e->tmp_max;
	} else {
		y->top[0] += e->tmp_max;
		e->tmp_off = -(int)y->top[0];
	}
}

/* Everything without a register that is used at all, ordered by start. */
static void collect(struct layout *y, struct live *l)
{
	struct emit *e = y->e;

	for (uint32_t r = 0; r < l->n; r++) {
		bool pseudo = r >= e->nregs;
		const struct ir_reg *reg = pseudo ? NULL : &e->f->regs.v[r];
		bool shared = !pseudo && reg->shared && !e->body;
		struct slot s = {.iv = &l->iv[r], .size = 8};

		if (e->homes[r].kind == HOME_REG ||
		    e->homes[r].kind == HOME_ROOT || r == e->nregs + PS_SCR)
			continue;
		if (pseudo && e->homes[r].kind == HOME_FRAME)
			shared = true; /* the handler's, for its bodies */
		if (!shared && l->iv[r].start > l->iv[r].end)
			continue;
		if (!pseudo && reg->is_str)
			s.size = reg->width;
		s.forever = shared;
		y->slots[y->n++] = s;
	}
	qsort(y->slots, y->n, sizeof(*y->slots), by_start);
	/* forever ones first: they start at 0 */
	for (unsigned i = 0, at = 0; i < y->n; i++) {
		struct slot s = y->slots[i];

		if (!s.forever)
			continue;
		for (unsigned k = i; k > at; k--)
			y->slots[k] = y->slots[k - 1];
		y->slots[at++] = s;
	}
}

/*
 * Moves the number that is live longest: it keeps others from its place for
 * the longest time. What the machine needs at hand (the pseudo registers are
 * addresses, which a map's memory may not hold) stays on the stack.
 */
static bool move_number(struct layout *y)
{
	struct slot *best = NULL;
	uint32_t longest = 0;

	for (unsigned i = 0; i < y->n; i++) {
		struct slot *s = &y->slots[i];
		uint32_t span = s->forever ? UINT32_MAX :
					     s->iv->end - s->iv->start + 1;

		if (s->in_scratch || s->iv->reg >= y->e->nregs ||
		    span <= longest)
			continue;
		best = s;
		longest = span;
	}
	if (best)
		best->in_scratch = true;
	return best != NULL;
}

/*
 * Moves the biggest thing off the stack. False: nothing is left to move.
 * Numbers (8 bytes) come last: each access to one costs a load more.
 */
static bool move_biggest(struct layout *y)
{
	struct emit *e = y->e;
	struct slot *best = NULL;

	for (unsigned i = 0; i < y->n; i++) {
		struct slot *s = &y->slots[i];

		if (!s->in_scratch && s->size > 8 &&
		    (!best || s->size > best->size))
			best = s;
	}
	if (e->tmp_kind == HOME_FRAME && e->tmp_max > 16 &&
	    (!best || e->tmp_max > best->size)) {
		e->tmp_kind = HOME_SCRATCH;
		return true;
	}
	if (!best)
		return move_number(y);
	best->in_scratch = true;
	return true;
}

/* A string that alone fills the stack has no chance: skip the small steps. */
static void move_hopeless(struct layout *y, uint32_t limit)
{
	for (unsigned i = 0; i < y->n; i++)
		if (y->slots[i].size > limit)
			y->slots[i].in_scratch = true;
}

/* Room for the scratch slot's address, once it is known that there is one. */
static void reserve_scratch(struct emit *e)
{
	e->root->scr_used = true;
	if (e->body || e->root->scr_off)
		return; /* once */
	e->reserved += 8;
	e->root->scr_off = -(int)e->reserved;
	e->homes[e->nregs + PS_SCR] =
	    (struct home){.kind = HOME_FRAME, .off = e->root->scr_off};
}

bool frame_layout(struct emit *e, struct live *l, uint32_t limit)
{
	struct layout y = {.e = e};
	struct arena *a = e->c->a;
	struct span at = e->f->probe ? e->f->probe->span : (struct span){0};

	y.slots = arena_array(a, struct slot, l->n + 1);
	y.used[0] = arena_array(a, struct used, l->n + 1);
	y.used[1] = arena_array(a, struct used, l->n + 1);
	collect(&y, l);
	e->tmp_kind = HOME_FRAME;
	if (e->kernel) /* the host's stack has room for every string */
		move_hopeless(&y, limit);
	if (e->kernel && e->root->scr_used)
		reserve_scratch(e);
	pack(&y);
	/*
	 * Each step is one thing: a frame that is 8 bytes too large must not
	 * lose all its strings.
	 */
	while (e->kernel && y.top[0] > limit && move_biggest(&y))
		pack(&y);
	/*
	 * The slot's address takes room of its own, which may push something
	 * out.
	 */
	if (y.top[1] > y.base[1] && !e->root->scr_used) {
		reserve_scratch(e);
		pack(&y);
		while (y.top[0] > limit && move_biggest(&y))
			pack(&y);
	}
	e->frame = y.top[0];
	if (y.top[0] > limit) {
		complain(e->c, SCRATCH_FULL, &at, y.top[0], "stack", limit);
		return false;
	}
	if (e->kernel)
		e->root->scratch = y.top[1];
	return true;
}
