/* SPDX-License-Identifier: MIT */
/* --help, --version, --limits, from their tables. */
#include "option_row.h"

#include <inttypes.h>

#include "base/settings.h"

static const struct option_row *const rows = option_rows;

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

	for (i = 0; i < OPTION_ROWS; i++) {
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
	for (i = 0; i < OPTION_ROWS; i++) {
		if (rows[i].action == ACT_TITLE) {
			fprintf(f, "\n%s:\n", rows[i].help);
			if (i + 1 < OPTION_ROWS &&
			    rows[i + 1].action >= ACT_ACCEPT)
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
