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
 * Before anything runs: 0, or a negative errno when the snapshot could not be
 * written at the end as things are.
 */
int result_check(const struct session *s);

/* At the end: files and texts that the options ask for. */
void result_report(struct session *s);

#endif
