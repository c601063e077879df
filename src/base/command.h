/* SPDX-License-Identifier: MIT */
/*
 * The command of -c. Where it can be, the process that is started is the
 * program itself: target() is its pid then, what is restricted to the target is
 * counted in it, and no shell's events are in the numbers.
 */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include <stdbool.h>

enum command_kind {
	COMMAND_PLAIN, /* words */
	COMMAND_EXECS, /* one command with redirections, variables, patterns:
			* the shell makes them and becomes the program */
	COMMAND_SHELL, /* a shell that starts what it names */
};

enum command_kind command_kind(const char *cmd);
/*
 * Words without shell syntax but quotes, ended by NULL; NULL when it needs a
 * shell. The first word is the allocation that all are in.
 */
char **command_words(const char *cmd);
/* The text for the shell of what COMMAND_EXECS is; malloc'd. */
char *command_exec(const char *cmd);

#endif
