/* SPDX-License-Identifier: MIT */
/* Locks of kernel handlers, on all CPUs at once. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "gen_kit.h"

enum { RUNS = 20000 };

struct runner {
	struct kit *k;
	int cpu;
	pthread_t thread;
	unsigned failed;
};

static void *hammer(void *arg)
{
	struct runner *r = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(r->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < RUNS; i++)
		r->failed += kit_run(r->k, NULL, 0) != 0;
	return NULL;
}

/* x = x + 1; y = y + 1 under two locks, by a program of this kind. */
static struct kit *pair_by(enum prog_kind prog, enum guard guard,
			   struct var **x, struct var **y,
			   struct var **gave_up)
{
	struct kit *k = kit_new(PLACE_KERNEL, guard);
	struct ir_block *ok = kit_block(k), *bad = kit_block(k);
	int a = kit_reg(k, 0), b = kit_reg(k, 0);
	struct ir_ins *in;

	*x = kit_global(k, "x", TY_LONG, 8, 0);
	*y = kit_global(k, "y", TY_LONG, 8, 0);
	*gave_up = kit_global(k, "gave_up", TY_LONG, 8, 0);
	k->probe->prog = prog;
	in = kit_ins(k, OP_LOCK, -1, 0);
	in->locks = 1 | 4;
	in->target[0] = ok;
	in->target[1] = bad;
	kit_start(k, bad);
	kit_ins(k, OP_GADD, -1, 1, val_num(1))->global = *gave_up;
	kit_ins(k, OP_RET, -1, 0);
	kit_start(k, ok);
	kit_ins(k, OP_GLD, a, 0)->global = *x;
	kit_ins(k, OP_GLD, b, 0)->global = *y;
	kit_ins(k, OP_ADD, a, 2, val_reg((uint32_t)a), val_num(1));
	kit_set(k, *x, val_reg((uint32_t)a));
	kit_ins(k, OP_ADD, b, 2, val_reg((uint32_t)b), val_num(1));
	kit_set(k, *y, val_reg((uint32_t)b));
	kit_ins(k, OP_UNLOCK, -1, 0)->locks = 1 | 4;
	CHECK(kit_compile(k));
	return k;
}

static struct kit *pair(enum guard guard, struct var **x, struct var **y,
			struct var **gave_up)
{
	return pair_by(PROG_RAW_TP, guard, x, y, gave_up);
}

TEST(exclusion)
{
	struct var *x, *y, *gave_up;
	struct kit *k = pair(GUARD_SELF, &x, &y, &gave_up);
	struct runner r[8] = {0};
	int n;

	KIT_LOADED(k, kit_load(k));
	n = k->plan->ncpus < 8 ? (int)k->plan->ncpus : 8;
	for (int i = 0; i < n; i++) {
		r[i].k = k;
		r[i].cpu = i;
		pthread_create(&r[i].thread, NULL, hammer, &r[i]);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(r[i].thread, NULL);
		CHECK_EQ(r[i].failed, 0);
	}
	CHECK_EQ(kit_num(k, x) + kit_num(k, gave_up),
		 (int64_t)n * RUNS);
	CHECK_EQ(kit_num(k, x), kit_num(k, y));
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       lock_skips)) +
		     kit_count(k, offsetof(struct probe_counts,
					   nest_skips)),
		 kit_num(k, gave_up));
	kit_free(k);
}

/*
 * From now on this test runs on one CPU, whichever it is on: its number in a
 * lock. Not any CPU: a container may be without some.
 */
static uint64_t stay_on_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	return (uint64_t)cpu + 1;
}

/* A holder that never lets go: the deadline ends the wait. */
TEST(deadline_and_nesting)
{
	struct var *x, *y, *gave_up;
	struct kit *k = pair(GUARD_SELF, &x, &y, &gave_up);
	struct control *c;
	uint64_t me;

	KIT_LOADED(k, kit_load(k));
	c = (struct control *)k->control;
	me = stay_on_cpu();
	c->lock[2][0] = me + 1; /* another CPU has the second lock */
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_num(k, gave_up), 1);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       lock_skips)), 1);
	CHECK_EQ(c->lock[0][0], 0); /* the first was given back */
	CHECK_EQ(c->skipped, 1);
	c->lock[2][0] = me; /* this CPU: at once */
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       nest_skips)), 1);
	CHECK_EQ(kit_num(k, x), 0);
	c->lock[2][0] = 0;
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_num(k, x), 1);
	CHECK_EQ(c->lock[0][0] | c->lock[2][0], 0);
	kit_free(k);
}

/* How long a handler waits for a lock that CPU 76 has for good, in us. */
static int64_t wait_us(struct kit *k)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000 +
	       (to.tv_nsec - from.tv_nsec) / 1000;
}

/*
 * After a full wait in vain, 1 ms, handlers of interrupts wait shortly, 62.5
 * us, for 16 ms; then in full again. Those of threads wait in full each time.
 * A busy machine makes waits longer, hence the least of some, or of as many as
 * it takes; none is shorter.
 */
static void waits_in_vain(enum prog_kind prog, bool brief)
{
	struct var *x, *y, *gave_up;
	struct kit *k = pair_by(prog, GUARD_SELF, &x, &y, &gave_up);
	const struct timespec respite = {.tv_nsec = 17 * 1000 * 1000};
	int64_t least = INT64_MAX;
	enum { TRIES = 10, MOST = 10000 };
	struct control *c;

	KIT_LOADED(k, kit_load(k));
	c = (struct control *)k->control;
	c->lock[2][0] = 77;
	CHECK(wait_us(k) >= 1000);
	CHECK(c->vain > 0);
	for (int i = 0; i < (brief && least >= 500 ? MOST : TRIES); i++) {
		int64_t us = wait_us(k);

		CHECK(us >= (brief ? 62 : 1000));
		least = us < least ? us : least;
	}
	CHECK(least < 500 || !brief);
	nanosleep(&respite, NULL);
	CHECK(wait_us(k) >= 1000);
	c->lock[2][0] = 0;
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_num(k, x), 1);
	kit_free(k);
}

TEST(interrupts_wait_shortly_after_a_wait_in_vain)
{
	waits_in_vain(PROG_PERF_EVENT, true);
}

TEST(threads_wait_in_full)
{
	waits_in_vain(PROG_RAW_TP, false);
}

static unsigned kfuncs(const struct kit *k, enum kfunc which)
{
	unsigned n = 0;

	for (unsigned i = 0; i < k->code->relocs.n; i++)
		n += k->code->relocs.v[i].kind == RELOC_KFUNC &&
		     k->code->relocs.v[i].func == which;
	return n;
}

/* Who can be preempted holds off the scheduler: once before the locks, and not
 * any more on each way out: two locks, each had or not. */
TEST(preemption)
{
	struct var *x, *y, *gave_up;
	struct kit *k = pair(GUARD_SELF, &x, &y, &gave_up);

	CHECK_EQ(kfuncs(k, KF_PREEMPT_DISABLE), 0);
	kit_free(k);
	k = pair(GUARD_PREEMPTIBLE, &x, &y, &gave_up);
	CHECK_EQ(kfuncs(k, KF_PREEMPT_DISABLE), 1);
	CHECK_EQ(kfuncs(k, KF_PREEMPT_ENABLE), 2 + 1);
	kit_free(k);
}

/* On a CPU where tally holds the lock: at once, and no skip that counts. */
TEST(tally_holds_it)
{
	struct var *x, *y, *gave_up;
	struct kit *k = pair(GUARD_SELF, &x, &y, &gave_up);
	struct control *c;
	uint64_t me;

	KIT_LOADED(k, kit_load(k));
	c = (struct control *)k->control;
	me = stay_on_cpu();
	c->lock[0][0] = LOCK_HOST | me;
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       nest_skips)), 1);
	CHECK_EQ(c->skipped, 0);
	c->lock[0][0] = LOCK_HOST | (me + 1); /* elsewhere: a wait */
	CHECK_EQ(kit_run(k, NULL, 0), 0);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       lock_skips)), 1);
	CHECK_EQ(c->skipped, 1);
	CHECK_EQ(kit_num(k, x), 0);
	kit_free(k);
}
