/* SPDX-License-Identifier: MIT */
/*
 * Files of procfs probes, and standard input for input probes.
 *
 * A file is a named pipe below a directory of the session. tally holds both its
 * ends, so whoever opens it is not kept waiting. Opening it is noticed by
 * inotify: the handler runs, its text goes into that pipe, and a new pipe takes
 * the name, so that the reader finds the end of the text and the next one gets
 * a text of its own.
 */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "run/state.h"

/* Makes the files. 0, or the exit status with the message printed. */
int files_open(struct session *s);
/* Adds what is waited for to the session's epoll set, as source + n. */
int files_watch(struct session *s, uint32_t source);
/* Number n is readable. */
void files_handle(struct session *s, unsigned n);
void files_close(struct session *s);
const char *files_value(struct session *s, size_t *ret_n);
void files_set_value(struct session *s, const char *text, size_t n,
		     bool append);

#endif
