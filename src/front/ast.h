/* SPDX-License-Identifier: MIT */
/*
 * The syntax tree. One node type with a union; ast.def says which member each
 * kind uses. The parser fills the syntax; sema fills type, width and the fields
 * marked "sema:" in place.
 */
#ifndef FRONT_AST_H
#define FRONT_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "base/vec.h"

struct compile;
struct var;      /* sema/program.h */
struct function; /* sema/program.h */
struct builtin;  /* sema/builtin.h */
struct access;   /* types/access.h */
struct regex;    /* front/regex.h */
struct diag_held; /* base/diag.h */

enum node_kind {
#define NODE(id, name, member) N_##id,
#include "front/ast.def"
#undef NODE
	N_MAX
};

enum type { TY_UNKNOWN, TY_LONG, TY_STRING, TY_STATS };

/* Operators of UNARY, BINARY, LOGIC, ASSIGN, INCDEC and MATCH nodes. */
enum oper {
	OPER_NONE,
	/* UNARY */
	OPER_PLUS,
	OPER_MINUS,
	OPER_NOT,
	OPER_BITNOT,
	/* BINARY, ASSIGN */
	OPER_ADD,
	OPER_SUB,
	OPER_MUL,
	OPER_DIV,
	OPER_MOD,
	OPER_AND,
	OPER_OR,
	OPER_XOR,
	OPER_SHL,
	OPER_SHR,
	OPER_USHR,
	OPER_CONCAT, /* ASSIGN: .= */
	/* BINARY */
	OPER_EQ,
	OPER_NE,
	OPER_LT,
	OPER_LE,
	OPER_GT,
	OPER_GE,
	/* LOGIC */
	OPER_LAND,
	OPER_LOR,
	/* ASSIGN: = and <<< */
	OPER_SET,
	OPER_FEED,
	/* INCDEC */
	OPER_INC,
	OPER_DEC,
	/* MATCH */
	OPER_MATCH,
	OPER_NOMATCH,
};
const char *oper_text(enum oper o); /* "+", "<<<", ... */

/* Extractors; the order is that of the cell's documentation. */
enum stat_op {
	STAT_COUNT,
	STAT_SUM,
	STAT_MIN,
	STAT_MAX,
	STAT_AVG,
	STAT_VARIANCE,
	STAT_STDDEV,
	STAT_QUANTILE,
	STAT_MEDIAN,
	STAT_DISTINCT,
	STAT_MODE,
	STAT_QUANTILES, /* print(@quantiles(x)) only */
	STAT_MAX_OP
};
const char *stat_op_name(enum stat_op o); /* "@count", ... */

enum hist_kind { HIST_NONE, HIST_LOG, HIST_LINEAR };

/* The print family. */
enum print_kind {
	PRINT_PRINT,
	PRINT_PRINTLN,
	PRINT_PRINTD,
	PRINT_PRINTDLN,
	PRINT_PRINTF,
	PRINT_CHAR /* print_char */
};

/* One conversion of a format, or a run of literal text (conv 0). */
struct fmt_part {
	char conv; /* 0: text; d i u o x X p s c b m M; 'd' and 's' for print()
		    */
	char flag; /* 0 + - space # */
	bool zero; /* the flag 0 */
	bool width_arg, prec_arg; /* '*' */
	int width, prec;          /* -1: none */
	const char *text;         /* conv 0: interned, escapes resolved */
};
struct fmt {
	VEC(struct fmt_part) parts;
	unsigned nargs; /* arguments consumed, '*' included */
};

typedef VEC(struct node *) node_list;

/* A tail of a target expression: ->name, [e], or the pretty-print mark. */
struct target_part {
	enum { TP_MEMBER, TP_INDEX, TP_PRETTY, TP_PRETTY_DEEP } kind;
	const char *member;
	struct node *index;
	struct span span;
};

struct node {
	enum node_kind kind;
	enum type type; /* sema: of the value; TY_UNKNOWN for statements */
	uint32_t
	    width; /* sema: bytes of a string value incl. NUL, multiple of 8 */
	uint32_t
	    height; /* parser: levels of the tree below, <= PARSE_DEPTH_MAX */
	struct span span; /* the token that a message points at */
	union {
		int64_t num;
		const char *str; /* interned; str_len() gives its length */
		struct {
			const char *name;
			struct var *var; /* sema: */
		} name;
		struct {
			const char *name;
			node_list keys;  /* may hold N_WILD */
			struct var *var; /* sema: */
		} index;
		struct {
			const char *name;
			node_list args;
			struct function *fn; /* sema: one of these two */
			const struct builtin *builtin;
		} call;
		struct {
			enum oper op;
			struct node *a;
		} unary;
		struct {
			enum oper op; /* OPER_INC or OPER_DEC */
			bool prefix;
			struct node *a;
		} incdec;
		struct {
			enum oper op;
			struct node *a, *b;
		} binary;
		struct {
			struct node *a, *b, *c;
		} ternary;
		struct {
			node_list keys;
			struct node *array; /* N_NAME, or N_HIST */
		} in;
		struct {
			enum oper op;
			struct node *a;
			const char *pattern;
			struct span pattern_span;
			struct regex *re; /* sema: compiled */
		} match;
		struct {
			enum stat_op op;
			struct node *a; /* N_NAME or N_INDEX */
			struct node
			    *param; /* quantile, variance shift; or NULL */
		} stat;
		struct {
			enum hist_kind kind;
			struct node *a;
			int64_t lo, hi, step; /* HIST_LINEAR */
		} hist;
		struct {
			struct node *hist; /* N_HIST */
			struct node *index;
		} hist_at;
		struct {
			enum print_kind kind;
			bool to_string;     /* sprint, sprintf, ... */
			const char *delim;  /* printd */
			const char *format; /* printf: the literal as written */
			struct fmt fmt; /* all kinds: parser for printf, sema
					   for the rest */
			node_list args; /* may be one N_HIST, or N_STAT of
					   STAT_QUANTILES */
		} print;
		struct {
			const char *name; /* "$x", "$$vars", "@cast", "@var";
					     NULL for N_ARROW */
			struct node
			    *base; /* @cast's value, N_ARROW's left side */
			const char *cast;   /* @cast's type, @var's name */
			const char *module; /* their last argument, or NULL */
			VEC(struct target_part) parts;
			struct access *access; /* sema: how to fetch it */
			/* sema: why it cannot be fetched, or NULL */
			struct diag_held *bad;
		} target;
		struct {
			const char *word; /* "@perf" */
			node_list args;
			node_list index;
		} atword;
		struct {
			node_list stmts;
		} block;
		struct {
			struct node *init, *cond, *step,
			    *body; /* all but body may be NULL */
			bool is_while;
		} loop;
		struct {
			struct node
			    *value; /* the VAL of VAL = keys, or NULL: N_NAME */
			node_list keys;     /* N_NAME each */
			struct node *array; /* N_NAME or N_HIST */
			node_list
			    slice; /* empty, or one per key: expr or N_WILD */
			int sort_dir; /* 0 none, 1 ascending, -1 descending */
			int sort_key; /* 0: by value, 1..9: by that key */
			bool sort_by_stat; /* @op given */
			enum stat_op sort_op;
			struct node *sort_param; /* @quantile's p, or NULL */
			struct node *limit;      /* or NULL */
			struct node *body;
		} foreach;
		struct {
			struct node *body;    /* N_BLOCK */
			struct node *catcher; /* N_BLOCK */
			struct node *name;    /* N_NAME or NULL */
		} try;
	} u;
};

/* --- declarations -------------------------------------------------------- */

struct literal {
	enum type type; /* TY_UNKNOWN: none */
	int64_t num;
	const char *str;
};

/* name, name(literal) */
struct component {
	const char *name; /* may hold * and ** */
	struct literal arg;
	struct span span, arg_span;
};

struct point {
	VEC(struct component) parts;
	bool optional, sufficient; /* ? and ! */
	struct node *cond;         /* if (expr), or NULL */
	struct span span;
};
typedef VEC(struct point *) point_list;

struct decl_probe {
	point_list points;
	struct node *body; /* N_BLOCK */
	struct span span;
	const struct source *src;
	/* aliases only: probe NAMES = points { body }, { epilogue } */
	point_list names;
	bool is_alias, is_epilogue; /* is_epilogue: += */
	struct node *epilogue;      /* second block, or NULL */
};

struct decl_global {
	const char *name;
	bool is_private, wrap;
	int64_t size; /* 0: none given */
	struct literal init;
	struct span span;
	const struct source *src;
};

struct decl_param {
	const char *name;
	enum type type; /* TY_UNKNOWN: none given */
	struct span span;
};

struct decl_function {
	const char *name;
	bool is_private;
	enum type type;
	VEC(struct decl_param) params;
	int64_t priority;  /* -1: none given */
	struct node *body; /* N_BLOCK, or N_EMBEDDED */
	struct span span;
	const struct source *src;
};

/* One parsed file, declarations in order of appearance within each list. */
struct file {
	struct source *src;
	VEC(struct decl_probe *) probes; /* aliases included */
	VEC(struct decl_global *) globals;
	VEC(struct decl_function *) functions;
	VEC(struct node *) embedded;
};

/* All else zero: no type, no operands. */
struct node *node_new(struct arena *a, enum node_kind k, struct span at);
/* As --dump=ast has it (ast.def); static text. */
const char *node_kind_name(enum node_kind k);
/* Deep copy; sema's fields are copied as they are. */
struct node *node_clone(struct arena *a, const struct node *n);
/*
 * Calls fn on each direct child slot, in evaluation order; fn may replace
 * *child. Stops and returns the first non-zero result.
 */
int node_each_child(struct node *n, int (*fn)(struct node **child, void *ctx),
		    void *ctx);

#endif
