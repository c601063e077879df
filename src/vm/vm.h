/* SPDX-License-Identifier: MIT */
/*
 * The user-space machine: runs gen's eBPF with every load and store checked
 * against the regions it was given, so a wrong program is an error, never a
 * crash. Host helpers live in vm/host_*.c, the kernel helpers that generated
 * kernel code calls are simulated in vm/sim_*.c.
 */
#ifndef VM_VM_H
#define VM_VM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gen/code.h"
#include "out/format.h"
#include "store/store.h"

struct vm;

/* Who a handler thinks it is: tally itself, a resumed record, or a simulated
 * event. */
struct vm_who {
	uint32_t pid, tid, ppid, pgrp, sid, uid, euid, gid, egid, cpu;
	char comm[16], pcomm[16];
	int64_t wall_ns, mono_ns; /* ns */
	bool user_mode;
};

/*
 * What the session does for handlers. ctx is passed back to each; any may be
 * NULL.
 */
struct vm_hooks {
	void *ctx;
	/* Text of print, in order. */
	void (*out)(void *ctx, const char *s, size_t n);
	/* exit() or abort(). */
	void (*exit)(void *ctx);
	/* An uncaught error of probe p; text is the whole message without
	 * "ERROR: ". */
	void (*error)(void *ctx, const struct probe *p, const char *text);
	/* What is printed as a warning, without newline. */
	void (*warn)(void *ctx, const char *text);
	/* A probe that gave up a lock. */
	void (*skip)(void *ctx, const struct probe *p);
	/* Current time and identity; fake ones under --runtime=vm. */
	void (*who)(void *ctx, struct vm_who *ret);
	/* A record that simulated kernel code sent to the ring; called when its
	 * handler is over, so it may call vm_resume(). */
	void (*record)(void *ctx, const struct record *r, size_t n);
	/* target(): the process of -c or -x, or 0. */
	int64_t (*target)(void *ctx);
	/*
	 * n bytes at a kernel address: 0, or -EFAULT. The task_struct of the
	 * process that runs host handlers: its address, 0: not known.
	 */
	int (*read_kernel)(void *ctx, uint64_t addr, void *dst, size_t n);
	uint64_t (*task)(void *ctx);
	/* system(): a shell command; switch_file(). NULL: nothing happens. */
	void (*command)(void *ctx, const char *cmd);
	void (*switch_file)(void *ctx);
	/* A line for the kernel's log, of a level from 0 to 7, or (-1) for its
	 * trace. NULL: nothing happens. */
	void (*kernel_line)(void *ctx, int level, const char *text);
	/* $value: its text; set or append to it. */
	const char *(*value)(void *ctx, size_t *ret_n);
	void (*set_value)(void *ctx, const char *s, size_t n, bool append);
	/*
	 * Should the handler that runs stop now? Asked every few million
	 * instructions, so that ^C ends an endless loop. NULL: never.
	 */
	bool (*interrupted)(void *ctx);
};

/* Nothing is run yet. c, g and s must outlive it; h is copied. */
struct vm *vm_new(struct compile *c, struct gen *g, struct store *s,
		  const struct vm_hooks *h);
/* NULL is accepted; not while a handler runs. */
void vm_free(struct vm *vm);
/* Runs a host probe's handler. 0; 1: it failed (reported through hooks);
 * -1: the machine found a bug in the program: *vm_fault() says what. */
int vm_run_probe(struct vm *vm, const struct code *code);
/*
 * Continues a kernel handler: n bytes of payload that RESUME sent. Results as
 * of vm_run_probe().
 */
int vm_resume(struct vm *vm, const struct probe *p, unsigned point,
	      const struct record_ctx *ctx, size_t n);
/*
 * Runs a kernel handler on a simulated event: ctx is what r1 points to. All of
 * it belongs to the caller, for the length of the run.
 */
struct vm_event {
	struct vm_who who;
	const void *ctx;
	size_t ctx_size;
	/* memory that probe_read may see */
	struct {
		uint64_t addr;
		const void *bytes;
		size_t n;
	} mem[16];
	unsigned nmem;
	/* addresses of the kernel's and the user's stack, innermost first */
	const uint64_t *stack, *ustack;
	unsigned nstack, nustack;
	/* what perf counters are at, by name; those not named are at 0 */
	struct vm_counter {
		const char *name;
		uint64_t value;
	} counter[16];
	unsigned ncounters;
};
/* As vm_run_probe(); records go to the hook when the handler is over. */
int vm_run_kernel(struct vm *vm, const struct code *code,
		  const struct vm_event *e);
/*
 * Copies n bytes at addr of the event's memory. false: e is NULL, or one piece
 * does not have them all.
 */
bool vm_event_memory(const struct vm_event *e, uint64_t addr, void *dst,
		     size_t n);
/*
 * Appends where an error happened: " near TOKEN at FILE:LINE:COL", then
 * " (called from ...)" for each call that was inlined there. loc: in ir->locs;
 * nothing is added for one that is not.
 */
void vm_place_text(struct text *t, const struct ir *ir, uint32_t loc);
/* The bug that the last -1 stands for; "" when there was none. */
const char *vm_fault(const struct vm *vm);
/* Instructions executed so far: for bench and -v. */
uint64_t vm_steps(const struct vm *vm);
/* Instructions that one run may execute; 0: no limit for host probes (MAXACTION
 * bounds those), 2^32 for kernel handlers. */
void vm_set_budget(struct vm *vm, uint64_t insns);
/* Deterministic random numbers (tests). */
void vm_seed(struct vm *vm, uint64_t seed);

/*
 * Lower level, for tests and fuzzers: bare instructions with r1 = ctx. 0 with
 * r0, or -1 and vm_fault().
 */
int vm_run_insns(struct vm *vm, const struct bpf_insn *insns, uint32_t n,
		 void *ctx, size_t ctx_size, uint64_t *ret_r0);

#endif
