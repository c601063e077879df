/* SPDX-License-Identifier: MIT */
/* Timers and event files: the parts of a session that need no script. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compile.h"
#include "probe/probe.h"
#include "run/comm.h"
#include "run/events.h"
#include "run/preempt.h"
#include "run/timers.h"
#include "types/types.h"

/* --- timers -------------------------------------------------------------- */

static struct probe timer(unsigned index, int64_t period, int64_t randomize)
{
	struct probe p = { .index = index };

	p.timer.period_ns = period;
	p.timer.randomize_ns = randomize;
	return p;
}

TEST(timers_run_in_order_of_time_then_of_the_script)
{
	struct arena *a = arena_new();
	struct probe two = timer(0, 20, 0), one = timer(1, 10, 0);
	const struct probe *p;
	struct timers t;
	int64_t at;

	timers_init(&t, 1);
	timers_add(&t, a, &one, 100);
	timers_add(&t, a, &two, 100);
	timers_add_end(&t, a, 120);
	CHECK_EQ(timers_next(&t), 110);
	CHECK(!timers_take(&t, 109, &p, &at));
	CHECK(timers_take(&t, 110, &p, &at));
	CHECK(p == &one);
	CHECK(!timers_take(&t, 110, &p, &at));
	CHECK(timers_take(&t, 120, &p, &at));
	CHECK(p == &two);
	CHECK(timers_take(&t, 120, &p, &at));
	CHECK(p == &one);
	CHECK(timers_take(&t, 120, &p, &at));
	CHECK(!p); /* -T comes after the timers of its moment */
	CHECK_EQ(timers_next(&t), 130);
	arena_free(a);
}

TEST(a_late_timer_runs_once)
{
	struct arena *a = arena_new();
	struct probe p10 = timer(0, 10, 0);
	const struct probe *p;
	struct timers t;
	int64_t at;

	timers_init(&t, 1);
	timers_add(&t, a, &p10, 0);
	CHECK(timers_take(&t, 57, &p, &at));
	CHECK_EQ(at, 10);
	CHECK(!timers_take(&t, 57, &p, &at));
	CHECK_EQ(timers_next(&t), 60);
	arena_free(a);
}

TEST(many_timers_stay_sorted)
{
	struct arena *a = arena_new();
	struct probe many[100];
	const struct probe *p;
	struct timers t;
	int64_t at, last = 0;
	unsigned i, n = 0;

	timers_init(&t, 1);
	for (i = 0; i < 100; i++) {
		many[i] = timer(i, 1 + (i * 37) % 101, 0);
		timers_add(&t, a, &many[i], 0);
	}
	while (n < 5000 && timers_take(&t, timers_next(&t), &p, &at)) {
		CHECK(at >= last);
		CHECK_EQ(at % p->timer.period_ns, 0);
		last = at;
		n++;
	}
	CHECK_EQ(n, 5000);
	arena_free(a);
}

TEST(randomized_periods_stay_in_their_range_and_repeat_with_the_seed)
{
	struct arena *a = arena_new();
	struct probe r = timer(0, 100, 30);
	const struct probe *p;
	struct timers t[2];
	int64_t at, other, last = 0, low = 1000, high = 0;
	unsigned i;

	for (i = 0; i < 2; i++) {
		timers_init(&t[i], 7);
		timers_add(&t[i], a, &r, 0);
	}
	for (i = 0; i < 1000; i++) {
		CHECK(timers_take(&t[0], timers_next(&t[0]), &p, &at));
		CHECK(timers_take(&t[1], timers_next(&t[1]), &p, &other));
		CHECK_EQ(at, other);
		if (at - last < low)
			low = at - last;
		if (at - last > high)
			high = at - last;
		last = at;
	}
	CHECK_EQ(low, 70);
	CHECK_EQ(high, 130);
	arena_free(a);
}

/* --- event files --------------------------------------------------------- */

static int open_text(struct events *e, struct compile *c, const char *text)
{
	char path[] = "/tmp/tally-events-XXXXXX";
	int fd = mkstemp(path), rc;
	size_t n = strlen(text);

	CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
	rc = events_open(e, c, path);
	unlink(path);
	return rc;
}

TEST(events_have_time_point_and_words)
{
	struct compile *c = compile_new();
	struct events e;
	struct event ev;

	CHECK_EQ(open_text(&e, c,
			   "# comment\nstart 5us\nwall 1s\n\n"
			   "10us kernel.trace(\"a b\") pid=7 cpu=3 # comment\n"
			   "+1.5ms p args=1,-2,0x10 execname=\"x\\ty\" "
			   "@0x100=\"hi\" @0x200=00ff @0x300:4=-1 ctx+8:2=5\n"
			   "2ms end"), 0);
	CHECK_EQ(e.start_ns, 5000);
	CHECK_EQ(e.wall_ns, 1000000000);
	CHECK_EQ(events_next(&e, &ev), 1);
	CHECK_EQ(ev.time_ns, 10000);
	CHECK_STR(ev.point, "kernel.trace(\"a b\")");
	CHECK_EQ(ev.who.pid, 7);
	CHECK_EQ(ev.who.tid, 7);
	CHECK_EQ(ev.who.pgrp, 7);
	CHECK_EQ(ev.who.cpu, 3);
	CHECK_EQ(events_next(&e, &ev), 1);
	CHECK_EQ(ev.time_ns, 1510000);
	CHECK_EQ(ev.nargs, 3);
	CHECK_EQ(ev.arg[1], -2);
	CHECK_EQ(ev.arg[2], 16);
	CHECK_STR(ev.who.comm, "x\ty");
	CHECK_EQ(ev.vm.nmem, 3);
	CHECK_EQ(ev.vm.mem[0].n, 3);
	CHECK(!memcmp(ev.vm.mem[0].bytes, "hi", 3));
	CHECK_EQ(ev.vm.mem[1].n, 2);
	CHECK(!memcmp(ev.vm.mem[1].bytes, "\x00\xff", 2));
	CHECK_EQ(ev.vm.mem[2].addr, 0x300);
	CHECK_EQ(ev.vm.mem[2].n, 4);
	CHECK_EQ(ev.nat, 1);
	CHECK_EQ(ev.at[0].off, 8);
	CHECK_EQ(events_next(&e, &ev), 1);
	CHECK_EQ(events_next(&e, &ev), 0);
	compile_free(c);
}

TEST(wrong_event_lines_are_named)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "x p\n", ":1: 'x' is not a time" },
		{ "5\n", ":1: the probe point is missing" },
		{ "5 p\n4 p\n", ":2: time goes back" },
		{ "5 p pid\n", ":1: 'pid' is not NAME=VALUE" },
		{ "5 p pid=x\n", ":1: pid: 'x' is not a number" },
		{ "5 p args=1,,2\n", ":1: args= takes numbers with commas "
		  "between" },
		{ "5 p @1=abc\n", ":1: memory is pairs of hex digits or a "
		  "\"text\"" },
		{ "5 p @1=\"abc\n", ":1: unfinished string" },
		{ "5 p ctx+600:8=1\n", ":1: 'ctx+600:8' is not "
		  "ctx+OFFSET:SIZE=NUMBER" },
		{ "start\n", ":1: start takes one time" },
	};
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct compile *c = compile_new();
		struct events e;
		struct event ev;
		int rc = open_text(&e, c, rows[i].text);

		while (!rc && (rc = events_next(&e, &ev)) == 1)
			rc = 0;
		CHECK(rc);
		CHECK_STR(strchr(e.error, ':'), rows[i].error);
		compile_free(c);
	}
}

TEST(preemption_of_the_kernel)
{
	static const char dynamic[] = "#1 SMP PREEMPT_DYNAMIC Debian";
	static const struct {
		struct preempt_facts f;
		bool may;
	} rows[] = {
		{ { "#1 SMP Debian", NULL, NULL, 0 }, false },
		{ { "#1 SMP PREEMPT", NULL, NULL, 'n' }, true },
		{ { "#1 SMP PREEMPT_RT", NULL, "preempt=none", 'n' }, true },
		{ { dynamic, "none voluntary (full)\n", "preempt=none", 'n' },
		  true },
		{ { dynamic, "(none) voluntary full\n", NULL, 0 }, false },
		{ { dynamic, "none (voluntary) full\n", NULL, 0 }, false },
		{ { dynamic, "none voluntary full (lazy)\n", NULL, 0 }, true },
		{ { dynamic, NULL, "a preempt=voluntary b", 0 }, false },
		{ { dynamic, NULL, "preempt=none preempt=full", 'n' }, true },
		{ { dynamic, NULL, "x.preempt=none", 0 }, true },
		{ { dynamic, NULL, "quiet", 'v' }, false },
		{ { dynamic, NULL, "quiet", 0 }, true },
		{ { NULL, NULL, NULL, 'n' }, true },
	};
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		CHECK_EQ(preempt_may(&rows[i].f), rows[i].may);
}

/* --- where a task's name is ----------------------------------------------- */

TEST(comm_is_where_btf_has_it)
{
	struct compile *c = compile_new();
	uint32_t off[CHAIN_MAX], found = comm_find();
	int size, n = types_chain(c, "task_struct", "comm", off, &size);

	compile_free(c);
	if (!found)
		SKIP("programs on request are refused, or too old a kernel");
	if (n < 0)
		SKIP("no BTF");
	CHECK_EQ(n, 1);
	CHECK_EQ(found, off[0]);
}
