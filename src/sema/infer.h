/* SPDX-License-Identifier: MIT */
/*
 * What the files of type inference share: infer.c (statements, rounds),
 * infer_expr.c, infer_var.c. Nothing here reports anything but in the last
 * round (report).
 */
#ifndef SEMA_INFER_H
#define SEMA_INFER_H

#include "sema/sema.h"

/* One walk over the program. */
struct infer {
	struct sema *s;
	struct compile *c;
	struct function *fn; /* whose body it is, or NULL */
	/*
	 * report: the last round, with messages; changed: something was decided
	 */
	bool report, changed;
	/* the latest mismatch: notes on the key it is in are added to it */
	struct diag *last;
};

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
/* The overloads of f agree on types of result and parameters. */
void infer_unify(struct infer *in, struct function *f);

#endif
