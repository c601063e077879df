/* SPDX-License-Identifier: MIT */
/* Inside the machine: its state, and what helpers may do with it. Only files of
 * vm/ include this. */
#ifndef VM_MACHINE_H
#define VM_MACHINE_H

#include <sched.h>

#include "vm/vm.h"

enum {
	VM_STACK = 64 << 20, /* address space; pages come as they are used */
	VM_FRAME = 512,      /* of code that does not say */
	VM_MAX_REGIONS = 40,
	VM_MAX_LOOPS = 8,    /* nested bpf_loop callbacks */
	VM_MAX_CHAIN = 32,   /* callers kept for a message */
	VM_MAX_RESERVED = 8, /* ring records reserved at one time */
};

/* Values that stand for things a program may pass but not follow. */
#define VM_MAP_TAG 0x4d41500000000000ull  /* a map: low 32 bits, STORE_BANK()  \
					   */
#define VM_FUNC_TAG 0x464e430000000000ull /* a callback: instruction */
#define VM_TAG_MASK 0xffffff0000000000ull

/*
 * Memory a program may touch: [base, base + size) is at host. base is the
 * program's number for it; host is where it really is: they differ for the
 * memory of a simulated event.
 */
struct region {
	uint64_t base, size;
	uint8_t *host;
	bool writable;
};

/* A decoded instruction; ld_imm64 keeps both its slots. */
struct op {
	uint8_t code, dst, src, sub; /* sub: width of END, kind of ATOMIC... */
	int32_t off;                 /* bytes, or jump distance */
	int64_t imm;
};

/*
 * A linked code. Linked once per code, owned by vm->images; n ops, as many as
 * instructions.
 */
struct image {
	const struct code *code; /* NULL: bare instructions */
	struct op *ops;
	uint32_t n;
};

/* The pending error, or the last one. */
struct vm_error {
	bool pending;
	char *text; /* MAXSTRINGLEN bytes */
	uint32_t loc; /* place in ir->locs; UINT32_MAX: none */
	const struct span *at; /* instead of loc, where a helper has no loc */
	unsigned nchain;
	uint32_t chain[VM_MAX_CHAIN]; /* locs of the calls, innermost first */
};

enum vm_halt {
	HALT_NO,
	HALT_FAULT,  /* a bug in the program */
	HALT_UNWIND, /* an uncatchable error: the handler is over */
};

/* Bytes of a record, from malloc: being written, or waiting in vm->queue. */
struct vm_reserved {
	uint8_t *bytes;
	uint32_t n;
};

/* An open iteration; vm/host_iter.c. */
struct vm_iter;

/* The handler's last regular expression that matched, and what it matched. */
struct vm_match {
	const struct regex *re; /* NULL: none yet */
	char *text;
	size_t n, cap;
};

/* The handler's tokenize(). */
struct vm_tokens {
	char *text;
	size_t pos, n;
};

/* The whole state. Between runs only what is not under "this run" matters. */
struct vm {
	struct compile *c;
	struct gen *g;
	struct store *s;
	struct vm_hooks hooks;
	struct image **images; /* by ir function */
	unsigned nimages;

	/* memory */
	uint8_t *stack;
	uint64_t stack_lo, stack_size; /* what the program may touch */
	/*
	 * The region hit last (size 0: none), and all of them; the first nfixed
	 * are there in every run.
	 */
	struct region last, region[VM_MAX_REGIONS];
	unsigned nregions, nfixed;

	/* this run */
	const struct probe *probe; /* whose handler runs */
	const struct record_ctx *ctx; /* resumed */
	size_t ctx_size; /* bytes of ctx */
	const struct vm_event *event; /* simulated */
	bool in_kernel;               /* kernel code: simulated helpers */
	bool running; /* a run inside a run is a bug */
	bool drained; /* vm_drain() was called in this run */
	enum vm_halt halt;
	int result; /* 0, or 1: an error was printed */
	struct vm_error err;
	/* statements run, and allowed (MAXACTION) */
	int64_t actions, max_actions;
	/* MAXNESTING; entries of calls */
	unsigned max_nesting, ncalls, calls_cap;
	uint32_t *calls;    /* locs of the script calls in progress */
	uint32_t held;      /* lock groups */
	bool frozen;        /* of those: released, this handler has copies */
	uint64_t emptied;   /* LOCK_EMPTIES: arrays emptied when copied */
	bool skipped;       /* a lock could not be had */
	/* While it holds some: is the process kept on a CPU, ahead of others,
	 * and what it was like before. */
	bool stays, first;
	unsigned cpu; /* kept on, while stays */
	cpu_set_t cpus;
	int policy;
	struct sched_param param;
	uint64_t max_steps; /* of a run; 0: as the kind of run says */
	/* instructions left in this run; run so far, over all */
	uint64_t budget, steps;
	int64_t tick_ns; /* 1e9 / HZ */
	unsigned loops; /* depth of bpf_loop callbacks */
	struct image *current; /* whose helper call is being answered */
	struct vm_iter **iters; /* open ones by handle - 1; NULL: free */
	unsigned niters;
	struct vm_match match;
	struct symbol_book *symbols; /* NULL: not asked for yet */
	struct vm_tokens tokens;
	/* free where bytes is NULL */
	struct vm_reserved reserved[VM_MAX_RESERVED];
	struct vm_reserved *queue; /* records to hand over after the run */
	unsigned nqueue, queue_cap;

	struct text text;      /* scratch of the printing helpers */
	uint64_t zero_ctx[16]; /* what a host probe's r1 points to */
	uint64_t rng[2]; /* xorshift128+ */
	bool seeded; /* rng was set; else by the first use */
	bool *warned_full;    /* by global */
	uint8_t *warned_stat; /* by global: STAT_WARN_* bits */
	char fault[256]; /* vm_fault()'s text */
};

/* --- memory --------------------------------------------------------------- */

/* The slow way to n bytes at addr; NULL: no such memory (no fault raised). */
uint8_t *mem_find(struct vm *vm, uint64_t addr, uint64_t n, bool write);
/* n bytes at addr. NULL after vm_failed(). */
uint8_t *mem_at(struct vm *vm, uint64_t addr, uint64_t n, bool write);
/* A NUL-terminated string at addr; at most max bytes are looked at. "" after a
 * fault. *ret_n: its length. */
const char *mem_str(struct vm *vm, uint64_t addr, size_t max, size_t *ret_n);
/* Writes a string to dst, cut to width - 1, padded with zeros. */
void mem_put_str(struct vm *vm, uint64_t dst, uint64_t width, const char *s,
		 size_t n);
/*
 * Memory the program may touch; base: its address there. More than
 * VM_MAX_REGIONS are left out.
 */
void mem_region(struct vm *vm, uint64_t base, const void *host, uint64_t size,
		bool writable);
/* Areas of the store; what a run adds goes behind nfixed. */
void mem_setup(struct vm *vm);
/*
 * Reads what a script's address points to: the event's memory, the process that
 * hit the probe, or tally itself. 0 or -EFAULT.
 */
int mem_read_target(struct vm *vm, uint64_t addr, void *dst, size_t n,
		    int user);
/* Likewise a string of at most n bytes (NUL not counted); dst has n + 1. Its
 * length, or -EFAULT. */
int64_t mem_read_target_str(struct vm *vm, uint64_t addr, char *dst, size_t n,
			    int user);

/* --- running -------------------------------------------------------------- */

/*
 * Links code; NULL after vm_failed(). Linked on first use; the machine owns the
 * image.
 */
struct image *image_of(struct vm *vm, const struct code *code);
struct image *image_of_func(struct vm *vm, uint32_t func);
struct image *image_bare(struct vm *vm, const struct bpf_insn *insns,
			 uint32_t n);
/* Of image_bare() only. */
void image_free(struct image *img);
/*
 * Runs from pc with r1..r4. 0 with *ret_r0, or -1 when vm->halt is set. frame:
 * where r10 points.
 */
int exec_run(struct vm *vm, struct image *img, uint32_t pc,
	     const uint64_t args[4], uint64_t frame, uint64_t *ret_r0);
/* The program is wrong: stops the machine. Returns 0. */
uint64_t vm_failed(struct vm *vm, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* --- helpers -------------------------------------------------------------- */

/* a: r1..r5. */
typedef uint64_t vm_helper(struct vm *vm, const uint64_t *a);
/* NULL: no such helper. */
vm_helper *host_helper_at(int64_t id);
vm_helper *sim_helper_at(int64_t id);
/* May host code call it too? */
bool sim_on_host(int64_t id);

/* Sets the pending error (catchable); returns 0. */
uint64_t vm_raise(struct vm *vm, uint64_t loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* An error no script can catch: the handler is over when the helper returns.
 * quiet: no message. */
uint64_t vm_raise_final(struct vm *vm, uint64_t loc, bool quiet,
			const char *text);
/* Counts and prints the pending error, clears it. */
void vm_uncaught(struct vm *vm);
void vm_warn(struct vm *vm, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Who the handler is, at this moment. */
void vm_whoami(struct vm *vm, struct vm_who *ret);
/* All aggregates as of now: once per handler run. */
void vm_drain(struct vm *vm);
/* Samples that found an array full are worth one warning per array. */
void vm_warn_full(struct vm *vm, unsigned g);
/* The global, its plan checked; NULL after vm_failed(). */
const struct plan_global *vm_global(struct vm *vm, uint64_t g);
int64_t vm_limit(const struct vm *vm, enum limit l);
uint64_t vm_random(struct vm *vm);
/* At the end of a handler: open iterations, held locks (by bit). */
void iters_free(struct vm *vm);
void locks_release(struct vm *vm, uint32_t mask);

/* One built-in: args as words, a string result to dst (width bytes). */
struct builtin_call {
	uint64_t args; /* address of the words */
	uint64_t dst, width, loc;
};
/* Its number, or 0 with the string at dst, or with an error pending. */
uint64_t builtin_run(struct vm *vm, enum builtin_id id,
		     const struct builtin_call *b);
/* Argument i: a number; a string. */
int64_t barg_num(struct vm *vm, const struct builtin_call *b, unsigned i);
const char *barg_str(struct vm *vm, const struct builtin_call *b, unsigned i,
		     size_t *ret_n);
/* The result: s cut to b->width - 1 bytes, zero-padded. */
uint64_t bret_str(struct vm *vm, const struct builtin_call *b, const char *s,
		  size_t n);
/* Groups of built-ins: true when id is theirs, with *ret. */
bool builtin_string(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret);
bool builtin_time(struct vm *vm, enum builtin_id id,
		  const struct builtin_call *b, uint64_t *ret);
bool builtin_float(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret);
bool builtin_names(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret);
bool builtin_match(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret);
bool builtin_who(struct vm *vm, enum builtin_id id,
		 const struct builtin_call *b, uint64_t *ret);
/* Reads the kernel's symbols when the script asks for any: later it would hold
 * up events. */
void symbols_prepare(struct vm *vm);
bool builtin_symbol(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret);
bool builtin_memory(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret);

#endif
