/* SPDX-License-Identifier: MIT */
/* The command line; options.def is the table this file gives meaning to. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

enum action {
	ACT_TITLE, ACT_FLAG, ACT_SETTING, ACT_TEXT, ACT_CALL, ACT_ACCEPT,
	ACT_REFUSE,
};

/* One row of options.def: an option, or the title of a group. */
struct option_row {
	int short_name; /* 0: none */
	/* arg: as help shows it, "[...]" when it may be left out */
	const char *long_name, *arg, *help;
	enum action action;
	size_t offset; /* FLAG, TEXT: in struct options; SETTING: in settings */
	int (*call)(struct options *o, const char *arg);
};

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A message about wrong usage. */
static int wrong(const char *fmt, ...)
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

/* A whole number in any of C's notations; false when it is not one. */
static bool read_number(const char *s, int64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*s) && *s != '-')
		return false;
	errno = 0;
	*ret = strtoll(s, &end, 0);
	return !errno && !*end;
}

/*
 * [a-z_][a-z_0-9]* up to `stop`, in either case. stop: the end, or where the =
 * is.
 */
static bool is_name(const char *s, const char *stop)
{
	if (s == stop || isdigit((unsigned char)*s))
		return false;
	for (; s < stop; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

/*
 * The reference's words: it hands such arguments to a shell, so it checks them.
 */
static int unsafe(char opt, const char *arg, const char *pattern)
{
	return wrong("ERROR: Safety pattern mismatch for -%c parameter "
		     "('%s' vs. '%s') rc=1", opt, arg, pattern);
}

/* 0, or the exit status with the message printed. */
/* --- one function per CALL row ------------------------------------------- */

static int opt_script(struct options *o, const char *arg)
{
	if (o->script)
		return wrong("Only one script can be given on the command "
			     "line.");
	o->script = arg;
	return 0;
}

static int opt_extra_script(struct options *o, const char *arg)
{
	vec_push(o->c->a, &o->extra, arg);
	return 0;
}

static int opt_include_dir(struct options *o, const char *arg)
{
	vec_push(o->c->a, &o->c->set.include_dirs, arg);
	return 0;
}

static int opt_define(struct options *o, const char *arg)
{
	/* What is wrong with it is in the diagnostics, printed by main. */
	return settings_define(o->c, arg) ? 0 : EXIT_USAGE;
}

static int opt_global(struct options *o, const char *arg)
{
	const char *eq = strchr(arg, '=');
	struct name_value nv;
	const char *v;

	if (!eq || !is_name(arg, eq) || !eq[1])
		goto mismatch;
	for (v = eq + 1; *v; v++)
		if (!isalnum((unsigned char)*v) && !strchr("_.-", *v))
			goto mismatch;
	nv.name = arena_strndup(o->c->a, arg, eq - arg);
	nv.value = eq + 1;
	vec_push(o->c->a, &o->c->set.globals, nv);
	return 0;
mismatch:
	return unsafe('G', arg, "^[a-z_][a-z0-9_]*=[a-z0-9_.-]+$");
}

/*
 * What the reference is compatible with, and so what macros and keywords of an
 * older level mean.
 */
static int opt_compatible(struct options *o, const char *arg)
{
	int major, minor = 0, n = 0;

	if (sscanf(arg, "%d%n.%d%n", &major, &n, &minor, &n) < 1 || arg[n])
		return wrong("ERROR: Invalid version '%s' for --compatible.",
			     arg);
	if (major > 5 || (major == 5 && minor > 6))
		return wrong("ERROR: systemtap version 5.6 cannot be "
			     "compatible with future version %s", arg);
	o->c->set.compatible = arg;
	return 0;
}

static int opt_command(struct options *o, const char *arg)
{
	if (o->run.cmd)
		return wrong("Only one command can be given with -c.");
	o->run.cmd = o->c->set.cmd = arg;
	/*
	 * Passes know it as a setting: process probes without a path are about
	 * it.
	 */
	return 0;
}

static int opt_pid(struct options *o, const char *arg)
{
	int64_t pid;

	if (!read_number(arg, &pid) || pid < 1 || pid > INT32_MAX)
		return wrong("Invalid target process ID number.");
	o->run.pid = o->c->set.target_pid = pid;
	return 0;
}

static int opt_timeout(struct options *o, const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	/* Also false for NaN. */
	if (end == arg || *end || !(s > 0) || !(s < 1e9))
		return wrong("Invalid timeout interval.");
	o->run.timeout_ns = (int64_t)(s * 1e9);
	/* Less than a nanosecond is not "none". */
	if (!o->run.timeout_ns)
		o->run.timeout_ns = 1;
	return 0;
}

static int opt_runtime(struct options *o, const char *arg)
{
	if (!strcmp(arg, "vm"))
		o->c->set.runtime = RUNTIME_VM;
	/*
	 * Scripts and wrappers for the reference give these; what they choose
	 * between does not exist here.
	 */
	else if (!strcmp(arg, "bpf") || !strcmp(arg, "kernel") ||
		 !strcmp(arg, "dyninst"))
		o->c->set.runtime = RUNTIME_BPF;
	else
		return wrong("ERROR: '%s' is not a valid argument for "
			     "--runtime: bpf, kernel, dyninst or vm.", arg);
	return 0;
}

static int opt_events(struct options *o, const char *arg)
{
	/* A simulated run is one in the VM: saying both is not needed. */
	o->run.events = arg;
	o->c->set.runtime = RUNTIME_VM;
	return 0;
}

static int opt_format(struct options *o, const char *arg)
{
	static const char *const names[] = { "text", "json", "openmetrics" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(arg, names[i]))
			continue;
		o->run.format = (enum output_format)i;
		return 0;
	}
	return wrong("Invalid --format value '%s': text, json or openmetrics.",
		     arg);
}

static int opt_rotate(struct options *o, const char *arg)
{
	const char *comma = strchr(arg, ',');
	char *size = arena_strndup(o->c->a, arg,
				   comma ? (size_t)(comma - arg) : strlen(arg));
	int64_t mib, files = 0;

	if (!read_number(size, &mib) || mib < 1 || mib > 1 << 30 ||
	    (comma && (!read_number(comma + 1, &files) || files < 1 ||
		       files > 1000000)))
		return wrong("Invalid file size or number in -S %s.", arg);
	o->run.rotate_bytes = (uint64_t)mib << 20;
	o->run.rotate_files = (unsigned)files;
	return 0;
}

/*
 * -s is in MiB, as the reference's; the kernel wants a power of two of pages.
 */
static int opt_buffer(struct options *o, const char *arg)
{
	int64_t mib;

	if (!read_number(arg, &mib) || mib < 1 || mib > 4095)
		return wrong("Invalid buffer size (should be 1-4095).");
	/* The ring buffer's size is a power of two: round up. */
	o->run.ring_bytes = 1 << 20;
	while (o->run.ring_bytes < (uint64_t)mib << 20)
		o->run.ring_bytes <<= 1;
	if (o->run.ring_bytes > 1u << 30)
		o->run.ring_bytes = 1u << 30;
	return 0;
}

static int opt_verbose(struct options *o, const char *arg)
{
	unsigned i;

	o->verbose++;
	for (i = 0; i < LOG_MAX; i++)
		o->c->log.level[i]++;
	return 0;
}

/* --vp 00100: a digit for each pass adds that many -v to it. */
static int opt_pass_verbose(struct options *o, const char *arg)
{
	/* Passes 1 to 5; the last digit is for all that runs. */
	static const enum log_channel of_pass[][4] = {
		{ LOG_FRONT, LOG_MAX }, { LOG_SEMA, LOG_MAX },
		{ LOG_IR, LOG_MAX }, { LOG_GEN, LOG_MAX },
		{ LOG_STORE, LOG_VM, LOG_RUN, LOG_MAX },
	};
	unsigned i, j;

	if (!*arg || strlen(arg) > 5 ||
	    strspn(arg, "0123456789") != strlen(arg))
		return wrong("Invalid --vp value '%s': up to five digits.",
			     arg);
	for (i = 0; arg[i]; i++)
		for (j = 0; of_pass[i][j] != LOG_MAX; j++)
			o->c->log.level[of_pass[i][j]] += arg[i] - '0';
	return 0;
}

/* --color alone is always; auto was decided from the terminal before. */
static int opt_color(struct options *o, const char *arg)
{
	if (!arg || !strcmp(arg, "always"))
		o->style.color = true;
	else if (!strcmp(arg, "never"))
		o->style.color = false;
	else if (strcmp(arg, "auto"))
		return wrong("Invalid argument '%s' for --color.", arg);
	return 0;
}

static int opt_pass(struct options *o, const char *arg)
{
	int64_t n;

	if (!read_number(arg, &n) || n < 1 || n > 5)
		return wrong("Invalid pass number (should be 1-5).");
	o->last_pass = (int)n;
	o->pass_given = true;
	return 0;
}

/* Words with commas between; all must be known. */
static int opt_dump(struct options *o, const char *arg)
{
	static const struct {
		const char *name;
		unsigned bit;
	} kinds[] = {
		{ "tokens", DUMP_TOKENS }, { "ast", DUMP_AST },
		{ "types", DUMP_TYPES }, { "ir", DUMP_IR },
		{ "bpf", DUMP_BPF }, { "plan", DUMP_PLAN },
		{ "locks", DUMP_LOCKS },
	};
	unsigned i, bit;
	size_t n;

	for (;; arg += n + 1) {
		n = strcspn(arg, ",");
		bit = 0;
		for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (strlen(kinds[i].name) == n &&
			    !memcmp(kinds[i].name, arg, n))
				bit = kinds[i].bit;
		if (!bit)
			return wrong("Invalid --dump value '%.*s': tokens, "
				     "ast, types, ir, bpf, plan or locks.",
				     (int)n, arg);
		o->dump |= bit;
		if (!arg[n])
			return 0;
	}
}

/* The last one wins: --help --version shows the version. */
static int set_job(struct options *o, enum job job, const char *arg)
{
	o->job = job;
	o->job_arg = arg;
	return 0;
}

static int opt_list(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIST, arg);
}

static int opt_list_vars(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIST_VARS, arg);
}

static int opt_dump_probe_types(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_PROBE_TYPES, NULL);
}

static int opt_dump_aliases(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_ALIASES, NULL);
}

static int opt_dump_functions(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_FUNCTIONS, NULL);
}

static int opt_limits(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIMITS, NULL);
}

static int opt_explain(struct options *o, const char *arg)
{
	return set_job(o, JOB_EXPLAIN, arg);
}

static int opt_info(struct options *o, const char *arg)
{
	return set_job(o, JOB_INFO, NULL);
}

static int opt_version(struct options *o, const char *arg)
{
	return set_job(o, JOB_VERSION, NULL);
}

static int opt_help(struct options *o, const char *arg)
{
	return set_job(o, JOB_HELP, NULL);
}

/* --- the table ----------------------------------------------------------- */

/* An option's `where` column means something else in each kind of row. */
#define WHERE_FLAG(w) .offset = offsetof(struct options, w)
#define WHERE_TEXT(w) .offset = offsetof(struct options, w)
#define WHERE_SETTING(w) .offset = offsetof(struct settings, w)
#define WHERE_CALL(w) .call = opt_##w
#define WHERE_ACCEPT(w) .offset = 0
#define WHERE_REFUSE(w) .offset = 0

static const struct option_row rows[] = {
#define TITLE(text) { .help = text, .action = ACT_TITLE },
#define OPTION(s, l, a, act, where, text)                                      \
	{ .short_name = s, .long_name = l, .arg = a, .help = text,             \
	  .action = ACT_##act, WHERE_##act(where) },
#include "options.def"
#undef OPTION
#undef TITLE
};
/* Long options without a letter are numbered from LONG_BASE by their row. */
enum { NROWS = sizeof(rows) / sizeof(*rows), LONG_BASE = 256 };

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
		return 0;
	/*
	 * Refused with the reason, instead of doing something else in silence.
	 */
	case ACT_REFUSE:
		if (row->short_name)
			return wrong("tally: -%c: %s", row->short_name,
				     row->help);
		return wrong("tally: --%s: %s", row->long_name, row->help);
	case ACT_TITLE:
		break;
	}
	return 0;
}

/* Row of what getopt_long returned. */
static const struct option_row *row_of(int code)
{
	unsigned i;

	if (code >= LONG_BASE && code < LONG_BASE + NROWS)
		return &rows[code - LONG_BASE];
	for (i = 0; i < NROWS; i++)
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
		for (i = 0; i < NROWS; i++) {
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
		return wrong("tally: unrecognized option '--%.*s'; did you "
			     "mean '--%s'?", (int)n, name, near);
	return wrong("tally: unrecognized option '--%.*s'", (int)n, name);
}

/*
 * Reports getopt's '?' and ':'. getopt gives optopt as a letter or a long
 * option's number; 0: an unknown long one.
 */
static int bad_option(char **argv, int code)
{
	const char *text = argv[optind - 1];

	if (code == ':' && optopt >= LONG_BASE)
		return wrong("tally: option '--%s' requires an argument",
			     row_of(optopt)->long_name);
	if (code == ':')
		return wrong("tally: option requires an argument -- '%c'",
			     optopt);
	if (optopt >= LONG_BASE)
		return wrong("tally: option '--%s' doesn't allow an argument",
			     row_of(optopt)->long_name);
	if (optopt)
		return wrong("tally: invalid option -- '%c'", optopt);
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
	for (i = 0; i < NROWS; i++) {
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

/* Combinations that make no sense. */
static int check(struct options *o)
{
	const struct settings *set = &o->c->set;

	if ((o->job == JOB_LIST || o->job == JOB_LIST_VARS) &&
	    (o->script || o->file || o->pass_given))
		return wrong("Cannot specify a script or -p with -l/-L.");
	if (set->suppress_time_limits && !set->guru)
		return wrong("--suppress-time-limits requires guru mode (-g).");
	if (o->run.rotate_bytes && !o->run.output)
		return wrong("-S requires an output file (-o).");
	if (o->run.events && o->run.cmd)
		return wrong("Cannot specify both -c and --events.");
	if (o->job == JOB_SCRIPT && !o->script && !o->file) {
		fputs("A script must be specified.\n", stderr);
		return options_usage();
	}
	return 0;
}

/*
 * Two bytes a short option (letter and colon), the first colon, the NUL.
 */
int options_parse(struct options *o, int argc, char **argv)
{
	char shorts[2 * NROWS + 2];
	struct option longs[NROWS + 1] = { 0 };
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

/* --- texts --------------------------------------------------------------- */

/* Two columns; a long left one has a line of its own. */
static void help_row(FILE *f, const struct option_row *r)
{
	char left[64];
	int n = 0;
	bool optional = r->arg && r->arg[0] == '[';

	if (r->short_name)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "-%c",
			      r->short_name);
	if (r->long_name)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "%s--%s",
			      n ? ", " : "", r->long_name);
	if (r->arg)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "%s%s",
			      optional ? "" : r->long_name ? "=" : " ",
			      r->arg);
	if (n > 27)
		fprintf(f, "  %s\n%31s%s\n", left, "", r->help);
	else
		fprintf(f, "  %-28s %s\n", left, r->help);
}

/* Accepted and refused options: names only. */
static void help_names(FILE *f, enum action act)
{
	unsigned i;
	int col = 0, n;
	char name[64];

	for (i = 0; i < NROWS; i++) {
		if (rows[i].action != act)
			continue;
		if (rows[i].long_name)
			n = snprintf(name, sizeof(name), " --%s",
				     rows[i].long_name);
		else
			n = snprintf(name, sizeof(name), " -%c",
				     rows[i].short_name);
		if (!col || col + n > 78)
			col = fprintf(f, "%s ", col ? "\n" : "") - !!col;
		col += fprintf(f, "%s", name);
	}
	fputc('\n', f);
}

void options_help(FILE *f)
{
	unsigned i;

	fputs("Usage: tally [options] FILE [args]       run a script\n"
	      "       tally [options] -e SCRIPT [args]\n"
	      "       tally [options] -  [args]         from standard input\n"
	      "       tally [options] -l|-L POINT       list probe points\n"
	      "       tally merge [-o FILE] [--print] SNAPSHOT...\n",
	      f);
	for (i = 0; i < NROWS; i++) {
		if (rows[i].action == ACT_TITLE) {
			fprintf(f, "\n%s:\n", rows[i].help);
			if (i + 1 < NROWS && rows[i + 1].action >= ACT_ACCEPT)
				help_names(f, rows[i + 1].action);
		} else if (rows[i].action < ACT_ACCEPT) {
			help_row(f, &rows[i]);
		}
	}
	fputs("\nExit status: 0 normal end; 1 wrong script or options, or a "
	      "run-time error;\n3 the kernel refused; 4 something was lost "
	      "(--strict); 70 a bug in tally.\n", f);
}

void options_version(FILE *f)
{
	fprintf(f, "tally %s: SystemTap scripts on eBPF\n"
		"Language of SystemTap 5.6; see tally-compat(7) for "
		"differences.\n", TALLY_VERSION);
}

struct limit_row {
	const char *name;
	int64_t dflt, min, max;
	const char *doc;
};

static const struct limit_row limit_rows[] = {
#define LIMIT(name, dflt, min, max, doc) { #name, dflt, min, max, doc },
#include "base/limits.def"
#undef LIMIT
};

void options_limits(FILE *f)
{
	unsigned i;

	for (i = 0; i < LIMIT_MAX; i++)
		fprintf(f, "%-24s %8" PRId64 "  %s\n", limit_rows[i].name,
			limit_rows[i].dflt, limit_rows[i].doc);
}
