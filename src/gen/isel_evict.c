/* SPDX-License-Identifier: MIT */
/*
 * A full array that wraps (a%) gives up its oldest element: the one with the
 * lowest stamp, of insertion. Two walks over the map, which the kernel makes by
 * a callback per element: one finds the stamp, one removes whose it is. The
 * handler holds the array's lock. About 10 ns an element, only when an element
 * is made while the array is full; 2,048 are 20 to 30 us.
 */
#include "gen/isel.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* evict()'s frame, the context of both callbacks. */
enum { F_MAP = -8, F_STAMP = -16 };

enum { STAMP = offsetof(struct plain_value, stamp) };

/*
 * body: the callback's label. What the callback returns ends the walk when it
 * is 1 (bpf_for_each_map_elem, 5.13).
 */
static void walk(struct emit *e, unsigned body)
{
	struct assembler *as = e->as;

	asm_load(as, 8, R1, FP, F_MAP);
	asm_func(as, R2, e->f->index, body);
	asm_mov(as, R3, FP);
	asm_imm(as, R4, 0);
	asm_call(as, KH_FOR_EACH);
}

unsigned isel_evict_label(struct emit *e, uint32_t map)
{
	struct root *r = e->root;
	struct evict ev = {.map = map};
	unsigned i;

	if (e->c->set.lacks.each)
		emit_lacking(e, "an array that drops its oldest element (%)",
			     "5.13");
	r->evict_used = true;
	for (i = 0; i < r->evicts.n && r->evicts.v[i].map < map; i++)
		continue;
	if (i < r->evicts.n && r->evicts.v[i].map == map)
		return r->evicts.v[i].label;
	assert(e->dry); /* the real run meets the same ones */
	vec_push(e->c->a, &r->evicts, ev);
	memmove(&r->evicts.v[i + 1], &r->evicts.v[i],
		(r->evicts.n - 1 - i) * sizeof(ev));
	r->evicts.v[i] = ev;
	return 0;
}

/* evict(r1 = map), of which there is one for each map */
void isel_evict(struct emit *e, const struct evict *ev)
{
	struct assembler *as = e->as;

	asm_bind(as, ev->label);
	asm_store(as, 8, FP, F_MAP, R1);
	asm_storei(as, 8, FP, F_STAMP, -1); /* above every stamp */
	walk(e, e->root->evict_oldest);
	walk(e, e->root->evict_drop);
	asm_imm(as, R0, 0);
	asm_exit(as);
}

/*
 * (r1 = map, r2 = key, r3 = value, r4 = frame) with the stamp of the frame and
 * of the value in r5 and r3; r4 stays. A jump to *next goes on to the next
 * element.
 */
static struct assembler *callback(struct emit *e, unsigned label,
				  unsigned *next)
{
	struct assembler *as = e->as;

	*next = asm_label(as);
	asm_bind(as, label);
	asm_load(as, 8, R3, R3, STAMP);
	asm_load(as, 8, R5, R4, F_STAMP);
	return as;
}

static void go_on(struct assembler *as, unsigned next)
{
	asm_bind(as, next);
	asm_imm(as, R0, 0);
	asm_exit(as);
}

/* Notes the lowest stamp so far. */
void isel_evict_oldest(struct emit *e)
{
	unsigned next;
	struct assembler *as = callback(e, e->root->evict_oldest, &next);

	asm_jif(as, BPF_JGE, R3, R5, next);
	asm_store(as, 8, R4, F_STAMP, R3);
	go_on(as, next);
}

/* Removes the element with that stamp, and ends the walk. */
void isel_evict_drop(struct emit *e)
{
	unsigned next;
	struct assembler *as = callback(e, e->root->evict_drop, &next);

	asm_jif(as, BPF_JNE, R3, R5, next);
	/* in r1 and r2 still are the map and the key */
	asm_call(as, KH_MAP_DELETE);
	asm_imm(as, R0, 1);
	asm_exit(as);
	go_on(as, next);
}
