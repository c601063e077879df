/* SPDX-License-Identifier: MIT */
/* Where print goes: standard output or the files of -o. */
#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_options;

/* In the session; output_open() to output_close(). */
struct output {
	int fd; /* where it goes now */
	bool json;		/* each piece is a line of JSON */
	bool broken;		/* nobody reads: EPIPE, or the disk is full */
	int error;		/* negative errno of the write that failed */
	char *buf; /* OUTPUT_BUFFER bytes, the first n are waiting */
	size_t n;
	const char *path;	/* -o, NULL: standard output */
	uint64_t in_file;	/* bytes in the current file */
	uint64_t rotate_bytes; /* -S: a file may have this many; 0: one file */
	/* files to keep, 0: all; the current one's number */
	unsigned rotate_files, file_no;
};

/* One write() a page of text would cost more than the printing itself. */
enum { OUTPUT_BUFFER = 64 << 10 };

/* 0, or a negative errno (the file of -o cannot be made). */
int output_open(struct output *o, const struct run_options *opt);
/* Buffered; order is kept. */
void output_write(struct output *o, const char *s, size_t n);
/* Past the format: what is JSON already. */
void output_raw(struct output *o, const char *s, size_t n);
/* Writes what is buffered. After an error everything is dropped. */
void output_flush(struct output *o);
/* Goes on in the next file (-S, SIGUSR2). Nothing on standard output. */
void output_rotate(struct output *o);
void output_close(struct output *o);

#endif
