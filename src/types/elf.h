/* SPDX-License-Identifier: MIT */
/*
 * Symbols of programs and libraries, and where a probe has to be put in the
 * file for them. Without debugging information.
 */
#ifndef TYPES_ELF_H
#define TYPES_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compile.h"
#include "types/ctype.h"

/*
 * An open file; from elf_open_file() to elf_close_file(). Holds what was read
 * in mappings, so keep it no longer than needed.
 */
struct elf_file {
	const char *path; /* as opened */
	void *elf;	/* libelf's handle */
	void *debug;	/* that of a separate file with the symbols, or NULL */
	int fd, debug_fd; /* of the two files; -1: not open */
	bool is_exec;	/* a program, not a library */
};

/* A function that can be probed: it has code in the file. */
struct elf_func {
	const char *name; /* without its version; interned */
	uint64_t addr;	 /* as linked */
	uint64_t size;
	uint64_t offset; /* in the file: what uprobes want */
	bool is_global; /* bound globally: callers from outside use it */
};
typedef VEC(struct elf_func) elf_funcs;

/* A static probe that the program's author placed (an SDT note). */
struct elf_mark {
	/* args: "-4@%edi 8@%rax", see probe/ */
	const char *provider, *name, *args;
	uint64_t addr;		/* as linked */
	uint64_t offset;	/* in the file */
	/*
	 * In the file; 0: none. A counter of listeners: the program skips the
	 * probe, and what prepares its arguments, while it is 0.
	 */
	uint64_t semaphore;
};
typedef VEC(struct elf_mark) elf_marks;

/* NULL: *ret_why says why not. Close it before the arena goes. */
struct elf_file *elf_open_file(struct compile *c, const char *path,
			       const char **ret_why);
void elf_close_file(struct elf_file *f);
/*
 * Functions whose name matches, ordered by address; of several names for one
 * address the most public one. Adds to *ret, perhaps nothing. -ENOENT: the file
 * has no symbols at all.
 */
int elf_find_funcs(struct compile *c, const struct elf_file *f,
		   const char *glob, elf_funcs *ret);
/* Whether one of these, which are in order of address, begins there. */
bool elf_func_at(const elf_funcs *funcs, uint64_t addr);
/*
 * Whether there is debug information of the file on this machine, in it or
 * where it would be installed. Costs next to nothing, so it is asked before the
 * library that reads it is loaded.
 */
bool elf_has_debug(struct compile *c, const struct elf_file *f);
/*
 * Stubs through which the file calls functions of other files, by the name of
 * what they call, ordered by address. Adds to *ret, perhaps nothing: a static
 * program has none, and one that was built with -fno-plt calls without.
 */
void elf_find_plt(struct compile *c, const struct elf_file *f, const char *glob,
		  elf_funcs *ret);
/*
 * Address, as linked, of a symbol of any kind. false: there is none of that
 * name.
 */
bool elf_symbol(const struct elf_file *f, const char *name, uint64_t *ret);
/* Likewise, of a variable, with its bytes (0: not known). */
bool elf_variable(const struct elf_file *f, const char *name, uint64_t *ret,
		  uint64_t *ret_size);
/*
 * Whether the program's addresses are those it was linked for (ET_EXEC);
 * otherwise the loader chooses.
 */
bool elf_is_fixed(const struct elf_file *f);
/*
 * What to add to linked addresses in a process that has the file mapped; from
 * its /proc/PID/maps. -ENOENT: it is not mapped there, or another negative
 * errno.
 */
int elf_bias(const struct elf_file *f, long pid, uint64_t *ret);
/*
 * Static probes that match both globs, in the order of the file: one that the
 * compiler copied (inlining) comes as often as it is there. -ENOENT: the file
 * has no such notes.
 */
int elf_find_marks(struct compile *c, const struct elf_file *f,
		   const char *provider, const char *name, elf_marks *ret);
/* File offset of a linked address; 0: in no segment. */
uint64_t elf_offset(const struct elf_file *f, uint64_t addr);
/*
 * Shared libraries the file asks for (DT_NEEDED). As they are written there,
 * "libc.so.6"; found by elf_search().
 */
void elf_find_needed(struct compile *c, const struct elf_file *f,
		     name_vec *ret);
/*
 * Finds a program as a shell would ($PATH; a name with a slash as it stands),
 * or a library in the usual directories; below root ("/proc/PID/root") when
 * that is not NULL. NULL: nowhere.
 */
const char *elf_search(struct compile *c, const char *name, const char *root);

#endif
