/* SPDX-License-Identifier: MIT */
/*
 * The intermediate form: functions of basic blocks of three-address
 * instructions over virtual registers that are 64-bit numbers or zero-padded
 * strings of a fixed width. Not SSA: a script variable is one register. The
 * form knows nothing of machines: gen/ compiles the same function for the
 * kernel or for the host. docs/ir.md describes the text form; print and read
 * are inverses.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compile.h"
#include "base/vec.h"
#include "sema/builtin.h"
#include "sema/program.h"

enum ir_op {
#define OP(id, text, result, operands, flags, doc) OP_##id,
#include "ir/op.def"
#undef OP
	OP_MAX
};

/*
 * Columns of op.def: T ends a block, B has targets, E may fail, H host only, X
 * has an effect, R reads what others write.
 */
enum {
	OPF_T = 1, OPF_B = 2, OPF_E = 4, OPF_H = 8, OPF_X = 16, OPF_R = 32,
};

struct op_info {
	const char *text;
	char result; /* '-' none, 'i', 's', '*' either */
	const char *operands;
	uint32_t flags;
	const char *doc;
};
/* Its row in op.def; never NULL. */
const struct op_info *op_info(enum ir_op op);

/* An operand: a register, a number, or a string literal. */
enum ir_val_kind { VAL_NONE, VAL_REG, VAL_NUM, VAL_STR };
struct ir_val {
	enum ir_val_kind kind;
	uint32_t reg;
	int64_t num;
	const char *str; /* interned */
};

/* A virtual register. Holds a script variable, or a value on the way. */
struct ir_reg {
	bool is_str;
	uint32_t width;	  /* strings: bytes incl. NUL, multiple of 8 */
	const char *name; /* of the script variable, or NULL: for dumps */
	bool shared;	  /* in the frame, because a loop body uses it */
};

/* foreach: what an ITNEW iterates over. */
struct ir_iter {
	struct var *array; /* whose elements */
	/* Over bucket indices of array's histogram; ITNEW has the keys. */
	bool is_hist;
	int sort_dir, sort_key; /* as in the syntax tree */
	bool sort_by_stat;
	enum stat_op sort_op;
	int64_t sort_param;
	uint32_t wild;		/* slice: bit n: key n is * */
	bool has_limit, has_slice;
	unsigned id;		/* index in ir.iters */
};

/*
 * A format with its operands' types: the layout of a print record. The host
 * formats a record by it; operands beyond 32 are refused.
 */
struct ir_fmt {
	const struct fmt *fmt;
	unsigned nargs;
	bool is_str[32];
	uint32_t width[32];	/* strings: bytes in the record */
	uint32_t off[32];	/* from the payload's start */
	uint32_t size;		/* payload bytes, multiple of 8 */
	unsigned id;		/* index in ir.fmts */
	struct span span;
};

/* Where an instruction comes from: for messages, dumps and line info. */
struct ir_loc {
	struct span span;
	int32_t caller; /* index of the call's loc when inlined, -1 */
};

struct ir_block;
struct ir_func;

/* Which fields matter is the op's: see op.def and docs/ir.md. */
struct ir_ins {
	enum ir_op op;
	uint32_t dst;		/* register; valid when has_dst */
	bool has_dst;
	unsigned nargs;
	struct ir_val *args;
	/* ok and failure, or yes and no; NULL: none */
	struct ir_block *target[2];
	struct var *global;	/* G*, A*, S*, H*, IT* */
	const struct builtin *builtin;
	struct ir_func *callee;	/* CALL, LOOP */
	struct ir_fmt *fmt;
	struct ir_iter *iter;
	struct regex *re;
	int64_t num; /* op.def says what it means for each op */
	uint32_t locks; /* LOCK, UNLOCK: groups */
	uint32_t loc;		/* index in ir.locs */
	struct ir_ins *next;
};

enum { RAISE_UNCATCHABLE = 1, RAISE_QUIET = 2 /* abort(): no message */ };

/* ins->num of LOCK, bits: the host first drains banks; it copies what the lock
 * guards (ir_func.frozen) and empties the originals of the globals whose index
 * is a bit from LOCK_EMPTIES on (arrays have no elements then, numbers are 0);
 * others, by their index, come too late for a mask. */
enum { LOCK_DRAINS = 1, LOCK_FREEZES = 2, LOCK_EMPTIES = 8,
       LOCK_NEMPTY = 63 - LOCK_EMPTIES };

struct ir_block {
	unsigned id;		/* dense after ir_number() */
	struct ir_ins *first, *last;
	struct ir_block *next;	/* layout order */
	unsigned loop_depth;
	bool held;		/* locks are, at its start: lock to outline */
};

enum ir_kind { IR_PROBE, IR_FUNCTION, IR_LOOP_BODY };

/* Natural loop, recorded by build for the outline pass. */
struct ir_loop {
	struct ir_block *header;
	struct ir_loop *parent;
};

/* A version of a handler or function for one machine. */
struct ir_func {
	const char *name;	/* "probe 3", "f", "probe 3 loop 1" */
	enum ir_kind kind;
	struct probe *probe;	/* IR_PROBE, IR_LOOP_BODY */
	struct function *fn;	/* IR_FUNCTION */
	enum place place;	/* which machine this version is for */
	struct ir_block *blocks; /* first is the entry */
	unsigned nblocks; /* as of the last ir_number() */
	VEC(struct ir_reg) regs;
	unsigned nparams;	/* registers 0..nparams-1 */
	bool has_ret; /* RET has an operand */
	uint32_t ret_reg_type;	/* 0 number, else width of the string */
	VEC(struct ir_loop *) loops;
	/* IR_LOOP_BODY: whose frame it shares. Its registers carry the numbers
	 * of the parent's; those marked shared are in the frame of both. */
	struct ir_func *parent;
	uint32_t nresume; /* of RESUME in the kernel version */
	struct ir_func *host; /* of that: the version that goes on */
	VEC(struct ir_block *) resume; /* host version: starts with ENTER n */
	uint32_t locks;		/* union of LOCK masks */
	bool frozen;		/* host: LOCK copies what it guards, lets go */
	unsigned index;		/* in ir.funcs */
};

/* A whole program. Tables are indexed by the ids that instructions carry. */
struct ir {
	struct program *prog;
	VEC(struct ir_func *) funcs;
	VEC(struct ir_fmt *) fmts;
	VEC(struct ir_iter *) iters;
	VEC(struct ir_loc) locs;
	VEC(struct regex *) regexes;
	VEC(const char *) patterns; /* of the regexes */
	/* Exclusion: by global index the bit of its lock group (0: needs
	 * none); by probe index the groups that the handler must hold. NULL: no
	 * locks. */
	uint32_t *lock_of, *probe_locks;
	/* By global index: only the host touches it (opt_late.c). NULL: not
	 * known yet. */
	uint8_t *late;
	/* What gen cannot do in the kernel besides op.def's H and built-ins'
	 * BF_HOST: there, too, a handler goes on on the host. NULL: all else
	 * can be done. Set between ir_build() and ir_passes(). */
	bool (*kernel_can)(const struct ir_func *f, const struct ir_ins *i);
};

/* Builds the ir of a whole program: per kernel probe a kernel version with
 * calls inlined; per host probe and used function a host version. */
struct ir *ir_build(struct compile *c, struct program *p);
/*
 * The pipeline over all functions; ir_check() runs between passes and aborts
 * on a bug. Kernel functions come out without H operations (split made resume
 * points and host versions of the rest) and without back edges (outline).
 */
void ir_passes(struct compile *c, struct ir *ir);
/* Returns NULL, or what is wrong (arena text). */
const char *ir_check(struct compile *c, const struct ir *ir,
		     const struct ir_func *f);
/* The text form; registers, places and all. */
void ir_print(const struct ir *ir, FILE *f);
void ir_print_func(const struct ir *ir, const struct ir_func *fn, FILE *f);
/*
 * Reads what ir_print wrote; globals and functions by name from p. NULL: the
 * mistake is in c->diag. For tests of passes: they start from text.
 */
struct ir *ir_read(struct compile *c, struct program *p, struct source *src);

/* --- for passes and for gen ----------------------------------------------- */

void ir_number(struct ir_func *f); /* block ids and nblocks in layout order */
/* How many successors, in ret: the targets of the block's last instruction. */
unsigned ir_succ(const struct ir_block *b, struct ir_block *ret[2]);
/* Bit sets of registers live on entry of each block: words of 64. */
struct ir_live {
	unsigned words;
	uint64_t **in, **out; /* by block id */
};
/* Needs ir_number(); of no use any more after the function was changed. */
struct ir_live *ir_liveness(struct arena *a, const struct ir_func *f);

#endif
