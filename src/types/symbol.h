/* SPDX-License-Identifier: MIT */
/* From an address of the kernel or of a process to the function it lies in. */
#ifndef TYPES_SYMBOL_H
#define TYPES_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compile.h"

/* What is known of an address. Texts belong to the compile's arena. */
struct symbol {
	const char *name;   /* NULL: no function is known to be there */
	const char *module; /* "kernel", a module's name, a file's path; NULL */
	uint64_t off, size; /* from the function's start; its size, 0 unknown */
	uint64_t base_off;  /* user: from the file's start, without a name */
	/* Of a named one in a process: the file, as it could be opened, and the
	 * address as it was linked there. */
	const char *file;
	uint64_t linked;
};

struct symbol_book;

/* Nothing is read before the first question. free: NULL is accepted. */
struct symbol_book *symbol_book_new(struct compile *c);
void symbol_book_free(struct symbol_book *b);

/* Reads /proc/kallsyms, which takes 10 to 30 ms and more when the machine is
 * busy: better before there are events. symbol_of_kernel() does it, too. */
void symbol_read_kernel(struct symbol_book *b);
void symbol_of_kernel(struct symbol_book *b, uint64_t addr,
		      struct symbol *ret);
/*
 * The mappings of a process change: symbol_use_process() reads them anew, and
 * keeps the ones it had when the process is gone. Symbols of a file are read
 * once.
 */
void symbol_use_process(struct symbol_book *b, int pid);
void symbol_of_process(struct symbol_book *b, int pid, uint64_t addr,
		       struct symbol *ret);
/*
 * The source line of a symbol of a process, from its program's debug
 * information; false: that is not there, or says nothing of the place.
 */
bool symbol_line(struct symbol_book *b, const struct symbol *s,
		 const char **ret_file, int *ret_line);

#endif
