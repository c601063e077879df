/* SPDX-License-Identifier: MIT */
/* String built-ins. */
#include "vm/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "vm/escape.h"

/* 99: no digit in any base. */
static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/*
 * The kernel's simple_strtol(): no blanks, no '+', wraps. base 0 finds it as
 * C's literals do; base 16 takes an 0x.
 */
static int64_t number_in(const char *s, size_t n, int64_t base)
{
	bool minus = n && s[0] == '-';
	size_t i = minus;
	uint64_t v = 0;

	if (base == 0) {
		base = 10;
		if (i < n && s[i] == '0')
			base = i + 2 < n && (s[i + 1] | 0x20) == 'x' &&
				       digit_of(s[i + 2]) < 16
				   ? 16
				   : 8;
	}
	if (base == 16 && i + 1 < n && s[i] == '0' && (s[i + 1] | 0x20) == 'x')
		i += 2;
	if (base < 2 || base > 36)
		return 0;
	for (; i < n && digit_of(s[i]) < base; i++)
		v = v * (uint64_t)base + (uint64_t)digit_of(s[i]);
	return (int64_t)(minus ? 0 - v : v);
}

/* Index of the first occurrence; -1: none. */
static int64_t find(const char *s, size_t n, const char *what, size_t nwhat)
{
	const char *at = memmem(s, n, what, nwhat);

	return at ? at - s : -1;
}

/*
 * Every occurrence, from left to right, not in what was put in. An empty
 * pattern occurs nowhere.
 */
static uint64_t str_replace(struct vm *vm, const struct builtin_call *b)
{
	size_t n, nfind, nput, i = 0;
	const char *s = barg_str(vm, b, 0, &n);
	const char *what = barg_str(vm, b, 1, &nfind);
	const char *put = barg_str(vm, b, 2, &nput);
	size_t max = (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN);

	vm->text.n = 0;
	/* What is longer than a string is cut anyway: no need to make it. */
	while (nfind && vm->text.n < max) {
		int64_t at = find(s + i, n - i, what, nfind);

		if (at < 0)
			break;
		text_add(&vm->text, s + i, (size_t)at);
		text_add(&vm->text, put, nput);
		i += (size_t)at + nfind;
	}
	text_add(&vm->text, s + i, n - i);
	return bret_str(vm, b, vm->text.s, vm->text.n);
}

/*
 * The next token of what is being taken apart. Delimiters in front are skipped,
 * so there are no empty tokens; "" at the end.
 */
static uint64_t next_token(struct vm *vm, const struct builtin_call *b,
			   const char *delim, size_t ndelim)
{
	struct vm_tokens *t = &vm->tokens;
	size_t start;

	while (t->pos < t->n && memchr(delim, t->text[t->pos], ndelim))
		t->pos++;
	start = t->pos;
	while (t->pos < t->n && !memchr(delim, t->text[t->pos], ndelim))
		t->pos++;
	return bret_str(vm, b, t->text ? t->text + start : "", t->pos - start);
}

static uint64_t tokenize(struct vm *vm, const struct builtin_call *b)
{
	struct vm_tokens *t = &vm->tokens;
	size_t n, ndelim;
	const char *s = barg_str(vm, b, 0, &n);
	const char *delim = barg_str(vm, b, 1, &ndelim);

	/* tokenize("", d) goes on with the last string, as tokenize(d) does. */
	if (n) {
		t->text = xrealloc(t->text, n);
		memcpy(t->text, s, n);
		t->n = n;
		t->pos = 0;
	}
	return next_token(vm, b, delim, ndelim);
}

/*
 * "" for a start that is outside or for no length; a length beyond the end is
 * cut.
 */
static uint64_t substr(struct vm *vm, const struct builtin_call *b)
{
	size_t n;
	const char *s = barg_str(vm, b, 0, &n);
	int64_t start = barg_num(vm, b, 1), len = barg_num(vm, b, 2);

	if (start < 0 || start >= (int64_t)n || len <= 0)
		return bret_str(vm, b, "", 0);
	if (len > (int64_t)n - start)
		len = (int64_t)n - start;
	return bret_str(vm, b, s + start, (size_t)len);
}

/* text_str(), text_strn(s, max, quoted), string_quoted(). */
static uint64_t escaped(struct vm *vm, enum builtin_id id,
			const struct builtin_call *b)
{
	size_t max = (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN) - 1, n;
	const char *s = barg_str(vm, b, 0, &n);
	bool quoted = id == BI_STRING_QUOTED;
	int64_t len;

	if (id == BI_TEXT_STRN) {
		len = barg_num(vm, b, 1);
		quoted = barg_num(vm, b, 2) != 0;
		if (len > 0 && (uint64_t)len < max)
			max = (size_t)len;
	}
	vm->text.n = 0;
	text_escape(&vm->text, s, n, max, quoted);
	return bret_str(vm, b, vm->text.s ? vm->text.s : "", vm->text.n);
}

/* As a signed char: "\xff" gives -1, as in the reference. */
static uint64_t string_at(struct vm *vm, const struct builtin_call *b,
			  const char *s, size_t n)
{
	int64_t pos = barg_num(vm, b, 1);

	if (pos < 0 || pos >= (int64_t)n)
		return vm_raise(vm, b->loc, "Position out of bounds");
	return (uint64_t)(int64_t)(signed char)s[pos];
}

bool builtin_string(struct vm *vm, enum builtin_id id,
		    const struct builtin_call *b, uint64_t *ret)
{
	const char *s, *what;
	size_t n, nwhat;

	switch (id) {
	case BI_STRLEN:
	case BI_STRINGAT:
	case BI_ISINSTR:
	case BI_STRPOS:
	case BI_STRTOL:
	case BI_ISDIGIT:
		break;
	case BI_SUBSTR:
		*ret = substr(vm, b);
		return true;
	case BI_STR_REPLACE:
		*ret = str_replace(vm, b);
		return true;
	case BI_TOKENIZE2:
		*ret = tokenize(vm, b);
		return true;
	case BI_TOKENIZE:
		s = barg_str(vm, b, 0, &n);
		*ret = next_token(vm, b, s, n);
		return true;
	case BI_TEXT_STR:
	case BI_TEXT_STRN:
	case BI_STRING_QUOTED:
		*ret = escaped(vm, id, b);
		return true;
	default:
		return builtin_match(vm, id, b, ret);
	}
	s = barg_str(vm, b, 0, &n);
	switch (id) {
	case BI_STRLEN:
		*ret = n;
		break;
	case BI_STRINGAT:
		*ret = string_at(vm, b, s, n);
		break;
	case BI_ISINSTR:
	case BI_STRPOS:
		what = barg_str(vm, b, 1, &nwhat);
		*ret = (uint64_t)find(s, n, what, nwhat);
		if (id == BI_ISINSTR)
			*ret = (int64_t)*ret >= 0;
		break;
	case BI_STRTOL:
		*ret = (uint64_t)number_in(s, n, barg_num(vm, b, 1));
		break;
	default: /* BI_ISDIGIT */
		*ret = n && s[0] >= '0' && s[0] <= '9';
		break;
	}
	return true;
}
