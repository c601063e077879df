/* SPDX-License-Identifier: MIT */
/*
 * @perf("name"): how many events of a perf counter the current thread has made.
 *
 * A program can only read events of the CPU it runs on. So each counter is one
 * event a CPU, which counts whoever runs there, and probes that are made here
 * keep the threads' accounts: when a thread is switched in the CPU's count is
 * subtracted from the thread's, when it is switched out added. While it runs,
 * the thread's own count is the sum of both.
 *
 *	sched_switch		out with the current thread, in with $next
 *	sched_process_exec	a program whose counters are read begins at 0
 *	sched_process_fork	so does a thread that such a program makes
 *	sched_process_exit	the account is closed
 *
 * Only threads with an account cost more than two look-ups a switch. A thread
 * that ran before the session began gets one when it first reads a counter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/parse.h"
#include "sema/sema.h"
#include "types/glob.h"

/* Programs whose threads are counted from their start. Comparing takes time at
 * each fork and exec of the machine: wildcards may stand for many. */
enum { PROGRAMS_MAX = 16 };

static const struct component *process_part(const struct point *pt)
{
	for (unsigned i = 0; pt && i < pt->parts.n; i++)
		if (!strcmp(pt->parts.v[i].name, "process"))
			return &pt->parts.v[i];
	return NULL;
}

/* The programs that a point's process component means. */
static void programs_of(struct compile *c, const struct point *pt,
			name_list *ret)
{
	const struct component *k = process_part(pt);

	if (k)
		probe_programs(c, pt, k->arg.type == TY_UNKNOWN ? NULL :
			       &k->arg, true, ret);
}

/* The programs that p's handler runs in; more than one for a wildcard. */
static void programs_probed(struct compile *c, const struct probe *p,
			    name_list *ret)
{
	const struct component *k = process_part(p->written);
	bool wild = k && k->arg.type == TY_STRING &&
		    name_is_glob(k->arg.str);

	for (unsigned i = 0; k && i < p->written->parts.n; i++)
		if (!strcmp(p->written->parts.v[i].name, "library"))
			wild = false;
	if (k && !wild)
		programs_of(c, p->written, ret);
	else if (probe_program(p))
		vec_push(c->a, ret, probe_program(p));
}

/* The kernel compares file numbers and names; here both are known. */
static bool same_program(struct compile *c, const char *a, const char *b)
{
	const char *name_a, *name_b;
	int64_t ino_a, ino_b;

	return program_id(c, a, &ino_a, &name_a) &&
	       program_id(c, b, &ino_b, &name_b) && ino_a == ino_b &&
	       name_a == name_b;
}

static bool any_same(struct compile *c, const name_list *a,
		     const name_list *b)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			if (same_program(c, a->v[i], b->v[k]))
				return true;
	return false;
}

/* --- @perf ---------------------------------------------------------------- */

static struct probe *declared(struct sema *s, const char *name)
{
	for (unsigned i = 0; i < s->p->probes.n; i++) {
		struct probe *p = s->p->probes.v[i];

		if (p->counter && !strcmp(p->counter, name))
			return p;
	}
	return NULL;
}

static void not_declared(struct sema *s, const struct span *at,
			 const char *name)
{
	struct near_names nn = {.want = name, .max = 5};

	for (unsigned i = 0; i < s->p->probes.n; i++)
		if (s->p->probes.v[i]->counter)
			near_names_add(&nn, s->p->probes.v[i]->counter);
	complain(s->c, NO_COUNTER, at, name, near_names_text(s->c, &nn));
}

/* Is it a handler of the program that the counter is for? One without a program
 * is for all. Reports. */
static bool counts_here(struct scope *sc, const struct span *at,
			const struct probe *counter)
{
	struct compile *c = sc->s->c;
	name_list here = {0}, counted = {0};
	struct diag *d;

	programs_probed(c, sc->probe, &here);
	programs_of(c, counter->written, &counted);
	if (process_part(counter->written) && !any_same(c, &here, &counted)) {
		d = complain(c, COUNTER_PROGRAM, at, counter->counter);
		diag_note(c->diag, d, &counter->span, "declared here");
		return false;
	}
	for (unsigned i = 0; !sc->trial && i < here.n; i++)
		vec_push(c->a, &sc->s->counted, here.v[i]);
	return true;
}

/* Its number, given at the first reading. */
static void note_read(struct sema *s, struct probe *counter)
{
	for (unsigned i = 0; i < s->p->counters.n; i++)
		if (s->p->counters.v[i] == counter)
			return;
	if (s->p->counters.n == COUNTERS_MAX)
		complain(s->c, COUNTERS_MANY, &counter->span, COUNTERS_MAX);
	else
		vec_push(s->c->a, &s->p->counters, counter);
}

void counter_resolve(struct scope *sc, struct node *n)
{
	struct sema *s = sc->s;
	struct node *name = n->u.atword.args.v[0];
	struct probe *counter = declared(s, name->u.str);

	if (!sc->probe || sc->in_cond || sc->probe->prog != PROG_KPROBE ||
	    sc->probe->guard != GUARD_PREEMPTIBLE) {
		complain(s->c, COUNTER_PLACE, &n->span);
		counter = NULL;
	} else if (!counter) {
		not_declared(s, &n->span, name->u.str);
	} else if (!counts_here(sc, &n->span, counter)) {
		counter = NULL;
	}
	memset(&n->u, 0, sizeof(n->u));
	n->type = TY_LONG;
	n->kind = N_NUM;
	if (!counter)
		return;
	if (!sc->trial)
		note_read(s, counter);
	n->kind = N_CALL;
	n->u.call.builtin = builtin_at(BI_PERF_READ);
	n->u.call.name = n->u.call.builtin->name;
	vec_push(s->c->a, &n->u.call.args, name);
	resolve_operand(sc, n);
}

/* --- the accounts --------------------------------------------------------- */

/* "__program_is(12, \"sh\") || ...", or "0". */
static void put_condition(struct sema *s, FILE *f)
{
	struct compile *c = s->c;
	name_list *l = &s->counted, done = {0};

	for (unsigned i = 0; i < l->n; i++) {
		name_list one = {0};
		const char *name;
		int64_t ino;

		vec_push(c->a, &one, l->v[i]);
		if (any_same(c, &one, &done) ||
		    !program_id(c, l->v[i], &ino, &name))
			continue;
		/* text of the language: a name with a quote is not compared */
		if (done.n == PROGRAMS_MAX || strpbrk(name, "\"\\\n"))
			continue;
		vec_push(c->a, &done, l->v[i]);
		fprintf(f, "%s__program_is(%" PRId64 ", \"%s\")",
			done.n > 1 ? " || " : "", ino, name);
	}
	if (!done.n)
		fputc('0', f);
}

static char *accounts_text(struct sema *s)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	fputs("function __perf_counted:long() { return ", f);
	put_condition(s, f);
	fputs(" }\n"
	      "probe kernel.trace(\"sched_switch\") {\n"
	      "	__perf_switch($next->pid)\n"
	      "}\n"
	      "probe kernel.trace(\"sched_process_fork\") {\n"
	      "	if (__perf_counted()) __perf_child($child->pid)\n"
	      "}\n"
	      /* a thread that executes gets the number of the process */
	      "probe kernel.trace(\"sched_process_exec\") {\n"
	      "	if ($old_pid != tid()) __perf_drop($old_pid)\n"
	      "	if (__perf_counted()) __perf_start()\n"
	      "	else __perf_drop(tid())\n"
	      "}\n"
	      "probe kernel.trace(\"sched_process_exit\") {\n"
	      "	__perf_drop(tid())\n"
	      "}\n", f);
	fclose(f);
	return text;
}

/* An alias' blocks are around the handler, however many. */
static bool does_nothing(const struct node *n)
{
	if (n->kind != N_BLOCK)
		return n->kind == N_EMPTY;
	for (unsigned i = 0; i < n->u.block.stmts.n; i++)
		if (!does_nothing(n->u.block.stmts.v[i]))
			return false;
	return true;
}

/* Each name once. What is written in a counter's handler never runs. */
static void check_declared(struct sema *s)
{
	struct diag *d;

	for (unsigned i = 0; i < s->p->probes.n; i++) {
		struct probe *p = s->p->probes.v[i], *first;

		if (!p->counter)
			continue;
		first = declared(s, p->counter);
		if (first != p) {
			d = complain(s->c, COUNTER_TWICE, &p->span,
				     p->counter);
			diag_note(s->c->diag, d, &first->span,
				  "first declared here");
		}
		if (!does_nothing(p->body))
			complain(s->c, COUNTER_HANDLER, &p->span, p->counter);
	}
}

void counter_finish(struct sema *s)
{
	struct compile *c = s->c;
	struct program *p = s->p;
	unsigned from = p->probes.n;
	struct source *src;
	char *text;

	check_declared(s);
	/* An event file says itself what a counter is at. */
	if (!p->counters.n || c->set.runtime == RUNTIME_VM)
		return;
	/* It uses the libraries that are probed: they are no programs. */
	if (c->set.cmd || c->set.target_pid)
		probe_programs(c, p->counters.v[0]->written, NULL, true,
			       &s->counted);
	text = accounts_text(s);
	src = source_new(c->a, "<perf counters>",
			 arena_strdup(c->a, text), strlen(text), c->sources.n);
	free(text);
	src->is_library = 1;
	vec_push(c->a, &c->sources, src);
	sema_add_file(s, parse_file(c, NULL, src, PARSE_LIBRARY));
	alias_expand_new(s);
	for (unsigned i = from; i < p->probes.n; i++) {
		p->probes.v[i]->goes_first = true;
		p->probes.v[i]->span = p->counters.v[0]->span;
		p->probes.v[i]->derivation = p->counters.v[0]->pp;
	}
	do {
		alias_expand_new(s);
		resolve_new(s);
	} while (s->expanded < p->files.n);
}
