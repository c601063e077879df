/* SPDX-License-Identifier: MIT */
/* A streaming JSON writer: commas, nesting and escapes are its business. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Where the writer is in the document; on the caller's stack. */
struct json {
	FILE *f;
	int depth; /* of open brackets; 0: outside of all */
	bool pretty; /* line breaks and 2 blanks a level */
	bool first[64]; /* at each depth: nothing was written there yet */
	bool after_key; /* a value must come next, without a comma */
};

/*
 * All of these write to f at once; a write error stays in it (ferror). What
 * would not be JSON (a key in an array, a bracket too many) is a bug of the
 * caller's and stopped by an assertion.
 */
void json_init(struct json *j, FILE *f, bool pretty);
void json_object(struct json *j);
void json_end_object(struct json *j);
void json_array(struct json *j);
void json_end_array(struct json *j);
void json_key(struct json *j, const char *key);
void json_int(struct json *j, int64_t v);
void json_uint(struct json *j, uint64_t v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* Bytes that are not UTF-8 come out as \u00XX of their Latin-1 value. */
void json_str(struct json *j, const char *s, size_t n);
/* The same for a text with a NUL at its end. */
void json_strz(struct json *j, const char *s);

#endif
