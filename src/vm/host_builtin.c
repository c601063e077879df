/* SPDX-License-Identifier: MIT */
/* Built-in functions on the host: arguments, results, and the groups. */
#include "vm/host.h"

#include <stdlib.h>
#include <string.h>

/* Argument i: words at b->args, a number or the address of a string. */
int64_t barg_num(struct vm *vm, const struct builtin_call *b, unsigned i)
{
	const uint8_t *p = mem_at(vm, b->args + 8ull * i, 8, false);
	int64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return v;
}

const char *barg_str(struct vm *vm, const struct builtin_call *b, unsigned i,
		     size_t *ret_n)
{
	/* After a fault nothing is read any more: arguments may be nonsense. */
	*ret_n = 0;
	if (vm->halt != HALT_NO)
		return "";
	return mem_str(vm, (uint64_t)barg_num(vm, b, i),
		       (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN) - 1, ret_n);
}

uint64_t bret_str(struct vm *vm, const struct builtin_call *b, const char *s,
		  size_t n)
{
	if (vm->halt == HALT_NO)
		mem_put_str(vm, b->dst, b->width, s, n);
	return 0;
}

/* exit(), error() and their like. */
static bool builtin_session(struct vm *vm, enum builtin_id id,
			    const struct builtin_call *b, uint64_t *ret)
{
	const char *s;
	size_t n;

	*ret = 0;
	switch (id) {
	case BI_EXIT:
	case BI_ABORT:
		if (vm->hooks.exit)
			vm->hooks.exit(vm->hooks.ctx);
		/*
		 * abort() is exit() and the end of this handler; exit() lets it
		 * go on.
		 */
		if (id == BI_ABORT)
			vm_raise_final(vm, b->loc, true, "");
		return true;
	case BI_ERROR:
		s = barg_str(vm, b, 0, &n);
		vm_raise(vm, b->loc, "%.*s", (int)n, s);
		return true;
	case BI_WARN:
		s = barg_str(vm, b, 0, &n);
		vm_warn(vm, "%.*s", (int)n, s);
		return true;
	case BI_LOG:
		s = barg_str(vm, b, 0, &n);
		/*
		 * One piece, so that nothing comes between the text and its
		 * newline.
		 */
		vm->text.n = 0;
		text_add(&vm->text, s, n);
		text_add(&vm->text, "\n", 1);
		if (vm->hooks.out)
			vm->hooks.out(vm->hooks.ctx, vm->text.s, vm->text.n);
		return true;
	/* The reference's limit. A range of 0 or less gives 0. */
	case BI_SYSTEM:
		s = barg_str(vm, b, 0, &n);
		if (vm->hooks.command)
			vm->hooks.command(vm->hooks.ctx, s);
		return true;
	case BI_FTRACE:
		s = barg_str(vm, b, 0, &n);
		if (vm->hooks.kernel_line)
			vm->hooks.kernel_line(vm->hooks.ctx, -1, s);
		return true;
	case BI_PRINTK:
		s = barg_str(vm, b, 1, &n);
		if (vm->hooks.kernel_line)
			vm->hooks.kernel_line(vm->hooks.ctx,
					      (int)(barg_num(vm, b, 0) & 7), s);
		return true;
	case BI_SWITCH_FILE:
		if (vm->hooks.switch_file)
			vm->hooks.switch_file(vm->hooks.ctx);
		return true;
	case BI_VALUE_SET:
	case BI_VALUE_ADD:
		s = barg_str(vm, b, 0, &n);
		if (vm->hooks.set_value)
			vm->hooks.set_value(vm->hooks.ctx, s, n,
					    id == BI_VALUE_ADD);
		return true;
	case BI_VALUE:
		n = 0;
		s = vm->hooks.value ? vm->hooks.value(vm->hooks.ctx, &n) : "";
		*ret = bret_str(vm, b, s, n);
		return true;
	case BI_RANDINT:
		if (barg_num(vm, b, 0) > 1048576)
			vm_raise(vm, b->loc, "range too wide");
		else if (barg_num(vm, b, 0) > 0)
			*ret = vm_random(vm) % (uint64_t)barg_num(vm, b, 0);
		return true;
	default:
		return false;
	}
}

uint64_t builtin_run(struct vm *vm, enum builtin_id id,
		     const struct builtin_call *b)
{
	uint64_t ret = 0;

	/* In order of how often they are called. */
	if (builtin_who(vm, id, b, &ret) || builtin_string(vm, id, b, &ret) ||
	    builtin_session(vm, id, b, &ret) || builtin_time(vm, id, b, &ret) ||
	    builtin_memory(vm, id, b, &ret) ||
	    builtin_symbol(vm, id, b, &ret) || builtin_float(vm, id, b, &ret))
		return ret;
	/* Only registers are left: built-ins that the host cannot answer. */
	return vm_raise(vm, b->loc,
			"%s() needs the registers of a kernel event",
			builtin_at(id)->name);
}
