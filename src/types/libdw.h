/* SPDX-License-Identifier: MIT */
/*
 * libdw, opened when a script first asks for debug information of a program.
 * Linked in, it would cost every start a millisecond (dynamically) or make the
 * binary a third larger (statically); few scripts need it.
 */
#ifndef TYPES_LIBDW_H
#define TYPES_LIBDW_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

struct compile;

/* A member for each function of the library, called by its own name. */
struct libdw {
#define DW(name) __typeof__(&name) name;
#include "types/libdw.def"
#undef DW
};

/* The same table each time; NULL: *ret_why says why and what to install. */
const struct libdw *libdw_open(struct compile *c, const char **ret_why);

#endif
