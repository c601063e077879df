/* SPDX-License-Identifier: MIT */
/* The command line: options.def as a table, and reading argv by it. */
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/settings.h"
#include "option_row.h"

int opt_wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return options_usage();
}

int options_usage(void)
{
	fputs("Try '--help' for more information. [man tally]\n"
	      "A message like [man foo] means for more info, run % man foo\n",
	      stderr);
	return EXIT_USAGE;
}

/* --- the table ----------------------------------------------------------- */

/* An option's `where` column means something else in each kind of row. */
#define WHERE_FLAG(w) .offset = offsetof(struct options, w)
#define WHERE_TEXT(w) .offset = offsetof(struct options, w)
#define WHERE_SETTING(w) .offset = offsetof(struct settings, w)
#define WHERE_CALL(w) .call = opt_##w
#define WHERE_ACCEPT(w) .offset = w
#define WHERE_REFUSE(w) .offset = 0

const struct option_row option_rows[] = {
#define TITLE(text) { .help = text, .action = ACT_TITLE },
#define OPTION(s, l, a, act, where, text)                                      \
	{ .short_name = s, .long_name = l, .arg = a, .help = text,             \
	  .action = ACT_##act, WHERE_##act(where) },
#include "options.def"
#undef OPTION
#undef TITLE
};

/* Long options without a letter are numbered from here, by their row. */
enum { LONG_BASE = 256 };

static const struct option_row *const rows = option_rows;

/* offset is of a field whose type the action says: a bool or a string. */
static int apply(struct options *o, const struct option_row *row,
		 const char *arg)
{
	switch (row->action) {
	case ACT_FLAG:
		*(bool *)((char *)o + row->offset) = true;
		return 0;
	case ACT_SETTING:
		*(bool *)((char *)&o->c->set + row->offset) = true;
		return 0;
	case ACT_TEXT:
		*(const char **)((char *)o + row->offset) = arg;
		return 0;
	case ACT_CALL:
		return row->call(o, arg);
	/*
	 * Accepted for the sake of existing command lines, without effect here:
	 * -v says so.
	 */
	case ACT_ACCEPT:
		vec_push(o->c->a, &o->notes, row->help);
		o->needs_none |= row->offset == 1;
		return 0;
	/*
	 * Refused with the reason, instead of doing something else in silence.
	 */
	case ACT_REFUSE:
		if (row->short_name)
			return opt_wrong("tally: -%c: %s", row->short_name,
					 row->help);
		return opt_wrong("tally: --%s: %s", row->long_name, row->help);
	case ACT_TITLE:
		break;
	}
	return 0;
}

/* Row of what getopt_long returned. */
static const struct option_row *row_of(int code)
{
	unsigned i;

	if (code >= LONG_BASE && code < LONG_BASE + OPTION_ROWS)
		return &rows[code - LONG_BASE];
	for (i = 0; i < OPTION_ROWS; i++)
		if (rows[i].action != ACT_TITLE && rows[i].short_name == code)
			return &rows[i];
	return NULL;
}

static int unknown_long(const char *text)
{
	const char *name = text + 2, *near = NULL;
	size_t n = strcspn(name, "=");
	unsigned i, d, best = 4;
	char word[64];

	if (n < sizeof(word)) {
		memcpy(word, name, n);
		word[n] = 0;
		for (i = 0; i < OPTION_ROWS; i++) {
			if (!rows[i].long_name || rows[i].action > ACT_CALL)
				continue;
			d = str_distance(word, rows[i].long_name);
			if (d < best) {
				best = d;
				near = rows[i].long_name;
			}
		}
	}
	if (near)
		return opt_wrong("tally: unrecognized option '--%.*s'; did you "
				 "mean '--%s'?", (int)n, name, near);
	return opt_wrong("tally: unrecognized option '--%.*s'", (int)n, name);
}

/*
 * Reports getopt's '?' and ':'. getopt gives optopt as a letter or a long
 * option's number; 0: an unknown long one.
 */
static int bad_option(char **argv, int code)
{
	const char *text = argv[optind - 1];

	if (code == ':' && optopt >= LONG_BASE)
		return opt_wrong("tally: option '--%s' requires an argument",
				 row_of(optopt)->long_name);
	if (code == ':')
		return opt_wrong("tally: option requires an argument -- '%c'",
				 optopt);
	if (optopt >= LONG_BASE)
		return opt_wrong("tally: option '--%s' doesn't allow an "
				 "argument",
				 row_of(optopt)->long_name);
	if (optopt)
		return opt_wrong("tally: invalid option -- '%c'", optopt);
	return unknown_long(text);
}

/*
 * What getopt_long wants to know, from the table. ':': tell a missing argument
 * from an unknown option. Options may stand behind the script as well, as the
 * reference takes them (`x.stp -T 1`); behind `--` all is the script's.
 */
static void make_getopt(char *shorts, struct option *longs)
{
	unsigned i, ns = 0, nl = 0;

	shorts[ns++] = ':';
	for (i = 0; i < OPTION_ROWS; i++) {
		/* Only long ones can have it: -p N would be ambiguous. */
		bool optional = rows[i].arg && rows[i].arg[0] == '[';

		if (rows[i].action == ACT_TITLE)
			continue;
		if (rows[i].short_name) {
			shorts[ns++] = (char)rows[i].short_name;
			if (rows[i].arg && !optional)
				shorts[ns++] = ':';
		}
		if (!rows[i].long_name)
			continue;
		longs[nl].name = rows[i].long_name;
		longs[nl].has_arg = !rows[i].arg ? no_argument
				    : optional ? optional_argument
					       : required_argument;
		longs[nl].val = LONG_BASE + (int)i;
		nl++;
	}
	shorts[ns] = 0;
}

/* Is it one file? Devices may be named twice. */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	if (!a || !b)
		return false;
	if (stat(a, &sa) || stat(b, &sb))
		return !strcmp(a, b);
	return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* What is written must not take the place of what is read, or of the other. */
static int check_files(const struct options *o)
{
	const struct run_options *r = &o->run;
	const struct {
		const char *a, *b, *what;
	} pairs[] = {
		{ r->output, r->snapshot, "-o and --snapshot" },
		{ r->output, o->file, "-o and the script" },
		{ r->output, r->events, "-o and --events" },
		{ r->snapshot, o->file, "--snapshot and the script" },
		{ r->snapshot, r->events, "--snapshot and --events" },
	};
	unsigned i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (same_file(pairs[i].a, pairs[i].b))
			return opt_wrong("%s are the same file: '%s'.",
					 pairs[i].what, pairs[i].a);
	return 0;
}

/* Combinations that make no sense. */
static int check(struct options *o)
{
	const struct settings *set = &o->c->set;

	if ((o->job == JOB_LIST || o->job == JOB_LIST_VARS) &&
	    (o->script || o->file || o->pass_given))
		return opt_wrong("Cannot specify a script or -p with -l/-L.");
	if (set->suppress_time_limits && !set->guru)
		return opt_wrong("--suppress-time-limits requires guru mode "
				 "(-g).");
	if (o->run.rotate_bytes && !o->run.output)
		return opt_wrong("-S requires an output file (-o).");
	if (o->run.events && o->run.cmd)
		return opt_wrong("Cannot specify both -c and --events.");
	/* In whatever order the two are given. */
	if (o->run.events)
		o->c->set.runtime = RUNTIME_VM;
	/* A wrapper may clear the cache, which there is not, before it runs. */
	if (o->job == JOB_SCRIPT && !o->script && !o->file && !o->extra.n &&
	    o->needs_none)
		o->job = JOB_NOTHING;
	if (o->job == JOB_SCRIPT && !o->script && !o->file) {
		fputs("A script must be specified.\n", stderr);
		return options_usage();
	}
	return check_files(o);
}

/*
 * Two bytes a short option (letter and colon), the first colon, the NUL.
 */
int options_parse(struct options *o, int argc, char **argv)
{
	char shorts[2 * OPTION_ROWS + 2];
	struct option longs[OPTION_ROWS + 1] = { 0 };
	const struct option_row *row;
	int code, rc;

	o->last_pass = 5;
	make_getopt(shorts, longs);
	/* Messages are ours, in the reference's words. */
	opterr = 0;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (code == '?' || code == ':')
			return bad_option(argv, code);
		row = row_of(code);
		if (!row)
			return bad_option(argv, '?');
		rc = apply(o, row, optarg);
		if (rc)
			return rc;
	}
	/*
	 * The first word that is no option is the script, unless -e gave one.
	 */
	if (o->job == JOB_SCRIPT && !o->script && optind < argc)
		o->file = argv[optind++];
	else if (o->job != JOB_SCRIPT && optind < argc && !o->script)
		o->file = argv[optind++];
	for (; optind < argc; optind++)
		vec_push(o->c->a, &o->c->set.args,
			 (const char *)argv[optind]);
	o->c->set.args_used = arena_array(o->c->a, bool, o->c->set.args.n + 1);
	/* What several parts need is in one place each. */
	o->run.verbose = o->verbose;
	o->run.no_warnings = o->style.no_warnings;
	o->style.all = o->verbose > 0;
	return check(o);
}
