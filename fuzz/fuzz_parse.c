/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: lexer, preprocessor, parser and printer on any bytes. What
 * parses must print as a text that parses, and that is printed as itself from
 * the second time on. An input that begins with '/' is a regular expression
 * and, behind the first newline, a string: the DFA and the NFA must agree.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compile.h"
#include "front/parse.h"
#include "front/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char *copy(struct compile *c, const void *data, size_t n)
{
	char *text = arena_alloc(c->a, n + 1);

	if (n)
		memcpy(text, data, n);
	return text;
}

/* NULL: it does not parse. *ret_n: bytes of the printed tree. */
static char *parse_and_print(struct compile *c, char *text, size_t n,
			     unsigned flags, size_t *ret_n)
{
	struct source *src = compile_source(c, "<input>", text, n);
	struct file *file = parse_file(c, macros_new(c), src, flags);
	char *printed, *kept;
	size_t len;
	FILE *f = open_memstream(&printed, &len);

	ast_print_file(file, f);
	fclose(f);
	kept = copy(c, printed, len);
	free(printed);
	f = fopen("/dev/null", "w");
	ast_dump_file(file, f);
	fclose(f);
	*ret_n = len;
	return diags_errors(c->diag) ? NULL : kept;
}

static void fuzz_script(struct compile *c, const uint8_t *data, size_t n)
{
	static const char *const args[] = {"1 + x", "a\"b\\"};
	unsigned flags = n & 1 ? PARSE_GURU : 0;
	char *first, *second, *third;
	size_t len1, len2, len3;

	vec_push(c->a, &c->set.args, args[0]);
	vec_push(c->a, &c->set.args, args[1]);
	first = parse_and_print(c, copy(c, data, n), n, flags, &len1);
	/* An empty file and one of definitions only print as nothing. */
	if (!first || len1 < 20)
		return;
	second = parse_and_print(c, first, len1, PARSE_GURU, &len2);
	if (!second)
		abort();
	third = parse_and_print(c, second, len2, PARSE_GURU, &len3);
	if (!third || len2 != len3 || memcmp(second, third, len2))
		abort();
}

static void fuzz_regex(struct compile *c, const uint8_t *data, size_t n)
{
	const uint8_t *nl = memchr(data, '\n', n);
	size_t np = nl ? (size_t)(nl - data) : n;
	char *text = copy(c, data + np, n - np);
	int caps[2 * REGEX_GROUPS_MAX];
	unsigned pos = 0;
	const char *msg = NULL;
	struct regex *re;
	bool found;

	re = regex_compile(c, copy(c, data, np), np, &pos, &msg);
	if (!re) {
		if (!msg || pos > np + 1)
			abort();
		return;
	}
	found = regex_match(re, text, n - np, NULL);
	if (found != regex_match(re, text, n - np, caps))
		abort();
	for (unsigned i = 0; found && i < regex_ngroups(re); i++) {
		if (caps[2 * i] > caps[2 * i + 1])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct compile *c = compile_new();
	struct diag_style style = {.all = true};
	FILE *null;

	if (n && data[0] == '/') {
		fuzz_regex(c, data + 1, n - 1);
	} else {
		fuzz_script(c, data, n);
		null = fopen("/dev/null", "w");
		tokens_dump(c, macros_new(c),
			    compile_source(c, "t", copy(c, data, n), n), null);
		diags_print(c->diag, null, &style);
		fclose(null);
	}
	compile_free(c);
	return 0;
}
