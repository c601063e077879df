/* SPDX-License-Identifier: MIT */
/* How the command of -c is run: by itself if that can be. */
#include "base/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One word from s on, without its quotes, to *to. NULL: it needs a shell. An =
 * is the shell's only in the first word: VAR=1 cmd, not dd if=file.
 */
static const char *one_word(const char *s, char **to, bool is_first)
{
	const char *end;

	while (*s && *s != ' ' && *s != '\t') {
		if (strchr("`$\\|&;<>()*?[]{}~#!\n", *s) ||
		    (*s == '=' && is_first))
			return NULL;
		if (*s != '\'' && *s != '"') {
			*(*to)++ = *s++;
			continue;
		}
		end = strchr(s + 1, *s);
		/* Between double quotes these three still mean something. */
		if (!end || (*s == '"' && s + strcspn(s, "`$\\") < end))
			return NULL;
		for (s++; s < end; s++)
			*(*to)++ = *s;
		s++;
	}
	*(*to)++ = '\0';
	return s;
}

char **command_words(const char *cmd)
{
	char *text = malloc(strlen(cmd) + 1), *to = text;
	char **argv = calloc(strlen(cmd) / 2 + 2, sizeof(*argv));
	size_t n = 0;

	if (!text || !argv)
		goto none;
	for (cmd += strspn(cmd, " \t"); *cmd; cmd += strspn(cmd, " \t")) {
		argv[n] = to;
		cmd = one_word(cmd, &to, !n);
		if (!cmd)
			goto none;
		n++;
	}
	if (n)
		return argv;
none:
	free(text);
	free(argv);
	return NULL;
}

/* --- what the shell is for ------------------------------------------------ */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Would a shell find a program of this name, n bytes long? */
static bool in_path(const char *name, size_t n)
{
	const char *p = getenv("PATH");
	char path[4096];

	if (n > 255)
		return false;
	if (memchr(name, '/', n)) {
		snprintf(path, sizeof(path), "%.*s", (int)n, name);
		return is_program(path);
	}
	while (p && *p) {
		size_t len = strcspn(p, ":");

		snprintf(path, sizeof(path), "%.*s/%.*s", (int)len, p, (int)n,
			 name);
		if (len && is_program(path))
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

/*
 * Is it one command, whatever its redirections, variables and patterns? With
 * doubt: no. An & is part of a redirection behind < or >.
 */
static bool is_one(const char *s)
{
	char quote = 0, before = 0;

	for (; *s; before = *s++) {
		if (quote) {
			if (*s == '\\' && quote == '"' && s[1])
				s++;
			else if (*s == quote)
				quote = 0;
			else if (quote == '"' && strchr("`(", *s))
				return false;
		} else if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
		} else if (strchr(";|()`\n", *s) ||
			   (*s == '&' && before != '<' && before != '>')) {
			return false;
		}
	}
	return !quote;
}

/* The shell's own commands for which there are programs as well. */
static bool is_builtin(const char *s, size_t n)
{
	static const char *const word[] = {"cd", "command", "kill", "type",
					   "ulimit", "umask", "wait"};

	for (unsigned i = 0; i < sizeof(word) / sizeof(*word); i++)
		if (strlen(word[i]) == n && !memcmp(word[i], s, n))
			return true;
	return false;
}

enum command_kind command_kind(const char *cmd)
{
	char **words = command_words(cmd);
	bool plain = words;
	size_t n;

	if (words)
		free(words[0]);
	free(words);
	if (plain)
		return COMMAND_PLAIN;
	cmd += strspn(cmd, " \t");
	n = strspn(cmd, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789._+-/:@%,");
	if (n && (!cmd[n] || strchr(" \t<>", cmd[n])) && is_one(cmd) &&
	    !is_builtin(cmd, n) && in_path(cmd, n))
		return COMMAND_EXECS;
	return COMMAND_SHELL;
}

char *command_exec(const char *cmd)
{
	size_t n = strlen(cmd) + sizeof("exec ");
	char *text = malloc(n);

	if (text)
		snprintf(text, n, "exec %s", cmd);
	return text;
}
