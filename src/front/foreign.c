/* SPDX-License-Identifier: MIT */
/* Points and words of bpftrace, DTrace and awk, recognised by their text. */
#include "front/foreign.h"

#include <stdbool.h>
#include <string.h>

/* A text within the script. */
struct part {
	const char *s;
	size_t n;
};

enum { PARTS_MAX = 4, PART_LONGEST = 200 };

static bool is(const struct part *p, const char *text)
{
	return p->n == strlen(text) && !memcmp(p->s, text, p->n);
}

static bool ends_part(char c)
{
	return strchr(": \t\r\n/{},()\"", c) != NULL; /* the NUL, too */
}

/* Splits a point at its colons. The number of parts, 0: it is none. */
static unsigned split(const char *s, struct part *ret, const char **end)
{
	unsigned n = 0;

	for (;;) {
		size_t len = 0;
		/* of programs, as in uprobe:/bin/sh:main */
		bool path = n && *s == '/';

		while (!ends_part(s[len]) || (path && s[len] == '/'))
			len++;
		if (n == PARTS_MAX || len > PART_LONGEST)
			return 0;
		ret[n++] = (struct part){s, len};
		s += len;
		if (*s != ':')
			break;
		s++;
	}
	*end = s;
	return n;
}

/* Words that bpftrace has for one kind of point. */
static const struct {
	const char *word;
	const char *format; /* of the last part, or of the last two */
	unsigned parts;	    /* least; with the word */
	bool two;
} kinds[] = {
	{"rawtracepoint", "kernel.trace(\"%.*s\")", 2, false},
	{"kprobe", "kernel.function(\"%.*s\")", 2, false},
	{"kretprobe", "kernel.function(\"%.*s\").return", 2, false},
	{"fentry", "kernel.function(\"%.*s\")", 2, false},
	{"fexit", "kernel.function(\"%.*s\").return", 2, false},
	{"kfunc", "kernel.function(\"%.*s\")", 2, false},
	{"kretfunc", "kernel.function(\"%.*s\").return", 2, false},
	{"uprobe", "process(\"%.*s\").function(\"%.*s\")", 3, true},
	{"uretprobe", "process(\"%.*s\").function(\"%.*s\").return", 3, true},
	{"usdt", "process(\"%.*s\").mark(\"%.*s\")", 3, true},
	{"interval", "timer.%.*s(%.*s)", 3, true},
	{"profile", "timer.profile.freq.%.*s(%.*s)", 3, true},
};

static const char *by_kind(struct arena *a, const struct part *p, unsigned n)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct part *last = &p[n - 1];
		const struct part *first = &p[1];

		if (!is(p, kinds[i].word) || n < kinds[i].parts || !last->n)
			continue;
		if (is(p, "profile") && !is(first, "hz"))
			return "timer.profile";
		return kinds[i].two
			       ? arena_printf(a, kinds[i].format,
					      (int)first->n, first->s,
					      (int)last->n, last->s)
			       : arena_printf(a, kinds[i].format,
					      (int)last->n, last->s);
	}
	return NULL;
}

/* tracepoint:GROUP:NAME; those of system calls have a name of their own. */
static const char *tracepoint(struct arena *a, const struct part *p, unsigned n)
{
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_";

	if (n != 3 || (!is(p, "tracepoint") && !is(p, "t")) || !p[2].n)
		return NULL;
	if (is(&p[1], "syscalls") && !strncmp(p[2].s, enter, strlen(enter)))
		return arena_printf(a, "syscall.%.*s",
				    (int)(p[2].n - strlen(enter)),
				    p[2].s + strlen(enter));
	if (is(&p[1], "syscalls") && !strncmp(p[2].s, leave, strlen(leave)))
		return arena_printf(a, "syscall.%.*s.return",
				    (int)(p[2].n - strlen(leave)),
				    p[2].s + strlen(leave));
	return arena_printf(a, "kernel.trace(\"%.*s\")", (int)p[2].n, p[2].s);
}

/* provider:module:function:name of DTrace. */
static const char *four_parts(struct arena *a, const struct part *p, unsigned n)
{
	const char *suffix = n == 4 && is(&p[3], "return") ? ".return" : "";

	if (n != 4 || !p[2].n)
		return NULL;
	if (is(p, "syscall"))
		return arena_printf(a, "syscall.%.*s%s", (int)p[2].n, p[2].s,
				    suffix);
	if (is(p, "fbt"))
		return arena_printf(a, "kernel.function(\"%.*s\")%s",
				    (int)p[2].n, p[2].s, suffix);
	return NULL;
}

/*
 * The script from there on. NULL: it stands in a macro, and there is no telling
 * what comes behind it.
 */
static const char *text_at(const struct span *at)
{
	if (!at->src || at->macro || at->line > at->src->nlines)
		return NULL;
	return at->src->text + at->src->line_off[at->line - 1] + at->col - 1;
}

const char *foreign_point(struct arena *a, const struct span *at)
{
	struct part p[PARTS_MAX];
	const char *s, *point, *end, *language;
	unsigned n;

	s = text_at(at);
	n = s ? split(s, p, &end) : 0;
	if (!n)
		return NULL;
	language = "bpftrace";
	point = tracepoint(a, p, n);
	if (!point)
		point = by_kind(a, p, n);
	if (!point) {
		point = four_parts(a, p, n);
		language = point ? "DTrace" : "bpftrace or awk";
	}
	end += strspn(end, " \t\r\n");
	if (!point && n == 1 && *end == '{' &&
	    (is(p, "BEGIN") || is(p, "END")))
		point = is(p, "BEGIN") ? "begin" : "end";
	if (!point)
		return NULL;
	return arena_printf(a, "this looks like %s; here it is: probe %s { %s}",
			    language, point,
			    *end == '/' ? "if (CONDITION) ... " : "... ");
}

const char *foreign_token(const struct token *t)
{
	const char *s = t->id == T_EOF ? NULL : text_at(&t->span);

	return s && *s == '\'' ? "strings stand in double quotes: \"...\""
				: NULL;
}

const char *foreign_operator(struct arena *a, const struct span *at)
{
	const char *word = at->text, *s = text_at(at);
	size_t digits = word[0] && word[1] == 'p' ?
			strspn(word + 2, "0123456789") : 0;

	if (digits && digits <= 2 && !word[2 + digits])
		return arena_printf(a, "percentiles are @quantile(x, %s)",
				    word + 2);
	if (digits == 3 && word[2] == '9' && !word[5])
		return arena_printf(a, "that is @quantile(x, %s, 1000)",
				    word + 2);
	/* of an argument's text the place is that of $1 */
	if (!s || strncmp(s, word, strlen(word)))
		return NULL;
	s += strlen(word);
	if (s[strspn(s, " \t\r\n")] == '(') /* a macro, perhaps */
		return NULL;
	return "a variable has no @: global x, and then x = 1, x <<< 1, "
	       "x[KEY] <<< 1";
}

/* Pairs of what others write and what it is here. */
struct word {
	const char *theirs, *here;
};

static const char *find_word(const struct word *w, size_t n, const char *name)
{
	for (; n; n--, w++)
		if (!strcmp(name, w->theirs))
			return w->here;
	return NULL;
}

const char *foreign_family(const char *name)
{
	static const struct word families[] = {
		{"BEGIN", "begin"},
		{"END", "end"},
		{"fentry", "kernel.function(\"NAME\")"},
		{"fexit", "kernel.function(\"NAME\").return"},
		{"interval", "timer.s(1)"},
		{"kretprobe", "kernel.function(\"NAME\").return"},
		{"profile", "timer.profile.freq.hz(99)"},
		{"rawtracepoint", "kernel.trace(\"NAME\")"},
		{"tracepoint", "kernel.trace(\"NAME\")"},
		{"uprobe", "process(\"PATH\").function(\"NAME\")"},
		{"uretprobe", "process(\"PATH\").function(\"NAME\").return"},
		{"usdt", "process(\"PATH\").mark(\"NAME\")"},
	};

	return find_word(families, sizeof(families) / sizeof(*families), name);
}

static const struct word words[] = {
	{"arg0", "$NAME, as tally -L shows them, or long_arg(1)"},
	{"arg1", "$NAME, as tally -L shows them, or long_arg(2)"},
	{"args", "$NAME, as tally -L shows them"},
	{"avg", "x <<< VALUE, and @avg(x)"},
	{"clear", "delete x"},
	{"comm", "execname()"},
	{"count", "x <<< 1, and @count(x)"},
	{"curtask", "task_current()"},
	{"func", "ppfunc()"},
	{"hist", "x <<< VALUE, and print(@hist_log(x))"},
	{"kstack", "backtrace()"},
	{"kstr", "kernel_string(ADDRESS)"},
	{"ksym", "symname(ADDRESS)"},
	{"lhist", "x <<< VALUE, and print(@hist_linear(x, LOW, HIGH, WIDTH))"},
	{"lquantize",
	 "x <<< VALUE, and print(@hist_linear(x, LOW, HIGH, WIDTH))"},
	{"max", "x <<< VALUE, and @max(x)"},
	{"min", "x <<< VALUE, and @min(x)"},
	{"nsecs", "ktime_get_ns()"},
	{"probefunc", "ppfunc()"},
	{"quantize", "x <<< VALUE, and print(@hist_log(x))"},
	{"retval", "$return, or returnval()"},
	{"stats", "x <<< VALUE, and @count(x), @avg(x), @sum(x)"},
	{"str", "user_string(ADDRESS)"},
	{"sum", "x <<< VALUE, and @sum(x)"},
	{"timestamp", "ktime_get_ns()"},
	{"ustack", "ubacktrace(), sprint_ubacktrace()"},
	{"usym", "usymname(ADDRESS)"},
	{"zero", "delete x"},
};

const char *foreign_word(const char *name)
{
	return find_word(words, sizeof(words) / sizeof(*words), name);
}
