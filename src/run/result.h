/* SPDX-License-Identifier: MIT */
/*
 * A run's results as data: the aggregates at the end, after the last drain,
 * with the ledger. What --snapshot writes and --format shows.
 */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "out/snapshot.h"

struct session;

/* At the end: files and texts that the options ask for. */
void result_report(struct session *s);

#endif
