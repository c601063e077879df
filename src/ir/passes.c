/* SPDX-License-Identifier: MIT */
/* The order of the passes; the check runs after each of them. */
#include "ir/pass.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * abort(): a function that is not well formed is our bug, and running it could
 * give wrong numbers.
 */
static void check_all(struct compile *c, struct ir *ir, const char *after)
{
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		const char *bad = ir_check(c, ir, ir->funcs.v[i]);

		if (!bad)
			continue;
		fprintf(stderr, "tally: bug after %s: %s\n", after, bad);
		ir_print_func(ir, ir->funcs.v[i], stderr);
		abort();
	}
}

/* fold runs twice: splitting leaves copies and dead reads behind. */
void ir_passes(struct compile *c, struct ir *ir)
{
	static const struct {
		const char *name;
		void (*run)(struct compile *c, struct ir *ir);
	} passes[] = {
		{"same", opt_same},
		{"fold", opt_fold},
		{"late", opt_late},
		{"split", opt_split},
		{"kick", opt_kick},
		{"act", opt_act},
		{"take", opt_take},
		{"fold", opt_fold},
		{"lock", opt_lock},
		{"regs", opt_regs},
		{"outline", opt_outline},
	};

	check_all(c, ir, "build");
	for (unsigned i = 0; i < sizeof(passes) / sizeof(*passes); i++) {
		passes[i].run(c, ir);
		if (diags_errors(c->diag))
			return; /* a function may be half done */
		check_all(c, ir, passes[i].name);
	}
}
