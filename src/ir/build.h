/* SPDX-License-Identifier: MIT */
/*
 * The builder's state: which function is being built, where in it, and what
 * the names, loops and try blocks around mean. Inlined calls push a scope.
 */
#ifndef IR_BUILD_H
#define IR_BUILD_H

#include "ir/ir.h"
#include "ir/util.h"

enum {
	/* A kernel handler of more instructions goes on on the host. */
	INLINE_BUDGET = 20000,
	INLINE_DEPTH = 24,
};

/* Where return, next and names lead: the handler, or an inlined function. */
struct scope {
	struct scope *up;
	struct function *fn; /* NULL: the handler */
	uint32_t *reg;	     /* by var->index: register + 1, 0 none yet */
	unsigned nreg;
	bool inlined;	     /* ends by a jump to `exit`, not by RET */
	struct ir_block *exit;
	uint32_t ret;	     /* register of the result; if has_ret */
	bool has_ret;
	struct ir_block *overload; /* where `next` goes, or NULL */
	int32_t caller;	     /* loc of the inlined call, -1 */
};

/* The innermost loop around: where break and continue lead. */
struct loop {
	struct loop *up;
	struct ir_block *brk, *cont;
};

/* Where errors go: the catch block, and the register of the message. */
struct handler {
	struct handler *up;
	struct ir_block *block;
	uint32_t text;
	bool named;
};

/* One program being built; most of it is about the function at hand. */
struct build {
	struct compile *c;
	struct arena *a;
	struct ir *ir; /* what is being made */
	struct program *p;
	struct ir_func *f; /* the function being built */
	/*
	 * where instructions go; NULL behind a terminator. The last in layout.
	 */
	struct ir_block *cur, *last;
	struct scope *scope;
	struct loop *loop;
	struct handler *handler;
	struct probe *probe; /* NULL in a host function */
	bool counting;	     /* emit ACT */
	unsigned nins;	     /* of this function so far */
	unsigned depth;	     /* of inlining */
	struct ir_func **host_fn; /* by function index: made or queued */
	uint8_t *loops;	     /* by function index: does it loop? */
	VEC(struct ir_func *) queue;
	struct span here;    /* place of what is being built */
	unsigned loop_depth; /* of blocks made now */
};

/* --- build.c: emission ---------------------------------------------------- */

/* Empty and in no function yet: block_start() lays it out. */
struct ir_block *block_new(struct build *b);
/* Starts emitting into blk, which is laid out next. */
void block_start(struct build *b, struct ir_block *blk);
/* Appends; the operands are up to 3 values, VAL_NONE ends them. */
struct ir_ins *emit(struct build *b, enum ir_op op, struct ir_val x,
		    struct ir_val y, struct ir_val z);
struct ir_ins *emit_n(struct build *b, enum ir_op op, unsigned nargs,
		      const struct ir_val *args);
/* Likewise with a fresh register for the result. */
struct ir_val emit_num(struct build *b, enum ir_op op, struct ir_val x,
		       struct ir_val y, struct ir_val z);
void emit_to(struct build *b, enum ir_op op, uint32_t dst, struct ir_val x,
	     struct ir_val y);
void emit_jmp(struct build *b, struct ir_block *to);
/* v to register r, by the register's type. */
void emit_mov(struct build *b, uint32_t r, struct ir_val v);
void emit_br(struct build *b, struct ir_val v, struct ir_block *yes,
	     struct ir_block *no);
uint32_t tmp_num(struct build *b);
uint32_t tmp_str(struct build *b, uint32_t width);
/* A register of a variable's or node's type. */
uint32_t tmp_of(struct build *b, enum type t, uint32_t width);
#define NOVAL ((struct ir_val){0})

/*
 * Makes the just emitted E instruction end its block: goes on in a fresh block,
 * or, on failure, raises `text` (NULL: the pending error, host only) or jumps
 * to the catch block around.
 */
void emit_fail(struct build *b, struct ir_ins *i, const char *text);
/* Likewise with the text made of a format with one number. */
void emit_fail_num(struct build *b, struct ir_ins *i, const char *head,
		   struct ir_val num, const char *tail);
/* Raises here: to the catch block around, or ends. flags: RAISE_*. */
void emit_raise(struct build *b, struct ir_val text, int64_t flags);
/* Sets the place; returns what it was. */
struct span build_at(struct build *b, const struct span *at);
const char *build_text(struct build *b, const char *s);
/* Register of a local in the current scope. Fresh at first use. */
uint32_t local_reg(struct build *b, const struct var *v);

/* --- expressions and statements ------------------------------------------- */

/* The value; want false: for its effects only (VAL_NONE may come back). */
struct ir_val expr(struct build *b, struct node *n, bool want);
/* Operands left to right; what a later one could change is captured. */
void expr_list(struct build *b, struct node **n, unsigned count,
	       struct ir_val *ret);
/* Branches on a condition, short circuits included. */
void cond(struct build *b, struct node *n, struct ir_block *yes,
	  struct ir_block *no);
/*
 * x op y with the language's rules: division by 0 raises, strings concatenate.
 * at: the operator's place.
 */
struct ir_val expr_arith(struct build *b, enum oper op, struct ir_val x,
			 struct ir_val y, const struct span *at);
struct ir_val expr_assign(struct build *b, struct node *n, bool want);
struct ir_val expr_incdec(struct build *b, struct node *n, bool want);
/* var = v, local or global scalar. */
void assign_var(struct build *b, struct var *v, struct ir_val val);
/* The variable of a N_NAME or N_INDEX; its keys. A wildcard sets its bit. */
struct var *lvalue(struct build *b, struct node *n, struct ir_val *keys,
		   unsigned *ret_nkeys, uint32_t *ret_wild);
/* keys, then extra, as the op wants them; the global goes with it. */
struct ir_ins *emit_keyed(struct build *b, enum ir_op op, struct var *g,
			  const struct ir_val *keys, unsigned nkeys,
			  const struct ir_val *extra, unsigned nextra);
/* An array write that finds the array full. */
void emit_fail_full(struct build *b, struct ir_ins *i, const struct var *g);
struct ir_val expr_index(struct build *b, struct node *n);
struct ir_val expr_in(struct build *b, struct node *n);
/* want false is not asked: the value is always computed. */
struct ir_val expr_stat(struct build *b, struct node *n);
struct ir_val expr_hist_at(struct build *b, struct node *hist,
			   struct node *index, const struct span *at);
void stmt_delete(struct build *b, struct node *n);
void stmt_foreach(struct build *b, struct node *n);
struct ir_val expr_call(struct build *b, struct node *n, bool want);
struct ir_val expr_print(struct build *b, struct node *n, bool want);
/* address: &$x->y, the place instead of what is there. */
struct ir_val expr_target(struct build *b, struct node *n, bool address);
/* Complains in a function that is run on the host: only handlers, and what is
 * compiled into them, see what is probed. */
void need_handler(struct build *b, const char *what);
/* The number of |size| bytes at addr (negative: signed), with its failure edge
 * for a fault. */
struct ir_val load_at(struct build *b, struct ir_val addr, int size,
		      bool user);
void stmt(struct build *b, struct node *n);
/* A piece of straight-line code: counts its statements, then builds it. */
void region(struct build *b, struct node *n, unsigned extra);
unsigned stmt_weight(const struct node *n);
/* The format record of parts and operand types. */
struct ir_fmt *fmt_make(struct build *b, const struct fmt *fmt,
			const struct ir_val *args, unsigned nargs);
/* Initial values of a scope's locals. */
void scope_init(struct build *b, struct scope *s, struct var **locals,
		unsigned n, unsigned first);

#endif
