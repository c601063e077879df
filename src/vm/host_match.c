/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions: =~ and what matched() says of the last one that matched
 * in this handler. Most matches are never asked for their groups: those are
 * found when asked.
 */
#include "vm/host.h"

#include <string.h>

#include "base/xalloc.h"
#include "front/regex.h"

/* a: the expression's number, the string. 1: it matches. */
uint64_t host_match(struct vm *vm, const uint64_t *a)
{
	struct vm_match *m = &vm->match;
	const struct regex *re;
	const char *s;
	size_t n;

	if (a[0] >= vm->g->ir->regexes.n)
		return vm_failed(vm, "no regular expression %llu",
				 (unsigned long long)a[0]);
	re = vm->g->ir->regexes.v[a[0]];
	s = mem_str(vm, a[1], (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN), &n);
	if (vm->halt != HALT_NO || !regex_match(re, s, n, NULL))
		return 0;
	/*
	 * The text is kept for matched(): the variable may change before it is
	 * asked.
	 */
	if (n > m->cap || !m->text) {
		m->cap = n;
		m->text = xrealloc(m->text, n + 1);
	}
	memcpy(m->text, s, n);
	m->n = n;
	m->re = re;
	return 1;
}

/*
 * Text of group n of the last match, found only now; "" for a group that took
 * no part.
 */
static uint64_t group(struct vm *vm, const struct builtin_call *b, int64_t n)
{
	const struct vm_match *m = &vm->match;
	int caps[2 * REGEX_GROUPS_MAX];

	if (!m->re)
		return vm_raise(vm, b->loc,
				"Attempted to get subexpression %lld from "
				"failed match",
				(long long)n);
	if (n < 0 || n >= regex_ngroups(m->re))
		return vm_raise(vm, b->loc,
				"Attempted to get nonexistent subexpression "
				"%lld",
				(long long)n);
	if (!regex_match(m->re, m->text, m->n, caps) || caps[2 * n] < 0)
		return 0;
	return bret_str(vm, b, m->text + caps[2 * n],
			(size_t)(caps[2 * n + 1] - caps[2 * n]));
}

bool builtin_match(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret)
{
	*ret = 0;
	switch (id) {
	case BI_NGROUPS:
		if (vm->match.re)
			*ret = regex_ngroups(vm->match.re);
		else
			vm_raise(vm, b->loc,
				 "Attempted to get subexpression count from "
				 "failed match");
		return true;
	case BI_MATCHED:
		bret_str(vm, b, "", 0);
		group(vm, b, barg_num(vm, b, 0));
		return true;
	default:
		return builtin_names(vm, id, b, ret);
	}
}
