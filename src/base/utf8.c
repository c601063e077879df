/* SPDX-License-Identifier: MIT */
/* The well-formed sequences of the Unicode standard's table 3-7. */
#include "base/utf8.h"

#include <stdint.h>

size_t utf8_len(const char *s, size_t n)
{
	const unsigned char *b = (const unsigned char *)s;
	uint32_t c, low;
	size_t len, i;

	if (!n)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		len = 2;
		c = b[0] & 0x1f;
		low = 0x80;
	} else if (b[0] >= 0xe0 && b[0] <= 0xef) {
		len = 3;
		c = b[0] & 0x0f;
		low = 0x800;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		len = 4;
		c = b[0] & 0x07;
		low = 0x10000;
	} else {
		return 0;
	}
	if (len > n)
		return 0;
	for (i = 1; i < len; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	/* Overlong forms and surrogates are not characters. */
	if (c < low || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return len;
}
