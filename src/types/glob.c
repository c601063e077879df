/* SPDX-License-Identifier: MIT */
#include "types/glob.h"

#include <string.h>

#include <stddef.h>

bool name_is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/*
 * What stands behind the pattern's first character if that stands for c, else
 * NULL. A bracket that is never closed is a character like others.
 */
static const char *after_one(const char *pattern, unsigned char c)
{
	const char *p = pattern + 1, *first;
	bool invert, found = false;

	if (*pattern != '[')
		return *pattern == '?' || (unsigned char)*pattern == c ? p
								      : NULL;
	invert = *p == '!' || *p == '^';
	first = p += invert;
	for (; *p && (*p != ']' || p == first); p++) {
		unsigned char low = (unsigned char)*p, high = low;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			p += 2;
			high = (unsigned char)*p;
		}
		found |= low <= c && c <= high;
	}
	if (!*p)
		return c == '[' ? pattern + 1 : NULL;
	return found != invert ? p + 1 : NULL;
}

bool name_glob(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL, *next;

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
		} else if (*pattern && (next = after_one(pattern, *name))) {
			pattern = next;
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
