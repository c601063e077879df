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

struct settings {
	enum runtime runtime;
	int64_t limit[LIMIT_MAX];
	bool limit_set[LIMIT_MAX];
	bool guru, no_autoprint, unoptimized, suppress_errors;
	bool suppress_time_limits, skip_badvars, keep_going;
	VEC(struct name_value) defines;	/* -D rows that are not limits */
	VEC(struct name_value) globals;	/* -G */
	VEC(const char *) include_dirs;	/* -I */
	VEC(const char *) args;		/* script arguments: $1, @1 */
	bool *args_used;
	const char *compatible;		/* --compatible, NULL: current */
	const char *cmd;		/* -c */
	long target_pid;		/* -x */
	int64_t fake_time_ns;		/* --runtime=vm start of the clock */
};

struct compile {
	struct arena *a;
	struct strtab *str;
	struct diags *diag;
	struct log log;
	struct settings set;
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

/* Shorthand: report at a span. */
#define complain(c, id, ...) diag((c)->diag, D_##id, __VA_ARGS__)

#endif
