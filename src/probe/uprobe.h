/* SPDX-License-Identifier: MIT */
/* Attaching to places in user programs: functions and static probes. */
#ifndef PROBE_UPROBE_H
#define PROBE_UPROBE_H

#include "probe/family.h"
#include "types/ctype.h"
#include "types/elf.h"

/*
 * What the kernel can do; shared by the probes of one point. A question that
 * costs system calls is asked once for each point, not for each of the hundreds
 * of functions that its wildcard found.
 */
struct uprobe_how {
	/* known: multi has been asked; multi: uprobe_multi links work */
	bool known, multi;
};

/* struct probe.data of a uprobe. */
struct uprobe {
	const char *path;    /* file to open, maybe below /proc/PID/root */
	uint64_t offset;     /* in the file */
	uint64_t addr;	     /* as linked; of returns: of the function */
	uint64_t scope;	     /* struct debug_place.scope, or 0 */
	uint64_t semaphore;  /* in the file: counts users of a static probe */
	long pid;	     /* in this process; 0: all, -1: the target */
	bool is_return;
	struct uprobe_how *how;
	const char *args;    /* a static probe's arguments, or NULL */
	const char *provider; /* of a static probe */
	const char *name; /* function, or static probe */
};

/* What a point says of its file, whichever pattern it came by. */
struct file_spec {
	const struct literal *process; /* NULL: the target */
	const struct literal *library;
	long pid;		/* as in struct uprobe */
	const char *root;	/* "/proc/PID/root", or NULL */
};

/*
 * Files that m names. 0, or what expand() is to return having refused. Paths
 * can be opened from here. May be empty: a glob that finds nothing is no error
 * by itself.
 */
int uprobe_files(struct compile *c, const struct match *m,
		 struct file_spec *ret_spec, name_vec *ret);
/*
 * Opens one of them; *ret_pid: what its probes are restricted to. NULL: refused
 * (*ret_rc: what expand() is to return), or passed over (0).
 */
struct elf_file *uprobe_open(struct compile *c, const struct match *m,
			     const struct file_spec *s, const char *path,
			     long *ret_pid, int *ret_rc);
/* The first of m's files, for suggestions: nothing is reported. NULL: none. */
struct elf_file *uprobe_open_first(struct compile *c, const struct match *m);
/*
 * The text of m's component, or NULL when it has none. Only for components
 * whose argument is a string.
 */
const char *uprobe_part(const struct match *m, const char *name);
/*
 * A probe at an offset of a file; pp and addr are still to be set. path must
 * live as long as c's arena.
 */
struct probe *uprobe_new(struct compile *c, const struct match *m,
			 const char *path, uint64_t offset, long pid,
			 struct uprobe_how *how);
/*
 * family.attach and family.load_opts of all probes in programs. load_opts asks
 * the kernel what it can do, attach relies on the answer.
 */
int uprobe_attach(struct compile *c, struct probe *p, int prog_fd,
		  struct attach *ret, const char **ret_why);
int uprobe_load_opts(struct compile *c, struct probe *p,
		     struct load_opts *ret);

#endif
