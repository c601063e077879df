/* SPDX-License-Identifier: MIT */
/*
 * Debug information (DWARF) of user programs: functions with their inlined
 * copies, lines, variables and types. Addresses are as linked; elf_offset()
 * turns them into places in the file.
 */
#ifndef TYPES_DEBUG_H
#define TYPES_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compile.h"
#include "types/access.h"
#include "types/ctype.h"

struct debug_file;

/* A place that can be probed. */
struct debug_place {
	uint64_t addr;
	const char *func; /* the function it is in, as in the source */
	const char *file; /* as the compiler was given it; "" if not known */
	int line;	  /* of the function's declaration, or of the place */
	bool is_inline;	  /* in a copy that was inlined into its caller */
	uint64_t scope;	  /* which function, or which copy of it */
	const char *label; /* at the place, when labels were asked for */
};
typedef VEC(struct debug_place) debug_places;

/* Where a handler is. */
struct debug_at {
	uint64_t pc;
	/*
	 * Which copy of a function it is for, from struct debug_place; 0: the
	 * innermost one around pc. They differ where a compiler says that an
	 * inlined copy is entered at an instruction which is not its own.
	 */
	uint64_t scope;
};

/* Which descriptions of functions are asked for. */
enum {
	SKIM_FUNCTIONS = 1, /* their own code */
	SKIM_INLINED = 2,   /* copies of it in their callers */
};

/* Which functions or lines are asked for: "func@file:line". */
struct debug_query {
	/*
	 * Glob of the name; before it may stand the scopes of C++ or Rust that
	 * it is in, all of them ("::a::f") or the last ones ("a::f"). From
	 * "_Z" or "_R" on: of the name that the linker knows.
	 */
	const char *func;
	const char *file; /* glob of a name, or the end of a path; NULL: any */
	int line;	  /* 0: the functions themselves */
	int last;	  /* the last of several lines; 0: only that one */
	bool relative;	  /* line counts from the function's declaration */
	bool nearest;	  /* when there is no code for the line: the next one */
	unsigned what;	  /* SKIM_*, when functions are asked for */
	/* glob: the labels of functions and of their copies; NULL: none */
	const char *label;
};

/*
 * Opens a program's debug information, in the file itself or where it is
 * installed (build id, debug link). Once per path; kept until the compilation
 * ends. NULL: *ret_why says why not.
 */
struct debug_file *debug_open(struct compile *c, const char *path,
			      const char **ret_why);
/*
 * Whether there may be inlined copies of a function of that name (a glob),
 * where debug_open() failed: false only if it is certain that there are none.
 */
struct elf_file;
bool debug_may_inline(struct compile *c, const struct elf_file *f,
		      const char *name);
/* Gives all that is open back; what is asked later opens it again. */
void debug_close(struct compile *c);

/*
 * Places of a query, by address. Adds to *ret. For lines: the first address of
 * the line in each function that has it. When there is none, *ret_near lists
 * lines of those functions that have code (up to two, ascending; 0: none).
 */
void debug_find(struct debug_file *f, const struct debug_query *q,
		debug_places *ret, int ret_near[2]);

/*
 * The line that the code at pc was compiled from, and its file as the compiler
 * was given it. false: not known.
 */
bool debug_line(struct debug_file *f, uint64_t pc, const char **ret_file,
		int *ret_line);

/* "struct foo", "foo", "enum e", "int"; a "*" behind it. NULL: not there. */
const struct ctype *debug_type(struct debug_file *f, const char *name);
/* An enumerator of any enum outside of functions. */
bool debug_constant(struct debug_file *f, const char *name, int64_t *ret);
/* Result type of the function around pc; NULL: none, or void. */
const struct ctype *debug_result(struct debug_file *f, uint64_t pc);

/* What a handler at pc can name. */
struct debug_name {
	const char *name;
	const struct ctype *type;
	bool is_param;
};
typedef VEC(struct debug_name) debug_names;
/* Parameters and locals in scope, innermost first; no globals. */
void debug_locals(struct debug_file *f, const struct debug_at *at,
		  debug_names *ret);

/*
 * How to fetch a variable that is in scope, or a global one of pc's compilation
 * unit. *ret is the base: a register, a number, or an address with
 * a last step that does not load (walk_start() takes it from there). The
 * address of a global counts from the instruction pointer, so a program may
 * have been loaded anywhere. 0; -ENOENT: no such name; -ENODATA: it is not
 * there at pc, *ret_why says why.
 */
int debug_variable(struct debug_file *f, const struct debug_at *at,
		   const char *name, struct access *ret,
		   const struct ctype **ret_type, const char **ret_why);
/*
 * A global variable of any compilation unit; unit: a glob of its file's name,
 * or NULL. pc: where the handler is. As debug_variable() otherwise.
 */
int debug_global(struct debug_file *f, uint64_t pc, const char *name,
		 const char *unit, struct access *ret,
		 const struct ctype **ret_type, const char **ret_why);

#endif
