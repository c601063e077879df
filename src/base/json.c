/* SPDX-License-Identifier: MIT */
/* The caller says what comes; commas and line breaks follow from the state. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

/*
 * Far above what any of our documents needs; the array in struct json has this
 * many.
 */
enum { DEPTH_MAX = 64 };

void json_init(struct json *j, FILE *f, bool pretty)
{
	memset(j, 0, sizeof(*j));
	j->f = f;
	j->pretty = pretty;
	j->first[0] = true;
}

static void new_line(struct json *j)
{
	if (j->pretty)
		fprintf(j->f, "\n%*s", 2 * j->depth, "");
}

/*
 * What must stand before the next value or key. A document is one value: a
 * second one at depth 0 needs a json_init() of its own.
 */
static void separate(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first[j->depth])
		fputc(',', j->f);
	j->first[j->depth] = false;
	if (j->depth)
		new_line(j);
}

static void begin(struct json *j, char open)
{
	separate(j);
	fputc(open, j->f);
	assert(j->depth + 1 < DEPTH_MAX);
	j->first[++j->depth] = true;
}

/* An empty object or array stays on its line: {}. */
static void end(struct json *j, char close)
{
	bool empty = j->first[j->depth];

	assert(j->depth > 0 && !j->after_key);
	j->depth--;
	if (!empty)
		new_line(j);
	fputc(close, j->f);
}

void json_object(struct json *j)
{
	begin(j, '{');
}

void json_end_object(struct json *j)
{
	end(j, '}');
}

void json_array(struct json *j)
{
	begin(j, '[');
}

void json_end_array(struct json *j)
{
	end(j, ']');
}

/*
 * The byte at hand as JSON writes it. \u00XX of a byte that is no character is
 * how jread() gets the same byte back.
 */
static void escape(struct json *j, unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
		fprintf(j->f, "\\%c", c);
		break;
	case '\n':
		fputs("\\n", j->f);
		break;
	case '\t':
		fputs("\\t", j->f);
		break;
	case '\r':
		fputs("\\r", j->f);
		break;
	default:
		fprintf(j->f, "\\u%04x", c);
	}
}

static void quote(struct json *j, const char *s, size_t n)
{
	fputc('"', j->f);
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		size_t len = utf8_len(s + i, n - i);

		if (!len || c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
			escape(j, c);
			i++;
		} else {
			fwrite(s + i, 1, len, j->f);
			i += len;
		}
	}
	fputc('"', j->f);
}

void json_key(struct json *j, const char *key)
{
	assert(!j->after_key);
	separate(j);
	quote(j, key, strlen(key));
	fputs(j->pretty ? ": " : ":", j->f);
	j->after_key = true;
}

void json_int(struct json *j, int64_t v)
{
	separate(j);
	fprintf(j->f, "%" PRId64, v);
}

void json_uint(struct json *j, uint64_t v)
{
	separate(j);
	fprintf(j->f, "%" PRIu64, v);
}

void json_bool(struct json *j, bool v)
{
	separate(j);
	fputs(v ? "true" : "false", j->f);
}

void json_null(struct json *j)
{
	separate(j);
	fputs("null", j->f);
}

void json_str(struct json *j, const char *s, size_t n)
{
	separate(j);
	quote(j, s, n);
}

void json_strz(struct json *j, const char *s)
{
	json_str(j, s, strlen(s));
}
