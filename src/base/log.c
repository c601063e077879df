/* SPDX-License-Identifier: MIT */
/* One line a message, so that lines of several stages never mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const channel_name[LOG_MAX] = {
    [LOG_FRONT] = "front", [LOG_SEMA] = "sema",	  [LOG_IR] = "ir",
    [LOG_GEN] = "gen",	   [LOG_STORE] = "store", [LOG_VM] = "vm",
    [LOG_RUN] = "run",
};

bool log_on(const struct log *l, enum log_channel ch, int level)
{
	return l->level[ch] >= level;
}

void log_say(const struct log *l, enum log_channel ch, int level,
	     const char *fmt, ...)
{
	va_list ap;

	if (!log_on(l, ch, level))
		return;
	/*
	 * The lock keeps the line whole when a reader thread or a signal's
	 * handler on another thread speaks too.
	 */
	flockfile(stderr);
	fprintf(stderr, "%s: ", channel_name[ch]);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}
