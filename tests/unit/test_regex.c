/* SPDX-License-Identifier: MIT */
/* front/regex: against the C library, and groups against plain backtracking. */
#include "test.h"

#include <regex.h>
#include <stdlib.h>

#include "base/compile.h"
#include "front/regex_impl.h"

enum { DEPTH = 3 };

/* A fixed sequence: a failure can be repeated. */
static uint32_t rnd(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

/* --- random patterns ----------------------------------------------------- */

struct text {
	char s[256];
	unsigned n;
};

static void put(struct text *t, const char *s)
{
	while (*s && t->n + 1 < sizeof(t->s))
		t->s[t->n++] = *s++;
	t->s[t->n] = 0;
}

static void random_alt(struct text *t, uint32_t *r, int depth);

static void random_atom(struct text *t, uint32_t *r, int depth)
{
	static const char *const atoms[] = {
	    "a", "b", "c", ".", "[ab]", "[^a]", "[a-b]", "[[:alpha:]]", "\\."};

	if (depth > 0 && rnd(r, 4) == 0) {
		put(t, "(");
		random_alt(t, r, depth - 1);
		put(t, ")");
	} else {
		put(t, atoms[rnd(r, 9)]);
	}
}

static void random_alt(struct text *t, uint32_t *r, int depth)
{
	static const char *const closures[] = {"*",   "+",     "?",
					       "{2}", "{1,2}", "{2,}"};
	unsigned branches = rnd(r, 3) ? 1 : 2;

	for (unsigned i = 0; i < branches; i++) {
		unsigned pieces = 1 + rnd(r, 3);

		if (i)
			put(t, "|");
		/* In repeated groups the C library errs about anchors. */
		if (depth == DEPTH && rnd(r, 8) == 0)
			put(t, "^");
		for (unsigned k = 0; k < pieces; k++) {
			random_atom(t, r, depth);
			if (rnd(r, 3) == 0)
				put(t, closures[rnd(r, 6)]);
		}
		if (depth == DEPTH && rnd(r, 8) == 0)
			put(t, "$");
	}
}

static void random_subject(struct text *t, uint32_t *r)
{
	static const char *const letters[] = {"a", "b", "c", "."};
	unsigned len = rnd(r, 9);

	t->n = 0;
	t->s[0] = 0;
	for (unsigned i = 0; i < len; i++)
		put(t, letters[rnd(r, 4)]);
}

/* --- a slow, plain matcher ------------------------------------------------ */

struct slow {
	const struct regex *re;
	const char *s;
	int len, best_end;
	unsigned steps;
	int caps[2 * REGEX_GROUPS_MAX], best[2 * REGEX_GROUPS_MAX];
	int entered[REGEX_STATES_MAX]; /* position + 1 at the last visit */
};

/* Tries every way in order of preference; keeps the first of the longest. */
static void slow_run(struct slow *w, unsigned state, int pos)
{
	const struct rx_inst *in = &w->re->prog.v[state];
	int old = w->entered[state], slot;

	if (++w->steps > 200000)
		return;
	/* Coming here again without a byte in between leads nowhere. */
	if (in->op != RXI_MATCH && old == pos + 1)
		return;
	w->entered[state] = pos + 1;
	switch (in->op) {
	case RXI_SET:
		if (pos < w->len && set_has(in->set, (unsigned char)w->s[pos]))
			slow_run(w, in->x, pos + 1);
		break;
	case RXI_SPLIT:
		slow_run(w, in->x, pos);
		slow_run(w, in->y, pos);
		break;
	case RXI_JUMP:
		slow_run(w, in->x, pos);
		break;
	case RXI_SAVE:
		slot = w->caps[in->slot];
		w->caps[in->slot] = pos;
		slow_run(w, in->x, pos);
		w->caps[in->slot] = slot;
		break;
	case RXI_BOL:
		if (!pos)
			slow_run(w, in->x, pos);
		break;
	case RXI_EOL:
		if (pos == w->len)
			slow_run(w, in->x, pos);
		break;
	case RXI_MATCH:
		if (pos > w->best_end) {
			w->best_end = pos;
			memcpy(w->best, w->caps, sizeof(w->best));
			w->best[1] = pos;
		}
		break;
	}
	w->entered[state] = old;
}

static bool slow_match(struct slow *w, const struct regex *re, const char *s)
{
	memset(w, 0, sizeof(*w));
	w->re = re;
	w->s = s;
	w->len = (int)strlen(s);
	w->best_end = -1;
	for (int start = 0; start <= w->len && w->best_end < 0; start++) {
		for (unsigned i = 0; i < 2 * REGEX_GROUPS_MAX; i++)
			w->caps[i] = -1;
		w->caps[0] = start;
		slow_run(w, 0, start);
	}
	return w->best_end >= 0;
}

/* --- tests --------------------------------------------------------------- */

static struct regex *compile(struct compile *c, const char *pattern)
{
	unsigned pos;
	const char *msg;

	return regex_compile(c, pattern, strlen(pattern), &pos, &msg);
}

TEST(regex_agrees_with_libc)
{
	static struct slow slow;
	uint32_t seed = 1;
	unsigned matched = 0, slow_checked = 0;

	for (unsigned round = 0; round < 6000; round++) {
		struct compile *c = compile_new();
		struct text pattern = {.n = 0}, subject;
		struct regex *re;
		regex_t libc;

		random_alt(&pattern, &seed, DEPTH);
		re = compile(c, pattern.s);
		CHECK(re != NULL);
		CHECK_EQ(regcomp(&libc, pattern.s, REG_EXTENDED), 0);
		for (unsigned i = 0; re && i < 12; i++) {
			int caps[2 * REGEX_GROUPS_MAX];
			regmatch_t m[1];
			bool ours, theirs;

			random_subject(&subject, &seed);
			ours = regex_match(re, subject.s, subject.n, caps);
			theirs = !regexec(&libc, subject.s, 1, m, 0);
			if (ours != theirs || (ours && (caps[0] != m[0].rm_so ||
							caps[1] != m[0].rm_eo)))
				TEST_FAIL("'%s' in '%s': ours %d %d-%d, libc "
					  "%d %d-%d",
					  pattern.s, subject.s, ours, caps[0],
					  caps[1], theirs, (int)m[0].rm_so,
					  (int)m[0].rm_eo);
			matched += ours;
			if (!slow_match(&slow, re, subject.s) != !ours &&
			    slow.steps < 200000)
				TEST_FAIL("slow '%s' in '%s'", pattern.s,
					  subject.s);
			if (!ours || slow.steps >= 200000)
				continue;
			slow_checked++;
			if (memcmp(caps, slow.best,
				   2 * regex_ngroups(re) * sizeof(int)))
				TEST_FAIL("groups of '%s' in '%s'", pattern.s,
					  subject.s);
		}
		regfree(&libc);
		compile_free(c);
	}
	CHECK(matched > 10000);
	CHECK(slow_checked > 10000);
}

static void check_groups(const char *pattern, const char *s, const char *want)
{
	struct compile *c = compile_new();
	struct regex *re = compile(c, pattern);
	int caps[2 * REGEX_GROUPS_MAX];
	struct text got = {.n = 0};

	CHECK(re != NULL);
	if (re && regex_match(re, s, strlen(s), caps)) {
		for (unsigned g = 0; g < regex_ngroups(re); g++) {
			char part[128];

			snprintf(
			    part, sizeof(part), "%s%.*s", g ? "," : "",
			    caps[2 * g] < 0 ? 0 : caps[2 * g + 1] - caps[2 * g],
			    caps[2 * g] < 0 ? "" : s + caps[2 * g]);
			put(&got, part);
		}
	} else {
		put(&got, "no");
	}
	CHECK_STR(got.s, want);
	compile_free(c);
}

TEST(regex_groups)
{
	check_groups("(a|ab)(c|bcd)?", "abcabc", "abc,ab,c");
	check_groups("(a|ab)(c|b*)", "xaby", "ab,a,b");
	check_groups("^bar", "foo\nbar", "no");
	check_groups("o.b", "foo\nbar", "o\nb");
	check_groups("(?:a|b)+(c)", "xabac", "abac,c");
	check_groups("(a*)*", "b", ",");
	check_groups("(a)|(b)", "b", "b,,b");
	check_groups("", "abc", "");
	check_groups("$", "abc", "");
	check_groups("$^", "", "");
	check_groups("$^", "a", "no");
	check_groups("[]a]+", "x]a]", "]a]");
	check_groups("[\\]a-]+", "x]-a", "]-a");
	check_groups("[[:d:][:u:]]+", "aB7c", "B7");
	check_groups("a\\.b", "axb a.b", "a.b");
	check_groups("\377+", "a\377\377", "\377\377");
}

static void check_wrong(const char *pattern, unsigned want_pos,
			const char *want_msg)
{
	struct compile *c = compile_new();
	unsigned pos = 0;
	const char *msg = NULL;

	CHECK(!regex_compile(c, pattern, strlen(pattern), &pos, &msg));
	CHECK_EQ(pos, want_pos);
	CHECK_STR(msg, want_msg);
	compile_free(c);
}

TEST(regex_mistakes)
{
	check_wrong("abc[def", 6, "unclosed character class");
	check_wrong("a(", 1, "expected ), found end of regex");
	check_wrong("a)", 1, "unbalanced ')'");
	check_wrong("*a", 0, "unexpected '*'");
	check_wrong("a|*", 2, "unexpected '*'");
	check_wrong("a{x}", 3, "expected number");
	check_wrong("a{3", 3, "unexpected end of regex");
	check_wrong("a{3x}", 3, "expected ',' or '}'");
	check_wrong("a{3,x}", 5, "expected '}' or number");
	check_wrong("a{99999}", 8, "99999 is too large");
	check_wrong("a{3,2}", 6, "Inverted repetition {3,2}");
	check_wrong("[z-a]", 4, "Inverted character range z-a");
	check_wrong("[[:foo:]]", 1, "unknown character class 'foo'");
	check_wrong("[[:alpha", 7, "unclosed character class");
	check_wrong("^*", 1,
		    "postfix closure '*' applied to anchoring operator");
	check_wrong("(?=b)", 2, "unexpected '(?='");
	check_wrong("((a{100}){100}){100}", 0, "pattern too large");
}

/* What backtracking takes ages for, and what blows a DFA up. */
TEST(regex_takes_linear_time)
{
	struct compile *c = compile_new();
	char *text = malloc(200001), deep[2001];
	unsigned pos;
	const char *msg;
	struct regex *re = compile(c, "(a*)*(a|aa)+b");

	memset(text, 'a', 200000);
	text[200000] = 0;
	CHECK(!regex_match(re, text, 200000, NULL));
	CHECK(!regex_match(re, text, 200000, (int[6]){0}));
	re = compile(c, "(a|b)*a(a|b){12}");
	CHECK(re && !regex_dfa(re));
	CHECK(re && regex_match(re, text, 20000, NULL));
	memset(deep, '(', 2000);
	deep[2000] = 0;
	CHECK(!regex_compile(c, deep, 2000, &pos, &msg));
	deep[0] = 'a';
	memset(deep + 1, '*', 1999);
	CHECK(regex_compile(c, deep, 2000, &pos, &msg) != NULL);
	free(text);
	compile_free(c);
}
