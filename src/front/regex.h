/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of =~ and !~: bytes, leftmost-longest, no backtracking.
 *
 * Two machines come from one pattern. The DFA answers whether a string
 * matches, one table look-up a byte, and is small and bounded so that a kernel
 * handler can run it. Groups are found on the host, by a simulation of the NFA
 * that takes O(bytes x states) whatever the pattern.
 */
#ifndef FRONT_REGEX_H
#define FRONT_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compile;

enum {
	/* Limits that a script can meet; each has its message. */
	REGEX_GROUPS_MAX = 64,   /* with group 0 */
	REGEX_STATES_MAX = 4000, /* of the NFA */
	REGEX_DFA_MAX = 1000,    /* states; beyond it there is no DFA */
};

/*
 * next[state * nclasses + class_of[byte]] is the state behind a byte; begin
 * in start, at the string's first byte, and go on to its NUL:
 *
 * 	s = start;
 * 	while (!(flags[s] & DFA_MATCH) && (b = *str++))
 * 		s = next[s * nclasses + class_of[b]];
 * 	matched = flags[s] & (b ? DFA_MATCH : DFA_MATCH | DFA_MATCH_END);
 *
 * The search for any place where the pattern may begin is part of the table. A
 * DFA_MATCH state is never left, so running on to the end is right as well.
 */
enum { DFA_MATCH = 1, DFA_MATCH_END = 2 };
struct regex_dfa {
	/*
	 * Owned by the regex's arena. The kernel gets copies of the tables in
	 * its literals.
	 */
	uint32_t nstates, nclasses, start;
	uint8_t class_of[256]; /* nclasses <= 255: the last may be 0 */
	const uint16_t *next;
	const uint8_t *flags;
};

struct regex;

/*
 * NULL when the pattern is wrong: *ret_pos is the byte offset that the message
 * speaks of, *ret_msg "expected )" and so on.
 */
struct regex *regex_compile(struct compile *c, const char *pattern, size_t n,
			    unsigned *ret_pos, const char **ret_msg);
/* Groups with group 0. */
unsigned regex_ngroups(const struct regex *re);
/* NULL: the pattern needs more than REGEX_DFA_MAX states. */
const struct regex_dfa *regex_dfa(const struct regex *re);
/*
 * Searches s. caps, which may be NULL, takes 2 * regex_ngroups() offsets, -1
 * for a group that took no part.
 */
bool regex_match(const struct regex *re, const char *s, size_t n, int *caps);

#endif
