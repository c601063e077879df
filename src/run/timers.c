/* SPDX-License-Identifier: MIT */
/* A binary heap of deadlines. */
#include "run/timers.h"

#include <assert.h>

#include "base/arena.h"
#include "probe/probe.h"

void timers_init(struct timers *t, uint64_t seed)
{
	t->heap = NULL;
	t->n = t->cap = 0;
	t->random = seed;
}

/* splitmix64: enough for spreading timers, and the same on every machine. */
static uint64_t next_random(struct timers *t)
{
	uint64_t z = t->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Deadlines of one instant run in the order of the script. */
static bool before(const struct deadline *a, const struct deadline *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

/* The hole moves up until d fits; the same downwards in sift_down(). */
static void sift_up(struct timers *t, unsigned i)
{
	struct deadline d = t->heap[i];

	for (; i && before(&d, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = d;
}

static void sift_down(struct timers *t)
{
	struct deadline d = t->heap[0];
	unsigned i = 0, k;

	for (; (k = 2 * i + 1) < t->n; i = k) {
		if (k + 1 < t->n && before(&t->heap[k + 1], &t->heap[k]))
			k++;
		if (!before(&t->heap[k], &d))
			break;
		t->heap[i] = t->heap[k];
	}
	t->heap[i] = d;
}

/* The old heap stays behind in the arena: a script has few timers. */
static void push(struct timers *t, struct arena *a, struct deadline d)
{
	if (t->n == t->cap) {
		unsigned cap = t->cap ? 2 * t->cap : 8;

		t->heap = arena_grow(a, t->heap, t->cap * sizeof(*t->heap),
				     cap * sizeof(*t->heap));
		t->cap = cap;
	}
	t->heap[t->n] = d;
	sift_up(t, t->n++);
}

/*
 * Time to the next run: the period, give or take randomize_ns. Uniform over
 * [period - r, period + r], in ns; at least 1, or a timer would be due for ever
 * at one instant.
 */
static int64_t next_period(struct timers *t, const struct probe *p)
{
	int64_t ns = p->timer.period_ns, r = p->timer.randomize_ns;

	if (r > 0)
		ns += (int64_t)(next_random(t) % (2 * (uint64_t)r + 1)) - r;
	return ns > 0 ? ns : 1;
}

void timers_add(struct timers *t, struct arena *a, const struct probe *p,
		int64_t now_ns)
{
	struct deadline d = {
		.at_ns = now_ns + next_period(t, p),
		.order = p->index,
		.probe = p,
		.repeats = true,
	};

	push(t, a, d);
}

void timers_add_end(struct timers *t, struct arena *a, int64_t at_ns)
{
	/* After the timers of the same instant: -T 1 sees timer.s(1). */
	struct deadline d = { .at_ns = at_ns, .order = UINT32_MAX };

	push(t, a, d);
}

int64_t timers_next(const struct timers *t)
{
	return t->n ? t->heap[0].at_ns : INT64_MAX;
}

bool timers_take(struct timers *t, int64_t now_ns,
		 const struct probe **ret_probe, int64_t *ret_at)
{
	struct deadline *d = t->heap;
	int64_t step;

	if (!t->n || d->at_ns > now_ns)
		return false;
	*ret_probe = d->probe;
	*ret_at = d->at_ns;
	if (!d->repeats) {
		*d = t->heap[--t->n];
		if (t->n)
			sift_down(t);
		return true;
	}
	step = next_period(t, d->probe);
	/*
	 * From the deadline, not from now: a period does not drift by how late
	 * each run was.
	 */
	d->at_ns += step;
	if (d->at_ns <= now_ns)
		d->at_ns += (now_ns - d->at_ns) / step * step + step;
	assert(d->at_ns > now_ns);
	sift_down(t);
	return true;
}
