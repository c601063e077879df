/* SPDX-License-Identifier: MIT */
/*
 * Entries live in chunks that never move, like the values of the kernel's maps:
 * code in the VM holds their addresses across other insertions. The index is
 * open addressing over entry numbers, rebuilt when it is three quarters full
 * (counting tombstones). A list through the entries keeps the order of
 * insertion, which foreach shows.
 */
#include "store/htab.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

enum {
	CHUNK = 256, /* entries */
	SLOT_EMPTY = 0,
	SLOT_GONE = UINT32_MAX,
};

/*
 * In front of each entry's key. Numbers, not pointers: half the size, and they
 * stay right when the list of chunks moves.
 */
struct entry_head {
	uint32_t prev, next; /* order of insertion; next also links free ones */
	uint32_t live, pad; /* live: in the list, not free */
};

struct htab {
	uint32_t key_size, value_size, max;
	uint32_t stride;  /* head, key, value */
	uint32_t n, used; /* live entries; slots that are not empty */
	/* ends of the list of live entries; free ones */
	uint32_t first, last, free_list;
	uint32_t nentries; /* ever handed out */
	uint8_t **chunks; /* of CHUNK entries each, never moved */
	uint32_t nchunks;
	uint32_t *slots; /* SLOT_EMPTY, SLOT_GONE, or entry + 1 */
	uint32_t mask; /* slots - 1, a power of two less 1 */
};

/* Keys and values begin at multiples of 8: values are read as 64-bit words. */
static uint32_t round8(uint32_t n)
{
	return (n + 7) & ~7u;
}

struct htab *htab_new(uint32_t key_size, uint32_t value_size, uint32_t max)
{
	struct htab *h = xcalloc(1, sizeof(*h));

	h->key_size = key_size;
	h->value_size = value_size;
	htab_limit(h, max);
	h->stride =
	    sizeof(struct entry_head) + round8(key_size) + round8(value_size);
	h->first = h->last = h->free_list = HTAB_NONE;
	/* 64 slots: most tables of a script stay small. */
	h->mask = 63;
	h->slots = xcalloc(h->mask + 1, sizeof(*h->slots));
	return h;
}

void htab_free(struct htab *h)
{
	uint32_t i;

	if (!h)
		return;
	for (i = 0; i < h->nchunks; i++)
		free(h->chunks[i]);
	free(h->chunks);
	free(h->slots);
	free(h);
}

uint32_t htab_count(const struct htab *h)
{
	return h->n;
}

void htab_limit(struct htab *h, uint32_t max)
{
	/* Above it entry + 1 might be SLOT_GONE. */
	h->max = max < 0x7fffffffu ? max : 0x7fffffffu;
}

static struct entry_head *entry(const struct htab *h, uint32_t e)
{
	return (struct entry_head *)(h->chunks[e / CHUNK] +
				     (size_t)(e % CHUNK) * h->stride);
}

const uint8_t *htab_key(const struct htab *h, uint32_t e)
{
	return (uint8_t *)(entry(h, e) + 1);
}

uint8_t *htab_value(const struct htab *h, uint32_t e)
{
	return (uint8_t *)(entry(h, e) + 1) + round8(h->key_size);
}

uint32_t htab_first(const struct htab *h)
{
	return h->first;
}

/* A loop's body may have deleted the element that it is at: its link leads to
 * the free list then, so the walk ends there. */
uint32_t htab_next(const struct htab *h, uint32_t e)
{
	return entry(h, e)->live ? entry(h, e)->next : HTAB_NONE;
}

/*
 * The slot that holds the key, or HTAB_NONE. >> 20: the hash's low bits are the
 * weakest mixed ones (base/hash.h). At a fourth of the slots being empty at
 * least, the walk ends.
 */
static uint32_t slot_of(const struct htab *h, const void *key)
{
	uint32_t i = hash_bytes(key, h->key_size) >> 20 & h->mask;

	for (;; i = (i + 1) & h->mask) {
		uint32_t s = h->slots[i];

		if (s == SLOT_EMPTY)
			return HTAB_NONE;
		if (s != SLOT_GONE &&
		    /*
		     * Keys are compared by their bytes: padding is zero, so
		     * equal keys are equal bytes (plan_key).
		     */
		    !memcmp(htab_key(h, s - 1), key, h->key_size))
			return i;
	}
}

static void slot_put(struct htab *h, uint32_t e)
{
	uint32_t i = hash_bytes(htab_key(h, e), h->key_size) >> 20 & h->mask;

	while (h->slots[i] != SLOT_EMPTY)
		i = (i + 1) & h->mask;
	h->slots[i] = e + 1;
	h->used++;
}

/* A bigger index, or one of the same size if it was tombstones that filled it:
 * an array that is filled and emptied for hours must not grow. */
static void reindex(struct htab *h)
{
	uint32_t e;

	while (h->n * 2 > h->mask)
		h->mask = h->mask * 2 + 1;
	free(h->slots);
	h->slots = xcalloc((size_t)h->mask + 1, sizeof(*h->slots));
	h->used = 0;
	for (e = h->first; e != HTAB_NONE; e = entry(h, e)->next)
		slot_put(h, e);
}

/*
 * Last freed, first used: its memory is still in the cache. Chunks are never
 * given back while the table lives.
 */
static uint32_t entry_take(struct htab *h)
{
	uint32_t e = h->free_list;

	/*
	 * A used entry holds the last key and value; a new cell must be 0. A
	 * fresh one is, and stays untouched: of a quantile grid's 15 pages the
	 * samples of one key need two or three.
	 */
	if (e != HTAB_NONE) {
		h->free_list = entry(h, e)->next;
		memset(entry(h, e), 0, h->stride);
		return e;
	}
	e = h->nentries++;
	if (e / CHUNK == h->nchunks) {
		h->chunks =
		    xrealloc(h->chunks, (h->nchunks + 1) * sizeof(*h->chunks));
		h->chunks[h->nchunks++] = xcalloc(CHUNK, h->stride);
	}
	return e;
}

uint8_t *htab_find(const struct htab *h, const void *key)
{
	uint32_t s = slot_of(h, key);

	return s == HTAB_NONE ? NULL : htab_value(h, h->slots[s] - 1);
}

uint8_t *htab_add(struct htab *h, const void *key, bool *ret_new)
{
	uint8_t *found = htab_find(h, key);
	struct entry_head *head;
	uint32_t e;

	/* The entry's address: chunk, then place in it. */
	*ret_new = false;
	if (found)
		return found;
	/*
	 * Whether an array that is full is an error or an eviction is decided
	 * by those who call: store_make_room(), or the kernel's rule for maps.
	 */
	if (h->n >= h->max)
		return NULL;
	if ((h->used + 1) * 4ull > h->mask * 3ull)
		reindex(h);
	e = entry_take(h);
	head = entry(h, e);
	if (h->key_size)
		memcpy(head + 1, key, h->key_size);
	head->live = 1;
	head->prev = h->last;
	head->next = HTAB_NONE;
	if (h->last != HTAB_NONE)
		entry(h, h->last)->next = e;
	else
		h->first = e;
	h->last = e;
	h->n++;
	slot_put(h, e);
	*ret_new = true;
	return htab_value(h, e);
}

bool htab_del(struct htab *h, const void *key)
{
	uint32_t s = slot_of(h, key), e;
	struct entry_head *head;

	if (s == HTAB_NONE)
		return false;
	e = h->slots[s] - 1;
	head = entry(h, e);
	/*
	 * A tombstone, not an empty slot: keys that were put further on because
	 * of this one must still be found.
	 */
	h->slots[s] = SLOT_GONE;
	if (head->prev != HTAB_NONE)
		entry(h, head->prev)->next = head->next;
	else
		h->first = head->next;
	if (head->next != HTAB_NONE)
		entry(h, head->next)->prev = head->prev;
	else
		h->last = head->prev;
	/*
	 * From here on `next` links the free list; htab_next() knows by `live`.
	 */
	head->live = 0;
	head->next = h->free_list;
	h->free_list = e;
	h->n--;
	return true;
}

/* The memory is kept: an array that is cleared each second fills up again. */
void htab_clear(struct htab *h)
{
	uint32_t e, next;

	for (e = h->first; e != HTAB_NONE; e = next) {
		next = entry(h, e)->next;
		entry(h, e)->live = 0;
		entry(h, e)->next = h->free_list;
		h->free_list = e;
	}
	h->first = h->last = HTAB_NONE;
	h->n = h->used = 0;
	memset(h->slots, 0, ((size_t)h->mask + 1) * sizeof(*h->slots));
}

/*
 * Whether the VM may touch addr: only values of live elements, not keys or
 * links. Chunks are few (256 entries each), and the interpreter remembers the
 * last answer, so a linear search does.
 */
uint8_t *htab_owner(const struct htab *h, uint64_t addr)
{
	uint64_t size = (uint64_t)h->stride * CHUNK, off;
	uint32_t i, e;
	uint8_t *value;

	for (i = 0; i < h->nchunks; i++) {
		off = addr - (uint64_t)(uintptr_t)h->chunks[i];
		if (off >= size)
			continue;
		e = i * CHUNK + (uint32_t)(off / h->stride);
		value = htab_value(h, e);
		if (addr < (uint64_t)(uintptr_t)value || !entry(h, e)->live)
			return NULL;
		return value;
	}
	return NULL;
}
