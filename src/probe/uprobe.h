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

/* One of the files of a point that is being expanded. */
struct uprobe_file {
	struct compile *c;
	const struct match *m;
	struct elf_file *elf; /* its path can be opened from here */
	long pid; /* what its probes are restricted to, as in struct uprobe */
	bool in_target; /* to all that the command of -c starts */
	struct uprobe_how *how; /* of its probes */
	probe_list *out;
};

/*
 * family.expand: calls `expand` for each file that m names, until it returns
 * other than 0. A glob that finds nothing is no error by itself.
 */
int uprobe_expand(struct compile *c, const struct match *m, probe_list *out,
		  int (*expand)(const struct uprobe_file *f));
/*
 * Adds a probe at an offset of a file to f->out; its pp, name and addr are
 * still to be set. The offset is in bytes.
 */
struct probe *uprobe_add(const struct uprobe_file *f, uint64_t offset);
/* The first of m's files, for suggestions: nothing is reported. NULL: none. */
struct elf_file *uprobe_open_first(struct compile *c, const struct match *m);
/*
 * The text of m's component, or NULL when it has none. Only for components
 * whose argument is a string.
 */
const char *uprobe_part(const struct match *m, const char *name);
/*
 * family.attach and family.load_opts of all probes in programs. load_opts asks
 * the kernel what it can do, attach relies on the answer.
 */
int uprobe_attach(struct compile *c, struct probe *p, int prog_fd,
		  struct attach *ret, const char **ret_why);
int uprobe_load_opts(struct compile *c, struct probe *p,
		     struct load_opts *ret);

#endif
