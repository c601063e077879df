/* SPDX-License-Identifier: MIT */
/*
 * Bump allocation in chunks. With -DHOSTILE_ALLOC every allocation is a
 * malloc of its own, so that a sanitizer sees each overrun and a stale
 * pointer into a grown array is caught.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#ifndef HOSTILE_ALLOC
enum {
	/*
	 * Each chunk is twice the one before, up to a bound: an arena that
	 * lives for one round over one function is often a few hundred bytes.
	 */
	CHUNK_FIRST = 4 * 1024,
	CHUNK_SIZE = 64 * 1024,
	/* This part or more gets a chunk of its own: the rest stays usable. */
	CHUNK_SHARE = 4,
	ALIGN = 16,
};
#endif

struct chunk {
	/* Newest first, but for chunks that hold a single large allocation. */
	struct chunk *next;
#ifdef HOSTILE_ALLOC
	void *data; /* one allocation, of the size asked for */
#else
	size_t used, size; /* bytes of data */
	/* aligned here, so sizes in ALIGN keep it so */
	_Alignas(ALIGN) char data[];
#endif
};

struct arena {
	struct chunk *chunks; /* the first one is being filled */
	size_t bytes; /* asked for, without what alignment adds */
	size_t next_size; /* of the next chunk */
};

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

#ifdef HOSTILE_ALLOC

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c->data);
		free(c);
	}
	free(a);
}

static void *take(struct arena *a, size_t size)
{
	struct chunk *c = xcalloc(1, sizeof(*c));

	c->data = xcalloc(1, size);
	c->next = a->chunks;
	a->chunks = c;
	return c->data;
}

#else

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

/* Zeroed here, once: all that comes from an arena is. */
static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = xcalloc(1, sizeof(*c) + size);

	c->size = size;
	return c;
}

static void *take(struct arena *a, size_t size)
{
	struct chunk *c = a->chunks;
	void *p;

	if (!a->next_size)
		a->next_size = CHUNK_FIRST;
	if (size > a->next_size / CHUNK_SHARE) {
		struct chunk *own = chunk_new(size);

		own->used = size;
		/*
		 * Behind the one being filled. If it went in front, the room
		 * left in the chunk being filled would be lost at every large
		 * allocation.
		 */
		if (c) {
			own->next = c->next;
			c->next = own;
		} else {
			a->chunks = own;
		}
		return own->data;
	}
	if (!c || c->size - c->used < size) {
		c = chunk_new(a->next_size);
		if (a->next_size < CHUNK_SIZE)
			a->next_size *= 2;
		c->next = a->chunks;
		a->chunks = c;
	}
	p = c->data + c->used;
	c->used += size;
	return p;
}

#endif

void *arena_alloc(struct arena *a, size_t size)
{
	/*
	 * A negative number or an overflow of the caller's. A size of more than
	 * half the address space cannot be meant. Asking malloc for it would
	 * say the same, but only after arithmetic on it has wrapped.
	 */
	if (size > SIZE_MAX / 2)
		xalloc_fail(size);
	a->bytes += size;
#ifndef HOSTILE_ALLOC
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!size)
		size = ALIGN;
#endif
	return take(a, size);
}

/*
 * Always moves, even where there is room behind p: what still points to the old
 * place keeps seeing the old contents instead of half of the new ones.
 */
void *arena_grow(struct arena *a, const void *p, size_t old_size,
		 size_t new_size)
{
	void *q = arena_alloc(a, new_size);
	size_t n = old_size < new_size ? old_size : new_size;

	if (n)
		memcpy(q, p, n);
	return q;
}

/* strnlen: s need not have a NUL in its first n bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		n = 0;
	p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

size_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}
