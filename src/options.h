/* SPDX-License-Identifier: MIT */
/* The command line: options.def read into one structure. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/compile.h"
#include "run/session.h"

/* What to do besides compiling and running a script. */
enum job {
	JOB_SCRIPT,
	JOB_LIST,	      /* -l */
	JOB_LIST_VARS,	      /* -L */
	JOB_DUMP_PROBE_TYPES,
	JOB_DUMP_ALIASES,
	JOB_DUMP_FUNCTIONS,
	JOB_LIMITS,
	JOB_EXPLAIN,
	JOB_INFO,
	JOB_VERSION,
	JOB_HELP,
	JOB_NOTHING,	      /* --clean-cache alone: there is no cache */
};

/* --dump, as bits: several can be asked for at once. */
enum dump {
	DUMP_TOKENS = 1, DUMP_AST = 2, DUMP_TYPES = 4, DUMP_IR = 8,
	DUMP_BPF = 16, DUMP_PLAN = 32, DUMP_LOCKS = 64,
};

struct options {
	struct compile *c;	/* whose settings the options change */
	enum job job;
	const char *job_arg;	/* pattern of -l, id of --explain */
	unsigned dump;		/* bits of enum dump */
	int last_pass;		/* 1 to 5 */
	bool pass_given; /* by -p, not by --dump */
	bool needs_none; /* by --clean-cache: a script may be missing */
	const char *script;	/* -e */
	const char *file;	/* path, or "-" */
	VEC(const char *) extra; /* -E */
	VEC(const char *) notes; /* of accepted options, for -v */
	struct run_options run;
	struct diag_style style; /* color, -w, -W, -v: how messages are shown */
	int verbose; /* number of -v */
};

/*
 * Reads argv into o and o->c->set. Returns 0, or the exit status after a
 * message. o->c must be set, the rest zero.
 */
int options_parse(struct options *o, int argc, char **argv);
/* --help, --version, --limits. */
void options_help(FILE *f);
void options_version(FILE *f);
void options_limits(FILE *f);
/* The lines that end a message about wrong usage; returns EXIT_USAGE. */
int options_usage(void);

#endif
