/* SPDX-License-Identifier: MIT */
/* Fuzz target: lexer, preprocessor, parser and printer on any bytes. */
#include <stdint.h>
#include <stdio.h>

#include "base/compile.h"
#include "front/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct compile *c = compile_new();
	struct diag_style style = {.all = true};
	char *text = arena_alloc(c->a, n + 1);
	struct macros *m = macros_new(c);
	FILE *null = fopen("/dev/null", "w");
	struct source *src;
	struct file *file;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)data[i];
	src = compile_source(c, "<input>", text, n);
	tokens_dump(c, m, src, null);
	file = parse_file(c, m, src, 0);
	ast_print_file(file, null);
	ast_dump_file(file, null);
	diags_print(c->diag, null, &style);
	fclose(null);
	compile_free(c);
	return 0;
}
