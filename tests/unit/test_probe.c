/* SPDX-License-Identifier: MIT */
/* probe/: what points match, and what is said of those that do not. */
#include "test.h"

#include <stdlib.h>

#include "base/compile.h"
#include "base/settings.h"
#include "front/parse.h"
#include "probe/probe.h"
#include "types/types.h"

/*
 * A static probe as <sys/sdt.h> would place it, with one argument of each form.
 * Never executed: only its note is read.
 */
__attribute__((used)) static void place_mark(void)
{
	__asm__ volatile(
	    "990: nop\n"
	    ".pushsection .note.stapsdt,\"\",\"note\"\n"
	    ".balign 4\n"
	    ".4byte 992f-991f, 994f-993f, 3\n"
	    "991: .asciz \"stapsdt\"\n"
	    "992: .balign 4\n"
	    "993: .8byte 990b, 0, 0\n"
	    ".asciz \"tally_test\"\n"
	    ".asciz \"mark_one\"\n"
	    ".asciz \"-4@%eax 8@%r12 4@$-7 -2@-16(%rbp) 1@(%rax,%rbx,4) "
	    "1@%sil 4@%r8d 8@counter(%rip)\"\n"
	    "994: .balign 4\n"
	    ".popsection\n");
}

struct resolved {
	struct compile *c;
	probe_list probes;
	int rc;
	char *text; /* messages */
};

static struct resolved resolve(const char *text)
{
	static const char *const aliases[] = {"init", "oneshot"};
	struct resolved r = {.c = compile_new()};
	struct source *src =
	    compile_source(r.c, "<input>", text, strlen(text));
	struct point *pt = parse_point_text(r.c, src);
	struct diag_style style = {0};
	size_t n;
	FILE *f;

	r.rc = pt ? probe_resolve(r.c, pt, aliases, 2, false, &r.probes) : -2;
	f = open_memstream(&r.text, &n);
	diags_print(r.c->diag, f, &style);
	fclose(f);
	return r;
}

static void done(struct resolved *r)
{
	free(r->text);
	types_close(r->c);
	compile_free(r->c);
}

static void check_timer(const char *text, int64_t period, int64_t random)
{
	struct resolved r = resolve(text);

	CHECK_EQ(r.rc, 1);
	if (r.rc == 1) {
		CHECK_EQ(r.probes.v[0]->place, PLACE_HOST);
		CHECK_EQ(r.probes.v[0]->when, WHEN_TIMER);
		CHECK_EQ(r.probes.v[0]->timer.period_ns, period);
		CHECK_EQ(r.probes.v[0]->timer.randomize_ns, random);
		CHECK_STR(r.probes.v[0]->pp, text);
	}
	done(&r);
}

static void check_message(const char *text, const char *message)
{
	struct resolved r = resolve(text);

	CHECK_EQ(r.rc, -1);
	CHECK_EQ(r.probes.n, 0);
	CHECK(strstr(r.text, "while resolving probe point"));
	if (!strstr(r.text, message))
		TEST_FAIL("%s: \"%s\" is not in:\n%s", text, message, r.text);
	done(&r);
}

TEST(session_points)
{
	struct resolved r = resolve("begin(-5)");

	CHECK_EQ(r.rc, 1);
	CHECK_EQ(r.probes.v[0]->when, WHEN_BEGIN);
	CHECK_EQ(r.probes.v[0]->sequence, -5);
	CHECK_STR(r.probes.v[0]->family->type, "begin_end");
	done(&r);
	r = resolve("error");
	CHECK_EQ(r.rc, 1);
	CHECK_EQ(r.probes.v[0]->when, WHEN_ERROR);
	done(&r);
	r = resolve("never");
	CHECK_EQ(r.rc, 1);
	CHECK_EQ(r.probes.v[0]->place, PLACE_NEVER);
	done(&r);
}

TEST(timers)
{
	check_timer("timer.s(1)", 1000000000, 0);
	check_timer("timer.sec(86400)", INT64_C(86400000000000), 0);
	check_timer("timer.ms(5)", 5000000, 0);
	check_timer("timer.us(100)", 100000, 0);
	check_timer("timer.nsec(100000)", 100000, 0);
	check_timer("timer.hz(3)", 333333334, 0);
	check_timer("timer.ms(5).randomize(5)", 5000000, 5000000);
}

TEST(timer_ranges)
{
	check_message("timer.s(0)", "interval value out of range (1, 86400)");
	check_message("timer.s(86401)",
		      "interval value out of range (1, 86400)");
	check_message("timer.ms(0)",
		      "interval value out of range (1, 86400000)");
	check_message("timer.us(99)",
		      "interval value out of range (100, 86400000000)");
	check_message("timer.ns(99999)",
		      "interval value out of range (100000, 86400000000000)");
	check_message("timer.hz(0)", "frequency must be greater than 0");
	check_message("timer.hz(10001)",
		      "interval value out of range (100000, 86400000000000)");
	check_message("timer.ms(5).randomize(6)",
		      "randomization value out of range");
	check_message("timer.jiffies(1000001)",
		      "interval value out of range (1, 1000000)");
}

TEST(mismatches)
{
	check_message("foo", "probe point mismatch (similar: end, error, init");
	check_message("timer.msek(1)", "probe point mismatch (similar: msec,");
	check_message("timer.ms", "write ms(NUMBER)");
	check_message("timer", "probe point truncated (follow: s, sec, ms,");
	check_message("kernel.trace", "write trace(\"...\")");
	check_message("begin.x", "invalid suffix for probe");
	check_message("x*", "didn't find any wildcard matches");
	check_message("begin(\"x\")", "write begin or begin(NUMBER)");
}

TEST(optional_points_are_silent)
{
	struct resolved r = resolve("timer.ms(0)?");

	CHECK_EQ(r.rc, 0);
	CHECK_STR(r.text, "");
	done(&r);
	r = resolve("no.such.point?");
	CHECK_EQ(r.rc, 0);
	CHECK_STR(r.text, "");
	done(&r);
}

TEST(wildcards_in_components)
{
	struct resolved r = resolve("timer.prof*");

	CHECK_EQ(r.rc, 1);
	CHECK_STR(r.probes.v[0]->pp, "timer.profile");
	CHECK_EQ(r.probes.v[0]->place, PLACE_KERNEL);
	done(&r);
	r = resolve("timer.**");
	CHECK_EQ(r.rc, 2);
	done(&r);
}

TEST(plain_tracepoints_are_not_looked_up)
{
	struct resolved r = resolve("kernel.trace(\"no_such_event\")");

	CHECK_EQ(r.rc, 1);
	CHECK_EQ(r.probes.v[0]->prog, PROG_RAW_TP);
	CHECK_EQ(r.probes.v[0]->guard, GUARD_SELF);
	CHECK_STR(r.probes.v[0]->pp, "kernel.trace(\"no_such_event\")");
	CHECK(r.c->kernel_types == NULL);
	done(&r);
}

TEST(functions_of_programs)
{
	struct resolved r =
	    resolve("process(\"/proc/self/exe\").function(\"test_probe_*\")");

	/* This program has no function of that name. */
	CHECK_EQ(r.rc, -1);
	CHECK(strstr(r.text, "no match"));
	done(&r);
	r = resolve("process(\"/proc/self/exe\").function(\"main\").return");
	CHECK_EQ(r.rc, 1);
	CHECK_EQ(r.probes.v[0]->prog, PROG_KPROBE);
	CHECK_EQ(r.probes.v[0]->guard, GUARD_PREEMPTIBLE);
	CHECK(r.probes.v[0]->is_return);
	CHECK_STR(r.probes.v[0]->pp,
		  "process(\"/proc/self/exe\").function(\"main\").return");
	done(&r);
	check_message("process(\"/no/such\").function(\"main\")",
		      "cannot find executable '/no/such'");
	check_message("process.function(\"main\")", "-c COMMAND or -x PID");
	check_message("process(\"/proc/self/exe\").function(\"mainn\")",
		      "(similar: main");
}

static const struct access *mark_arg(struct resolved *r, const char *name)
{
	struct probe *p = r->probes.v[0];
	struct node *n = node_new(r->c->a, N_TARGET, p->span);

	n->u.target.name = name;
	if (p->family->target(r->c, p, n, true))
		return NULL;
	return n->u.target.access;
}

TEST(static_probes)
{
	struct resolved r =
	    resolve("process(\"/proc/self/exe\").provider(\"tally_*\")"
		    ".mark(\"mark_*\")");
	const struct access *a;

	CHECK_EQ(r.rc, 1);
	if (r.rc != 1)
		return;
	CHECK_STR(r.probes.v[0]->pp, "process(\"/proc/self/exe\").provider("
				     "\"tally_test\").mark(\"mark_one\")");
	a = mark_arg(&r, "$arg1");
	CHECK(a && a->base == ACC_REG && a->arg == 80 && a->narrow == 4 &&
	      a->sign);
	a = mark_arg(&r, "$arg2");
	CHECK(a && a->base == ACC_REG && a->arg == 24 && !a->narrow);
	a = mark_arg(&r, "$arg3");
	CHECK(a && a->base == ACC_CONST && a->constant == -7);
	a = mark_arg(&r, "$arg4");
	CHECK(a && a->arg == 32 && a->user && a->steps.n == 1);
	CHECK(a && a->steps.v[0].off == -16 && a->steps.v[0].load == 2 &&
	      a->steps.v[0].sign);
	a = mark_arg(&r, "$arg5");
	CHECK(a && a->arg == 80 && a->steps.v[0].index &&
	      a->steps.v[0].scale == 4 && a->steps.v[0].load == 1);
	a = mark_arg(&r, "$arg6");
	CHECK(a && a->arg == 104 && a->narrow == 1);
	a = mark_arg(&r, "$arg7");
	CHECK(a && a->arg == 72 && a->narrow == 4);
	CHECK(!mark_arg(&r, "$arg8"));
	CHECK(!mark_arg(&r, "$arg9"));
	CHECK(!mark_arg(&r, "$arg0"));
	done(&r);
	check_message("process(\"/proc/self/exe\").mark(\"mark_two\")",
		      "(similar: mark_one)");
}
