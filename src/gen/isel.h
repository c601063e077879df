/* SPDX-License-Identifier: MIT */
/*
 * Lowering, one file per group of operations. Each function compiles
 * e->ins; see gen/emit.h for the rules.
 */
#ifndef GEN_ISEL_H
#define GEN_ISEL_H

#include "gen/emit.h"

/* Kernel helpers by number (the kernel's ABI, linux/bpf.h). */
enum kernel_helper {
	KH_MAP_LOOKUP = 1,
	KH_MAP_UPDATE = 2,
	KH_MAP_DELETE = 3,
	KH_KTIME = 5,
	KH_PRANDOM = 7,
	KH_CPU = 8,
	KH_PID_TGID = 14,
	KH_UID_GID = 15,
	KH_COMM = 16,
	KH_PERF_READ = 55,
	KH_TASK = 35,
	KH_GET_STACK = 67,
	KH_READ_USER = 112,
	KH_READ_KERNEL = 113,
	KH_READ_USER_STR = 114,
	KH_READ_KERNEL_STR = 115,
	KH_JIFFIES = 118,
	KH_RING_RESERVE = 131,
	KH_RING_SUBMIT = 132,
	KH_RING_DISCARD = 133,
	KH_RING_QUERY = 134,
	KH_FOR_EACH = 164,
	KH_SNPRINTF = 165,
	KH_TASK_BTF = 158,
	KH_LOOP = 181,
	KH_LOOKUP_PERCPU = 195,
};

/* isel.c: any operation. */
void isel_ins(struct emit *e);
/* isel_num.c */
void isel_num(struct emit *e);
/* The jump that is taken when the comparison holds. */
int isel_jump_of(enum ir_op op);
/* isel_str.c */
void isel_str(struct emit *e);
/* The string result = n zero-padded bytes at src (not r4, r5). */
void isel_copy_to_dst(struct emit *e, int src, uint32_t n);
/* isel_ctl.c: branches, ends, LOOP, ACT, RESUME, RAISE, EXIT */
void isel_ctl(struct emit *e);
enum {
	LOOP_MAX = 1 << 23, /* the kernel's limit of bpf_loop */
	BODY_LEAVES = 0x7fffffff, /* exit of a body that ends the handler */
};
/* Leaves a loop body, and its loop, by exit r0. */
void ctl_body_exit(struct emit *e);
/* isel_turns.c */
void isel_loop(struct emit *e);
/* Calls the body at label, of ir function func, until it returns 1, at most
 * `most` times, with register ctx as its context; TURNS_ROOT: the handler's
 * frame. turns_off: a word of this frame, where the loop is a jump back.
 * Clobbers r0 to r5. */
enum { TURNS_ROOT = -1 };
void turns_run(struct emit *e, unsigned label, uint32_t func, int ctx,
	      int turns_off);
/* The register in which such a body gets its context. */
int turns_context(const struct emit *e);
/* Requests the end of the session from the kernel. */
void isel_exit(struct emit *e);
/* isel_glob.c: scalar globals */
void isel_glob(struct emit *e);
/* isel_array.c: plain arrays in the kernel */
void isel_array(struct emit *e);
/* isel_key.c: lays out operands from first_arg on as the global's key in a
 * temporary, whose handle is returned. wild: bit per key without operand. */
uint32_t isel_key(struct emit *e, unsigned first_arg, uint32_t wild);
/* isel_agg.c: aggregates in the kernel */
void isel_agg(struct emit *e);
/* A key that helpers are to read: a temporary, or in memory at the saved
 * pointer + off. */
struct key_at {
	bool saved;
	uint32_t tmp;
	uint32_t off;
};
/* r0 = the value of the element of the active bank of map, found or made of
 * zeroes; goes to `none` when there is no room. t: 8 bytes. */
void agg_find_or_make(struct emit *e, uint32_t map, struct key_at key,
		      uint32_t t, unsigned none);
/* The CPU's number decides which shard it feeds: kept in t, 8 bytes. */
void agg_note_shard(struct emit *e, uint32_t t);
/* r5 = the cell to feed of the element at r0: of this bank and shard. */
void agg_pick_cell(struct emit *e, uint32_t t);
/* r5 = the array's "other" cell, for one sample or, saved, for those of the
 * cell at the saved pointer; they are counted as map_full. */
void agg_other_cell(struct emit *e, bool saved);
/* isel_hot.c: <<< of a program that has hot entries for the array (plan.h) */
bool hot_has(const struct emit *e);
void isel_hot(struct emit *e);
/* isel_live.c: SGET, HGET, AHAS, ADEL of aggregates in live mode */
void isel_live(struct emit *e);
/*
 * isel_cell.c: adds the instruction's last operand to the cell at base + off. A
 * light cell needs r0 to r2 only. base is r5, or a register that lowering does
 * not use; for a light cell also r0. atomic: others may write the cell at the
 * same time, so each word is added to by one atomic instruction.
 */
struct cell_at {
	const struct cell *cell;
	int base;
	uint32_t off;
	bool atomic;
};
bool cell_is_light(const struct cell *l);
/* r2 = the bucket of the quantile grid that v belongs to. Clobbers r0 to r4. */
void cell_emit_grid_number(struct emit *e, const struct ir_val *v);
void cell_emit(struct emit *e, struct cell_at at, const struct ir_val *v);
/* Adds the cell at register r1, which only this program writes, to that at
 * base + off. Both of words: no buckets. Clobbers r0 to r4 but r1. */
void cell_emit_merge(struct emit *e, struct cell_at at);
/* isel_ctx.c: the probe's context */
void isel_ctx(struct emit *e);
/* isel_call.c: built-in functions in the kernel */
void isel_builtin(struct emit *e);
/* isel_task.c: built-ins about tasks and registers; false: not one of them */
bool isel_task(struct emit *e);
/* isel_stack.c: stacks; likewise */
bool isel_stack(struct emit *e);
/* isel_perf.c: perf counters; likewise */
bool isel_perf(struct emit *e);
/* isel_text.c: built-ins about strings and memory */
void isel_text(struct emit *e);
/* False: only the host can call this built-in with these operands. */
bool text_can(const struct ir_func *f, const struct ir_ins *i);
/* r0 = length of string v, 0 to width - 1. */
void isel_length(struct emit *e, const struct ir_val *v);
/* isel_print.c */
void isel_print(struct emit *e);
/* Reserves a ring record of payload bytes and fills its header; r0 is the
 * record. On failure ring_full is counted and control goes to *ret_full, which
 * the caller binds. */
void isel_reserve(struct emit *e, uint16_t kind, uint32_t id, uint32_t payload,
		  unsigned *ret_full);
/* Submits the record in r1. */
void isel_submit(struct emit *e, bool wake);
/* isel_sprint.c: in the kernel */
bool sprint_can(const struct ir_fmt *f);
void isel_sprint(struct emit *e);
/* isel_digits.c */
enum {
	DIGITS_SIZE = 32, /* 22 octal digits, NUL */
	DIGITS_END = 30,  /* where they end: stores to the stack are aligned */
};
void isel_digits(struct emit *e, enum digits_kind k);
/* isel_lock.c */
void isel_lock(struct emit *e);
void isel_slow_lock(struct emit *e);
void isel_slow_lock_body(struct emit *e);
/* False: nobody waits for locks (-DMAXTRYLOCK=0), the body is not called. */
bool isel_lock_spins(const struct emit *e);
/* isel_evict.c */
/* Label of the code that takes the oldest element out of a map. */
unsigned isel_evict_label(struct emit *e, uint32_t map);
void isel_evict(struct emit *e, const struct evict *ev);
void isel_evict_oldest(struct emit *e);
void isel_evict_drop(struct emit *e);
/* isel_match.c */
void isel_match(struct emit *e);
/* isel_host.c: what the host answers with its own helpers */
void isel_host(struct emit *e);
/* prologue.c */
void prologue_emit(struct emit *e);
void prologue_tail(struct emit *e);
/* r1 = this CPU's row. Clobbers all that calls do. */
void prologue_row(struct emit *e);
/* Adds 1 to a counter; r1 is the row. Clobbers r2, r3. */
void prologue_count(struct emit *e, uint32_t field);

#endif
