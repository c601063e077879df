/* SPDX-License-Identifier: MIT */
/* Any bytes as a snapshot: a message or a snapshot that writes, reads back to
 * the same text, and merges with itself. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "out/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char *text_of(const struct snapshot *s, size_t *ret_n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_n);

	if (!f || snapshot_write(s, f))
		abort();
	fclose(f);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	const char *why = NULL;
	struct snapshot *s = snapshot_read(a, (const char *)data, n, &why), *t;
	char *one, *two;
	size_t n1, n2;

	if (!s) {
		assert(why);
		arena_free(a);
		return 0;
	}
	one = text_of(s, &n1);
	t = snapshot_read(a, one, n1, &why);
	assert(t);
	two = text_of(t, &n2);
	assert(n1 == n2 && memcmp(one, two, n1) == 0);
	assert(snapshot_merge(a, s, t, &why));
	free(one);
	free(two);
	arena_free(a);
	return 0;
}
