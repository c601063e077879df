/* SPDX-License-Identifier: MIT */
/* May the scheduler put a program aside that does not sleep? */
#ifndef RUN_PREEMPT_H
#define RUN_PREEMPT_H

#include <stdbool.h>

/* What is known of the running kernel; NULL: nothing. */
struct preempt_facts {
	const char *version; /* of uname */
	const char *mode;    /* debugfs sched/preempt: "none (full)" */
	const char *cmdline; /* of the kernel */
	char built;	     /* its configuration: 'n'one, 'v'oluntary, 0 */
};

/* May a handler of such a kernel be preempted? Where nothing tells: yes. */
bool preempt_may(const struct preempt_facts *f);
/* Of this kernel. Takes a millisecond or two where only the configuration
 * tells. */
bool preempt_here(void);

#endif
