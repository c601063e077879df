/* SPDX-License-Identifier: MIT */
/* The hash function of base's tables. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a with a final mix; the same on every run: nothing here meets hostile
 * network input, and a stable order makes bugs repeat. */
static inline uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	h ^= h >> 32;
	return h * 0x9e3779b97f4a7c15u;
}

#endif
