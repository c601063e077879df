/* SPDX-License-Identifier: MIT */
/*
 * A rejected program: finds the instruction the verifier stopped at, and the
 * statement it was made from.
 */
#include "run/kern.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/state.h"

/*
 * What the kernel says, and what it means here. The first that occurs in the
 * verifier's words counts.
 */
struct saying {
	const char *text, *meaning, *help;
};

static const struct saying sayings[] = {
	{ "BPF program is too large", "the handler is too complex: the kernel "
	  "gave up checking it", "make loops shorter, or split the handler" },
	{ "too many states", "the handler is too complex: the kernel gave up "
	  "checking it", "make loops shorter, or split the handler" },
	{ "jumps is too complex", "the handler is too complex: the kernel gave "
	  "up checking it", "make loops shorter, or split the handler" },
	{ "combined stack size", "the handler needs more stack than the "
	  "kernel's 512 bytes", "use fewer or shorter strings "
	  "(-DMAXSTRINGLEN=N)" },
	{ "unknown func", "this kernel lacks a function that the handler "
	  "needs", "tally --info shows what this kernel offers" },
	{ "cannot use helper", "this kind of probe cannot do that", NULL },
	{ "helper call is not allowed", "this kind of probe cannot do that",
	  NULL },
	{ "program of this type cannot use helper", "this kind of probe "
	  "cannot do that", NULL },
	{ "attach_btf_id", "the place to attach to is not what tally took it "
	  "for", NULL },
};

/*
 * Start of the last line before `end`; its length in *ret_n. The log is read
 * from its end: the complaint is there, after megabytes of states.
 */
static const char *last_line(const char *log, const char *end, size_t *ret_n)
{
	const char *p = end;

	while (p > log && p[-1] == '\n')
		p--;
	end = p;
	while (p > log && p[-1] != '\n')
		p--;
	*ret_n = (size_t)(end - p);
	return p;
}

/*
 * "123: (79) r1 = ..." What the verifier prints before it checks an
 * instruction: its number among ours.
 */
static bool is_insn(const char *line, size_t n, uint32_t *ret)
{
	char *end;
	unsigned long v;

	if (!n || !isdigit((unsigned char)*line))
		return false;
	v = strtoul(line, &end, 10);
	if (end >= line + n || strncmp(end, ": (", 3))
		return false;
	*ret = (uint32_t)v;
	return true;
}

/*
 * The verifier's last words, and the instruction before them. Lines in between
 * that are no complaint (statistics, source lines, "from 5 to 7") are passed
 * over.
 */
static bool find_failure(struct session *s, const char *log, char **ret_words,
			 uint32_t *ret_insn)
{
	const char *end = log + strlen(log), *line;
	size_t n;

	*ret_words = NULL;
	while (end > log) {
		line = last_line(log, end, &n);
		end = line;
		if (is_insn(line, n, ret_insn))
			return true;
		if (!n || !strncmp(line, "processed ", 10) || *line == ';' ||
		    !strncmp(line, "verification time", 17) ||
		    !strncmp(line, "stack depth", 11) ||
		    (n > 4 && !strncmp(line, "from ", 5)))
			continue;
		if (!*ret_words)
			*ret_words = arena_strndup(s->c->a, line, n);
	}
	return false;
}

/* NULL: nothing that we know. */
static const struct saying *saying_of(const char *words)
{
	unsigned i;

	for (i = 0; i < sizeof(sayings) / sizeof(*sayings); i++)
		if (words && strstr(words, sayings[i].text))
			return &sayings[i];
	return NULL;
}

int reject_explain(struct session *s, struct kern_prog *p, int err,
		   const char *log)
{
	const struct code *code = p->code;
	const struct ir *ir = s->g->ir;
	const struct saying *known;
	const struct span *at = &p->probe->span;
	struct diag *d;
	uint32_t insn = UINT32_MAX;
	char *words;

	if (s->o->verbose >= 3)
		fprintf(stderr, "%s\n", log);
	if (find_failure(s, log, &words, &insn) && insn < code->ninsns &&
	    code->loc && code->loc[insn] < ir->locs.n)
		/*
		 * Every instruction has the place of the statement it was made
		 * from (code->loc).
		 */
		at = &ir->locs.v[code->loc[insn]].span;
	/* What reads kernel memory is then taken out of what there is. */
	if (words && (strstr(words, "unknown func") ||
		      strstr(words, "cannot use helper")) &&
	    privilege_locked_down()) {
		privilege_explain(s, "read the kernel's memory");
		return EXIT_REFUSED;
	}
	known = saying_of(words);
	if (!words)
		words = arena_strdup(s->c->a, strerror(-err));
	d = complain(s->c, LOAD_REFUSED, at, p->probe->pp,
		     known ? known->meaning : words);
	if (known)
		diag_note(s->c->diag, d, NULL, "the kernel says: %s", words);
	if (known && known->help)
		diag_help(s->c->diag, d, "%s", known->help);
	else if (err == -EMFILE || err == -ENFILE)
		diag_help(s->c->diag, d, "raise `ulimit -n`: two or three "
			  "files are open for each probe");
	else if (!known)
		diag_help(s->c->diag, d, "tally should not make such a "
			  "program: please report it, with the output of -vvv");
	return EXIT_REFUSED;
}
