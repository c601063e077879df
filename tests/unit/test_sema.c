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
