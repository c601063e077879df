/* SPDX-License-Identifier: MIT */
/*
 * What the files of the exclusion analysis share: accesses (excl_walk.c,
 * excl_tid.c), what follows for a global (excl_rules.c), for a handler
 * (exclusion.c), and saying so (excl_words.c). The rules are in exclusion.h.
 */
#ifndef SEMA_EXCL_H
#define SEMA_EXCL_H

#include "sema/calls.h"
#include "sema/effects.h"
#include "sema/exclusion.h"
#include "sema/sema.h"

enum access_kind {
	AC_READ, /* a number, or whether an element exists */
	AC_ADD,  /* atomic, old value not used */
	AC_XADD, /* atomic, old value used */
	AC_SET,  /* also delete */
	AC_FEED,
	AC_STAT, /* extract, print, delete an aggregate */
	AC_WALK, /* foreach, wildcards, delete of a whole array */
	AC_KINDS
};

/* One access to one global, as a handler or function makes it. */
struct access_at {
	struct var *v;
	enum access_kind kind;
	unsigned tids; /* bit n: key n is tid() */
	bool deletes;  /* removes an element */
	bool torn;     /* takes several steps: others may come between */
	bool once;     /* false: in a loop */
	struct span span;
	unsigned same; /* 1 + place in its list of the one before of this v */
};
typedef VEC(struct access_at) access_list;

/*
 * How often a path through the handler meets globals that are not quiet. More
 * than one such meeting, and others could come between: the handler needs a
 * lock.
 */
struct path {
	unsigned n;
	const struct access_at *first, *second;
};

/*
 * What is found out about one probe; most, first, second are of its worst path.
 */
struct handler {
	struct probe *p;
	bool runs; /* together with others */
	bool on_host;
	access_list all;
	unsigned most; /* accesses to globals that are not quiet */
	const struct access_at *first, *second;
};

/* What is found out about one global, by var.index. */
struct facts {
	bool quiet;
	bool banked; /* an aggregate that only the host reads */
	unsigned tids; /* keys that are tid() in every access */
	bool has_key;  /* accessed by key at all */
	bool deleted;  /* elements go away while handlers run */
	bool locked;
	bool written;   /* by a handler that runs together with others */
	unsigned group; /* union-find parent, then group number */
	/* the first that needs the lock: for -v */
	const struct handler *because;
};

/* What a call of a function comes to. */
struct summary {
	bool known; /* false while a circle of calls is walked */
	bool gone;  /* after a call the caller may be on the host */
	access_list all;
	struct path path;
};

struct excl {
	struct compile *c;
	struct program *p;
	struct handler *h; /* by probe.index */
	struct facts *f; /* by var.index */
	struct summary *fn; /* by function.index */
	struct call_order order;
	struct all_effects *effects;
	/*
	 * The walk. The first pass finds all accesses, from which judge_all()
	 * says which globals are quiet; the second counts the accesses to the
	 * others.
	 */
	bool pass_two;
	bool is_count; /* the aggregate at hand is read by @count */
	bool gone; /* on the host, perhaps: the thread does not wait */
	unsigned loops;
	access_list *all; /* of the function or handler that is walked */
	/* by var.index: 1 + place of the last access in `all`, if that was made
	 * in this walk */
	struct latest {
		unsigned walk, at;
	} *latest;
	unsigned walks; /* how many have begun */
	struct path path;
	/* local -> itself: only ever tid(); -> the struct excl: not */
	struct map *tid_locals;
	/* locals that were assigned on every way to the place at hand: before
	 * that they are 0, which all threads share */
	VEC(const struct var *) assigned;
};

/* Fills handler.all, .most, .first, .second of every handler. */
void excl_walk_all(struct excl *x);
/* Which locals of functions and handlers are tid()? Before the first walk. */
void excl_note_tids(struct excl *x);
/* Bit i: key i of this access is tid(), as far as the walk has come. */
unsigned excl_tid_keys(struct excl *x, const struct node *n);
/* Rule 1. */
bool excl_runs_with_others(const struct probe *p);
/* Rule 2: facts of every global, from what all handlers do with it. */
void excl_judge_all(struct excl *x);
/* Why the handler takes the locks that it does, or none. */
const char *excl_why(struct excl *x, const struct exclusion *e,
		     const struct handler *h);

#endif
