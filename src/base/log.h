/* SPDX-License-Identifier: MIT */
/* What -v says: one channel per stage, all on stderr, prefixed by the stage. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_channel {
	LOG_FRONT, LOG_SEMA, LOG_IR, LOG_GEN, LOG_STORE, LOG_VM, LOG_RUN,
	LOG_MAX
};

struct log {
	int level[LOG_MAX]; /* from -v, -vv, --vp */
};

/*
 * True when messages of that level (1: -v, 2: -vv, ...) are wanted: ask before
 * work that only a message needs.
 */
bool log_on(const struct log *l, enum log_channel ch, int level);
/* One line; the newline is added. Nothing when the level is not wanted. */
void log_say(const struct log *l, enum log_channel ch, int level,
	     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
