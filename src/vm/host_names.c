/* SPDX-License-Identifier: MIT */
/*
 * Arguments of system calls as text: numbers and bits by the names that a table
 * gives them, and the strings of an argument vector. The tables are literals of
 * the library: a handler sends the number, and only the host knows the names.
 */
#include "vm/host.h"

#include <string.h>

#include "vm/escape.h"

/*
 * A table is "NAME=VALUE/MASK|NAME=VALUE|NAME...". Without a value an entry has
 * the one behind that before it: 1 more, or the next bit.
 */
struct entry {
	const char *name;
	size_t len;
	uint64_t value, mask;
	bool has_mask;
};

struct table {
	const char *at, *end;
	uint64_t next; /* value of an entry that gives none */
};

static uint64_t read_value(struct table *t)
{
	uint64_t v = 0, base = 10;

	if (t->end - t->at > 2 && t->at[0] == '0' && t->at[1] == 'x') {
		base = 16;
		t->at += 2;
	}
	for (; t->at < t->end; t->at++) {
		unsigned c = (unsigned char)*t->at;

		if (c >= '0' && c <= '9')
			v = v * base + (c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			v = v * base + (c - 'a' + 10);
		else
			break;
	}
	return v;
}

static bool next_entry(struct table *t, struct entry *e)
{
	if (t->at >= t->end)
		return false;
	*e = (struct entry){.name = t->at, .value = t->next};
	while (t->at < t->end && *t->at != '=' && *t->at != '|')
		t->at++;
	e->len = (size_t)(t->at - e->name);
	if (t->at < t->end && *t->at == '=') {
		t->at++;
		e->value = read_value(t);
	}
	e->mask = e->value;
	if (t->at < t->end && *t->at == '/') {
		t->at++;
		e->mask = read_value(t);
		e->has_mask = true;
	}
	t->at++; /* the bar */
	return true;
}

static struct table table_of(struct vm *vm, const struct builtin_call *b)
{
	size_t n;
	const char *s = barg_str(vm, b, 1, &n);

	return (struct table){.at = s, .end = s + n};
}

static void add_hex(struct text *t, uint64_t v)
{
	char buf[24];

	text_add(t, buf, (size_t)snprintf(buf, sizeof(buf), "0x%llx",
					  (unsigned long long)v));
}

/* __enum_text(n, table): a name, or the lower 32 bits. */
static void enum_text(struct vm *vm, const struct builtin_call *b)
{
	uint32_t n = (uint32_t)barg_num(vm, b, 0);
	struct table t = table_of(vm, b);
	struct entry e;

	while (next_entry(&t, &e)) {
		if ((uint32_t)e.value == n) {
			text_add(&vm->text, e.name, e.len);
			return;
		}
		t.next = e.value + 1;
	}
	add_hex(&vm->text, n);
}

/*
 * __flags_text(bits, table): the names of all entries that are in it, in the
 * table's order; what an entry has named is not named again, and what none has
 * comes last, as a number. An entry of value 0 without a mask is there for no
 * bits at all.
 */
static void flags_text(struct vm *vm, const struct builtin_call *b)
{
	uint64_t bits = (uint64_t)barg_num(vm, b, 0), rest = bits;
	struct table t = table_of(vm, b);
	struct entry e;

	while (next_entry(&t, &e)) {
		t.next = e.value << 1;
		if (!e.value && !e.has_mask)
			e.mask = bits ? 0 : UINT64_MAX;
		if (!e.mask || (rest & e.mask) != e.value)
			continue;
		if (vm->text.n)
			text_add(&vm->text, "|", 1);
		text_add(&vm->text, e.name, e.len);
		rest &= ~e.mask;
	}
	if (!rest && vm->text.n)
		return;
	if (vm->text.n)
		text_add(&vm->text, "|", 1);
	add_hex(&vm->text, rest);
}

/*
 * __argv_text(s): as the library's __argv_read() makes it, with the lengths in
 * two bytes from '0' up; its end may have been cut off, anywhere.
 */
static void argv_text(struct vm *vm, const struct builtin_call *b)
{
	size_t n, max = (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN) - 1;
	size_t len, room;
	const char *s = barg_str(vm, b, 0, &n), *end = s + n;
	bool first = true, cut = false;

	text_add(&vm->text, "[", 1);
	if (n && *s == 1) {
		text_add(&vm->text, "0x", 2);
		text_add(&vm->text, s + 1, n - 1);
		s = end;
	}
	for (; s < end && !cut; first = false) {
		if (!first)
			text_add(&vm->text, ", ", 2);
		/* what closes the list must fit, too */
		room = vm->text.n + 16 < max ? max - vm->text.n - 8 : 0;
		len = end - s < 2 ? SIZE_MAX :
			((uint8_t)s[0] - (size_t)'0') << 6 |
			((uint8_t)s[1] - (size_t)'0');
		s += end - s < 2 ? end - s : 2;
		cut = !room || len > (size_t)(end - s);
		len = len > (size_t)(end - s) ? (size_t)(end - s) : len;
		if (room && (len || !cut))
			text_escape(&vm->text, s, len, room, true);
		/* text_escape() has its own dots */
		if (cut && vm->text.s[vm->text.n - 1] != '.')
			text_add(&vm->text, "...", 3);
		s += len;
	}
	text_add(&vm->text, "]", 1);
}

bool builtin_names(struct vm *vm, enum builtin_id id,
		   const struct builtin_call *b, uint64_t *ret)
{
	vm->text.n = 0;
	switch (id) {
	case BI_ENUM_TEXT:
		enum_text(vm, b);
		break;
	case BI_FLAGS_TEXT:
		flags_text(vm, b);
		break;
	case BI_ARGV_TEXT:
		argv_text(vm, b);
		break;
	default:
		return false;
	}
	*ret = bret_str(vm, b, vm->text.s ? vm->text.s : "", vm->text.n);
	return true;
}
