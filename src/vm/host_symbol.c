/* SPDX-License-Identifier: MIT */
/*
 * Addresses as names. Kernel handlers send addresses; the names are looked up
 * here, when the record is read: of a process that has ended meanwhile only
 * what was read of it before is known.
 */
#include "vm/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "types/symbol.h"

/* What __sym_text() is asked for, and how __syms_text() writes a line. */
enum { SYM_NAME, SYM_DATA, SYM_MODULE, SYM_FILELINE, SYM_FILE, SYM_LINE };
enum { LINE_WHOLE, LINE_BRIEF, LINE_SOURCE };

static const int64_t KERNEL = -1; /* instead of a process id */

static struct symbol_book *book(struct vm *vm)
{
	if (!vm->symbols)
		vm->symbols = symbol_book_new(vm->c);
	return vm->symbols;
}

static bool wants_kernel(const struct ir_ins *i)
{
	if (i->op != OP_BCALL && i->op != OP_BCALLE)
		return false;
	switch (i->builtin->id) {
	case BI_SYM_TEXT:
	case BI_SYMS_TEXT:
	case BI_SYMS_PRINT:
		return i->args[1].kind == VAL_NUM && i->args[1].num == KERNEL;
	default:
		return false;
	}
}

void symbols_prepare(struct vm *vm)
{
	const struct ir *ir = vm->g ? vm->g->ir : NULL;

	for (unsigned n = 0; ir && n < ir->funcs.n; n++) {
		const struct ir_func *f = ir->funcs.v[n];

		for (struct ir_block *b = f->blocks; b; b = b->next)
			for (struct ir_ins *i = b->first; i; i = i->next)
				if (wants_kernel(i)) {
					symbol_read_kernel(book(vm));
					return;
				}
	}
}

static void look_up(struct vm *vm, int64_t pid, uint64_t addr,
		    struct symbol *ret)
{
	if (pid == KERNEL)
		symbol_of_kernel(book(vm), addr, ret);
	else
		symbol_of_process(book(vm), (int)pid, addr, ret);
}

/* "name+0x1a/0x30 [module]"; where there is no name, what helps to find it. */
static void add_data(struct vm *vm, const struct symbol *s, bool source)
{
	const char *file;
	int line;

	if (s->name && s->size)
		text_addf(&vm->text, "%s+0x%" PRIx64 "/0x%" PRIx64, s->name,
			  s->off, s->size);
	else if (s->name)
		text_addf(&vm->text, "%s+0x%" PRIx64, s->name, s->off);
	if (s->name && source && symbol_line(book(vm), s, &file, &line))
		text_addf(&vm->text, " at %s:%d", file, line);
	if (s->module && s->name)
		text_addf(&vm->text, " [%s]", s->module);
	else if (s->module)
		text_addf(&vm->text, "[%s+0x%" PRIx64 "]", s->module,
			  s->base_off);
}

static void add_source(struct vm *vm, int64_t what, const char *file, int line)
{
	if (what != SYM_LINE)
		text_addf(&vm->text, "%s", file);
	if (what == SYM_FILELINE)
		text_addf(&vm->text, ":");
	if (what != SYM_FILE)
		text_addf(&vm->text, "%d", line);
}

static uint64_t sym_text(struct vm *vm, const struct builtin_call *b)
{
	uint64_t addr = (uint64_t)barg_num(vm, b, 0);
	int64_t pid = barg_num(vm, b, 1), what = barg_num(vm, b, 2);
	struct symbol s;
	const char *file;
	int line;

	if (pid != KERNEL)
		symbol_use_process(book(vm), (int)pid);
	look_up(vm, pid, addr, &s);
	vm->text.n = 0;
	if (what == SYM_DATA && (s.name || s.module))
		add_data(vm, &s, false);
	else if (what >= SYM_FILELINE &&
		 symbol_line(book(vm), &s, &file, &line))
		add_source(vm, what, file, line);
	else if (what == SYM_NAME && s.name)
		text_addf(&vm->text, "%s", s.name);
	else if (what == SYM_MODULE)
		text_addf(&vm->text, "%s", s.module ? s.module : "<unknown>");
	else
		text_addf(&vm->text, "0x%" PRIx64, addr);
	return bret_str(vm, b, vm->text.s, vm->text.n);
}

/* " 0xffffffff81234567 : name+0x1a/0x30 [module]" */
static void add_line(struct vm *vm, uint64_t addr, const struct symbol *s,
		     int64_t style)
{
	if (style == LINE_BRIEF && s->name) {
		text_addf(&vm->text, " %s+0x%" PRIx64 "\n", s->name, s->off);
		return;
	}
	text_addf(&vm->text, " 0x%" PRIx64, addr);
	if (s->name)
		text_addf(&vm->text, " : ");
	else if (s->module)
		text_addf(&vm->text, " ");
	add_data(vm, s, style == LINE_SOURCE);
	text_addf(&vm->text, "\n");
}

/* A line per address. Words that are no numbers are left out. */
static void lines(struct vm *vm, const struct builtin_call *b)
{
	size_t n;
	const char *s = barg_str(vm, b, 0, &n);
	int64_t pid = barg_num(vm, b, 1), style = barg_num(vm, b, 2);

	if (pid != KERNEL)
		symbol_use_process(book(vm), (int)pid);
	vm->text.n = 0;
	for (size_t i = 0; i < n;) {
		size_t len = 0;
		struct symbol sym;
		char word[32], *end;
		uint64_t addr;

		while (i + len < n && s[i + len] != ' ' && s[i + len] != '\n')
			len++;
		snprintf(word, sizeof(word), "%.*s", (int)len, s + i);
		addr = strtoull(word, &end, 16);
		i += len + 1;
		if (end == word || *end)
			continue;
		look_up(vm, pid, addr, &sym);
		add_line(vm, addr, &sym, style);
	}
}

static uint64_t first_words(struct vm *vm, const struct builtin_call *b)
{
	size_t n, end = 0;
	const char *s = barg_str(vm, b, 0, &n);
	int64_t left = barg_num(vm, b, 1);

	if (left < 0)
		return bret_str(vm, b, s, n);
	while (end < n && left > 0) {
		end += s[end] == ' ';
		while (end < n && s[end] != ' ')
			end++;
		left--;
	}
	return bret_str(vm, b, s, end);
}

bool builtin_symbol(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret)
{
	*ret = 0;
	switch (id) {
	case BI_BACKTRACE:
	case BI_UBACKTRACE:
		/* A handler on the host has no stack of its own to show. */
		*ret = bret_str(vm, b, "", 0);
		return true;
	case BI_STACK:
	case BI_USTACK:
		return true;
	case BI_SYM_TEXT:
		*ret = sym_text(vm, b);
		return true;
	case BI_SYMS_TEXT:
		lines(vm, b);
		*ret = bret_str(vm, b, vm->text.s ? vm->text.s : "",
				vm->text.n);
		return true;
	case BI_SYMS_PRINT:
		lines(vm, b);
		if (vm->hooks.out && vm->text.n)
			vm->hooks.out(vm->hooks.ctx, vm->text.s, vm->text.n);
		return true;
	case BI_WORDS:
		*ret = first_words(vm, b);
		return true;
	default:
		return false;
	}
}
