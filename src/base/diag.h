/* SPDX-License-Identifier: MIT */
/*
 * Diagnostics are data: passes add them, main prints them once, sorted by
 * place, at most DIAG_SHOWN of them:
 *
 *     file:line:col: semantic error: MESSAGE
 *         source line
 *              ^
 *     file:line:col: note: type was first inferred here (long)
 *
 * Message texts are those of the language's reference (docs/errors.md). Each
 * row of diag.def has at least one test in tests/err/ID.*.stp.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/source.h"

/* As many as fit a screen: what comes after is nearly always a consequence. */
enum { DIAG_SHOWN = 20 };

enum diag_class {
	DIAG_PARSE,    /* "parse error" */
	DIAG_SEMANTIC, /* "semantic error" */
	DIAG_WARNING,  /* "WARNING" */
	DIAG_SYSTEM,   /* "error": the kernel, a file, an option */
	DIAG_CLASSES
};

enum diag_id {
#define DIAG(id, class, fmt, explain) D_##id,
#include "base/diag.def"
#undef DIAG
	D_MAX
};

struct diags;
struct arena;
struct diag;

/* Empty; it and all messages live as long as the arena. */
struct diags *diags_new(struct arena *a);
/*
 * Adds a message. The format and its argument types are the row's in diag.def.
 * A second message with the same text and place is folded into the first when
 * printed. Returns the message so that notes and fixes can be hung on it; it
 * keeps a copy of *at, but not of what at->macro points to.
 */
struct diag *diag(struct diags *d, enum diag_id id, const struct span *at, ...);
/* A chained cause, printed below its message as "note". at may be NULL. */
void diag_note(struct diags *d, struct diag *to, const struct span *at,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* What to do about it: "help: ..." */
void diag_help(struct diags *d, struct diag *to, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Messages between these two are dropped: for trying whether something could be
 * compiled. Pairs may nest; diags_unmute() is given what diags_mute() returned
 * and says whether there was an error.
 */
unsigned diags_mute(struct diags *d);
bool diags_unmute(struct diags *d, unsigned since);
/*
 * Messages between these two are kept aside: they are about code of which it is
 * not known yet whether anything reaches it. Pairs may nest. diags_held()
 * returns NULL where there was no error; what it returns else is said by
 * diags_say(), or never. While messages are dropped (diags_mute()), none is
 * kept.
 */
struct diag_held;
void diags_hold(struct diags *d);
struct diag_held *diags_held(struct diags *d);
void diags_say(struct diags *d, struct diag_held *h);
unsigned diags_errors(const struct diags *d);
unsigned diags_errors_of(const struct diags *d, enum diag_class c);
/* Of one row. */
unsigned diags_errors_id(const struct diags *d, enum diag_id id);
unsigned diags_warnings(const struct diags *d);
/* How to print: from the terminal and the options. */
struct diag_style {
	bool color;
	bool no_warnings;      /* -w */
	bool warnings_are_errors; /* -W; with -w there are none */
	bool all;	       /* -v: neither folded nor cut at DIAG_SHOWN */
};
/* Prints what has not been printed yet. */
void diags_print(struct diags *d, FILE *f, const struct diag_style *style);
/* "NOT_LVALUE": the row's name, for tests and --explain. */
const char *diag_name(enum diag_id id);
/* What the message means and what to do; never NULL. */
const char *diag_explain(enum diag_id id);

#endif
