/* SPDX-License-Identifier: MIT */
/* The messages as they are kept: between diag.c and diag_print.c only. */
#ifndef BASE_DIAG_LIST_H
#define BASE_DIAG_LIST_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/vec.h"

struct map;

/* A note or a help line below a message. */
struct diag_extra {
	struct span at;
	const char *text;
	bool is_help;
};

struct diag {
	enum diag_id id;
	enum diag_class class;
	struct span at;
	/* formatted at once: its arguments may be gone when it is printed */
	const char *text;
	/* notes and help, in the order they were hung on */
	VEC(struct diag_extra) extra;
	unsigned order;	 /* of creation */
	bool repeats;	 /* said of the same place before */
};

/* Messages that may never be said. */
struct diag_held {
	struct diag_held *outer; /* while it is being filled */
	VEC(struct diag *) list;
	unsigned errors;
};

struct diags {
	struct arena *a; /* of the compilation; everything here lives in it */
	VEC(struct diag *) list;
	unsigned printed; /* of list: those before it are out already */
	unsigned count[DIAG_CLASSES]; /* by class, repeats not counted */
	struct map *seen; /* texts with their places, for `repeats` */
	unsigned muted;	 /* depth of diags_mute() */
	unsigned hushed; /* errors dropped so far */
	struct diag_held *held; /* the innermost that is being filled */
};

#endif
