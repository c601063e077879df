/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions: one row of builtin.def each. sema checks calls against
 * the signature, ir emits OP_BCALL, gen lowers it for the kernel (lower column)
 * and vm runs it on the host.
 */
#ifndef SEMA_BUILTIN_H
#define SEMA_BUILTIN_H

#include <stdint.h>

#include "front/ast.h"

enum {
	BF_CTX = 1,	/* reads the probe's context: pid, cpu, registers */
	BF_PURE = 2,	/* no side effect, same result for same arguments */
	BF_HOST = 4,	/* the kernel cannot: it continues on the host */
	BF_FAIL = 8,	/* may raise a run-time error */
	BF_EFFECT = 16,	/* must not be elided */
	BF_INTERNAL = 32, /* for the tapset only: name starts with __ */
	BF_CONST = 64,	/* a constant of the probe: pp(), pn(), ppfunc() */
	BF_REGS = 128,	/* needs pt_regs: only in handlers that have them */
	BF_GURU = 256,	/* changes more than tally's own output: needs -g */
};

enum builtin_id {
#define BUILTIN(id, name, sig, flags, width, doc) BI_##id,
#include "sema/builtin.def"
#undef BUILTIN
	BI_MAX
};

/*
 * sig: result then arguments: "l:" long f(), "s:ll" string f(long, long), "v:s"
 * void f(string). width: of a string result: 0 MAXSTRINGLEN, -1 that of the
 * first argument, else bytes (rounded up to 8). The table never changes:
 * pointers into it last as long as the program.
 */
struct builtin {
	enum builtin_id id;
	const char *name, *sig;
	uint32_t flags;
	int width;
	const char *doc;
};

/* NULL when there is none of that name with that number of arguments. */
const struct builtin *builtin_find(const char *name, unsigned nargs);
const struct builtin *builtin_at(enum builtin_id id);
unsigned builtin_nargs(const struct builtin *b);
enum type builtin_type(const struct builtin *b);	 /* TY_UNKNOWN: void */
/* i < builtin_nargs() */
enum type builtin_arg(const struct builtin *b, unsigned i);

#endif
