/* SPDX-License-Identifier: MIT */
/*
 * The preprocessor: macros and %( ... %) conditionals. It stands between the
 * lexer and the parser and gives one token at a time.
 *
 *	pp_next      conditionals: takes or skips branches   (pp.c)
 *	  macro_next   @define, @name, @name(...)            (macro.c)
 *	    lex_next     bytes                               (lex.c)
 *
 * A condition may therefore use macros, and a branch that is not taken neither
 * defines nor expands any.
 */
#ifndef FRONT_PP_H
#define FRONT_PP_H

#include "front/lex.h"
#include "front/parse.h"

struct map;

/* Bounds for macros that use each other: nothing a person writes comes near. */
enum {
	MACRO_DEPTH_MAX = 256,      /* expansions within expansions */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	MACRO_TOKENS_MAX = 40000, /* a fuzzer has less patience */
#else
	MACRO_TOKENS_MAX = 4000000, /* tokens from expansions, per file */
#endif
};

typedef VEC(struct token) token_list;

struct macro {
	const char *name; /* "@name" */
	struct span at; /* of its name, for messages */
	bool has_params;
	VEC(const char *) params; /* "@p" each */
	token_list body;
};

/* Where a parameter's name means what: an argument and its own scope. */
struct scope;
struct argument {
	token_list tokens; /* as written, unexpanded */
	const struct scope *scope;
	bool library; /* it was written in a library macro */
};
struct scope {
	const struct macro *macro;
	const struct argument *args; /* one per parameter */
};

/* Tokens that are read before the lexer's: a body or an argument. */
struct expansion {
	struct expansion *outer;
	/* not owned: the macro's body or the argument */
	const token_list *tokens;
	unsigned next; /* index of the token to come */
	unsigned depth; /* 1 for the outermost */
	bool library; /* must not see the macros of the user's file */
	const struct scope *scope;
	const struct span *site; /* the use, for messages */
};

/* Shared by all files of a compilation. */
struct macros {
	struct compile *c;
	struct map *named;  /* library macros by "@name" */
	struct map *config; /* CONFIG_*: NULL until asked for */
	/* macros_on_miss(), or NULL */
	void (*miss)(void *ctx, const char *name);
	void *miss_ctx;
};

/* A %( that was opened and whose branch is being read. */
struct cond {
	struct span at; /* of its %(, for messages */
	bool in_else;
};

/* The preprocessor of one file. */
struct pp {
	struct compile *c;
	struct macros *library; /* NULL: none */
	struct lexer lex;
	bool defines_library; /* reading a library macro file */
	struct map *named;    /* this file's macros */
	struct expansion *top; /* innermost; NULL: the lexer is read */
	/* tokens that came from expansions, for the limit */
	unsigned long expanded;
	VEC(struct cond) conds; /* innermost last */
};

/* At the start of src. m: the library's macros, which outlive pp. */
void pp_init(struct pp *pp, struct compile *c, struct macros *m,
	     const struct source *src);
/* Mistakes are reported here and come as a junk token. */
void pp_next(struct pp *pp, struct token *t);

/* --- between pp.c, macro.c and cond.c ------------------------------------ */

/* The next token with macros expanded. */
void macro_next(struct pp *pp, struct token *t);
/* The next token as it is. */
void macro_raw(struct pp *pp, struct token *t);
/*
 * Reads a condition behind %( up to its %?. 0, 1, or -1: it is wrong, which
 * was reported, and *last is the token at which reading stopped.
 */
int cond_read(struct pp *pp, const struct token *open, struct token *last);
/* The value of CONFIG_x in the running kernel's configuration, "" if unset. */
const char *kconfig_get(struct macros *m, const char *name);
/* The value of a number token; false: it is none. */
bool number_value(const char *text, int64_t *ret);

#endif
