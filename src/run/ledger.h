/* SPDX-License-Identifier: MIT */
/*
 * What became of each hit of each kernel probe. Nothing is lost in silence:
 * hits = handled + lock_skips + nest_skips; the kernel's own count of entries
 * it skipped comes on top. Events after the end are in `stopped`, not in hits.
 */
#ifndef RUN_LEDGER_H
#define RUN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/plan.h"
#include "probe/probe.h"

struct session;

/* One probe's counts, as read at one moment. */
struct ledger_row {
	const struct probe *probe;
	struct probe_counts n;	/* summed over the CPUs */
	uint64_t handled;	/* handlers that ran to an end or an error */
	uint64_t entered;	/* hits, and those after the end */
	uint64_t misses;	/* entries that the kernel itself skipped */
	uint64_t late_cpus;	/* CPUs that came, and were not seen at once */
	uint64_t run_cnt;	/* when the kernel keeps BPF statistics */
	struct probe_times t;	/* of all CPUs; -t */
};

/* Fills a row; programs must be loaded still. */
void ledger_read(struct session *s, const struct probe *p,
		 struct ledger_row *ret);
/* At the end: what was lost, on stderr; all rows with -t or -v. With --strict
 * a loss is the exit status. */
void ledger_report(struct session *s);

#endif
