/* SPDX-License-Identifier: MIT */
/*
 * A run's results as data: the aggregates at the end, after the last drain,
 * with the ledger. What --snapshot writes and --format shows.
 */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "out/snapshot.h"

struct session;

/*
 * Drains; what it gives is in the arena of the compilation, but for the cells,
 * which are the store's. Call it when no handler runs any more and before
 * programs are unloaded.
 */
struct snapshot *result_take(struct session *s);
/* At the end: files and texts that the options ask for. */
void result_report(struct session *s);

#endif
