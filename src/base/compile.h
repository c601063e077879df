/* SPDX-License-Identifier: MIT */
/*
 * What every pass gets: the arena of this compilation, its strings, sources,
 * diagnostics, and the user's settings. There are no mutable globals.
 */
#ifndef BASE_COMPILE_H
#define BASE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Which machine runs kernel handlers: the kernel, or the VM with a simulated
 * context (events from a file). Host handlers always run in the VM.
 */
enum runtime { RUNTIME_BPF, RUNTIME_VM };

struct name_value {
	const char *name, *value; /* value NULL: -D NAME without one */
};

/*
 * Limits that -D NAME=VALUE sets; defaults in limits.def. Read as
 * c->set.limit[LIMIT_MAXSTRINGLEN].
 */
enum limit {
#define LIMIT(name, dflt, min, max, doc) LIMIT_##name,
#include "base/limits.def"
#undef LIMIT
	LIMIT_MAX
};

/*
 * What the kernel of the run does not have, so that handlers are made without
 * it (docs/kernels.md). Found by trying (run/feature.h), or said by --lacking.
 */
struct lacks {
	bool loop;  /* bpf_loop(): 5.17 */
	bool each;  /* bpf_for_each_map_elem() and callbacks at all: 5.13 */
	bool fetch; /* atomics that fetch, exchange, compare: 5.12 */
};

struct settings {
	enum runtime runtime;
	/* by number, in the unit of its row in limits.def */
	int64_t limit[LIMIT_MAX];
	/* given by -D, so defaults derived from others stay off */
	bool limit_set[LIMIT_MAX];
	/*
	 * Options of one letter or word each: -g, --no-autoprint..., as docs
	 * and options.def name them. They are here, not in options.h, because
	 * passes read them and options.h is to the right of every pass.
	 */
	bool guru, no_autoprint, unoptimized, suppress_errors;
	bool suppress_time_limits, skip_badvars, keep_going;
	bool timing; /* -t: handlers time themselves */
	VEC(struct name_value) defines;	/* -D rows that are not limits */
	VEC(struct name_value) globals;	/* -G */
	VEC(const char *) include_dirs;	/* -I */
	VEC(const char *) args;		/* script arguments: $1, @1 */
	bool *args_used; /* as many as args: what is left is warned of */
	const char *compatible;		/* --compatible, NULL: current */
	const char *cmd;		/* -c */
	long target_pid;		/* -x */
	long target_namespaces;		/* --target-namespaces; 0: our own */
	/*
	 * --runtime=vm: start of the clock, fixed so that what a test prints
	 * does not depend on when it runs.
	 */
	int64_t fake_time_ns;
	struct lacks lacks;
};

struct compile {
	struct arena *a;
	/* interned names; equal pointers are equal strings */
	struct strtab *str;
	struct diags *diag;
	struct log log;
	struct settings set;
	/*
	 * The script and the library files that were read for it. Spans point
	 * to them, so they live as long as c does.
	 */
	VEC(struct source *) sources;
	struct ctypes *kernel_types;	/* types/: opened on first use */
};

/* With default settings and its own arena, in which it lives itself. */
struct compile *compile_new(void);
/* Accepts NULL. What others opened through c (kernel_types) is theirs. */
void compile_free(struct compile *c);
/* Adds a source; neither name nor text is copied. */
struct source *compile_source(struct compile *c, const char *name,
			      const char *text, size_t len);

/*
 * Shorthand: report at a span. The span comes first in the arguments, then what
 * the format of the row takes. The compiler cannot check these against the
 * format (it is not a literal here): tests/err has a test for each row, which
 * does.
 */
#define complain(c, id, ...) diag((c)->diag, D_##id, __VA_ARGS__)

#endif
