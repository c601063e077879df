/* SPDX-License-Identifier: MIT */
/*
 * What gen makes of an ir function: eBPF instructions that either machine runs.
 *
 * Conventions
 *   kernel  entry: r1 = context. Helpers have the kernel's numbers. Addresses
 *           of map areas are relocations, resolved at load
 *           (BPF_PSEUDO_MAP_VALUE).
 *   host    entry of a probe: r1 = struct vm_ctx *. Host helpers are numbered
 *           from HOST_FIRST (gen/host.def). r10-relative frame of up to 32 KiB
 *           (code.frame). Functions are called by BPF pseudo-calls with r1 =
 *           the address of an argument block of 8-byte words (strings: address
 *           of width bytes); a number result is in r0, a string result is
 *           written to the address in r2; r0 of a call that can fail is the
 *           result and the failure is asked with HOST_FAILED.
 *   The VM runs kernel code too, with simulated helpers and context.
 */
#ifndef GEN_CODE_H
#define GEN_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/bpf.h>

#include "base/vec.h"
#include "ir/ir.h"
#include "ir/plan.h"

enum { HOST_FIRST = 0x10000 };
/*
 * What host code can ask of the host; their arguments and results are in
 * gen/host.def.
 */
enum host_helper {
	HOST_BASE = HOST_FIRST - 1,
#define HOST(id, name, args, doc) HOST_##id,
#include "gen/host.def"
#undef HOST
	HOST_END
};

enum reloc_kind {
	RELOC_MAP,   /* ld_imm64: fd of map `map` */
	RELOC_VALUE, /* ld_imm64: address of element 0 of map `map`, plus off */
	RELOC_FUNC,  /* ld_imm64 or call: ir function `func` (subprogram) */
	/* r0 = 0, or where the kernel has it a call of its function `func`
	 * (enum kfunc) without arguments; clobbers r0 to r5 */
	RELOC_KFUNC,
	/* ld_imm64: offset of comm in task_struct where programs may load from
	 * it (run/comm.h), or 0 */
	RELOC_COMM,
	/* dst = how many rounds a loop may have, which is there already; the
	 * loader lowers it until the kernel takes the program */
	RELOC_TURNS,
};
enum { TURNS_MOST = 1024 }; /* of RELOC_TURNS */
enum kfunc { KF_PREEMPT_DISABLE, KF_PREEMPT_ENABLE };
struct reloc {
	uint32_t insn; /* of the first of its two words */
	enum reloc_kind kind;
	uint32_t map, off;
	uint32_t func; /* index in ir.funcs, or enum kfunc */
};

/*
 * The kernel verifies subprograms one by one and shows their names; each has a
 * frame of its own, of which 512 bytes may be stacked up.
 */
struct subprog {
	uint32_t start;	  /* instruction */
	uint32_t frame;	  /* bytes of stack */
	const char *name;
	uint32_t func;	  /* index in ir.funcs */
	/*
	 * Takes so many numbers and nothing else: it can be checked once, for
	 * all calls, where the kernel lets global functions be called. memory:
	 * the first one is the address of so many bytes, or 0: a number, too.
	 */
	unsigned nparams;
	uint32_t memory;
};

/* One loadable unit: a kernel probe with its loop bodies, or one host probe or
 * function. */
struct code {
	const struct ir_func *fn;
	struct bpf_insn *insns;
	uint32_t ninsns; /* two-word instructions count as two */
	uint32_t *loc;	      /* per instruction: in ir.locs; UINT32_MAX none */
	VEC(struct reloc) relocs;
	VEC(struct subprog) subprogs; /* [0] is the entry */
	VEC(uint32_t) resume; /* host: entry instruction of each resume point */
	uint32_t frame;	      /* deepest stack in bytes */
	/* a scratch slot of the row; this CPU's row */
	bool needs_scratch, needs_row;
	uint32_t sends;	      /* kernel: bits of enum record_kind */
	const char *limit;    /* NULL, or what is exceeded, already reported */
};

struct bodies;

struct gen {
	struct compile *c;
	struct ir *ir;
	struct plan *plan;
	VEC(struct code *) codes; /* by ir_func.index; NULL for loop bodies */
	/* While it runs, by ir_func.index: a handler's loop bodies, and the
	 * labels of the one that is compiled and of its bodies. */
	struct bodies *bodies;
	unsigned *labels;
	/* Kernel handlers ask for pid() or tid(); for target() or stp_pid(). */
	bool reads_pid, reads_target;
};

/*
 * Frames of the kernel's stack that are not the probed code's: a program that
 * is called through a tracepoint or a trampoline sees itself and its caller
 * first. With pt_regs the walk starts where those say. In entries, as
 * bpf_get_stack() skips them.
 */
unsigned gen_own_frames(enum prog_kind k);
/*
 * False: the instruction can only be done on the host. For ir.kernel_can.
 */
bool gen_kernel_can(const struct ir_func *f, const struct ir_ins *i);
/* Compiles all functions. Limits that are exceeded are reported on the script's
 * line (stack, instructions). */
struct gen *gen_run(struct compile *c, struct ir *ir, struct plan *plan);
/* --dump=bpf: instructions interleaved with script lines. */
void gen_dump(const struct gen *g, const struct code *code, FILE *f);
/* One instruction as text, without newline. */
void disasm(const struct bpf_insn *insn, char *buf, size_t n);
/*
 * BTF with a FUNC per subprogram and line info, for BPF_PROG_LOAD. Returns NULL
 * when the code has no places. Sizes in bytes; memory from the arena.
 */
struct code_btf {
	void *btf;
	uint32_t btf_size;
	void *func_info, *line_info;
	uint32_t nfuncs, nlines;
};
/*
 * NULL: no places to tell of and no subprograms: the code loads without it. In
 * c's arena. once: subprograms with nparams are global, which the kernel checks
 * once; else they are checked at each call.
 */
struct code_btf *gen_btf(struct compile *c, const struct gen *g,
			 const struct code *code, bool once);

#endif
