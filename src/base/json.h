/* SPDX-License-Identifier: MIT */
/* A streaming JSON writer: commas, nesting and escapes are its business. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *f;
	int depth;
	bool pretty;
	bool first[64];
	bool after_key;
};

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
void json_strz(struct json *j, const char *s);

#endif
