/* SPDX-License-Identifier: MIT */
/* Attaching to places in user programs: functions and static probes. */
#ifndef PROBE_UPROBE_H
#define PROBE_UPROBE_H

#include "probe/family.h"

/* What the kernel can do; shared by the probes of one point. */
struct uprobe_how {
	bool known, multi;
};

/* struct probe.data of a uprobe. */
struct uprobe {
	const char *path;    /* file to open, maybe below /proc/PID/root */
	uint64_t offset;     /* in the file */
	uint64_t semaphore;  /* in the file: counts users of a static probe */
	long pid;	     /* only in this process; 0: in all, -1: in the target */
	bool is_return;
	struct uprobe_how *how;
	const char *args;    /* a static probe's arguments, or NULL */
	const char *name;
};

int uprobe_attach(struct compile *c, struct probe *p, int prog_fd,
		  struct attach *ret, const char **ret_why);
int uprobe_load_opts(struct compile *c, struct probe *p,
		     struct load_opts *ret);

#endif
