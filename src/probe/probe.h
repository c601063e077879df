/* SPDX-License-Identifier: MIT */
/*
 * A probe point becomes probes; each probe belongs to a family. One file per
 * family behind this vtable; family.def lists the patterns each one answers.
 * This header stands left of sema in the layer rule; the families' .c files may
 * include anything but main.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "front/ast.h"
#include "types/access.h"

struct compile;
struct probe;
struct function;
struct load_opts;

/* Which machine runs the handler. */
enum place {
	PLACE_HOST,   /* our VM: begin, end, error, timer.s, procfs, ... */
	PLACE_KERNEL, /* a BPF program (or the VM, from an event file) */
	PLACE_NEVER,  /* compiled and checked, never run */
};

/* What the kernel program is; the numbers are the kernel's. */
enum prog_kind {
	PROG_NONE,
	PROG_RAW_TP,	 /* BPF_PROG_TYPE_RAW_TRACEPOINT: ctx = u64 args[] */
	PROG_TP_BTF,	 /* BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP */
	PROG_TRACEPOINT, /* BPF_PROG_TYPE_TRACEPOINT: ctx = the record */
	PROG_KPROBE,	 /* BPF_PROG_TYPE_KPROBE: ctx = pt_regs; uprobes too */
	/* BPF_PROG_TYPE_TRACING: ctx = u64 args[] (, ret) */
	PROG_FENTRY, PROG_FEXIT,
	PROG_PERF_EVENT, /* BPF_PROG_TYPE_PERF_EVENT: ctx = pt_regs, ... */
};

/* May the same program run on top of itself on one CPU? (design: aggregates) */
enum guard {
	/* Never: all but user-space probes. Data of one CPU is safe. */
	GUARD_SELF,
	/* Uprobe, USDT: another task of the same CPU can come between. */
	GUARD_PREEMPTIBLE,
};

/* When a host probe runs. */
enum host_when {
	WHEN_BEGIN, WHEN_END, WHEN_ERROR, WHEN_TIMER, WHEN_NEVER,
	WHEN_FILE,	   /* somebody opens or writes probe.file */
	WHEN_CHAR, WHEN_LINE, /* of tally's standard input */
};

/* A file that tally makes: its reader gets what the handler put into $value,
 * what is written to it is $value there. The name was checked: it leads to no
 * place outside of the directory. */
struct host_file {
	const char *name;  /* below the session's directory */
	bool write;
	unsigned umask; /* of the pipe's mode, as umask(2) */
	uint32_t max;	   /* bytes of $value */
};
/* $value in a handler, if there is one. */
enum value_use { VALUE_NONE, VALUE_SET, VALUE_GIVEN };

struct host_timer {
	int64_t period_ns;
	int64_t randomize_ns; /* each period is period_ns +- this */
};

/* One handler on one resolved place. Made by families, completed by sema. */
struct probe {
	unsigned index;		    /* in program.probes, order of running */
	const struct family *family;
	const char *pp;		    /* resolved point, as pp() gives it */
	const char *pn;		    /* as written (alias), as pn() gives it */
	struct point *written;	    /* the point it came from */
	struct span span;	    /* of the written point */
	enum place place;
	enum prog_kind prog;
	enum guard guard;
	bool is_return;
	/*
	 * At a copy of a function that was inlined into its caller: arguments
	 * are in no agreed place.
	 */
	bool is_inlined;
	/* Restricted to what the command of -c starts: when that is a shell's
	 * line, no single process is meant. */
	bool in_target;
	bool is_entry; /* made for @entry of a return, whose pn it has */
	/* host probes */
	enum host_when when;
	int64_t sequence;	    /* begin(N), ...: order among its kind */
	struct host_timer timer;
	struct host_file file;
	enum value_use value;
	/* A timer whose handler runs in the kernel, started by the host: there
	 * nothing comes between while it holds a lock. */
	bool kicked;
	/*
	 * families' own: what attach needs, what target() looks at (struct
	 * kprobe, struct uprobe, ...; arena)
	 */
	void *data;
	/* sema */
	struct node *body;	    /* clone, resolved, typed, with prologues */
	struct node *cond;	    /* all `if` conditions and-ed, or NULL */
	VEC(struct var *) locals;
	const char *derivation;	    /* "timer.s(1),timer.ms(5)": as written */
	bool elided; /* sema found that the handler does nothing: not loaded */
	/* Name of the perf counter that the point declares, or NULL. */
	const char *counter;
	/*
	 * Where the count of a thread begins. One below 0 for context switches:
	 * the kernel counts the switch to a new thread when it is about to be
	 * switched, as the last thing of the thread before, which is after
	 * tracepoints have seen it.
	 */
	int32_t counter_from;
	/*
	 * Keeps what other handlers read: attached before them. Made by tally,
	 * for the sake of the point at span.
	 */
	bool goes_first;
};

typedef VEC(struct probe *) probe_list;

/* What a pattern of family.def matched. */
struct match {
	const struct point *point;
	const struct pattern *pattern;
	unsigned first;		/* index of the first component matched */
	/* argument of each matched component; missing ones NULL */
	const struct literal *arg[8];
	/*
	 * of arg and name: as many as the pattern has, whatever `**` stood for
	 */
	unsigned nargs;
	const char *name[8];	/* matched components, wildcards replaced */
	unsigned nparts;
	bool quiet;		/* optional: a refusal is not an error */
};

/* A name that can be used as $name, for -L, $$vars and "did you mean". */
struct ctx_name {
	const char *name; /* with the $ */
	const char *type; /* as -L prints it */
	bool is_param;
};
typedef VEC(struct ctx_name) ctx_names;
typedef VEC(const char *) name_list;

/* An event on one CPU, or of a thread on CPU_ANY. */
enum { CPU_ANY = 1 << 30 };
struct cpu_event {
	unsigned cpu;
	int fd;
};

/* All of these are closed to detach; -1: none. */
struct attach {
	/*
	 * A link goes with its descriptor, and so does a perf event's program:
	 * that is why closing is all there is to detaching, even when tally is
	 * killed.
	 */
	int link_fd;
	int aux_fd;	/* the perf event behind link_fd */
	VEC(struct cpu_event) on; /* instead of these: samplers', ... */
	/*
	 * due() of events that were closed: a CPU's end with it, and another
	 * one is opened when it comes back.
	 */
	uint64_t past;
};

struct family {
	const char *name;  /* "begin", "timer", "trace", "uprobe", ... */
	const char *type;  /* what probe_type() returns */
	/*
	 * Appends the probes that a matched point stands for (several for
	 * wildcards) with place, prog, guard, pp, data, ... set. Returns 0 or,
	 * having reported why, -1. A point that matches nothing returns 0 and
	 * appends nothing: sema reports it with names that are near.
	 */
	int (*expand)(struct compile *c, const struct match *m,
		      probe_list *out);
	/*
	 * Resolves a N_TARGET ($x and tails) in a handler of p: fills
	 * n->u.target.access, n->type, n->width. 0, or -1 having reported
	 * (nothing reported when quiet: @defined). NULL: no target variables.
	 */
	int (*target)(struct compile *c, struct probe *p, struct node *n,
		      bool quiet);
	/*
	 * What can be written as $name in p's handler: without members, and in
	 * the order that the function or tracepoint has them. NULL: nothing.
	 */
	void (*names)(struct compile *c, struct probe *p, ctx_names *out);
	/* Names near a point that matched no probe, best first. */
	void (*suggest)(struct compile *c, const struct match *m,
			name_list *out);
	/*
	 * Attaches the loaded program. Returns 0, or a negative errno with
	 * *ret_why telling what was refused and what would help (arena text).
	 * c->set.target_pid is the process of -x or of -c (already forked).
	 */
	int (*attach)(struct compile *c, struct probe *p, int prog_fd,
		      struct attach *ret, const char **ret_why);
	/*
	 * A CPU came online: opens what it needs there. The kernel has ended
	 * the events of before, if it was there then. 0, -ENODEV when it has
	 * gone again or does not matter, or as attach. NULL: what is attached
	 * hits on all CPUs.
	 */
	int (*attach_cpu)(struct compile *c, struct probe *p, int prog_fd,
			  unsigned cpu, struct attach *at,
			  const char **ret_why);
	/*
	 * How often the program should have been entered since it was attached,
	 * where the kernel counts events but not those that it did not deliver.
	 * Read before the program's own counters. NULL: nobody counts.
	 */
	uint64_t (*due)(const struct probe *p, const struct attach *at);
	/* For load: expected_attach_type, attach_btf_id, name. May be NULL. */
	int (*load_opts)(struct compile *c, struct probe *p,
			 struct load_opts *ret);
};

/* What BPF_PROG_LOAD has to know before there is anything to attach to. */
struct load_opts {
	uint32_t prog_type;	      /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type; /* 0: none */
	uint32_t attach_btf_id; /* BTF id of the function or tracepoint, or 0 */
	bool sleepable; /* may fault in user memory (BPF_F_SLEEPABLE) */
};

/* family.def: PATTERN(text, family, tag, documentation). */
struct pattern {
	const char *text;  /* "timer.s(NUMBER)", "kernel.trace(STRING)" */
	const struct family *family;
	int tag;	   /* the family's own number for this pattern */
	const char *doc;
};
extern const struct pattern probe_patterns[];
extern const unsigned probe_npatterns;

/*
 * Matches one written point (aliases already expanded) against all patterns
 * and expands it. Wildcards in component names are matched against pattern
 * components. Reports mismatches with the reference's texts ("probe point
 * mismatch (similar: ...)", "probe point truncated (follow: ...)") chained to
 * "while resolving probe point" unless the point is optional. Returns the
 * number of probes appended, or -1 having reported. aliases: dotted names that
 * could also start a point ("init", "syscall.open"), for the similar and follow
 * lists.
 */
int probe_resolve(struct compile *c, const struct point *pt,
		  const char *const *aliases, unsigned naliases,
		  bool quiet, probe_list *out);
/*
 * Target expressions that belong to no family; sema calls these. All fill
 * n->u.target.access (of the N_TARGET or N_ARROW; for & of n's operand),
 * n->type and n->width. 0, or -1 having reported why (nothing when quiet).
 *
 * probe_cast: @cast(p, "type"[, "module"])->f, @var("name"[, "module"])->f; p
 * is the probe that they stand in, or NULL.
 * probe_var: @var of the kernel; probe_var_address: n is the & of it, which has
 * not been resolved: that needs no type.
 * probe_arrow: value->f, where type is what is known of the value's pointer:
 * struct var.ctype, or access.type of a target.
 * probe_address: n is an N_ADDRESS whose operand has been resolved.
 */
int probe_cast(struct compile *c, struct probe *p, struct node *n, bool quiet);
int probe_var(struct compile *c, struct node *n, bool quiet);
int probe_var_address(struct compile *c, struct node *n, bool quiet);
int probe_arrow(struct compile *c, struct node *n, const struct ctype *type,
		bool quiet);
int probe_address(struct compile *c, struct node *n, bool quiet);
/* The program or library that p stands in; NULL: none. */
const char *probe_program(const struct probe *p);
/*
 * The files that process("PATH") in pt means, to be opened from here. 0, or -1
 * having reported (nothing when quiet).
 */
int probe_programs(struct compile *c, const struct point *pt,
		   const struct literal *process, bool quiet, name_list *ret);
/* --dump-probe-types, docs: all patterns with their documentation. */
void probe_types_print(FILE *f);
/*
 * Glob over one component or name: * and ? . Case counts; the empty pattern
 * matches the empty name.
 */
bool probe_glob(const char *pattern, const char *name);

#endif
