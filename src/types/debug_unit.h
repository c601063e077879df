/* SPDX-License-Identifier: MIT */
/* Units of debug information as bytes, for debug_skim.c. */
#ifndef TYPES_DEBUG_UNIT_H
#define TYPES_DEBUG_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/libdw.h"

struct arena;

struct byte_span {
	const uint8_t *p;
	size_t n;
};

/* Sections of one file; missing ones are empty. */
struct unit_bytes {
	struct byte_span info, abbrev, str, line_str, str_offsets;
	/* Of the file that DW_FORM_*_alt mean: its strings. */
	struct byte_span alt_str;
};

struct unit_table;

/* Offsets are into .debug_info. */
struct unit {
	uint64_t first; /* its first DIE */
	uint64_t end;	/* behind the unit */
	uint64_t start; /* its header, which references count from */
	uint64_t abbrev; /* of its table, in .debug_abbrev */
	uint64_t str_base; /* of its part of .debug_str_offsets */
	const struct unit_table *table; /* NULL: not read yet */
	uint8_t version, addr_size, off_size; /* bytes */
	bool has_code; /* no unit of types, no part of units */
	bool is_split; /* only names the file that it is in */
};

/* What is read of a function or of a copy of one. */
struct unit_die {
	const char *name, *linkage; /* as it stands there; NULL: it does not */
	uint64_t origin; /* of a copy, or the declaration; 0: none */
	bool origin_alt; /* in the other file */
	bool has_code;	 /* has an address */
};

/*
 * Of a file, and of the one with common parts that it refers to (NULL: none);
 * the elf_ functions of dw read them. false: there is no .debug_info that could
 * be read.
 */
bool unit_open(const struct libdw *dw, Elf *elf, Elf *alt,
	       struct unit_bytes *ret);
bool unit_read_head(const struct unit_bytes *b, uint64_t off, struct unit *ret);
/* NULL: it has what is not known here. */
struct unit_table *unit_read_table(struct arena *a, const struct unit_bytes *b,
				   const struct unit *u);
/* What the unit's own DIE says of the others: u->str_base, u->has_code. */
bool unit_bases(const struct unit_bytes *b, struct unit *u);
/* Whether units of this table can have DIEs of SKIM_* kinds. */
bool unit_table_has(const struct unit_table *t, unsigned what);
/*
 * Whether functions or copies in units of a table can refer to other units, by
 * the table; and, without reading it, whether a table between two offsets might
 * (true too often).
 */
bool unit_table_is_far(const struct unit_table *t);
bool unit_may_be_far(const struct unit_bytes *b, uint64_t from, uint64_t to);
/*
 * The next DIE of a SKIM_* kind from that at off on: 1, with where it is and
 * where to go on; 0: none; -EINVAL: damaged.
 */
int unit_find(const struct unit_bytes *b, const struct unit *u, uint64_t off,
	      unsigned what, uint64_t *ret_at, uint64_t *ret_next);
bool unit_read_die(const struct unit_bytes *b, const struct unit *u,
		   uint64_t off, struct unit_die *ret);

#endif
