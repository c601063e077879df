/* SPDX-License-Identifier: MIT */
/*
 * The frame: memory for what has no register, shared by intervals that do not
 * overlap. When it outgrows the stack, the biggest strings move to the claimed
 * scratch slot, one at a time, until the rest fits; when only numbers are left,
 * those that are kept longest move too.
 */
#include "gen/live.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A register or the like that needs memory. */
struct slot {
	struct interval *iv;
	uint32_t size;
	bool forever; /* shared with loop bodies: never reused */
	bool in_scratch;
};

/* What a place is taken by, until when. */
struct used {
	uint32_t end; /* of the interval; UINT32_MAX forever */
	uint32_t off, size;
};

/*
 * The frame or the scratch slot while it is filled: a bit for each 8 bytes
 * that are taken, and a heap of what takes them, the earliest end on top. Both
 * keep a handler with thousands of values linear.
 */
struct area {
	uint64_t *taken;
	uint32_t words; /* allocated */
	uint32_t low;	/* units below are all taken */
	struct used *heap;
	unsigned n;
	uint32_t base, top; /* first byte, high-water mark */
};

struct layout {
	struct emit *e;
	struct slot *slots; /* ordered by start */
	unsigned n;
	struct area area[2]; /* [0] frame, [1] scratch slot */
	struct slot **move; /* NULL: the temporary bytes */
	unsigned nmoves, moved;
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

enum { UNIT = 8 }; /* bytes from area.base on that a bit stands for */

static bool is_taken(const struct area *r, uint32_t unit)
{
	return unit / 64 < r->words && r->taken[unit / 64] >> unit % 64 & 1;
}

static void mark(struct area *r, uint32_t off, uint32_t size, bool taken)
{
	uint32_t first = (off - r->base) / UNIT;

	for (uint32_t u = first; u < first + size / UNIT; u++) {
		if (taken)
			r->taken[u / 64] |= 1ull << u % 64;
		else
			r->taken[u / 64] &= ~(1ull << u % 64);
	}
}

static void heap_push(struct area *r, struct used u)
{
	unsigned i = r->n++;

	for (; i && r->heap[(i - 1) / 2].end > u.end; i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = u;
}

static void heap_pop(struct area *r)
{
	struct used last = r->heap[--r->n];
	unsigned i = 0, k;

	while ((k = 2 * i + 1) < r->n) {
		if (k + 1 < r->n && r->heap[k + 1].end < r->heap[k].end)
			k++;
		if (last.end <= r->heap[k].end)
			break;
		r->heap[i] = r->heap[k];
		i = k;
	}
	r->heap[i] = last;
}

/* The first unit from `unit` on that is free; whole words are skipped. */
static uint32_t next_free(const struct area *r, uint32_t unit)
{
	while (is_taken(r, unit)) {
		uint64_t free = ~r->taken[unit / 64] >> unit % 64;

		if (free)
			return unit + (uint32_t)__builtin_ctzll(free);
		unit = (unit / 64 + 1) * 64;
	}
	return unit;
}

/*
 * First fit among what is live at start. That keeps frames small without
 * trying combinations.
 */
static uint32_t put(struct arena *a, struct area *r, uint32_t start,
		    uint32_t end, uint32_t size)
{
	uint32_t at, off, n = size / UNIT, want;

	assert(size % UNIT == 0);
	for (; r->n && r->heap[0].end < start; heap_pop(r)) {
		mark(r, r->heap[0].off, r->heap[0].size, false);
		at = (r->heap[0].off - r->base) / UNIT;
		r->low = at < r->low ? at : r->low;
	}
	r->low = at = next_free(r, r->low);
	for (uint32_t k = 0; k < n; k++) {
		if (!is_taken(r, at + k))
			continue;
		at = next_free(r, at + k);
		k = UINT32_MAX; /* from 0 again */
	}
	want = (at + n) / 64 + 1;
	if (want > r->words) {
		want = want < 2 * r->words ? 2 * r->words : want;
		r->taken = arena_grow(a, r->taken, r->words * 8,
				      (size_t)want * 8);
		r->words = want;
	}
	off = r->base + at * UNIT;
	mark(r, off, size, true);
	heap_push(r, (struct used){end, off, size});
	if (off + size > r->top)
		r->top = off + size;
	return off;
}

static void start_area(struct area *r, uint32_t base)
{
	if (r->words)
		memset(r->taken, 0, r->words * sizeof(*r->taken));
	r->n = 0;
	r->low = 0;
	r->base = r->top = base;
}

/* Lays everything out from nothing: called again after each move. */
static void pack(struct layout *y)
{
	struct emit *e = y->e;

	start_area(&y->area[0], e->reserved);
	/* bodies' slots come after one another, the handler's last */
	start_area(&y->area[1], e->kernel ? e->root->scratch : 0);
	for (unsigned i = 0; i < y->n; i++) {
		struct slot *s = &y->slots[i];
		uint32_t end = s->forever ? UINT32_MAX : s->iv->end;
		uint32_t start = s->forever ? 0 : s->iv->start;
		int where = s->in_scratch;
		uint32_t off = put(e->c->a, &y->area[where], start, end,
				   s->size);
		struct home *h = &e->homes[s->iv->reg];

		h->kind = where ? HOME_SCRATCH : HOME_FRAME;
		/* the frame grows down */
		h->off = where ? (int)off : -(int)(off + s->size);
	}
	if (e->ptr_used) {
		y->area[0].top += 8;
		e->ptr_off = -(int)y->area[0].top;
	}
	if (e->tmp_kind == HOME_SCRATCH) {
		e->tmp_off = (int)y->area[1].top;
		y->area[1].top += e->tmp_max;
	} else {
		y->area[0].top += e->tmp_max;
		e->tmp_off = -(int)y->area[0].top;
	}
}

/* Everything without a register that is used at all, ordered by start. */
static void collect(struct layout *y, struct live *l)
{
	struct emit *e = y->e;
	struct slot *first;
	unsigned at = 0;

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
	first = arena_array(e->c->a, struct slot, y->n + 1);
	for (unsigned i = 0; i < y->n; i++)
		if (y->slots[i].forever)
			first[at++] = y->slots[i];
	for (unsigned i = 0; i < y->n; i++)
		if (!y->slots[i].forever)
			first[at++] = y->slots[i];
	y->slots = first;
}

static uint32_t span_of(const struct slot *s)
{
	return s->forever ? UINT32_MAX : s->iv->end - s->iv->start + 1;
}

/* The order in which things leave the stack; slots are in one array. */
static int by_move(const void *pa, const void *pb)
{
	const struct slot *a = *(struct slot *const *)pa;
	const struct slot *b = *(struct slot *const *)pb;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->size == 8 && span_of(a) != span_of(b))
		return span_of(a) > span_of(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

/*
 * What can leave the stack, in the order in which it is worth it: the biggest
 * first, then numbers, as each access to one costs a load more; of these the
 * one that is live longest, as it keeps others from its place for the longest
 * time. NULL stands for the temporary bytes. What the machine needs at hand
 * (the pseudo registers are addresses, which a map's memory may not hold)
 * stays.
 */
static void plan_moves(struct layout *y)
{
	struct emit *e = y->e;
	struct slot **all = arena_array(e->c->a, struct slot *, y->n + 1);
	unsigned n = 0;

	for (unsigned i = 0; i < y->n; i++) {
		struct slot *s = &y->slots[i];

		if (!s->in_scratch && (s->size > 8 || s->iv->reg < e->nregs))
			all[n++] = s;
	}
	qsort(all, n, sizeof(*all), by_move);
	y->move = arena_array(e->c->a, struct slot *, n + 1);
	for (unsigned i = 0; i <= n; i++) {
		if (e->tmp_max > 16 && y->nmoves == i &&
		    (i == n || e->tmp_max > all[i]->size))
			y->move[y->nmoves++] = NULL;
		if (i < n)
			y->move[y->nmoves++] = all[i];
	}
}

/* The first k of the moves are made: does the rest fit? */
static bool fits(struct layout *y, unsigned k, uint32_t limit)
{
	y->e->tmp_kind = HOME_FRAME;
	for (unsigned i = 0; i < y->nmoves; i++) {
		if (y->move[i])
			y->move[i]->in_scratch = i < k;
		else if (i < k)
			y->e->tmp_kind = HOME_SCRATCH;
	}
	y->moved = k;
	pack(y);
	return y->area[0].top <= limit;
}

/*
 * Moves as few things as will do: a frame that is 8 bytes too large must not
 * lose all its strings. The number is looked for in steps that double, then
 * halve: handlers have thousands of values.
 */
static void move_out(struct layout *y, uint32_t limit)
{
	unsigned no = y->moved, yes, step = 1;

	if (fits(y, no, limit))
		return;
	for (yes = no; !fits(y, yes, limit); step *= 2) {
		if (yes == y->nmoves)
			return; /* all is moved, and it is not enough */
		no = yes;
		yes = y->nmoves - yes < step ? y->nmoves : yes + step;
	}
	while (yes - no > 1) {
		unsigned mid = no + (yes - no) / 2;

		if (fits(y, mid, limit))
			yes = mid;
		else
			no = mid;
	}
	fits(y, yes, limit);
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
	y.area[0].heap = arena_array(a, struct used, l->n + 1);
	y.area[1].heap = arena_array(a, struct used, l->n + 1);
	collect(&y, l);
	e->tmp_kind = HOME_FRAME;
	if (e->kernel) /* the host's stack has room for every string */
		move_hopeless(&y, limit);
	if (e->kernel && e->root->scr_used)
		reserve_scratch(e);
	if (e->kernel) {
		plan_moves(&y);
		move_out(&y, limit);
	} else {
		pack(&y);
	}
	/*
	 * The slot's address takes room of its own, which may push something
	 * out.
	 */
	if (y.area[1].top > y.area[1].base && !e->root->scr_used) {
		reserve_scratch(e);
		move_out(&y, limit);
	}
	e->frame = y.area[0].top;
	if (e->frame > limit) {
		complain(e->c, SCRATCH_FULL, &at, e->frame, "stack", limit);
		return false;
	}
	if (e->kernel)
		e->root->scratch = y.area[1].top;
	return true;
}
