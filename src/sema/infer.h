/* SPDX-License-Identifier: MIT */
/*
 * What the files of type inference share: infer.c (statements, stages),
 * infer_expr.c, infer_var.c, infer_units.c (the order). Nothing here reports
 * anything but in the last round (report).
 *
 * A unit is the part of one statement that is not itself a statement. Rounds
 * over all units until nothing changes would give the types; a chain of n
 * assignments against the order of the script would then take n rounds. So a
 * unit that met something unknown is looked at again only when that is decided,
 * in the order in which rounds would have come to it: later ones in this round,
 * earlier ones in the next. The outcome is the same, as a unit gives nothing
 * new as long as nothing that it asked for is.
 */
#ifndef SEMA_INFER_H
#define SEMA_INFER_H

#include "sema/sema.h"

struct unit {
	struct node *n;	     /* NULL: the overloads of fn agree */
	struct function *fn; /* whose body it is of, or NULL */
	bool is_cond;	     /* n is a probe's condition */
};

/* Units that wait for a variable or a function; newest first. */
struct waiting {
	unsigned unit;
	struct waiting *next;
};

/* Numbers of units, the least on top; is_in: by unit. */
struct unit_heap {
	VEC(unsigned) v;
	uint8_t *is_in;
};

/* One inference over the program. */
struct infer {
	struct sema *s;
	struct compile *c;
	struct function *fn; /* whose body it is, or NULL */
	bool report; /* the last round, with messages */
	/* the latest mismatch: notes on the key it is in are added to it */
	struct diag *last;
	VEC(struct unit) units;
	unsigned now; /* the one that is looked at */
	struct unit_heap heap[2]; /* what else is, in this round; in the next */
	bool all;     /* all units are gone through in order */
	bool started; /* each unit was looked at once */
};

/* --- infer.c */
/* Applies the rules to one unit. */
void infer_unit(struct infer *in, const struct unit *u);

/* --- infer_units.c */
/* All of the program, functions first: their types are what handlers use. */
void units_list(struct infer *in);
/* Each unit once, in order. */
void units_all(struct infer *in);
/*
 * Until nothing changes. Ends, since each time that a unit is looked at again
 * one of finitely many types was decided.
 */
void units_fixpoint(struct infer *in);
/* The unit at hand met something unknown. */
void units_ask(struct infer *in, struct waiting **list);
/* It is known now. */
void units_wake(struct infer *in, struct waiting **list);

/* --- infer_expr.c */
/*
 * want: the type that the place asks for, TY_UNKNOWN: any. Returns what n is,
 * TY_UNKNOWN as long as nothing decides it.
 */
enum type infer_expr(struct infer *in, struct node *n, enum type want);
/* used: the value is wanted, so there must be one. */
enum type infer_used(struct infer *in, struct node *n, enum type want,
		     bool used);
/* What an extractor or a histogram is of: an aggregate. */
void infer_operand(struct infer *in, struct node *a);

/* --- infer_var.c */
/* n is `got` where `want` was decided: a message, with where that was. */
void infer_mismatch(struct infer *in, struct node *n, enum type want,
		    enum type got);
/* Nothing says what n is. */
void infer_unresolved(struct infer *in, struct node *n);
/* Decides v's type, if nothing has yet, by what stands at `at`. */
void infer_set_var(struct infer *in, struct var *v, enum type t,
		   const struct span *at);
/* The i-th key (all keys) of the array v. */
void infer_key(struct infer *in, struct var *v, unsigned i, struct node *e);
void infer_keys(struct infer *in, struct var *v, node_list *l);
/* A variable as a value, or as the left side of an assignment. */
enum type infer_variable(struct infer *in, struct node *n, enum type want);
/* Likewise of a function's result, and that of its overloads. */
void infer_set_function(struct infer *in, struct function *f, enum type t,
			const struct span *at);
/* The overloads of f, their head, agree on types of result and parameters. */
void infer_unify(struct infer *in, struct function *f);

#endif
