/* SPDX-License-Identifier: MIT */
#include "vm/escape.h"

#include <string.h>

#include "base/utf8.h"

/* One character's escape in buf (12 bytes); *ret_used: bytes of s. Returns the
 * escape's length. */
static size_t escape_one(const char *s, size_t n, char *buf, size_t *ret_used)
{
	static const char from[] = "\a\b\f\n\r\t\v\"\\";
	static const char to[] = "abfnrtv\"\\";
	uint8_t c = (uint8_t)*s;
	const char *at = c ? strchr(from, c) : NULL;
	size_t len = utf8_len(s, n), i;
	uint32_t code;

	/* Bytes that are no UTF-8 are escaped one by one, in octal. */
	*ret_used = 1;
	if (at)
		return (size_t)snprintf(buf, 12, "\\%c", to[at - from]);
	if (c >= 0x20 && c < 0x7f) {
		buf[0] = (char)c;
		return 1;
	}
	/* len 0 or 1: no character of several bytes. */
	if (len < 2)
		return (size_t)snprintf(buf, 12, "\\%03o", c);
	*ret_used = len;
	/* The first byte's payload: 5, 4 or 3 bits for 2, 3 or 4 bytes. */
	code = c & (0x7fu >> len);
	for (i = 1; i < len; i++)
		code = code << 6 | ((uint8_t)s[i] & 0x3f);
	return (size_t)snprintf(buf, 12, code > 0xffff ? "\\U%08X" : "\\u%04X",
				code);
}

void text_escape(struct text *t, const char *s, size_t n, size_t max,
		 bool quoted)
{
	size_t start = t->n, i = 0, used, len, keep, room = max;
	char buf[12];

	if (quoted) {
		text_add(t, "\"", 1);
		start++;
		/*
		 * The two quotes are of max, and three of the rest are dots
		 * when it is cut.
		 */
		room = (max < 5 ? 5 : max) - 2;
	}
	/* Where to cut, should it not fit: before quote and dots. */
	keep = start;
	while (i < n) {
		len = escape_one(s + i, n - i, buf, &used);
		if (t->n - start + len > room)
			break;
		text_add(t, buf, len);
		i += used;
		/* Behind this escape there is room for the dots. */
		if (!quoted || t->n - start <= room - 3)
			keep = t->n;
	}
	if (!quoted)
		return;
	if (i < n) {
		t->n = keep;
		text_add(t, "\"...", 4);
	} else {
		text_add(t, "\"", 1);
	}
}
