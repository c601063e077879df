/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the whole compiler, from bytes to instructions. What an earlier
 * pass accepts must not stop a later one by anything but a diagnostic.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/compile.h"
#include "front/parse.h"
#include "gen/code.h"
#include "ir/ir.h"
#include "ir/plan.h"
#include "sema/program.h"
#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void compile_all(struct compile *c, struct source *src, FILE *null)
{
	struct macros *m = macros_new(c);
	struct file *file = parse_file(c, m, src, 0);
	struct program *prog;
	struct ir *ir;
	struct plan *plan;

	if (diags_errors(c->diag))
		return;
	prog = sema_run(c, &file, 1);
	if (!prog || diags_errors(c->diag))
		return;
	program_print(prog, null, true);
	ir = ir_build(c, prog);
	if (diags_errors(c->diag))
		return;
	ir_passes(c, ir);
	if (diags_errors(c->diag))
		return;
	ir_print(ir, null);
	plan = plan_make(c, ir, 0);
	if (plan && !diags_errors(c->diag))
		gen_run(c, ir, plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct compile *c = compile_new();
	struct diag_style style = {.all = true};
	char *text = arena_alloc(c->a, n + 1);
	FILE *null = fopen("/dev/null", "w");

	for (size_t i = 0; i < n; i++)
		text[i] = (char)data[i];
	c->set.runtime = RUNTIME_VM;
	compile_all(c, compile_source(c, "<input>", text, n), null);
	diags_print(c->diag, null, &style);
	fclose(null);
	types_close(c);
	compile_free(c);
	return 0;
}
