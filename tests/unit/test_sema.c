/* SPDX-License-Identifier: MIT */
/* The library's index, did-you-mean, effects, call order, exclusion. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/compile.h"
#include "base/settings.h"
#include "front/parse.h"
#include "sema/exclusion.h"
#include "sema/sema.h"

static struct compile *new_compile(void)
{
	struct arena *a = arena_new();
	struct compile *c = arena_new_of(a, struct compile);

	c->a = a;
	c->str = strtab_new(a);
	c->diag = diags_new(a);
	settings_init(&c->set);
	return c;
}

static struct program *analyse(struct compile *c, const char *text)
{
	struct macros *m = tapset_macros(tapset_new(c));
	struct source *src = compile_source(c, "<input>", text, strlen(text));
	struct file *f = parse_file(c, m, src, 0);
	struct program *p = sema_run(c, &f, 1);
	struct diag_style style = {.no_warnings = true};

	diags_print(c->diag, stdout, &style);
	CHECK_EQ(diags_errors(c->diag), 0);
	return p;
}

/* --- index ---------------------------------------------------------------- */

struct found {
	char text[1000];
};

static void note(void *ctx, enum tapset_kind kind, const char *name, size_t n)
{
	struct found *f = ctx;
	size_t at = strlen(f->text);

	snprintf(f->text + at, sizeof(f->text) - at, "%c:%.*s ", "fagm"[kind],
		 (int)n, name);
}

static const char *names(const char *text)
{
	static struct found f;

	f.text[0] = 0;
	scan_names(text, strlen(text), note, &f);
	return f.text;
}

TEST(scan_declarations)
{
	CHECK_STR(
	    names("global a%[3] = 4, b = \"x{\", c = -1\nfunction f:long()"
		  " { global(x) }"),
	    "g:a g:b g:c f:f ");
	CHECK_STR(names("private global a, b function f() {}"), "f:f ");
	CHECK_STR(names("private function f() {} global c"), "g:c ");
	CHECK_STR(names("probe a.b = c.d = begin, end { x = \"}\" }, { y }"
			"function f() %{ } %} global z"),
		  "a:a a:c f:f g:z ");
	CHECK_STR(names("probe begin { function } probe x += end {}"), "a:x ");
	CHECK_STR(names("%( a == \"b\" %? function f() {} %: global g %)"
			" function h() {}"),
		  "f:f g:g f:h ");
	CHECK_STR(names("# function a\n// function b\n/* function c */\n"
			"@define m %( function d %) function e() {}"),
		  "m:m f:e ");
}

TEST(macro_files_are_read_when_used)
{
	struct compile *c = new_compile();

	CHECK_STR(names("@define one %( 1 %) @define two(x) %( f(@x) %)"),
		  "m:one m:two ");
	analyse(c, "global s probe begin { s <<< 1 println(@count(s)) }");
	CHECK_EQ(c->sources.n, 1);
	arena_free(c->a);
	c = new_compile();
	analyse(c, "probe begin { println(@defined($x)) }");
	CHECK_EQ(c->sources.n, 1);
	arena_free(c->a);
	c = new_compile();
	analyse(c, "probe begin { println(@choose_defined($x, 1)) }");
	CHECK_EQ(c->sources.n, 2);
	arena_free(c->a);
}

TEST(scan_broken)
{
	CHECK_STR(names(""), "");
	CHECK_STR(names("function"), "");
	CHECK_STR(names("global"), "");
	CHECK_STR(names("probe"), "");
	CHECK_STR(names("probe a = { \"unclosed"), "a:a ");
	CHECK_STR(names("function f() %{ never closed"), "f:f ");
	CHECK_STR(names("/* never closed"), "");
	CHECK_STR(names("}}}} ,,, global a,"), "g:a ");
}

TEST(near_names)
{
	struct compile *c = new_compile();
	struct near_names nn = {.want = "foo", .max = 3};

	near_names_add(&nn, "error");
	near_names_add(&nn, "log");
	near_names_add(&nn, "pn");
	near_names_add(&nn, "HZ");
	near_names_add(&nn, "log");
	near_names_add(&nn, "foo");
	CHECK_STR(near_names_text(c, &nn), " (similar: log, HZ, pn)");
	arena_free(c->a);
}

/* --- calls ---------------------------------------------------------------- */

TEST(call_depth)
{
	struct compile *c = new_compile();
	struct program *p;
	unsigned i;

	p = analyse(c, "function a(x) { return b(x) + 1 }"
		       "function b(x) { return x ? c(x) : 0 }"
		       "function c(x) { return x > 5 ? b(x - 1) : d(x) }"
		       "function d(x) { return x }"
		       "probe begin { println(a(1), d(2)) }");
	CHECK(p->recurses);
	for (i = 0; i < p->functions.n; i++) {
		const struct function *f = p->functions.v[i];

		CHECK_EQ(f->is_recursive, *f->name == 'b' || *f->name == 'c');
	}
	p = analyse(c, "function a(x) { return b(x) + 1 }"
		       "function b(x) { return x }"
		       "probe begin { println(a(1)) }");
	CHECK(!p->recurses);
	CHECK_EQ(p->call_depth, 2);
	arena_free(c->a);
}

/* --- exclusion ------------------------------------------------------------ */

/* What is said of the probes, a letter each: "-" no lock, or the group. */
static const char *locks(const char *text)
{
	static char ret[100];
	struct compile *c = new_compile();
	struct program *p = analyse(c, text);
	unsigned i;

	memset(ret, 0, sizeof(ret));
	CHECK(p->exclusion != NULL);
	for (i = 0; p->exclusion && i < p->probes.n && i < 99; i++) {
		uint32_t m = p->exclusion->probe_locks[i];

		printf("# %s: %s\n", p->probes.v[i]->pp, p->exclusion->why[i]);
		ret[i] = !m ? '-' : m == 1 ? 'a' : m == 2 ? 'b' : '?';
	}
	arena_free(c->a);
	return ret;
}

/* Points that the kernel's own types are not needed for. */
#define K "probe perf.sw.cpu_clock "
#define T "probe timer.s(1) "

TEST(no_lock)
{
	CHECK_STR(locks("global n " K "{ n++ } " T "{ println(n) }"), "--");
	CHECK_STR(locks("global n, m " K "{ n++ m += 2 } "
			"probe end { println(n, m) }"),
		  "--");
	CHECK_STR(locks("global s " K "{ s <<< 1 } " T
			"{ println(@count(s), @sum(s)) delete s }"),
		  "--");
	CHECK_STR(locks("global s, t " K "{ s[pid()] <<< 1 t <<< 2 } " T
			"{ foreach (k in s-) println(k, @count(s[k])) "
			"println(@sum(t)) delete s }"),
		  "--");
	CHECK_STR(locks("global max probe begin { max = 5 } " K
			"{ if (pid() > max && tid() < max) exit() }"),
		  "--");
	CHECK_STR(locks(T "{ x = 1 println(x) }"), "-");
	/* Reports keep nobody out, whatever else their handler does. */
	CHECK_STR(locks("global s, n " K "{ s <<< 1 n++ } " T
			"{ println(@count(s), n) } " T "{ delete s }"),
		  "---");
	/* The host's handlers run one after the other. */
	CHECK_STR(locks("global n " T "{ n = n * 2 } " T "{ n = n + 1 }"),
		  "--");
	/* One path at a time. */
	CHECK_STR(locks("global n, m " K "{ if (pid()) n = 1 else m = 1 } " T
			"{ println(n) } " T "{ println(m) }"),
		  "---");
}

TEST(lock_needed)
{
	CHECK_STR(locks("global n " K "{ n = n + 1 } "
			"probe end { println(n) }"),
		  "a-");
	CHECK_STR(locks("global x, y " K "{ x++ y++ } " T
			"{ if (x != y) println(\"torn\") }"),
		  "aa");
	CHECK_STR(locks("global n " K "{ n++ } " T "{ println(n) n = 0 }"),
		  "aa");
	CHECK_STR(locks("global a " K "{ a[cpu()] -= 5 a[0] += 5 } " T
			"{ foreach (k in a) println(a[k]) }"),
		  "aa");
	CHECK_STR(locks("global a " K "{ if (!(pid() in a)) a[pid()] = 1 } "
			"probe end { println(a[1]) }"),
		  "a-");
	CHECK_STR(locks("global s " K "{ s = execname() } " T "{ println(s) }"),
		  "aa");
	/* In a loop, once is often. */
	CHECK_STR(locks("global n " K "{ for (i = 0; i < 3; i++) n = i } " T
			"{ println(n) }"),
		  "aa");
	/* What makes an element may take the place of one at hand. */
	CHECK_STR(locks("global a%[4] " K "{ a[pid()]++ } "
			"probe end { println(a[1]) }"),
		  "a-");
	/* Through functions, and in conditions. */
	CHECK_STR(locks("global n function f() { n = n + 1 } " K
			"{ f() } probe end { println(n) }"),
		  "a-");
	CHECK_STR(locks("global on " K "if (on) { on = 0 } " T "{ on = 1 }"),
		  "aa");
}

TEST(lock_groups)
{
	CHECK_STR(locks("global a, b " K "{ a = a + 1 } " K "{ b = b + 1 } "
			"probe end { println(a, b) }"),
		  "ab-");
	CHECK_STR(locks("global a, b, c " K "{ a = b } " K "{ b = c } " K
			"{ c = 1 } probe end { println(a, b, c) }"),
		  "aaa-");
}

/* A perf event may interrupt a thread that holds its own element. */
TEST(by_thread)
{
	CHECK_STR(locks("global t " K "{ if (t[tid()]) delete t[tid()] } "
			"probe end { println(t[1]) }"),
		  "a-");
	if (access("/sys/kernel/tracing/events/sched", R_OK))
		return;
	CHECK_STR(locks("global t probe kernel.trace(\"sys_enter\") "
			"{ if (tid() in t) delete t[tid()] else t[tid()] = 1 } "
			"probe end { println(t[1]) }"),
		  "--");
	CHECK_STR(locks("global t probe kernel.trace(\"sys_enter\") "
			"{ if (t[tid()]) delete t[tid()] } "
			"probe kernel.trace(\"sched_wakeup\") { t[tid()] = 1 } "
			"probe end { println(t[1]) }"),
		  "aa-");
}

/*
 * Each proof rule, with what it sets free and what only looks like it. A rule
 * that goes too far turns one of the near misses into "-".
 */
/* (A "-" more than there are probes is of the "end" that prints a global which
 * is written only.) */
struct near_miss {
	const char *text, *locks;
};

static void check_all(const struct near_miss *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		printf("# %s\n", v[i].text);
		CHECK_STR(locks(v[i].text), v[i].locks);
	}
}

#define CHECK_ALL(v) check_all(v, sizeof(v) / sizeof(*(v)))
#define M "if (pid() > m && tid() < m) exit()"

TEST(rule_all_read)
{
	static const struct near_miss v[] = {
	    {"global m probe begin { m = 5 } " K "{ " M " }", "--"},
	    {"global m probe end { m = 5 } " K "{ " M " }", "--"},
	    /* written by who runs together with the readers */
	    {"global m " T "{ m = 5 } " K "{ " M " }", "aa"},
	    {"global m " T "{ delete m } " K "{ " M " }", "aa"},
	    {"global m function f() { m = 5 } " T "{ f() } " K "{ " M " }",
	     "aa"},
	    {"global m " K "{ try { " M " } catch { m = 1 } }", "a"},
	    {"global m " K "{ if (0 + cpu()) m = 1 " M " }", "a"},
	    {"global m probe begin { m = 1 } " T
	     "{ try { error(\"\") } catch { m = 2 } } " K "{ " M " }", "-aa"},
	    /* A foreach sets its names. */
	    {"global m, a " T "{ foreach (m in a) exit() } " K "{ " M " }",
	     "aa"},
	    {"global m, a " T "{ a[1] = 1 foreach (m = k in a) exit() } " K
	     "{ " M " }", "aa"},
	};

	CHECK_ALL(v);
}

#define END2 " probe end { println(n, m) }"

TEST(rule_all_add)
{
	static const struct near_miss v[] = {
	    {"global n, m " K "{ n++ m -= 2 }" END2, "--"},
	    {"global n, m " K "{ try { n++ m += n_() } catch { } } "
	     "function n_() { return 1 }" END2, "--"},
	    {"global n, m function f() { n++ m++ } " K
	     "{ for (i = 0; i < 3; i++) f() }" END2, "--"},
	    {"global n, m " K "{ n++ m++ } " K "{ m-- n -= pid() }" END2,
	     "---"},
	    /* the old or new value is used */
	    {"global n, m " K "{ x = n++ y = m++ println(x, y) }", "a"},
	    {"global n, m " K "{ if (n++ > 3) m++ } " T "{ n++ m++ }"
	     END2, "---"}, /* m is only added to, n one step */
	    {"global n, m " K "{ if (n++ > 3) m = 1 else m = 2 }" END2, "a-"},
	    {"global n, m " K "{ println(n += 2, m += 2) }", "a"},
	    {"global n function f(x) { return x } " K "{ f(n++) f(n++) }", "a"},
	    {"global n function f() { return n++ } " K "{ f() f() }", "a"},
	    {"global n function f() { return n++ } " K
	     "{ for (i = 0; i < 3; i++) f() }", "a"},
	    /* another operator */
	    {"global n, m " K "{ n *= 2 m++ }" END2, "a-"},
	    {"global n, m " K "{ n++ m++ } " K "{ n |= 2 }" END2, "aa-"},
	    /* somebody looks: in a condition, a function, a catch, a timer */
	    {"global n, m " K "if (n < 9) { n++ }", "a"},
	    {"global n, m " K "{ n++ m++ } " K "if (n > m) { exit() }", "aa"},
	    {"global n, m function f() { return n - m } " K "{ n++ m++ } " T
	     "{ println(f()) }", "aa"},
	    {"global n, m " K
	     "{ n++ try { m++ } catch { println(n, m) } }", "a"},
	    /* elements: what is deleted, walked, wrapped */
	    {"global a " K "{ a[1]++ a[2]++ } probe end { println(a[1]) }",
	     "--"},
	    {"global a " K "{ a[1]++ a[2]++ } " T "{ delete a[1] }",
	     "aa-"},
	    {"global a " K "{ a[1]++ a[2]++ } " T
	     "{ foreach (k in a) println(k) }", "aa"},
	    {"global a " K "{ a[1]++ a[2]++ } " T
	     "{ if ([*] in a) println(1) }", "aa"},
	    {"global a%[2] " K "{ a[1]++ a[2]++ }", "a-"},
	};

	CHECK_ALL(v);
}

TEST(rule_feeds)
{
	static const struct near_miss v[] = {
	    {"global s, t " K "{ s <<< 1 t <<< 2 } " T
	     "{ println(@sum(s), @max(t)) delete s delete t }", "--"},
	    {"global s, t " K "{ s <<< 1 t <<< 2 } " K
	     "{ if (@count(s) == 9) exit() }", "---"},
	    /* a live one takes several steps to read */
	    {"global s " K "{ s <<< 1 } " K "{ if (@sum(s) == 9) exit() }",
	     "aa"},
	    {"global s " K "{ s <<< 1 } " K
	     "{ if (@count(s) == 9) exit() if (@count(s) == 8) exit() }",
	     "aa"},
	    {"global s " K "{ s[1] <<< 1 } " K
	     "{ if (@count(s[1]) == 9) delete s[1] }", "aa"},
	};

	CHECK_ALL(v);
}

TEST(rule_one_step)
{
	static const struct near_miss v[] = {
	    {"global n " K "{ n = pid() } " T "{ println(n) }", "--"},
	    {"global n " K "{ println(n++) } " T "{ n = 0 }", "--"},
	    {"global n " K "{ if (cpu()) n = 1 else n = 2 } " T
	     "{ println(n) }", "--"},
	    {"global a " K "{ a[pid()] = 1 } " T "{ println(a[5]) }", "--"},
	    {"global n " K "{ n = pid() } " T "{ println(n, n) }", "aa"},
	    {"global n, m " K "{ n = m = 1 } " T "{ n = m }", "aa-"},
	    {"global n " K "{ n = n ? 1 : 2 }", "a"},
	    {"global n " K "{ if (cpu()) n = 1 n = 2 } " T "{ println(n) }",
	     "aa"},
	    {"global n " K "{ while (n < 5) exit() } " T "{ n = 1 }", "aa"},
	    {"global n function f() { n = 1 } " K "{ f() f() } " T
	     "{ println(n) }", "aa"},
	    {"global n function f(x) { if (x) f(x - 1) n = x } " K
	     "{ f(2) } " T "{ println(n) }", "aa"},
	    {"global n " K "{ try { n = 1 } catch { n = 2 } } " T
	     "{ println(n) }", "aa"},
	    /* one step, but of a kind that takes several */
	    {"global s " K "{ s = execname() } " T "{ println(s) }", "aa"},
	    {"global a " K "{ a[pid()] = execname() } " T "{ println(a[5]) }",
	     "aa"},
	    {"global a " K "{ a[pid()] = 1 } " T "{ delete a }", "aa-"},
	    {"global a " K "{ a[pid()] = 1 } " K "{ delete a[pid()] }", "aa-"},
	    {"global a%[9] " K "{ a[pid()] = 1 } " T "{ println(a[5]) }",
	     "aa"},
	    /* free as it is, but another one locks (rule 3) */
	    {"global n " K "{ n = n + 1 } " K "{ n = 0 } " T
	     "{ println(n) }", "aaa"},
	};

	CHECK_ALL(v);
}

#define S "probe kernel.trace(\"sys_enter\") "
#define X "probe kernel.trace(\"sys_exit\") "
#define XT " probe end { println(t[1]) }"

TEST(rule_by_thread)
{
	static const struct near_miss v[] = {
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] }", "--"},
	    {"global t " S "{ k = tid() t[k, 1] = 1 } " X
	     "{ if (t[tid(), 2]) delete t[tid(), 2] }", "--"},
	    /* another key, another place, somebody without */
	    {"global t " S "{ t[pid()] = 1 } " X
	     "{ if (t[pid()]) delete t[pid()] }", "aa"},
	    {"global t " S "{ t[tid() + 1] = 1 } " X
	     "{ if (t[tid() + 1]) delete t[tid() + 1] }", "aa"},
	    {"global t " S "{ t[tid(), 1] = 1 } " X
	     "{ if (t[1, tid()]) delete t[1, tid()] }", "aa"},
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[cpu()] }", "aa"},
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t }", "aa"},
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] } " T
	     "{ foreach (k in t) println(k) }", "aaa"},
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] } " T "{ println(t[1]) }",
	     "aaa"},
	    {"global t%[9] " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] }", "aa"},
	    /* a local that is not always tid(), a parameter */
	    {"global t " S "{ k = tid() k++ t[k] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] }", "aa"},
	    {"global t " S "{ k = tid() if (cpu()) k = 1 t[k] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] }", "aa"},
	    {"global t function f(k) { if (t[k]) delete t[k] } " S
	     "{ f(tid()) } " X "{ f(1) }", "aa"},
	    /* not yet tid(), or not on every way: 0, of all threads */
	    {"global t " S "{ t[k] = t[k] + 1 k = tid() }" XT, "a-"},
	    {"global t " S "{ if (cpu()) k = tid() t[k] = t[k] + 1 }" XT, "a-"},
	    {"global t " S "{ while (cpu()) k = tid() t[k] = t[k] + 1 }" XT,
	     "a-"},
	    {"global t " S "{ for (i = 0; i < 9; t[k] = t[k] + i) "
	     "{ if (i++) continue k = tid() } }" XT, "a-"},
	    {"global t " S "{ try { error(\"\") k = tid() } catch { } "
	     "t[k] = t[k] + 1 }" XT, "a-"},
	    {"global t " S "{ t[k] = t[k] + (k = tid()) }" XT, "a-"},
	    {"global t " S "{ if (cpu()) { k = tid() t[k] = t[k] + 1 } }" XT,
	     "--"},
	    /* on the host, while the thread goes on: before it, behind it */
	    {"global s, t " S "{ s <<< 1 t[tid()] = t[tid()] + 1 "
	     "print(@hist_log(s)) }" XT, "--"},
	    {"global s, t " S "{ s <<< 1 print(@hist_log(s)) "
	     "t[tid()] = t[tid()] + 1 }" XT, "a-"},
	    {"global t " S "{ if (cpu()) system(\"\") "
	     "else t[tid()] = t[tid()] + 1 }" XT, "--"},
	    {"global t " S "{ if (cpu()) system(\"\") "
	     "t[tid()] = t[tid()] + 1 }" XT, "a-"},
	    {"global t " S "{ for (i = 0; i < 2; i++) "
	     "{ t[tid()] = t[tid()] + 1 system(\"\") } }" XT, "a-"},
	    {"global t function f() { system(\"\") } " S
	     "{ f() t[tid()] = t[tid()] + 1 }" XT, "a-"},
	    {"global t function f() { t[tid()] = t[tid()] + 1 } " S
	     "{ system(\"\") f() }" XT, "a-"},
	    {"global t function f() { t[tid()] = t[tid()] + 1 } " S
	     "{ f() system(\"\") }" XT, "--"},
	    /* tally's own thread is probed between two steps of a timer's */
	    {"global t " S "{ t[tid()] = t[tid()] + 1 } " T
	     "{ t[tid()] = t[tid()] + 1 }" XT, "aa-"},
	    /* the idle threads of all CPUs are 0, too */
	    {"global t probe kernel.trace(\"sched_switch\") "
	     "{ t[tid()] = t[tid()] + 1 }" XT, "a-"},
	    {"global t probe kernel.trace(\"sched:sched_switch\") "
	     "{ t[tid()] = t[tid()] + 1 }" XT, "a-"},
	    /* and whoever interrupts a thread */
	    {"global t " S "{ t[tid()] = 1 } " X
	     "{ if (t[tid()]) delete t[tid()] } " K "{ t[tid()] = 2 }",
	     "aaa"},
	};

	if (!access("/sys/kernel/tracing/events/sched", R_OK))
		CHECK_ALL(v);
}

/* What an error handler stores its message in is written. */
TEST(catch_writes)
{
	CHECK_STR(locks("global m " K "{ try { exit() } catch (m) { } } " T
			"{ println(m, m) }"), "aa");
}

TEST(forced_off)
{
	struct compile *c = new_compile();
	struct program *p;

	CHECK(settings_define(c, "TALLY_NO_LOCKS"));
	p = analyse(c, "global n " K "{ n = n + 1 } probe end { println(n) }");
	CHECK(p->exclusion != NULL);
	CHECK_EQ(p->exclusion->probe_locks[0], 0);
	arena_free(c->a);
}
