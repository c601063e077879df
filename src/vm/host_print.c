/* SPDX-License-Identifier: MIT */
/* The print family, histograms included. */
#include "vm/host.h"

#include <errno.h>

#include "stat/extract.h"
#include "stat/render.h"

/* Signature of text_reader; ctx is the machine. */
static int read_for_format(void *ctx, uint64_t addr, void *dst, size_t n,
			   int user)
{
	return mem_read_target(ctx, addr, dst, n, user);
}

/*
 * The record's text in vm->text; false: an error is pending or a fault. f->size
 * was computed with the record's layout, so one check covers all operands.
 */
static bool format_record(struct vm *vm, uint64_t fmt, uint64_t record)
{
	const struct ir_fmt *f;
	const uint8_t *rec;
	uint64_t bad = 0;
	int err;

	vm->text.n = 0;
	if (fmt >= vm->g->ir->fmts.n) {
		vm_failed(vm, "no format %llu", (unsigned long long)fmt);
		return false;
	}
	f = vm->g->ir->fmts.v[fmt];
	rec = mem_at(vm, record, f->size, false);
	if (!rec)
		return false;
	err = text_record(&vm->text, f, rec, read_for_format, vm, &bad);
	if (err == -E2BIG)
		vm_raise(vm, UINT32_MAX,
			 "%lld is too many bytes for a memory dump",
			 (long long)bad);
	else if (err)
		vm_raise(vm, UINT32_MAX,
			 "memory read fault at 0x%llx [man error::fault]",
			 (unsigned long long)bad);
	if (err)
		/*
		 * Helpers of printing have no place among their arguments: the
		 * format's is used.
		 */
		vm->err.at = &f->span;
	return !err;
}

uint64_t host_print(struct vm *vm, const uint64_t *a)
{
	/* What was put together before a fault is not printed. */
	if (format_record(vm, a[0], a[1]) && vm->hooks.out && vm->text.n)
		vm->hooks.out(vm->hooks.ctx, vm->text.s, vm->text.n);
	return 0;
}

/* a: format, record, where the text goes, bytes there. */
uint64_t host_sprint(struct vm *vm, const uint64_t *a)
{
	bool ok = format_record(vm, a[0], a[1]);

	if (vm->halt == HALT_NO)
		mem_put_str(vm, a[2], a[3], vm->text.s ? vm->text.s : "",
			    ok ? vm->text.n : 0);
	return 0;
}

static void to_text(void *ctx, const char *s, size_t n)
{
	text_add(ctx, s, n);
}

/*
 * The histogram's (what 1: the quantiles') text; false: error or fault. a:
 * global, key, what.
 */
static bool hist_text(struct vm *vm, const uint64_t *a, uint64_t loc)
{
	const struct plan_global *g = vm_global(vm, a[0]);
	const struct render_style style = {
	    .width = vm_limit(vm, LIMIT_HIST_WIDTH),
	    .elision = vm_limit(vm, LIMIT_HIST_ELISION),
	};
	const uint8_t *key;
	const uint64_t *cell;
	int err;

	if (!g)
		return false;
	key = host_key(vm, g, a[1]);
	if (!store_is_agg(g) || (g->key.n && !key) ||
	    !((a[2] & 0xff) ? g->cell.ngrid : g->cell.nbuckets)) {
		vm_failed(vm, "%s has no histogram", g->var->name);
		return false;
	}
	vm_drain(vm);
	vm->text.n = 0;
	cell = store_agg_cell(vm->s, (unsigned)a[0], key);
	if (!cell)
		err = STAT_EMPTY;
	else if (a[2] & 0xff)
		err = render_quantiles(&g->cell, cell, to_text, &vm->text);
	else
		err = render_hist(&g->cell, cell, &style, to_text, &vm->text);
	if (err)
		vm_raise(vm, loc, "empty aggregate");
	return !err;
}

uint64_t host_hist_print(struct vm *vm, const uint64_t *a)
{
	if (hist_text(vm, a, a[3]) && vm->hooks.out)
		vm->hooks.out(vm->hooks.ctx, vm->text.s, vm->text.n);
	return 0;
}

uint64_t host_hist_sprint(struct vm *vm, const uint64_t *a)
{
	/* The arguments leave no register for a place: it may ride in the
	 * upper part of `what`, plus 1. */
	bool ok = hist_text(vm, a, a[2] >> 8 ? (a[2] >> 8) - 1 : UINT32_MAX);

	if (vm->halt == HALT_NO)
		mem_put_str(vm, a[3], a[4], vm->text.s ? vm->text.s : "",
			    ok ? vm->text.n : 0);
	return 0;
}
