/* SPDX-License-Identifier: MIT */
/* The library files in the program: tools/embed.c makes the tables. */
#ifndef SEMA_EMBEDDED_H
#define SEMA_EMBEDDED_H

struct embedded_file {
	const char *name;
	unsigned len;
	int is_macros; /* .stpm */
	unsigned packed_len;
	/* Packed by zlib: len bytes when unpacked. */
	const unsigned char *packed;
};
/* Sorted by kind (enum tapset_kind), then name. */
struct embedded_name {
	const char *name;
	int kind;
	unsigned file;
};
extern const struct embedded_file embedded_files[];
extern const unsigned embedded_nfiles;
extern const struct embedded_name embedded_names[];
extern const unsigned embedded_nnames;

#endif
