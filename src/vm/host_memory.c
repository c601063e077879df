/* SPDX-License-Identifier: MIT */
/* Reading what addresses point to: a fault is an error, never a crash. */
#include "vm/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* size: bytes, negative for a signed number. */
static uint64_t read_number(struct vm *vm, uint64_t addr, int64_t size,
			    bool user, uint64_t loc)
{
	uint64_t v = 0;
	int64_t n = size < 0 ? -size : size;

	if (n != 1 && n != 2 && n != 4 && n != 8)
		return vm_failed(vm, "read of %lld bytes", (long long)size);
	if (mem_read_target(vm, addr, &v, (size_t)n, user))
		return vm_raise(vm, loc,
				"%s read fault at 0x%llx (addr) "
				"[man error::fault]",
				user ? "user" : "kernel",
				(unsigned long long)addr);
	if (size < 0 && n < 8) {
		int shift = 64 - 8 * (int)n;

		v = (uint64_t)((int64_t)(v << shift) >> shift);
	}
	return v;
}

/* a: address, size, is it the process's memory, place. */
uint64_t host_read_mem(struct vm *vm, const uint64_t *a)
{
	return read_number(vm, a[0], (int64_t)a[1], a[2] != 0, a[3]);
}

/*
 * max: bytes wanted. fallback: an argument that replaces the error; -1 none.
 * Strings are at most MAXSTRINGLEN - 1 bytes long, cut silently, as elsewhere
 * in the language.
 */
static uint64_t read_string(struct vm *vm, const struct builtin_call *b,
			    bool user, int64_t max, int fallback)
{
	int64_t most = vm_limit(vm, LIMIT_MAXSTRINGLEN) - 1, n;
	uint64_t addr = (uint64_t)barg_num(vm, b, 0);
	const char *instead;
	size_t len;
	char *buf;

	if (max < 0)
		max = 0;
	if (max > most)
		max = most;
	buf = xcalloc(1, (size_t)max + 1);
	n = mem_read_target_str(vm, addr, buf, (size_t)max, user);
	if (n >= 0) {
		bret_str(vm, b, buf, (size_t)n);
	} else if (fallback >= 0) {
		instead = barg_str(vm, b, (unsigned)fallback, &len);
		bret_str(vm, b, instead, len);
	} else {
		bret_str(vm, b, "", 0);
		if (user)
			vm_raise(vm, b->loc,
				 "user string copy fault -14 at 0x%llx "
				 "[man error::fault]",
				 (unsigned long long)addr);
		else
			vm_raise(vm, b->loc,
				 "kernel string copy fault at 0x%llx "
				 "[man error::fault]",
				 (unsigned long long)addr);
	}
	free(buf);
	return 0;
}

bool builtin_memory(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret)
{
	switch (id) {
	case BI_KERNEL_STRING:
	case BI_USER_STRING:
		*ret = read_string(vm, b, id == BI_USER_STRING, INT64_MAX, -1);
		return true;
	case BI_KERNEL_STRING2:
	case BI_USER_STRING2:
		*ret = read_string(vm, b, id == BI_USER_STRING2, INT64_MAX, 1);
		return true;
	case BI_KERNEL_STRING_N:
	case BI_USER_STRING_N:
		*ret = read_string(vm, b, id == BI_USER_STRING_N,
				   barg_num(vm, b, 1), -1);
		return true;
	case BI_KERNEL_READ:
	case BI_USER_READ:
		*ret =
		    read_number(vm, (uint64_t)barg_num(vm, b, 0),
				barg_num(vm, b, 1), id == BI_USER_READ, b->loc);
		return true;
	default:
		return false;
	}
}
