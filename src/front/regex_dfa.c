/* SPDX-License-Identifier: MIT */
/*
 * The subset construction, over classes of bytes that no state tells apart: a
 * kernel handler matches with one table lookup a byte and nothing to go back
 * to, and the table is states * classes instead of states * 256.
 *
 * The pattern is searched for, not anchored, so every step starts it anew. The
 * number of states can be exponential: beyond REGEX_DFA_MAX there is no DFA,
 * and the handler goes on on the host, which walks the NFA.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "front/regex_impl.h"

/* A DFA state while it is made: the NFA states it stands for, in order. */
struct subset {
	unsigned n;
	const uint16_t *states;
};

struct maker {
	struct arena *a;
	const rx_prog *prog;
	struct regex_dfa *dfa;
	struct map *known; /* flags and NFA states -> index + 1 */
	VEC(struct subset) subsets;
	VEC(uint8_t) flags; /* by subset */
	uint8_t byte_of[256]; /* one byte of each class */
	bool *seen;
	uint16_t *todo; /* follow's stack */
	uint16_t *out;  /* the subset being made; [0] takes its flags */
	unsigned nout;
	bool matches, matches_end;
};

/* --- classes of bytes ---------------------------------------------------- */

/*
 * Splits every class into what the set holds and what not. Done for each set of
 * the pattern, what remains together is treated alike by all of them.
 */
static void refine(struct maker *m, const struct byte_set *set)
{
	int inside[256], outside[256];
	unsigned n = 0;

	/* -1: this class has no part inside (outside) yet. */
	memset(inside, -1, sizeof(inside));
	memset(outside, -1, sizeof(outside));
	for (unsigned b = 0; b < 256; b++) {
		int *to = set_has(set, b) ? inside : outside;
		unsigned old = m->dfa->class_of[b];

		if (to[old] < 0)
			/*
			 * Never more than 256 parts, since each holds a byte.
			 */
			to[old] = (int)n++;
		m->dfa->class_of[b] = (uint8_t)to[old];
	}
	m->dfa->nclasses = n;
}

static void find_classes(struct maker *m)
{
	m->dfa->nclasses = 1;
	for (unsigned i = 0; i < m->prog->n; i++) {
		if (m->prog->v[i].op == RXI_SET)
			refine(m, m->prog->v[i].set);
	}
	for (unsigned b = 0; b < 256; b++)
		m->byte_of[m->dfa->class_of[b]] = (uint8_t)b;
}

/* --- subsets ------------------------------------------------------------- */

/*
 * Adds a state and what it leads to. $ is passed only where at_end: what lies
 * behind it decides DFA_MATCH_END and takes no bytes.
 */
static void follow(struct maker *m, unsigned first, bool at_begin, bool at_end)
{
	unsigned depth = 0;

	m->todo[depth++] = (uint16_t)first;
	while (depth) {
		unsigned state = m->todo[--depth];
		const struct rx_inst *in = &m->prog->v[state];

		if (m->seen[state])
			continue;
		m->seen[state] = true;
		switch (in->op) {
		case RXI_SET:
			m->out[++m->nout] = (uint16_t)state;
			break;
		case RXI_MATCH:
			*(at_end ? &m->matches_end : &m->matches) = true;
			break;
		/* Order does not matter here: a subset is a set. */
		case RXI_SPLIT:
			m->todo[depth++] = (uint16_t)in->y;
			m->todo[depth++] = (uint16_t)in->x;
			break;
		/* Groups play no part in whether a string matches. */
		case RXI_JUMP:
		case RXI_SAVE:
			m->todo[depth++] = (uint16_t)in->x;
			break;
		case RXI_BOL:
			if (at_begin)
				m->todo[depth++] = (uint16_t)in->x;
			break;
		case RXI_EOL:
			if (at_end)
				m->todo[depth++] = (uint16_t)in->x;
			/*
			 * $ is kept as a state of the subset: it is decided
			 * when the end comes.
			 */
			else
				m->out[++m->nout] = (uint16_t)state;
			break;
		}
	}
}

static int compare_states(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static void begin_subset(struct maker *m)
{
	memset(m->seen, 0, m->prog->n * sizeof(*m->seen));
	m->nout = 0;
	m->matches = m->matches_end = false;
}

/*
 * Number of the subset in m->out, a new one if need be. Its identity is its
 * sorted states and its flags: two ways to the same states may differ in
 * whether they have matched. Once matched, always matched, so such a subset
 * needs no states at all, which is what keeps the number of subsets small.
 */
static unsigned end_subset(struct maker *m, bool at_begin)
{
	unsigned n = m->nout, index;
	struct subset sub;
	uint16_t *copy;

	/* Can the end follow here? Only then is DFA_MATCH_END set. */
	for (unsigned i = 1; i <= n; i++) {
		if (m->prog->v[m->out[i]].op == RXI_EOL)
			follow(m, m->prog->v[m->out[i]].x, at_begin, true);
	}
	/* What only the end leads to takes no further byte. */
	m->nout = n;
	if (m->matches)
		m->nout = 0;
	qsort(m->out + 1, m->nout, sizeof(*m->out), compare_states);
	m->out[0] = m->matches ? DFA_MATCH : m->matches_end ? DFA_MATCH_END : 0;
	index = (unsigned)(uintptr_t)map_get_bytes(
	    m->known, m->out, (m->nout + 1) * sizeof(*m->out));
	if (index)
		return index - 1;
	copy = arena_array(m->a, uint16_t, m->nout);
	if (m->nout)
		memcpy(copy, m->out + 1, m->nout * sizeof(*copy));
	sub.n = m->nout;
	sub.states = copy;
	vec_push(m->a, &m->subsets, sub);
	vec_push(m->a, &m->flags, (uint8_t)m->out[0]);
	index = m->subsets.n;
	map_set_bytes(m->known, m->out, (m->nout + 1) * sizeof(*m->out),
		      (void *)(uintptr_t)index);
	return index - 1;
}

/* The state behind a byte; the pattern may begin anew there. */
static unsigned move(struct maker *m, unsigned from, unsigned class)
{
	const struct subset sub = m->subsets.v[from];
	unsigned byte = m->byte_of[class];

	/* Once matched, always matched: nothing further is looked at. */
	if (m->flags.v[from] & DFA_MATCH)
		return from;
	begin_subset(m);
	for (unsigned i = 0; i < sub.n; i++) {
		const struct rx_inst *in = &m->prog->v[sub.states[i]];

		if (in->op == RXI_SET && set_has(in->set, byte))
			follow(m, in->x, false, false);
	}
	/* State 0 again: the search begins anew at each byte. */
	follow(m, 0, false, false);
	return end_subset(m, false);
}

struct regex_dfa *rx_dfa(struct arena *a, const rx_prog *prog)
{
	struct regex_dfa *dfa = arena_new_of(a, struct regex_dfa);
	struct maker m = {.a = a, .prog = prog, .dfa = dfa};
	VEC(uint16_t) next = {0};

	m.known = map_new(a);
	/*
	 * Twice the states: $ and what it leads to are added behind the others.
	 */
	m.seen = arena_array(a, bool, prog->n);
	m.todo = arena_array(a, uint16_t, 2 * prog->n + 2);
	m.out = arena_array(a, uint16_t, 2 * prog->n + 2);
	find_classes(&m);
	begin_subset(&m);
	follow(&m, 0, true, false);
	dfa->start = end_subset(&m, true);
	/*
	 * Subsets are numbered as they are found; the loop ends when no new one
	 * comes.
	 */
	for (unsigned i = 0; i < m.subsets.n; i++) {
		for (unsigned cl = 0; cl < dfa->nclasses; cl++)
			vec_push(a, &next, (uint16_t)move(&m, i, cl));
		/* After a whole row: it may have added a class' worth. */
		if (m.subsets.n > REGEX_DFA_MAX)
			return NULL;
	}
	dfa->nstates = m.subsets.n;
	dfa->next = next.v;
	dfa->flags = m.flags.v;
	return dfa;
}
