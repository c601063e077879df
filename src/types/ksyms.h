/* SPDX-License-Identifier: MIT */
/* Functions and variables of the kernel, from /proc/kallsyms. */
#ifndef TYPES_KSYMS_H
#define TYPES_KSYMS_H

#include "base/compile.h"

/* Both strings are interned. */
struct ksym {
	const char *name;
	const char *symbol; /* name, or that of the only copy there is */
	const char *module; /* "" for the kernel itself */
};
typedef VEC(struct ksym) ksym_list;

/*
 * Functions whose name and module match, in order of address; a name that
 * several functions share comes once. The compiler may keep a function only as
 * a copy with fewer arguments (f.isra.0, f.constprop.0): then f, when it is
 * named without wildcards, is that. The module "" is the kernel. The first call
 * reads the whole file (10 to 50 ms) and keeps the names for those that follow,
 * 1 to 5 MB until ksyms_close(): only for kernel functions. 0 or a negative
 * errno.
 */
int ksyms_find(struct compile *c, const char *module, const char *name,
	       ksym_list *ret);
/*
 * Gives the kept names back; what was found stays good, what is asked later
 * reads again. types_close() does it. Accepts never read.
 */
void ksyms_close(struct compile *c);

/*
 * Address of the variable of that name ("": of the kernel itself). Returns how
 * many there are (static variables of one name exist in several files): the
 * address is good when it is 1 and not 0, which it is for who may not see it.
 * Or a negative errno.
 */
int ksyms_variable(struct compile *c, const char *module, const char *name,
		   uint64_t *ret_addr);

#endif
