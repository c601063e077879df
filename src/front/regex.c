/* SPDX-License-Identifier: MIT */
/*
 * Tree to NFA, and the search for groups: all states are followed at once, in
 * order of preference (Thompson's machine with captures). Of the matches that
 * begin leftmost the longest wins; among equally long ones the preferred way.
 */
#include "front/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compile.h"
#include "base/xalloc.h"
#include "front/regex_impl.h"

/* --- compiling ----------------------------------------------------------- */

/*
 * The program grows at its end; jumps forward are filled in when their target
 * is known.
 */
struct emitter {
	struct arena *a;
	rx_prog *prog;
};

/*
 * Checked before each piece, so the program may exceed the limit by one piece,
 * never by a product of repetitions.
 */
static bool full(const struct emitter *e)
{
	return e->prog->n >= REGEX_STATES_MAX;
}

/* Adds a state that goes on to the next one; returns its index. */
static unsigned add(struct emitter *e, enum rx_op op)
{
	struct rx_inst in = {.op = op, .x = e->prog->n + 1};

	vec_push(e->a, e->prog, in);
	return e->prog->n - 1;
}

static void emit(struct emitter *e, const struct rx_node *n);

/*
 * a|b|c: split to a and further on, a, jump to the end, and so on. The first
 * alternative is the preferred one.
 */
static void emit_alt(struct emitter *e, const struct rx_node *n)
{
	VEC(unsigned) jumps = {0};

	for (unsigned i = 0; i < n->parts.n && !full(e); i++) {
		bool last = i + 1 == n->parts.n;
		unsigned split = last ? 0 : add(e, RXI_SPLIT);

		emit(e, n->parts.v[i]);
		if (last)
			break;
		vec_push(e->a, &jumps, add(e, RXI_JUMP));
		e->prog->v[split].y = e->prog->n;
	}
	for (unsigned i = 0; i < jumps.n; i++)
		e->prog->v[jumps.v[i]].x = e->prog->n;
}

/* x*: split, x, jump back The way into x is preferred: as many as possible. */
static void emit_star(struct emitter *e, const struct rx_node *x)
{
	unsigned split = add(e, RXI_SPLIT), jump;

	emit(e, x);
	jump = add(e, RXI_JUMP);
	e->prog->v[jump].x = split;
	e->prog->v[split].y = e->prog->n;
}

/*
 * x{n,m}: n copies, then m - n optional ones that all leave to the end; x{n,}
 * is n copies with a loop over the last.
 */
static void emit_rep(struct emitter *e, const struct rx_node *n)
{
	const struct rx_node *x = n->parts.v[0];
	VEC(unsigned) splits = {0};
	unsigned last = 0, before;

	for (int i = 0; i < n->min && !full(e); i++) {
		before = last = e->prog->n;
		emit(e, x);
		/* What is empty once is empty a thousand times. */
		if (e->prog->n == before)
			return;
	}
	if (n->max == REGEX_FOREVER) {
		if (!n->min) {
			emit_star(e, x);
			return;
		}
		/* x+: go back to the last copy of x */
		before = add(e, RXI_SPLIT);
		e->prog->v[before].x = last;
		e->prog->v[before].y = e->prog->n;
		return;
	}
	for (int i = n->min; i < n->max && !full(e); i++) {
		vec_push(e->a, &splits, add(e, RXI_SPLIT));
		emit(e, x);
	}
	for (unsigned i = 0; i < splits.n; i++)
		e->prog->v[splits.v[i]].y = e->prog->n;
}

/* No deeper than the tree: REGEX_NEST_MAX parentheses and closures each. */
static void emit(struct emitter *e, const struct rx_node *n)
{
	unsigned at;

	if (full(e))
		return;
	switch (n->kind) {
	case RX_EMPTY:
		break;
	case RX_SET:
		at = add(e, RXI_SET);
		e->prog->v[at].set = &n->set;
		break;
	case RX_CAT:
		for (unsigned i = 0; i < n->parts.n; i++)
			emit(e, n->parts.v[i]);
		break;
	case RX_ALT:
		emit_alt(e, n);
		break;
	case RX_GROUP:
		/* Slots 2g and 2g + 1: where group g begins and ends. */
		at = add(e, RXI_SAVE);
		e->prog->v[at].slot = 2 * n->group;
		emit(e, n->parts.v[0]);
		at = add(e, RXI_SAVE);
		e->prog->v[at].slot = 2 * n->group + 1;
		break;
	case RX_REP:
		emit_rep(e, n);
		break;
	case RX_BOL:
		add(e, RXI_BOL);
		break;
	case RX_EOL:
		add(e, RXI_EOL);
		break;
	}
}

/* Offsets in the message are the reference's (regex_parse.c). */
struct regex *regex_compile(struct compile *c, const char *pattern, size_t n,
			    unsigned *ret_pos, const char **ret_msg)
{
	struct regex *re = arena_new_of(c->a, struct regex);
	struct emitter e = {c->a, &re->prog};
	struct rx_node *tree =
	    rx_parse(c->a, pattern, n, &re->ngroups, ret_pos, ret_msg);

	if (!tree)
		return NULL;
	emit(&e, tree);
	if (full(&e)) {
		*ret_pos = 0;
		*ret_msg = "pattern too large";
		return NULL;
	}
	add(&e, RXI_MATCH);
	re->dfa = rx_dfa(c->a, &re->prog);
	return re;
}

unsigned regex_ngroups(const struct regex *re)
{
	return re->ngroups;
}

const struct regex_dfa *regex_dfa(const struct regex *re)
{
	return re->dfa;
}

/* --- searching ----------------------------------------------------------- */

/* States at one position, preferred ones first, each with its captures. */
struct threads {
	unsigned n;
	unsigned *state; /* SET and MATCH states only */
	int *caps;       /* ncaps each */
};

/* The state of one search, on the caller's stack and in one block. */
struct search {
	const struct regex *re;
	size_t pos, len; /* of the byte being read; bytes in all */
	unsigned ncaps;
	unsigned *seen; /* by state: generation in which it was added */
	unsigned generation;
	unsigned *todo; /* states, or ~slot to put a capture back */
	int *saved;     /* the captures to put back, by depth of todo */
	int *caps;      /* of the thread being added */
};

/* The captures are copied: each thread may have its own from here on. */
static void add_thread(struct search *s, struct threads *to, unsigned state)
{
	to->state[to->n] = state;
	memcpy(to->caps + (size_t)to->n * s->ncaps, s->caps,
	       s->ncaps * sizeof(int));
	to->n++;
}

/*
 * Adds a state and what it leads to without a byte. A stack instead of
 * recursion; an entry ~slot restores the capture that a SAVE overwrote, once
 * everything behind that SAVE was added.
 */
static void follow(struct search *s, struct threads *to, unsigned first)
{
	const struct rx_inst *prog = s->re->prog.v;
	unsigned depth = 0;

	s->todo[depth++] = first;
	while (depth) {
		unsigned state = s->todo[--depth];
		const struct rx_inst *in;

		/* Slots are few, so ~slot is above every number of a state. */
		if (state > s->re->prog.n) {
			s->caps[~state] = s->saved[depth];
			continue;
		}
		in = &prog[state];
		if (s->seen[state] == s->generation)
			continue;
		s->seen[state] = s->generation;
		switch (in->op) {
		case RXI_SET:
		case RXI_MATCH:
			add_thread(s, to, state);
			break;
		case RXI_SPLIT:
			/*
			 * y below x on the stack: x, the preferred one, is
			 * followed first.
			 */
			s->todo[depth++] = in->y;
			s->todo[depth++] = in->x;
			break;
		case RXI_JUMP:
			s->todo[depth++] = in->x;
			break;
		case RXI_SAVE:
			s->saved[depth] = s->caps[in->slot];
			s->todo[depth++] = ~in->slot;
			s->caps[in->slot] = (int)s->pos;
			s->todo[depth++] = in->x;
			break;
		case RXI_BOL:
			if (!s->pos)
				s->todo[depth++] = in->x;
			break;
		case RXI_EOL:
			if (s->pos == s->len)
				s->todo[depth++] = in->x;
			break;
		}
	}
}

/*
 * Takes the matches out of `now` into best, moves the rest over the byte at
 * pos into `then`. Threads that began behind the best match's begin are let go.
 */
static void step(struct search *s, const struct threads *now,
		 struct threads *then, int byte, int *best)
{
	const struct rx_inst *prog = s->re->prog.v;
	bool ended = false;

	then->n = 0;
	/*
	 * follow() marks states by generation: a new position begins with none
	 * seen.
	 */
	s->generation++;
	s->pos++;
	for (unsigned i = 0; i < now->n; i++) {
		const int *caps = now->caps + (size_t)i * s->ncaps;
		const struct rx_inst *in = &prog[now->state[i]];

		if (best[0] >= 0 && caps[0] > best[0])
			break;
		if (in->op == RXI_MATCH) {
			/* The first to end here is the preferred one. */
			if (!ended) {
				memcpy(best, caps, s->ncaps * sizeof(int));
				best[1] = (int)s->pos - 1;
			}
			ended = true;
		} else if (byte >= 0 && set_has(in->set, (unsigned)byte)) {
			memcpy(s->caps, caps, s->ncaps * sizeof(int));
			follow(s, then, in->x);
		}
	}
	s->pos--;
}

/* A thread that begins at pos; behind all older ones. */
static void start_thread(struct search *s, struct threads *now)
{
	for (unsigned i = 0; i < s->ncaps; i++)
		s->caps[i] = -1;
	s->caps[0] = (int)s->pos;
	follow(s, now, 0);
}

/*
 * Leftmost: no new thread once something matched. Longest: older threads go on
 * until none is left.
 */
static bool search(struct search *s, const char *text, struct threads *now,
		   struct threads *then, int *best)
{
	struct threads swap;

	best[0] = -1;
	now->n = 0;
	s->generation = 1;
	for (s->pos = 0; s->pos <= s->len; s->pos++) {
		int byte = s->pos < s->len ? (unsigned char)text[s->pos] : -1;

		if (best[0] < 0)
			start_thread(s, now);
		else if (!now->n)
			break;
		step(s, now, then, byte, best);
		swap = *now;
		*now = *then;
		*then = swap;
	}
	return best[0] >= 0;
}

/*
 * Memory is bounded by the pattern (states * captures), time by bytes * states.
 */
static bool match_groups(const struct regex *re, const char *text, size_t n,
			 int *caps)
{
	size_t states = re->prog.n, ncaps = 2 * re->ngroups;
	struct search s = {.re = re, .len = n, .ncaps = (unsigned)ncaps};
	struct threads now = {0}, then = {0};
	/* One block: two lists of states and captures, and follow's needs. */
	size_t words = 2 * states * (1 + ncaps) + states +
		       /*
		        * follow() pushes at most two entries a state, and one
		        * for each capture.
		        */
		       2 * (3 * states + 4) + 2 * ncaps;
	unsigned *block = xcalloc(words, sizeof(unsigned)), *p = block;
	bool found;
	int *best;

	now.state = p, p += states;
	then.state = p, p += states;
	now.caps = (int *)p, p += states * ncaps;
	then.caps = (int *)p, p += states * ncaps;
	s.seen = p, p += states;
	s.todo = p, p += 3 * states + 4;
	s.saved = (int *)p, p += 3 * states + 4;
	s.caps = (int *)p, p += ncaps;
	best = (int *)p;
	found = search(&s, text, &now, &then, best);
	if (found && caps)
		memcpy(caps, best, ncaps * sizeof(int));
	free(block);
	return found;
}

/* Also for handlers in the VM: as the kernel's program does it. */
static bool match_dfa(const struct regex_dfa *d, const char *text, size_t n)
{
	uint32_t s = d->start;

	for (size_t i = 0; i < n && !(d->flags[s] & DFA_MATCH); i++)
		s = d->next[s * d->nclasses +
			    d->class_of[(unsigned char)text[i]]];
	return d->flags[s] != 0;
}

bool regex_match(const struct regex *re, const char *s, size_t n, int *caps)
{
	/*
	 * Most strings do not match: the table says so before any memory is
	 * taken.
	 */
	if (re->dfa && !match_dfa(re->dfa, s, n))
		return false;
	if (re->dfa && !caps)
		return true;
	return match_groups(re, s, n, caps);
}
