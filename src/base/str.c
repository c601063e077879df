/* SPDX-License-Identifier: MIT */
/* Interned strings carry their length in front of their bytes. */
#include "base/str.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"

struct strtab {
	struct arena *a;
	struct map *strings; /* bytes to struct interned */
};

/*
 * What a caller holds is a pointer to bytes; len stands at a fixed distance in
 * front, which str_len() relies on.
 */
struct interned {
	size_t len;
	char bytes[];
};

struct strtab *strtab_new(struct arena *a)
{
	struct strtab *t = arena_new_of(a, struct strtab);

	t->a = a;
	t->strings = map_new(a);
	return t;
}

const char *str_intern(struct strtab *t, const char *s, size_t n)
{
	struct interned *i = map_get_bytes(t->strings, s, n);

	if (i)
		return i->bytes;
	i = arena_alloc(t->a, sizeof(*i) + n + 1);
	i->len = n;
	if (n)
		memcpy(i->bytes, s, n);
	map_set_bytes(t->strings, s, n, i);
	return i->bytes;
}

const char *str_internz(struct strtab *t, const char *s)
{
	return str_intern(t, s, strlen(s));
}

size_t str_len(const char *interned)
{
	const char *head = interned - offsetof(struct interned, bytes);

	return ((const struct interned *)(const void *)head)->len;
}

/* Longer names are not compared: the row below is on the stack. */
enum { DISTANCE_MAX = 128 };

unsigned str_distance(const char *a, const char *b)
{
	unsigned row[DISTANCE_MAX + 1], i, j;
	size_t na = strlen(a), nb = strlen(b);

	/* Names this long are never each other's misspelling. */
	if (na > DISTANCE_MAX || nb > DISTANCE_MAX)
		return (unsigned)(na > nb ? na : nb);
	/*
	 * Wagner and Fischer's table, of which only one row is kept: row[j] is
	 * the distance of a's first i characters to b's first j, `diagonal` the
	 * value that stood to the left of the one above.
	 */
	for (j = 0; j <= nb; j++)
		row[j] = j;
	for (i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= nb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}
