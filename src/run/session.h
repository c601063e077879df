/* SPDX-License-Identifier: MIT */
/*
 * A run: from compiled programs to the last line of output. States and the
 * order of begin, end and error probes are those of docs/language.md; nothing
 * stays attached or pinned after any exit.
 */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "gen/code.h"
#include "store/store.h"
#include "vm/vm.h"

/* What the output is for. */
enum output_format {
	FORMAT_TEXT,	/* as the script prints it */
	FORMAT_JSON,	/* a line an output, then one with all results */
	FORMAT_METRICS,	/* as the script prints it, then OpenMetrics text */
};

/* From the command line; see options.def. Strings are argv's. */
struct run_options {
	const char *cmd;	   /* -c */
	long pid;		   /* -x */
	int64_t timeout_ns;	   /* -T; 0 none */
	const char *output;	   /* -o */
	uint64_t rotate_bytes;	   /* -S; 0: never */
	unsigned rotate_files;	   /* -S SIZE,N; 0: keep all */
	uint64_t ring_bytes;	   /* -s; 0: the plan's */
	const char *events;	   /* --events FILE: --runtime=vm */
	enum output_format format; /* --format */
	const char *snapshot;	   /* --snapshot FILE */
	bool strict;		   /* --strict: loss is an exit status */
	bool quiet;		   /* -q */
	bool no_warnings;	   /* -w */
	int verbose; /* number of -v */
};

/* Exit statuses: docs/errors.md, man page. */
enum {
	EXIT_OK = 0,	  /* normal end */
	EXIT_FAILED = 1,  /* script wrong, or an uncaught run-time error */
	EXIT_USAGE = 1,   /* as the reference: bad options are 1 */
	EXIT_REFUSED = 3, /* the kernel refused: privilege, a feature */
	EXIT_LOSS = 4,	  /* --strict and something was lost */
	EXIT_BUG = 70,	  /* internal error */
};

/* Runs until the end; all messages printed. Returns the exit status. */
int session_run(struct compile *c, struct gen *g, const struct run_options *o);

#endif
