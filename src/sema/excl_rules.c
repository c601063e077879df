/* SPDX-License-Identifier: MIT */
/*
 * Which accesses disturb each other: rules 1 and 2 of exclusion.h. Each of them
 * has its near misses in tests/unit/test_sema.c: a new one needs some, too.
 */
#include "sema/excl.h"

#include <string.h>

bool excl_runs_with_others(const struct probe *p)
{
	if (p->place == PLACE_KERNEL)
		return true;
	if (p->place == PLACE_NEVER)
		return false;
	return p->when == WHEN_TIMER || p->when >= WHEN_FILE;
}

/*
 * Can the two be put in either order without anybody noticing? Reads can, and
 * additions whose old value nobody sees, as they are single instructions. Two
 * assignments cannot, even of one value: somebody may read in between.
 */
static bool commute(const struct access_at *a, const struct access_at *b)
{
	if (a->kind != b->kind)
		return false;
	/* What makes an element may take another's place. */
	if (a->v->wrap && a->v->type != TY_STATS && a->kind != AC_READ &&
	    a->kind != AC_WALK)
		return false;
	return a->kind == AC_READ || a->kind == AC_ADD || a->kind == AC_FEED ||
	       ((a->kind == AC_STAT || a->kind == AC_WALK) && !a->deletes &&
		!b->deletes);
}

/* Name of the tracepoint that p is on, up to the quote; NULL: on none. */
static const char *tracepoint(const struct probe *p)
{
	const char *s;

	if (!p->family || strcmp(p->family->name, "trace"))
		return NULL;
	s = strchr(p->pp, '"');
	return s ? s + 1 : NULL;
}

/*
 * Interrupts of a thread see its tid() too: perf events, and tracepoints but
 * those that only a thread comes to. A function that is probed is taken to be
 * called by threads: for an interrupt, tid() would mean nothing.
 */
bool exclusion_interrupts(const struct probe *p)
{
	/* as in the point: of a thread that knows what it does */
	static const char *const of_threads[] = {
	    "sys_enter", "sys_exit", "sched_switch", "sched_process_exec",
	    "sched_process_exit", "sched_process_fork", "signal_deliver",
	};
	const char *s = tracepoint(p), *colon;
	unsigned i;

	if (!s)
		return p->prog == PROG_PERF_EVENT;
	colon = strchr(s, ':');
	/* syscalls:sys_enter_read and the like */
	if (colon && !strncmp(s, "syscalls:", 9))
		return false;
	s = colon ? colon + 1 : s;
	for (i = 0; i < sizeof(of_threads) / sizeof(*of_threads); i++) {
		size_t n = strlen(of_threads[i]);

		if (!strncmp(s, of_threads[i], n) && s[n] == '"')
			return false;
	}
	return true;
}

/*
 * Can another handler run under the same tid() at the same time? Beside
 * interrupts there is the switch from one thread to another: all CPUs' idle
 * threads have the tid 0, and it comes upon threads that were preempted in the
 * handler of a user probe.
 */
static bool shares_tid(const struct probe *p)
{
	const char *s = tracepoint(p);

	return exclusion_interrupts(p) ||
	       (s && (!strncmp(s, "sched_switch\"", 13) ||
		      !strncmp(s, "sched:sched_switch\"", 19)));
}

/* The host runs one handler at a time. */
static bool together(const struct handler *a, const struct handler *b)
{
	if (!a->runs || !b->runs)
		return false;
	return !(a->on_host && b->on_host);
}

/*
 * One representative access of each kind per (handler, global). Enough to
 * decide whether any two of them disturb each other.
 */
struct seen {
	const struct handler *h;
	struct access_at a;
};
typedef VEC(struct seen) seen_list;

static void add_seen(struct excl *x, seen_list *l, const struct handler *h,
		     const struct access_at *a)
{
	struct seen s = {h, *a};
	unsigned i;

	/* handlers come one after the other: h's are the last ones */
	for (i = l->n; i-- > 0 && l->v[i].h == h;)
		if (l->v[i].a.kind == a->kind &&
		    l->v[i].a.deletes == a->deletes)
			return;
	vec_push(x->c->a, l, s);
}

/*
 * Do any two of a global's accesses disturb each other? Only where it runs,
 * its kind and whether it deletes matter: of each such sort one is compared,
 * as thousands of handlers may touch one global.
 */
static bool disturbed(const seen_list *l)
{
	const struct seen *sort[2 * AC_KINDS * 2] = {0};
	unsigned i, k, n = 0;

	for (i = 0; i < l->n; i++) {
		const struct seen *s = &l->v[i];

		k = ((unsigned)s->h->on_host * AC_KINDS + s->a.kind) * 2 +
		    s->a.deletes;
		if (s->h->runs)
			sort[k] = s;
	}
	for (i = 0; i < 2 * AC_KINDS * 2; i++)
		if (sort[i])
			sort[n++] = sort[i];
	for (i = 0; i < n; i++)
		for (k = i; k < n; k++)
			if (together(sort[i]->h, sort[k]->h) &&
			    !commute(&sort[i]->a, &sort[k]->a))
				return true;
	return false;
}

/*
 * The library's set of the target and what it starts: a process is put there by
 * its parent before it runs, asked about by its own threads, and taken out when
 * the first of them ends. Two handlers never meet over one element.
 */
static bool is_ordered(const struct var *v)
{
	return v->is_library && !strcmp(v->name, "__target_set");
}

/*
 * Rule 2. By tid: no other thread has the element; an interrupt has, whose
 * handler sees the same tid.
 */
static void judge(struct facts *f, const seen_list *l, const struct var *v)
{
	bool by_tid = f->has_key && f->tids && !v->wrap;
	unsigned i;

	/* Feeding and reporting never disturb each other. */
	f->banked = v->type == TY_STATS && v->mode == AGG_BANKED;
	for (i = 0; i < l->n; i++) {
		by_tid = by_tid && !shares_tid(l->v[i].h->p);
		if (l->v[i].h->runs && l->v[i].a.kind != AC_READ &&
		    l->v[i].a.kind != AC_STAT)
			f->written = true;
	}
	f->quiet = by_tid || f->banked || is_ordered(v) || !disturbed(l);
	for (i = 0; i < l->n && !f->quiet; i++)
		/* a key may be gone between two steps of another handler */
		if (l->v[i].a.deletes && l->v[i].h->runs &&
		    (l->v[i].a.v->type != TY_STATS ||
		     l->v[i].a.v->mode == AGG_LIVE))
			f->deleted = true;
}

void excl_judge_all(struct excl *x)
{
	unsigned i, k, n = x->p->globals.n;
	seen_list *l = arena_array(x->c->a, seen_list, n + 1);

	/* every access takes away what it does not have */
	for (i = 0; i < n; i++)
		x->f[i].tids = ~0u;
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		for (k = 0; h->runs && k < h->all.n; k++) {
			const struct access_at *a = &h->all.v[k];
			struct facts *f = &x->f[a->v->index];

			f->tids &= a->tids;
			f->has_key = true;
			add_seen(x, &l[a->v->index], h, a);
		}
	}
	for (i = 0; i < n; i++)
		judge(&x->f[i], &l[i], x->p->globals.v[i]);
}
