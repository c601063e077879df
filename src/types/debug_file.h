/* SPDX-License-Identifier: MIT */
/* What the files that read debug information share. */
#ifndef TYPES_DEBUG_FILE_H
#define TYPES_DEBUG_FILE_H

#include "types/debug.h"
#include "types/libdw.h"

struct debug_file {
	struct ctype_source source; /* first: what a type's owner points to */
	struct compile *c;
	const struct libdw *dw;
	const char *path;
	Dwfl *dwfl;		/* NULL: closed */
	Dwfl_Module *mod;
	Dwarf *dbg;
	Dwarf *alt; /* the file that dwz put common parts into, or NULL */
	const char *missing;	/* why there is nothing, or NULL */
	struct map *made;	/* offset of a DIE -> struct ctype */
	unsigned filling;	/* types being filled for each other */
};

/* Opens it again after debug_close(); false: it has become unreadable. */
bool debug_reopen(struct debug_file *f);

/* A number that tells a DIE from all others of f, of both files. */
uint64_t die_id(struct debug_file *f, Dwarf_Die *die);
bool die_of_id(struct debug_file *f, uint64_t id, Dwarf_Die *ret);

/*
 * Visits the compilation units, and each DIE below one, until visit() returns
 * true. die_all_units() also the parts that several of them have in common,
 * where types can be and code cannot. Nested deeper than DIE_DEPTH is not seen:
 * no compiler writes that.
 */
enum { DIE_DEPTH = 48 };
bool die_units(struct debug_file *f, bool (*visit)(void *ctx, Dwarf_Die *cu),
	       void *ctx);
bool die_all_units(struct debug_file *f,
		   bool (*visit)(void *ctx, Dwarf_Die *cu), void *ctx);
/* Children of die, in order. */
bool die_first(struct debug_file *f, Dwarf_Die *die, Dwarf_Die *ret);
bool die_next(struct debug_file *f, Dwarf_Die *die, Dwarf_Die *ret);
/* Name, also of the declaration that die completes; NULL: none. Interned. */
const char *die_name(struct debug_file *f, Dwarf_Die *die);
/*
 * Whether a function's name, without scopes, is meant by a pattern. "f" means
 * "f<int>", too: what a template makes.
 */
bool debug_name_matches(struct compile *c, const char *glob,
			const char *name);
/*
 * Where a function, or an inlined copy, is entered. false: it has no code of
 * its own (a declaration, or one that exists only inlined).
 */
bool die_entry(struct debug_file *f, Dwarf_Die *die, Dwarf_Addr *ret);
typedef VEC(Dwarf_Off) die_offsets;
/*
 * Adds the offsets of functions' and inlined copies' DIEs (what: SKIM_*) that
 * have code and a name that matches; without regard to the scopes that it is
 * in. false: the file cannot be read in this quick way. (debug_skim.c)
 */
bool debug_skim(struct debug_file *f, const char *glob, unsigned what,
		die_offsets *ret);
/* A namespace, class or module: functions can stand in it. */
bool die_is_name_scope(int tag);
/* The unit whose code has pc. */
bool die_unit_at(struct debug_file *f, uint64_t pc, Dwarf_Die *ret);
/* The function (not an inlined copy) whose code has pc. */
bool die_function_at(struct debug_file *f, Dwarf_Die *cu, uint64_t pc,
		     Dwarf_Die *ret);
/* The type of a variable, a member or a function; NULL: void. */
const struct ctype *die_type(struct debug_file *f, Dwarf_Die *die);
/* struct ctype_source.fill of these types. */
void debug_fill(struct ctype_source *s, struct ctype *t);
/*
 * Whether a path is meant by "b.c" or "*.c" (its last part alone), by its end
 * "a/b.c", or as a whole.
 */
bool debug_file_matches(const char *glob, const char *path);

#endif
