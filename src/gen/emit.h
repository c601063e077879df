/* SPDX-License-Identifier: MIT */
/*
 * The state of compiling one ir function, and how lowering reaches operands.
 *
 * Each function is lowered twice by the same code: a dry run finds what every
 * instruction needs (pseudo registers, clobbers, temporary bytes); then
 * registers and frame are laid out; then the real instructions are made. A body
 * is lowered in the same way as its handler; only its homes differ.
 *
 * Rules for lowering code: r0 to r5 are temporaries; the result is stored last,
 * by emit_put(). An instruction that writes r3, r4 or r5 or calls a helper is
 * "heavy": no value lives in r3 to r5 across it (the dry run notices).
 */
#ifndef GEN_EMIT_H
#define GEN_EMIT_H

#include "gen/asm.h"

/*
 * Values that the prologue sets up for those instructions that need them. They
 * look like registers to the allocator, with numbers behind the function's own.
 */
enum pseudo {
	PS_CTX,	 /* the program's context, r1 at entry */
	PS_ROW,	 /* this CPU's row */
	PS_BANK, /* row + active bank * bank_size, without bank_off */
	PS_BIDX, /* its number, 0 or 1 */
	PS_SCR,	 /* the claimed scratch slot */
	PS_ROOT, /* loop body: frame pointer of the handler */
	PS_RET,	 /* host function: where a string result goes */
	PS_MAX
};

enum home_kind {
	HOME_NONE, /* never used */
	HOME_REG,
	HOME_FRAME, /* r10 + off */
	HOME_ROOT,  /* the handler's r10 + off, from a loop body */
	HOME_SCRATCH,
};
struct home {
	enum home_kind kind;
	int reg;
	int off;
};

/* What the dry run found out about an instruction. */
struct ins_note {
	uint32_t pseudo; /* bit per pseudo register that is used */
	bool heavy;
};

/* A map whose oldest element may have to go, and the code for that. */
struct evict {
	uint32_t map;
	unsigned label; /* once the real run begins */
};

/* Ways to write a number's digits, each with a subprogram; isel_digits.c. */
enum digits_kind {
	DIGITS_DECIMAL, DIGITS_HEX, DIGITS_UPPER, DIGITS_OCTAL,
	DIGITS_KINDS
};

/*
 * What a loop body shares with its handler. It lives as long as the compilation
 * of the handler.
 */
struct root {
	struct home *homes;	/* of the handler, by register and pseudo */
	unsigned nregs; /* r->homes has nregs entries, and PS_MAX behind them */
	uint32_t pseudo;	/* bit per pseudo register a body uses */
	uint32_t scratch;	/* bytes of the scratch slot given out */
	unsigned *labels;	/* of each body, by ir_func.index */
	/* In the handler's frame: statements counted, exit that a loop took,
	 * address of the scratch slot. */
	bool act_used, exit_used, scr_used;
	int act_off, exit_off, scr_off;
	int time_off;		/* likewise: ns at which it began; -t */
	bool slow_lock_used;
	unsigned slow_lock;	/* label of the lock's slow path */
	unsigned slow_lock_body;
	uint32_t digits_used;	/* bit for each kind */
	unsigned digits[DIGITS_KINDS]; /* labels */
	bool evict_used;	/* isel_evict.c */
	/*
	 * One for each map, as kernels before 6.9 want one call of
	 * for_each_map_elem to be always of the same map; by number of map.
	 */
	VEC(struct evict) evicts;
	unsigned evict_oldest, evict_drop;
};

struct emit {
	struct compile *c;
	struct gen *g;
	struct plan *plan;
	const struct ir_func *f;
	struct code *code;
	struct assembler *as;
	struct root *root;
	uint32_t ninsns; /* of the dry run */
	/* kernel: else host; dry: nothing is kept; body: of a loop; branchy:
	 * with many comparisons */
	bool kernel, dry, body, branchy;
	unsigned nregs;	     /* ir registers; pseudo p is register nregs + p */
	struct home *homes;
	unsigned *labels;    /* by block id */
	bool *reached;	     /* by block id */
	bool *merged;	     /* by register: set at more than one place */
	struct ins_note *notes; /* by instruction number */
	unsigned ins_no; /* from 1: the prologue is 0 */
	const struct ir_ins *ins;
	const struct ir_block *next_block; /* in layout, for falling through */
	/* temporaries of one instruction */
	uint32_t tmp_used, tmp_max;
	enum home_kind tmp_kind;
	int tmp_off;
	bool ptr_used;	     /* emit_save_ptr() is used */
	int ptr_off;
	/* the frame: bytes below r10 given out */
	uint32_t frame, reserved;
	/* common exit: gives the scratch slot back, takes the time */
	unsigned out_label;
	bool out_used;
	/* where the prologue goes when it must not run the handler */
	unsigned stopped_label, none_label;
	bool turns_used;     /* it has loops, which need a word of the frame: */
	int turns_off;
	bool failed;	     /* reported: no code */
	unsigned resume_no;  /* host: resume point of the block being made */
	uint32_t zero_regs_n; /* registers that the prologue clears */
	uint32_t *zero_regs;
};

static inline uint32_t round8(uint32_t n)
{
	return (n + 7) & ~7u;
}

/*
 * Where something is: a register to go through and an offset. Good until the
 * register is written.
 */
struct mem {
	int base, off;
};

/* --- operands ------------------------------------------------------------ */

/*
 * A register that holds the number v: its own, or tmp. It must not be written:
 * it can be the register's home.
 */
int emit_use(struct emit *e, const struct ir_val *v, int tmp);
/*
 * The same for a comparison. In a loop, and in handlers that compare often, it
 * is a copy in tmp, which the verifier does not connect with where it came
 * from. What comparisons tell it about a variable (and about all that differ
 * from it by a constant) decides later ones, and then paths are one to it only
 * if what it knows agrees: n comparisons would make up to 2^n paths.
 */
int emit_unlinked(struct emit *e, const struct ir_val *v, int tmp);
/* Of a word that was loaded to reg. */
void emit_unlink(struct emit *e, int reg);
/* reg = v. */
void emit_load(struct emit *e, int reg, const struct ir_val *v);
/* True when v is a number that fits an instruction's immediate. */
bool emit_is_imm(const struct ir_val *v);
/* The register of the instruction's result if it has one, else tmp: compute
 * there and pass it to emit_put(). */
int emit_dst(struct emit *e, int tmp);
/* Result = reg. May clobber r0 to r2. */
void emit_put(struct emit *e, int reg);
/* reg ^= 0, which the verifier takes for an unknown value. tmp is lost. */
void emit_opaque(struct emit *e, int reg, int tmp);
/* reg = 0, which the verifier takes for an unknown value. */
void emit_unknown_zero(struct emit *e, int reg);
/* A register that holds pseudo register p: its own, or tmp. */
int emit_pseudo(struct emit *e, enum pseudo p, int tmp);
/* Register r's memory; tmp may be used for the base. */
struct mem emit_mem(struct emit *e, uint32_t r, int tmp);
/* A literal string, or a register that holds one. */
bool emit_is_str(const struct emit *e, const struct ir_val *v);
/* Bytes 8 at a time of a literal, zero behind its end. */
int64_t emit_literal_word(const char *s, uint32_t at);
/* Width in bytes of a string operand (of a literal: rounded up to 8). */
uint32_t emit_width(struct emit *e, const struct ir_val *v);
/* reg = address of a string operand. */
void emit_addr(struct emit *e, int reg, const struct ir_val *v);
/* reg = address of the instruction's string result; its width. */
void emit_dst_addr(struct emit *e, int reg);
uint32_t emit_dst_width(struct emit *e);

/* --- temporaries of the current instruction ------------------------------ */

/*
 * Reserves bytes; returns their handle. All temporaries of an instruction lie
 * one behind the other; the next instruction uses the same memory.
 */
uint32_t emit_tmp(struct emit *e, uint32_t bytes);
struct mem emit_tmp_mem(struct emit *e, uint32_t handle, int tmp);
void emit_tmp_addr(struct emit *e, int reg, uint32_t handle);

/* Keeps a pointer across calls: on the stack, as the verifier forgets what a
 * pointer is when it is stored in a map. One at a time in an instruction. */
void emit_save_ptr(struct emit *e, int reg);
void emit_restore_ptr(struct emit *e, int reg);

/* --- control ------------------------------------------------------------- */

/* The label of a block. */
unsigned emit_block(struct emit *e, const struct ir_block *b);
/* Goes to the block unless it comes next anyway. */
void emit_goto(struct emit *e, const struct ir_block *b);
/* After an E instruction: to target 0. Nothing when it has no targets. */
void emit_ok(struct emit *e);
/* Leaves the handler (kernel) or function: through the common exit. */
void emit_leave(struct emit *e);
/* Of the instruction, or of the probe where there is none (the prologue). */
struct span emit_span(struct emit *e);

/* reg += imm; nothing for 0. */
void emit_add(struct emit *e, int reg, int32_t imm);
/* n zero bytes, a multiple of 8. */
void emit_zero(struct emit *e, struct mem dst, uint32_t n);
/* The same for bytes of the instruction's result. Clobbers r5. */
void emit_zero_dst(struct emit *e, struct mem dst, uint32_t n);
/* Ends the n bytes of the result with a NUL. Clobbers r5, and r4 or, if that is
 * dst.base, r0. */
void emit_end_dst(struct emit *e, struct mem dst, uint32_t n);
/*
 * Writes string v to dst, cut and zero-padded to n bytes (multiple of 8).
 * dst.base: not r4, r5. Clobbers r4 and r5; a long copy is a call and clobbers
 * r0 to r5.
 */
void emit_put_string(struct emit *e, struct mem dst, const struct ir_val *v,
		     uint32_t n);
/* True when emit_put_string() of v would be a call. */
bool emit_string_calls(struct emit *e, const struct ir_val *v, uint32_t n);
/* Adds 1 to a counter of this program on this CPU: offset of the field in
 * struct probe_counts. Clobbers t0 and t1. */
void emit_count(struct emit *e, uint32_t field, int t0, int t1);
/*
 * Words of this CPU that programs on it share: r0 == expected becomes src, and
 * r0 is what was there. Where the kernel has no such instruction, programs
 * (not even those of user probes, before 5.12) leave a CPU only to one that
 * interrupts them and ends first: plain loads and stores do. t is lost.
 */
void emit_swap(struct emit *e, int base, int off, int src, int t);
/*
 * r0 = what the word was before 1 was added to it. Where the kernel has no such
 * instruction it may be a little more: what others added meanwhile counts, too.
 */
void emit_ticket(struct emit *e, int base, int off);
/* Reports what the kernel's handlers cannot do on this kernel; since: the first
 * one that can. */
void emit_lacking(struct emit *e, const char *what, const char *since);
/* Is the instruction's global under a lock that this handler holds here? */
bool emit_locked(const struct emit *e);
/* The loc of the instruction, for messages. */
uint32_t emit_loc(struct emit *e);

#endif
