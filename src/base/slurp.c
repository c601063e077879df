/* SPDX-License-Identifier: MIT */
/*
 * Pipes have no size to ask for, so pieces are collected until the end and
 * joined then: the most that is held is the text and one piece, also when the
 * limit turns out to be reached.
 */
#include "base/slurp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/xalloc.h"

enum {
	PIECE_FIRST = 64 << 10,
	PIECE_MAX = 16 << 20, /* each is twice the one before, up to this */
};

struct piece {
	struct piece *next;
	size_t n, size; /* bytes read, bytes of data */
	char data[];
};

static struct piece *piece_new(size_t size)
{
	struct piece *p = xmalloc(sizeof(*p) + size);

	p->next = NULL;
	p->n = 0;
	p->size = size;
	return p;
}

/*
 * Fills p until it is full or the text ends. 1: there may be more; 0: that was
 * the end, or a NUL; or a negative errno.
 */
static int fill(struct piece *p, int fd)
{
	ssize_t k;

	while (p->n < p->size) {
		k = read(fd, p->data + p->n, p->size - p->n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		p->n += (size_t)k;
		if (!k || memchr(p->data + p->n - k, 0, (size_t)k))
			return 0;
	}
	return 1;
}

/* All pieces in one, in the arena; frees them on the way. */
static char *join(struct arena *a, struct piece *p, size_t n)
{
	char *text = arena_alloc(a, n + 1), *to = text;
	struct piece *next;

	for (; p; p = next) {
		next = p->next;
		memcpy(to, p->data, p->n);
		to += p->n;
		free(p);
	}
	*to = '\0';
	return text;
}

int slurp(struct arena *a, int fd, size_t max, char **ret, size_t *ret_n)
{
	struct piece *first = piece_new(PIECE_FIRST), *p = first;
	size_t n = 0;
	int rc;

	for (;;) {
		rc = fill(p, fd);
		n += p->n;
		if (rc >= 0 && n >= max)
			rc = -EFBIG;
		if (rc <= 0)
			break;
		p->next = piece_new(p->size < PIECE_MAX ? 2 * p->size
							: PIECE_MAX);
		p = p->next;
	}
	if (!rc) {
		*ret = join(a, first, n);
		*ret_n = n;
		return 0;
	}
	for (; first; first = p) {
		p = first->next;
		free(first);
	}
	return rc;
}
