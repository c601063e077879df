/* SPDX-License-Identifier: MIT */
/*
 * The resolved, typed program: what sema gives to ir. Bodies are syntax trees
 * (front/ast.h) whose names point here and whose nodes carry type and width.
 */
#ifndef SEMA_PROGRAM_H
#define SEMA_PROGRAM_H

#include "base/compile.h"
#include "front/ast.h"
#include "probe/probe.h"

struct exclusion;
struct waiting;

enum { KEYS_MAX = 9 }; /* of an array: what the reference takes at most */
enum { COUNTERS_MAX = 16 }; /* each is read at each switch of a thread */

/*
 * What is kept per aggregate: union of all uses in the script. What nobody asks
 * for is not kept: it costs time at each <<<.
 */
struct agg_spec {
	/* Bit per enum stat_op; AVG, VARIANCE, ... imply more: stat/cell.h. */
	uint32_t ops;
	enum hist_kind hist;
	int64_t lo, hi, step; /* HIST_LINEAR */
	unsigned shift;	   /* @variance(x, shift): checked, no effect */
	struct span hist_at; /* where the histogram was declared */
};

/* How an aggregate's reports are made exact (design: banks). */
enum agg_mode { AGG_BANKED, AGG_LIVE };

/*
 * In a typed tree the parameter of @quantile (N_STAT's param, foreach's
 * sort_param) is a number in parts per million. The script writes percent,
 * @quantile(x, 99), or parts of a third parameter: @quantile(x, 999, 1000).
 */

/* A variable. Globals may be arrays; locals and parameters are scalars. */
struct var {
	const char *name;
	struct span span;      /* declaration, or first use of a local */
	struct span type_span; /* where the type was first inferred */
	enum type type;
	uint32_t width;	       /* strings: bytes incl. NUL, multiple of 8 */
	bool is_global;
	unsigned index; /* in program.globals, or in the owner's locals */
	bool is_read, is_written, is_param;
	bool is_stats;	       /* fed or asked: known before the types */
	bool is_open; /* never assigned; its uses say number or string */
	bool is_asked; /* @defined asks what it points to: that is a use */
	bool broken;	       /* an error was reported: no more about it */
	struct waiting *waiting; /* while types are inferred: infer.h */
	bool pointer_like; /* assigned from a pointer: autoprint in hex */
	/* Auto-cast: its type as a pointer, or NULL. */
	const struct ctype *ctype;
	/* The same, of values whose type is found when it is asked for. */
	const struct node *made_by;
	bool mixed_ctypes; /* assigned pointers of several types */
	bool visiting;	   /* its made_by is being looked at */
	/* globals only */
	const struct source *src;
	bool is_private, wrap, is_library;
	int arity;	       /* 0 scalar, 1..9 array, -1 not known yet */
	struct span arity_span;
	enum type key_type[KEYS_MAX];
	uint32_t key_width[KEYS_MAX]; /* strings: multiple of 8; longs: 8 */
	struct span key_span[KEYS_MAX];
	int64_t size;	       /* entries; 0: LIMIT_MAXMAPENTRIES */
	struct literal init;
	struct agg_spec agg;   /* type TY_STATS */
	enum agg_mode mode;
	unsigned ref_order;    /* order of first reference: autoprint */
};

/*
 * One declared function that is used; overloads are linked in order of trying.
 * Of one that names $variables there is one for each handler that calls it.
 */
struct function {
	const char *name;
	struct span span;
	const struct source *src;
	enum type type;	       /* TY_UNKNOWN: void */
	struct span type_span; /* where the type was first inferred */
	uint32_t width;
	VEC(struct var *) params;
	VEC(struct var *) locals; /* params first */
	struct node *body;
	int64_t priority; /* lower ones are tried first */
	/* The next of same name and arity; tried on `next`. */
	struct function *overload;
	struct function *head;	 /* the first of these; set by infer.c */
	struct waiting *waiting; /* while types are inferred: infer.h */
	bool is_library, is_private, is_used, is_recursive;
	bool uses_next;
	bool is_resolved;      /* or is being resolved */
	/* What its values point to, as with variables. */
	const struct ctype *ctype;
	bool mixed_ctypes;
	unsigned index;	       /* in program.functions */
	struct decl_function *decl;
	struct probe *probe; /* whose $variables it names, or NULL */
};

struct program {
	/* Used ones only, in order of declaration. */
	VEC(struct var *) globals;
	VEC(struct function *) functions; /* used ones only */
	VEC(struct probe *) probes;	/* in order of running among equals */
	VEC(struct probe *) counters;	/* of @perf, by their numbers */
	VEC(struct file *) files;	/* parsed: user script first */
	unsigned call_depth;		/* static; for MAXNESTING */
	bool recurses;
	struct exclusion *exclusion;	/* sema/exclusion.h */
};

/*
 * Pass 2. Returns the program; mistakes are in c->diag (check
 * diags_errors()). files: user scripts in command-line order.
 */
struct program *sema_run(struct compile *c, struct file **files,
			 unsigned nfiles);
/* -p2: the reference's dump; verbose adds bodies. */
void program_print(const struct program *p, FILE *f, bool verbose);
/* --dump=types: ast dump with types, widths, and the widths chosen for each
 * global's keys and value. */
void program_dump_types(const struct program *p, FILE *f);
/* -v: the bytes chosen for strings in globals, their keys and values. */
void program_print_widths(const struct program *p, FILE *f);
/* -l and -L. Returns the number of points printed. */
unsigned sema_list(struct compile *c, struct file **files, unsigned nfiles,
		   const char *pattern, bool with_vars, FILE *f);

#endif
