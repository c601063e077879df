/* SPDX-License-Identifier: MIT */
#include "types/glob.h"

#include <string.h>

#include <stddef.h>

bool name_glob(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;

	/*
	 * The last star is the only one that has to be retried. What an earlier
	 * star matched is as good as any other choice: a later star can take
	 * whatever is left. So this is linear in practice and needs no
	 * recursion.
	 */
	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool name_is_copy(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(symbol, name, n))
		return false;
	symbol += n;
	return (!strncmp(symbol, ".isra.", 6) && !strchr(symbol + 6, '.')) ||
	       (!strncmp(symbol, ".constprop.", 11) &&
		!strchr(symbol + 11, '.'));
}
