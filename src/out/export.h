/* SPDX-License-Identifier: MIT */
/*
 * Results for other programs: what every extractor that the script uses says,
 * as JSON or as OpenMetrics text. docs/output.md describes both.
 */
#ifndef OUT_EXPORT_H
#define OUT_EXPORT_H

#include "out/snapshot.h"

/* What the handler of a probe cost, in nanoseconds (-t). */
struct export_time {
	const char *probe;
	unsigned index; /* of the probe in the script, as in -t's report */
	uint64_t n; /* how often it was timed, not 0 */
	uint64_t least, sum, most;
};

/* How a run ended. */
struct export_end {
	uint64_t errors, skipped; /* script errors; handlers that did not run */
	int status; /* the exit status so far */
	bool timed; /* -t: times has what was timed */
	VEC(struct export_time) times;
};

/*
 * One line: {"type":"text","text":...}. n bytes of what the script printed.
 * Nothing is reported: the caller looks at ferror(f) once, at the end.
 */
void export_text(const char *text, size_t n, FILE *f);
/* One line: {"type":"end",...}, with aggregates and the ledger. */
void export_json(const struct snapshot *s, const struct export_end *end,
		 FILE *f);
/* OpenMetrics 1.0 text, to its # EOF. */
void export_metrics(const struct snapshot *s, FILE *f);

#endif
