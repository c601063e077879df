/* SPDX-License-Identifier: MIT */
/*
 * What the parts of sema share. The passes, in order: alias (points to probes),
 * resolve (names), fold (constants, dead code), infer (types), check (the rest
 * of the language's rules), autoprint, width.
 */
#ifndef SEMA_SEMA_H
#define SEMA_SEMA_H

#include "base/map.h"
#include "sema/builtin.h"
#include "sema/program.h"
#include "sema/tapset.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PROBES_MAX = 300 }; /* a fuzzer has less patience */
#else
enum { PROBES_MAX = 65000 };
#endif

typedef VEC(struct var *) var_list;
typedef VEC(struct decl_function *) fn_decl_list;

/* All declarations of one name, in order of registration. */
struct name_vars {
	var_list list;
};
struct name_fns {
	fn_decl_list list;
};

/* An alias by one of its names. */
struct alias_name {
	struct decl_probe *alias;
	const struct point *name;
};
typedef VEC(struct alias_name) alias_list;

/* What the passes share; it lives in c's arena until the program is made. */
struct sema {
	struct compile *c;
	struct program *p;
	struct tapset *lib;
	struct map *vars;    /* name -> struct name_vars */
	struct map *fns;     /* name -> struct name_fns */
	/* struct probe * or NULL -> struct decl_function * -> struct
	 * function * */
	struct map *fn_of;
	struct map *looks; /* struct decl_function * -> "yes" or "no" */
	struct map *bridges; /* "name/n" -> function that calls a built-in */
	alias_list aliases;	 /* of files registered so far */
	struct map *alias_named; /* first component -> alias_list *, in order */
	unsigned steps;           /* of alias expansion: bounds the fan-out */
	unsigned missing;         /* points that nothing matched */
	unsigned refs;            /* counter for var.ref_order */
	unsigned decls;           /* counter for var.index until sema ends */
	unsigned expanded;        /* files of p->files whose probes are made */
	unsigned probes_resolved; /* probes of p->probes that are resolved */
	unsigned resolved;    /* functions of p->functions that are resolved */
	unsigned ctype_depth; /* of looking for what a value points to */
	VEC(struct node *) late; /* N_ARROW, type not known when resolved */
	VEC(struct entry_use *) entries; /* of @entry, for fold_program() */
	name_list counted;    /* files of programs that read perf counters */
	unsigned bad_types;   /* mismatches reported by infer */
	unsigned compared;    /* names, for "similar" */
	uint64_t builtins[4]; /* bit per enum builtin_id that is called */
};

/* Where names are looked up while a handler or a function is walked. */
struct scope {
	struct sema *s;
	/* In functions: only of those that look at it (struct function). */
	struct probe *probe;
	struct function *fn;       /* NULL in handlers */
	struct map *locals;        /* name -> var */
	bool in_cond;              /* a probe's condition */
	bool trial;                /* @defined: nothing may be reported */
	struct entry_set *entries; /* of @entry, or NULL */
	struct probe_vars {
		VEC(struct var *) v;
	} list;
};

/* An @entry: its expression, the array it waits in, and the return handler's
 * local that gets it. */
struct entry_value {
	struct node *expr;
	const char *array, *local;
	struct entry_use *use;
};

/*
 * The statements that were made for an @entry, to be taken away when nobody
 * asks for its value: the library's prologues have more than a handler wants.
 */
struct entry_use {
	struct node *check; /* of the return: goes on only where a value is */
	struct node *take, *forget;	/* of the return */
	VEC(struct node *) stores;	/* of the entries */
	bool is_last; /* all values that check looks for end here */
};

/* --- sema.c */
struct sema *sema_new(struct compile *c, struct file **files, unsigned nfiles);
/* Names and types of the probes made so far, without folding or checks. */
void sema_types(struct sema *s);
/* Makes a file's declarations known. */
void sema_add_file(struct sema *s, struct file *f);
/* NULL, having reported it, when the name is taken. */
struct var *sema_add_global(struct sema *s, const struct decl_global *g);
/* The file that a token was written in (macros: where they were called). */
const struct source *sema_source_of(const struct span *at);
const char *type_name(enum type t);
/* The variable that a name or an element of an array is of; else NULL. */
static inline struct var *node_var(const struct node *n)
{
	if (n->kind == N_NAME)
		return n->u.name.var;
	return n->kind == N_INDEX ? n->u.index.var : NULL;
}
/* Of the library, or made by tally itself: nothing to tell the user about. */
bool sema_in_library(const struct node *n);

/* --- alias.c */
/*
 * Probes of the files that were added since the last call. Appended to
 * s->p->probes, with bodies and conditions cloned.
 */
void alias_expand_new(struct sema *s);
/*
 * One point with no body: for -l. Appended to out: no messages for what is not
 * there.
 */
void alias_expand_point(struct sema *s, struct point *pt, probe_list *out);

/* --- resolve.c */
/* Probes and functions that were added or named since the last call. */
void resolve_new(struct sema *s);
/* Does nothing when it has been resolved before. */
void resolve_function(struct sema *s, struct function *f);
/* A node that was made while its scope is being resolved. */
void resolve_operand(struct scope *sc, struct node *n);
/* A local of its own, that no script name can reach. */
struct var *resolve_hidden_local(struct sema *s, struct probe *p,
				 const char *name, enum type type);

/* --- resolve_call.c */
/* A call whose operands are not resolved yet. */
void resolve_call(struct scope *sc, struct node *n);
/* Notes that the program calls the built-in. */
void resolve_builtin(struct sema *s, const struct builtin *b);

/* --- words.c */
/* @enum, @const, @enumname, registers, @perf. */
void word_resolve(struct scope *sc, struct node *n);
/* Of @enum and @const: is there such a constant? */
bool word_defined(struct scope *sc, struct node *n);

/* --- targets.c */
/* n: N_TARGET, N_ARROW or N_ADDRESS whose children are resolved. */
void target_resolve(struct scope *sc, struct node *n);
/* &@var(): its operand is resolved together with it. */
bool target_waits(const struct scope *sc, const struct node *n);
bool target_defined(struct scope *sc, struct node *n);
/* returnval() becomes $return where no register has it. */
bool target_returnval(struct scope *sc, struct node *n);
/* Notes what v points to, if value says so. */
void target_assigned(struct sema *s, struct var *v, const struct node *value);
/* The same of what a function returns. */
void target_returned(struct sema *s, struct function *f,
		     const struct node *value);
/* Once all is resolved: what of it could not be typed before. */
void target_late(struct sema *s);
/*
 * Mistakes in target expressions are mistakes only where the code stays: it may
 * be in a branch that is never taken, in a function that only such a branch
 * calls, or its value may be of no use. So what is said about one is held
 * (diags_hold()) and kept in the node. target_bad(): n is one with these
 * messages, unless held is NULL; its operands are dropped. target_say_bad():
 * says them, of all that is left.
 */
bool target_bad(struct node *n, struct diag_held *held);
void target_say_bad(struct sema *s);

/* --- value.c: $value of procfs probes; true: n has become a call */
bool value_assign(struct scope *sc, struct node *n);
bool value_read(struct scope *sc, struct node *n);

/* --- entry.c */
/* @entry: n becomes a name, a target or (true) one that is bad. */
bool entry_replace(struct scope *sc, struct node *n);
/* @entry(uaddr()), resolved: where the probed function was loaded. */
struct node *entry_place(struct scope *sc, const struct span *at);
/* Is the $variable there when the function of this .return probe is entered? */
bool entry_reaches(struct scope *sc, const struct node *n);
/* Once the handler is resolved: the rest of what @entry needs. */
void entry_finish(struct scope *sc);
/* Takes away what was made for values that are not taken any more, which
 * expressions without effects (says the caller) need not be computed for. */
bool entry_trim(struct sema *s, bool (*acts)(void *ctx, struct node *e),
		void *ctx);

/* --- life.c: probes on the life of programs, of whatever process */
/*
 * process("PATH").begin, process(PID).syscall, perf...process("PATH"): the
 * point for all processes that they are made of. NULL: pt is none of these.
 */
struct point *program_point(struct compile *c, const struct point *pt);
/*
 * A statement that ends the handler in other programs. 0, or -1 having said why
 * there is none.
 */
int program_filter(struct sema *s, const struct point *pt, bool quiet,
		   struct node **ret);
/*
 * A program's file as the kernel knows it, by number and name: numbers of
 * devices differ between what stat(2) says and what the kernel keeps where file
 * systems are stacked. false: there is no such file.
 */
bool program_id(struct compile *c, const char *path, int64_t *ret_ino,
		const char **ret_name);

/* --- counter.c */
/* @perf: n becomes a call or, having complained, a number. */
void counter_resolve(struct scope *sc, struct node *n);
/* Once all is resolved: the probes that keep what @perf reads. */
void counter_finish(struct sema *s);

/* --- never.c */
/* Whether -G on the command line names it. */
bool never_is_given(const struct compile *c, const struct var *v);
/* Warns; what can only be a number becomes 0. Needs is_read, is_written. */
void never_find(struct sema *s);
/* Once types are known: the others become 0 or "". */
void never_settle(struct sema *s);

/* --- fold.c */
/* Constant folding, in place. */
void fold_node(struct compile *c, struct node *n);
/* Folding, dead branches, elision with its warnings; empty probes are gone. */
void fold_program(struct sema *s);
/* --- sink.c */
struct all_effects;
/* Computes what the library prepares behind the tests that handlers begin with.
 * Variables are resolved, indices final. */
void sink_prologues(struct sema *s, const struct all_effects *e);

/* Locals that are neither read nor written; parameters stay. (elide.c) */
void drop_locals(struct var **v, unsigned *n);
/* Number that a folded expression is, or false. */
bool fold_number(const struct node *n, int64_t *ret);

/* --- infer.c */
/*
 * Sets types of all variables, functions and nodes; reports what contradicts.
 */
void infer_program(struct sema *s);

/* --- format.c */
/* Fills the fmt of print, println, printd, ... once the types are known. */
void format_fill(struct compile *c, struct node *n);

/* --- walk.c */
/* Calls fn on every node of a tree, children first. */
void walk_nodes(struct node *n, void (*fn)(struct node *n, void *ctx),
		void *ctx);
/* The same over all bodies and conditions of the program. */
void walk_program(struct program *p, void (*fn)(struct node *n, void *ctx),
		  void *ctx);

/*
 * Texts of unknown length are written to memory as to a file: open_memstream()
 * is what libc has for strings that grow.
 */
struct text {
	char *buf;
	size_t n;
	FILE *f;
};
/* Writes to t->f until text_close(). */
void text_open(struct text *t);
/* In c's arena. */
const char *text_close(struct compile *c, struct text *t);

/* Needs types. Completes var.agg: what is asked of each aggregate. */
/* --- check.c */
void check_program(struct sema *s);

/* --- width.c */
void width_program(struct sema *s);

/* --- autoprint.c */
/* Before widths are known: what it prints is a use, too. */
void autoprint_add(struct sema *s);

/* --- near.c */
/* The n nearest of the names, nearest first: " (similar: a, b)", or "". */
struct near_names {
	const char *want;
	unsigned max, n;
	const char *name[8];
	unsigned dist[8];
};
/* Keeps the nearest; equal distances by alphabet. Then "a, b, c", in c's arena:
 * "" when there is none. */
void near_names_add(struct near_names *nn, const char *name);
const char *near_names_text(struct compile *c, const struct near_names *nn);
/*
 * Is there time left to compare n more names? Thousands of mistakes times
 * thousands of names would take minutes; the first are the ones that are read.
 */
bool near_names_worth(struct sema *s, unsigned n);

#endif
