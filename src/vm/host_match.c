/* SPDX-License-Identifier: MIT */
/* Regular expressions: =~ and what matched() says of it. */
#include "vm/host.h"

uint64_t host_match(struct vm *vm, const uint64_t *a)
{
	return vm_failed(vm, "no regular expression %llu",
			 (unsigned long long)a[0]);
}

bool builtin_match(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret)
{
	struct vm_match *m = &vm->match;
	int64_t n;

	if (id == BI_NGROUPS) {
		*ret = m->matched ? m->ngroups : 0;
		if (!m->matched)
			vm_raise(vm, b->loc, "Attempted to get subexpression "
					     "count from failed match");
		return true;
	}
	if (id != BI_MATCHED)
		return false;
	n = barg_num(vm, b, 0);
	*ret = bret_str(vm, b, "", 0);
	if (!m->matched)
		vm_raise(vm, b->loc,
			 "Attempted to get subexpression %lld from failed match",
			 (long long)n);
	else if (n < 0 || n >= m->ngroups)
		vm_raise(vm, b->loc,
			 "Attempted to get nonexistent subexpression %lld",
			 (long long)n);
	else if (m->group[2 * n + 1] >= m->group[2 * n])
		*ret = bret_str(vm, b, m->text + m->group[2 * n],
				m->group[2 * n + 1] - m->group[2 * n]);
	return true;
}
