/* SPDX-License-Identifier: MIT */
/*
 * Entries stand in an array in insertion order; an open-addressing table of
 * their numbers finds them by key. Nothing is ever removed.
 */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct entry {
	const char *key; /* n bytes and a NUL */
	size_t n;
	uint64_t hash; /* kept: rehash() need not read the keys again */
	void *value;
};

/*
 * The order of entries is what map_at() promises: whatever is printed from a
 * map comes out the same on every run, which tests and reproducible output
 * need. The table holds numbers, not pointers, because entries move when their
 * array grows.
 */
struct map {
	struct arena *a;
	VEC(struct entry) entries;
	uint32_t *table; /* entry number + 1; 0: free */
	uint32_t size;	 /* a power of two, or 0 */
};

struct map *map_new(struct arena *a)
{
	struct map *m = arena_new_of(a, struct map);

	m->a = a;
	return m;
}

/*
 * The table place of the key, or the free place where it belongs. m->size must
 * not be 0.
 */
static uint32_t *find(const struct map *m, uint64_t hash, const void *key,
		      size_t n)
{
	/* The upper half is the better mixed one (base/hash.h). There is
	 * always a free place, so this ends. */
	uint32_t i = (uint32_t)(hash >> 32) & (m->size - 1);

	for (;; i = (i + 1) & (m->size - 1)) {
		const struct entry *e;

		if (!m->table[i])
			return &m->table[i];
		e = &m->entries.v[m->table[i] - 1];
		if (e->hash == hash && e->n == n && !memcmp(e->key, key, n))
			return &m->table[i];
	}
}

/* The old table stays behind in the arena: all of them together are no larger
 * than the last one. */
static void rehash(struct map *m, uint32_t size)
{
	m->table = arena_array(m->a, uint32_t, size);
	m->size = size;
	for (unsigned i = 0; i < m->entries.n; i++) {
		const struct entry *e = &m->entries.v[i];

		*find(m, e->hash, e->key, e->n) = i + 1;
	}
}

void map_set_bytes(struct map *m, const void *key, size_t n, void *value)
{
	uint64_t hash = hash_bytes(key, n);
	struct entry e = {.n = n, .hash = hash, .value = value};
	uint32_t *at;
	char *copy;

	/* At most two thirds full: probing stays short. */
	if ((uint64_t)m->entries.n * 3 >= (uint64_t)m->size * 2)
		rehash(m, m->size ? m->size * 2 : 16);
	at = find(m, hash, key, n);
	if (*at) {
		m->entries.v[*at - 1].value = value;
		return;
	}
	copy = arena_alloc(m->a, n + 1);
	if (n)
		memcpy(copy, key, n);
	e.key = copy;
	vec_push(m->a, &m->entries, e);
	*at = m->entries.n;
}

static const struct entry *lookup(const struct map *m, const void *key,
				  size_t n)
{
	uint32_t at;

	if (!m->size)
		return NULL;
	at = *find(m, hash_bytes(key, n), key, n);
	return at ? &m->entries.v[at - 1] : NULL;
}

void *map_get_bytes(const struct map *m, const void *key, size_t n)
{
	const struct entry *e = lookup(m, key, n);

	return e ? e->value : NULL;
}

void map_set(struct map *m, const char *key, void *value)
{
	map_set_bytes(m, key, strlen(key), value);
}

void *map_get(const struct map *m, const char *key)
{
	return map_get_bytes(m, key, strlen(key));
}

bool map_has(const struct map *m, const char *key)
{
	return lookup(m, key, strlen(key)) != NULL;
}

void map_set_num(struct map *m, uint64_t key, void *value)
{
	map_set_bytes(m, &key, sizeof(key), value);
}

void *map_get_num(const struct map *m, uint64_t key)
{
	return map_get_bytes(m, &key, sizeof(key));
}

unsigned map_count(const struct map *m)
{
	return m->entries.n;
}

void *map_at(const struct map *m, unsigned i, const char **ret_key)
{
	if (ret_key)
		*ret_key = m->entries.v[i].key;
	return m->entries.v[i].value;
}
