/* SPDX-License-Identifier: MIT */
/* options.def as a table, for the three files that give it meaning. */
#ifndef OPTION_ROW_H
#define OPTION_ROW_H

#include <stddef.h>

#include "options.h"

/* What a row does (options.def): FLAG and TEXT set a member of struct options,
 * SETTING a flag of struct settings, CALL whatever its function says. */
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
	/* FLAG, TEXT: in struct options; SETTING: in settings; ACCEPT: 1 when a
	 * script is not needed beside it */
	size_t offset;
	int (*call)(struct options *o, const char *arg);
};

/* Counts them: one each. */
enum {
#define TITLE(text) + 1
#define OPTION(s, l, a, act, where, text) + 1
	OPTION_ROWS = 0
#include "options.def"
#undef OPTION
#undef TITLE
};
extern const struct option_row option_rows[OPTION_ROWS];

/* A message about wrong usage; EXIT_USAGE. */
int opt_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* option_set.c: opt_NAME() of each CALL row. 0, or the exit status with the
 * message printed. */
#define SET_FLAG(w)
#define SET_TEXT(w)
#define SET_SETTING(w)
#define SET_ACCEPT(w)
#define SET_REFUSE(w)
#define SET_CALL(w) int opt_##w(struct options *o, const char *arg);
#define TITLE(text)
#define OPTION(s, l, a, act, where, text) SET_##act(where)
#include "options.def"
#undef OPTION
#undef TITLE

#endif
