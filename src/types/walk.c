/* SPDX-License-Identifier: MIT */
/*
 * A walk keeps the address of a place or a value at hand. Member offsets add up
 * while the walk stays inside one object; crossing a pointer makes a step that
 * loads it.
 */
#include "types/walk.h"

#include <string.h>

#include "base/compile.h"
#include "types/types.h"

/*
 * How many alternatives a message lists, and how deep anonymous members nest.
 */
enum { SHOWN_MAX = 5, NEST_MAX = 8 };
/* Members that are compared with a wrong name: enough for any real struct. */
enum { COMPARED_MAX = 10000 };

void walk_start(struct walk *w, struct compile *c, struct access *a,
		const struct ctype *type)
{
	*w = (struct walk){.c = c, .a = a, .full = type, .is_user = a->user};
	w->type = ctype_strip(type);
	/* A last step that does not load has left an address of the thing. */
	w->is_place = a->steps.n && !vec_last(&a->steps).load;
}

/* The step that offsets are still added to, made when there is none. */
static struct access_step *open_step(struct walk *w)
{
	struct access *a = w->a;

	/*
	 * After a load what is at hand is a value; an offset added to the step
	 * would be applied before it.
	 */
	if (!a->steps.n || vec_last(&a->steps).load ||
	    vec_last(&a->steps).index) {
		struct access_step s = {0};

		vec_push(w->c->a, &a->steps, s);
	}
	return &vec_last(&a->steps);
}

/*
 * A machine word's worth of bytes that can be loaded at once, or 0. Kernel
 * values of other sizes (structs, 16-byte integers) are given as their address.
 */
static uint8_t load_size(const struct ctype *t)
{
	switch (t ? t->size : 0) {
	case 1:
	case 2:
	case 4:
	case 8:
		return t->size;
	default:
		return 0;
	}
}

static bool is_scalar(const struct ctype *t)
{
	return t && (t->kind == CT_INT || t->kind == CT_ENUM ||
		     t->kind == CT_PTR || t->kind == CT_FLOAT);
}

/* Appends operations to those of a piece. */
static void put_ops(struct walk *w, const struct access_piece *p,
		    const struct access_op *more, unsigned n)
{
	struct access_op *ops = arena_array(w->c->a, struct access_op,
					    p->nops + n);

	memcpy(ops, p->ops, p->nops * sizeof(*ops));
	memcpy(ops + p->nops, more, n * sizeof(*ops));
	w->a->base = ACC_EXPR;
	w->a->ops = ops;
	w->a->nops = p->nops + n;
}

/*
 * The member that the walk is at, of a struct in pieces: from the piece that
 * has it, in memory or in a register's bytes.
 */
static void load_piece(struct walk *w)
{
	struct access_step *s = &w->a->steps.v[0];
	const struct access_piece *p = NULL;
	unsigned i;

	for (i = 0; i < w->a->npieces && !p; i++) {
		const struct access_piece *q = &w->a->pieces[i];

		if (s->off >= q->off && s->off + s->load <= q->off + q->size)
			p = q;
	}
	w->a->missing = !p || !p->nops || s->index || !s->load;
	if (w->a->missing)
		return;
	s->off -= p->off;
	if (!p->is_value) {
		put_ops(w, p, NULL, 0);
		return;
	}
	/* up to the word's end and down again: what is beside it falls off */
	if (s->bit_size)
		put_ops(w, p, (struct access_op[]){
			{AO_NUM, s->off * 8 + s->bit_off}, {AO_USHR, 0},
			{AO_NUM, 64 - s->bit_size}, {AO_SHL, 0},
			{AO_NUM, 64 - s->bit_size},
			{s->sign ? AO_SHR : AO_USHR, 0}}, 6);
	else
		put_ops(w, p, (struct access_op[]){{AO_NUM, s->off * 8},
						   {AO_USHR, 0}}, 2);
	w->a->narrow = s->bit_size ? 0 : s->load;
	w->a->sign = s->sign;
	w->a->steps.n = 0;
}

/*
 * Turns the place at hand into the value that is there. Structs, arrays and
 * unions stay places: their value is their address.
 */
static void load_place(struct walk *w)
{
	struct access_step *s;

	if (!w->is_place || !is_scalar(w->type))
		return;
	/* A step with an index can still load; open_step() would not join. */
	s = w->a->steps.n && !vec_last(&w->a->steps).load
		? &vec_last(&w->a->steps)
		: open_step(w);
	s->load = w->bit_size ? w->word : load_size(w->type);
	s->sign = w->type->sign;
	s->user = w->is_user;
	s->bit_off = w->bit_off;
	s->bit_size = w->bit_size;
	w->is_place = false;
	if (w->a->base == ACC_PIECES)
		load_piece(w);
}

void walk_value(struct walk *w)
{
	load_place(w);
	/* An array's address may be kept: what is there is of user space. */
	if (w->is_place && w->a->steps.n)
		vec_last(&w->a->steps).user = w->is_user;
	w->a->type = w->full;
	/* A struct in it would need an address of its own. */
	if (w->a->base == ACC_PIECES)
		w->a->missing = true;
}

/* The best candidates so far, nearest first. */
struct nearest {
	const char *name[SHOWN_MAX];
	unsigned dist[SHOWN_MAX], n;
	unsigned seen; /* members, also those without a name */
};

static void near_add_member(struct nearest *ret, const char *want,
			    const char *name)
{
	unsigned dist = str_distance(want, name), i;

	/*
	 * Insertion into a sorted list of fixed length; the last one falls out.
	 */
	for (i = ret->n; i > 0 && ret->dist[i - 1] > dist; i--)
		if (i < SHOWN_MAX) {
			ret->dist[i] = ret->dist[i - 1];
			ret->name[i] = ret->name[i - 1];
		}
	if (i == SHOWN_MAX)
		return;
	ret->dist[i] = dist;
	ret->name[i] = name;
	if (ret->n < SHOWN_MAX)
		ret->n++;
}

/* Members of anonymous structs inside count as t's own. */
static void nearest_members(const struct ctype *t, const char *want,
			    struct nearest *ret, unsigned depth)
{
	t = ctype_fill(ctype_strip(t));
	for (unsigned i = 0; t && i < t->members.n; i++) {
		const struct cmember *m = &t->members.v[i];

		if (++ret->seen > COMPARED_MAX)
			return;
		if (*m->name)
			near_add_member(ret, want, m->name);
		else if (depth < NEST_MAX)
			nearest_members(m->type, want, ret, depth + 1);
	}
}

/* " (alternatives: pid, tgid, ...)", or "" when the type has no members. */
static const char *alternatives(struct walk *w, const struct ctype *t,
				const char *name)
{
	struct nearest near = {.n = 0};
	const char *text = "";

	nearest_members(t, name, &near, 0);
	for (unsigned i = 0; i < near.n; i++)
		text = arena_printf(w->c->a, "%s%s%s", text, i ? ", " : "",
				    near.name[i]);
	return near.n ? arena_printf(w->c->a, " (alternatives: %s)", text) : "";
}

/*
 * Reports, unless only tried (@defined), that there is no such way on from
 * here.
 */
static int no_access(struct walk *w, const char *what, const struct span *at,
		     bool quiet)
{
	if (!quiet)
		complain(w->c, BAD_ACCESS, at, what,
			 ctype_text(w->c, w->full));
	return -1;
}

/*
 * A bit-field (size > 0) at a bit of an object: bit_off counts in the smallest
 * aligned word that holds all of it. Returns the word's byte offset.
 */
static uint32_t set_bits(struct walk *w, uint32_t bit, unsigned size)
{
	unsigned bytes = 1;

	w->bit_size = size;
	w->bit_off = w->word = 0;
	if (!size)
		return bit / 8;
	/*
	 * Compilers never let a field cross more words than that; one that did
	 * would be cut at 8 bytes.
	 */
	while (bytes < 8 &&
	       bit / (bytes * 8) != (bit + size - 1) / (bytes * 8))
		bytes *= 2;
	w->word = bytes;
	w->bit_off = bit % (bytes * 8);
	return bit / (bytes * 8) * bytes;
}

/* A pointer at hand is followed: the place is what it points to. */
void walk_follow(struct walk *w)
{
	load_place(w);
	w->full = ctype_fill(w->type)->to;
	w->type = ctype_strip(w->full);
	w->is_place = true;
	set_bits(w, 0, 0);
	/* What lies behind a user pointer stays in user space. */
	w->is_user |= ctype_has_tag(w->full, "user");
}

void walk_to(struct walk *w, const struct cmember *m, uint32_t bit_off)
{
	struct access_step *s = open_step(w);

	s->off += set_bits(w, bit_off, m->bit_size);
	w->full = m->type;
	w->type = ctype_strip(m->type);
}

int walk_member(struct walk *w, const char *name, const struct span *at,
		bool quiet)
{
	const struct cmember *m;
	uint32_t bit;

	/*
	 * As in the script language, -> goes through pointers and structs
	 * alike.
	 */
	if (w->type && w->type->kind == CT_PTR)
		walk_follow(w);
	if (!w->is_place || !w->type ||
	    (w->type->kind != CT_STRUCT && w->type->kind != CT_UNION))
		return no_access(w, arena_printf(w->c->a, "->%s", name), at,
				 quiet);
	m = ctype_member(w->type, name, &bit);
	if (!m) {
		if (!quiet)
			complain(w->c, NO_MEMBER, at, name,
				 ctype_name(w->c, w->type),
				 alternatives(w, w->type, name));
		return -1;
	}
	walk_to(w, m, bit);
	return 0;
}

int walk_index(struct walk *w, struct node *index, const struct span *at,
	       bool quiet)
{
	const struct ctype *elem;
	struct access_step *s;
	uint32_t size;

	if (w->type && w->type->kind == CT_PTR)
		walk_follow(w);
	else if (w->type && w->type->kind == CT_ARRAY && w->is_place) {
		w->full = ctype_fill(w->type)->to;
		w->type = ctype_strip(w->full);
	} else
		return no_access(w, "[]", at, quiet);
	elem = ctype_fill(w->type);
	/*
	 * As in GNU C, void and functions have the size of a byte. Debug
	 * information has no type at all for void.
	 */
	size = elem && elem->size ? elem->size : 1;
	s = open_step(w);
	/*
	 * A constant index is part of the offset; others are computed when the
	 * probe runs.
	 */
	if (index->kind == N_NUM) {
		/* May overflow: then the script reads at a silly address. */
		s->off += (int64_t)((uint64_t)index->u.num * size);
	} else {
		s->index = index;
		s->scale = size;
	}
	set_bits(w, 0, 0);
	return 0;
}

int walk_tail(struct compile *c, const struct node *n, struct access *a,
	      const struct ctype *type, bool quiet)
{
	struct walk w;

	walk_start(&w, c, a, type);
	/*
	 * What is left at the end ($x$, $x$$) is for pretty-printing, not a
	 * step.
	 */
	for (unsigned i = 0; i < n->u.target.parts.n; i++) {
		const struct target_part *p = &n->u.target.parts.v[i];
		int err = 0;

		if (p->kind == TP_MEMBER)
			err = walk_member(&w, p->member, &p->span, quiet);
		else if (p->kind == TP_INDEX)
			err = walk_index(&w, p->index, &p->span, quiet);
		if (err)
			return -1;
	}
	walk_value(&w);
	return 0;
}
