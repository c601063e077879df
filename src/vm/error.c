/* SPDX-License-Identifier: MIT */
/*
 * Run-time errors. A catchable one is pending until the script takes it; where
 * it happened is kept with it (place, callers), because the calls have returned
 * by the time it is printed:
 *
 *   division by 0 near operator '/' at x.stp:1:9 (called from identifier 'f' at
 *   x.stp:3:2) in probe begin
 */
#include "vm/machine.h"

#include <string.h>

/*
 * A fault is a bug of ours, not of the script: the first one is kept, since
 * what follows it is only its echo.
 */
uint64_t vm_failed(struct vm *vm, const char *fmt, ...)
{
	va_list ap;

	if (vm->halt == HALT_FAULT)
		return 0;
	va_start(ap, fmt);
	vsnprintf(vm->fault, sizeof(vm->fault), fmt, ap);
	va_end(ap);
	vm->halt = HALT_FAULT;
	return 0;
}

/*
 * Remembers the calls in progress; their stack is unwound before anybody
 * prints.
 */
static void set_error(struct vm *vm, uint64_t loc)
{
	struct vm_error *e = &vm->err;
	unsigned i;

	e->pending = true;
	e->at = NULL;
	e->loc = loc > UINT32_MAX ? UINT32_MAX : (uint32_t)loc;
	e->nchain = 0;
	/*
	 * Innermost first, as the message has them; deeper ones than
	 * VM_MAX_CHAIN are left out.
	 */
	for (i = vm->ncalls; i > 0 && e->nchain < VM_MAX_CHAIN; i--)
		e->chain[e->nchain++] = vm->calls[i - 1];
}

/*
 * The text is cut to a string of the language: a catch block may take it into a
 * variable. A second error before the first is taken replaces it.
 */
uint64_t vm_raise(struct vm *vm, uint64_t loc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(vm->err.text, vm_limit(vm, LIMIT_MAXSTRINGLEN), fmt, ap);
	va_end(ap);
	set_error(vm, loc);
	return 0;
}

/*
 * "Final": no catch block sees it. The interpreter stops when the helper
 * returns; run_from() then ends the handler.
 */
uint64_t vm_raise_final(struct vm *vm, uint64_t loc, bool quiet,
			const char *text)
{
	vm->err.pending = false;
	if (!quiet) {
		vm_raise(vm, loc, "%s", text);
		vm_uncaught(vm);
	}
	if (vm->halt == HALT_NO)
		vm->halt = HALT_UNWIND;
	return 0;
}

/* " near operator '/' at x.stp:1:9"; nothing for a place that is not known. */
static void add_span(struct text *t, const struct span *at, const char *before,
		     const char *after)
{
	if (!at->src || !at->line)
		return;
	text_addf(t, "%s", before);
	if (at->text && at->kind != TOK_NONE)
		text_addf(t, "%s '%s' at ", tok_kind_name(at->kind), at->text);
	text_addf(t, "%s:%u:%u%s", at->src->name, at->line, at->col, after);
}

static void add_place(struct text *t, const struct ir *ir, uint32_t loc,
		      const char *before, const char *after)
{
	if (ir && loc < ir->locs.n)
		add_span(t, &ir->locs.v[loc].span, before, after);
}

/* A place and the calls that were inlined around it. */
static void add_chain(struct text *t, const struct ir *ir, uint32_t loc,
		      bool innermost)
{
	unsigned depth = 0;

	if (innermost)
		add_place(t, ir, loc, " near ", "");
	else
		add_place(t, ir, loc, " (called from ", ")");
	/*
	 * Bounded: a chain of places is the compiler's, but this is how crashes
	 * end.
	 */
	while (ir && loc < ir->locs.n && ir->locs.v[loc].caller >= 0 &&
	       depth++ < VM_MAX_CHAIN) {
		loc = (uint32_t)ir->locs.v[loc].caller;
		add_place(t, ir, loc, " (called from ", ")");
	}
}

void vm_place_text(struct text *t, const struct ir *ir, uint32_t loc)
{
	add_chain(t, ir, loc, true);
}

/* As the reference lays it out; the line as a whole is cut like a string. */
void vm_uncaught(struct vm *vm)
{
	const struct ir *ir = vm->g ? vm->g->ir : NULL;
	size_t max = (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN) - 1;
	struct vm_error *e = &vm->err;
	struct text t = {0};
	unsigned i;

	if (!e->pending)
		return;
	e->pending = false;
	text_addf(&t, "%s", e->text);
	if (e->at)
		add_span(&t, e->at, " near ", "");
	else
		add_chain(&t, ir, e->loc, true);
	for (i = 0; i < e->nchain; i++)
		add_chain(&t, ir, e->chain[i], false);
	if (vm->probe && vm->probe->pp)
		text_addf(&t, " in probe %s", vm->probe->pp);
	if (t.n > max)
		t.s[max] = '\0';
	/* A handler that failed is counted by who ran it: vm->result. */
	vm->result = 1;
	if (vm->hooks.error)
		vm->hooks.error(vm->hooks.ctx, vm->probe, t.s ? t.s : "");
	text_free(&t);
}

/* A text of any length may come; what is longer than a screen is cut. */
void vm_warn(struct vm *vm, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (vm->hooks.warn)
		vm->hooks.warn(vm->hooks.ctx, buf);
}
