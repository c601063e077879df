/* SPDX-License-Identifier: MIT */
/* Batched reading and deleting. */
#include "store/kern_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

enum {
	BATCH = 256, /* elements read at a time */
	/*
	 * A bucket that does not fit makes the kernel ask for more room. Then
	 * it says ENOSPC. Buckets hold several elements only when many keys
	 * collide, so this is rare.
	 */
	BATCH_MAX = 1 << 20,
	/* The kernel's cursor is a u32; room for anything it may become. */
	CURSOR_SIZE = 64,
};

/*
 * Room for `more` rows behind the n that are there; both arrays grow together.
 * -ENOMEM leaves what was read.
 */
static int reserve(struct kern_rows *r, size_t more)
{
	size_t cap = r->cap ? r->cap : BATCH;
	uint8_t *p;

	while (cap < r->n + more)
		cap *= 2;
	if (cap == r->cap)
		return 0;
	p = realloc(r->keys, cap * r->key_size);
	if (!p)
		return -ENOMEM;
	r->keys = p;
	p = realloc(r->values, cap * r->value_size);
	if (!p)
		return -ENOMEM;
	r->values = p;
	r->cap = cap;
	return 0;
}

/*
 * Each batch is a system call of its own, so that a program that was skipped on
 * this CPU during one runs during the next. The cursor is opaque: it says in
 * which bucket the kernel goes on.
 */
int kern_map_read(int fd, uint32_t key_size, size_t value_size,
		  struct kern_rows *ret)
{
	uint8_t cursor[CURSOR_SIZE], *in = NULL;
	uint32_t count, batch = BATCH;
	int rc;

	*ret = (struct kern_rows){ .key_size = key_size,
				   .value_size = value_size };
	for (;;) {
		rc = reserve(ret, batch);
		if (rc)
			return rc;
		count = batch;
		rc = bpf_map_lookup_batch(fd, in, cursor,
					  ret->keys + ret->n * key_size,
					  ret->values + ret->n * value_size,
					  &count, NULL);
		if (rc == -ENOSPC && batch < BATCH_MAX) {
			/* Nothing of this bucket was copied: try again. */
			batch *= 4;
			continue;
		}
		/* The last batch comes with -ENOENT and its elements. */
		if (rc && rc != -ENOENT)
			return rc;
		ret->n += count;
		if (rc)
			return 0; /* -ENOENT: that was the end */
		in = cursor;
	}
}

/*
 * Elements may be gone: a program, or a wrapping array's eviction, was faster.
 */
int kern_map_delete(int fd, const struct kern_rows *r)
{
	size_t i;
	uint32_t count;
	int rc;

	for (i = 0; i < r->n; i += count) {
		count = r->n - i > BATCH ? BATCH : (uint32_t)(r->n - i);
		rc = bpf_map_delete_batch(fd, kern_rows_key(r, i), &count,
					  NULL);
		/* The kernel stops at the first key that is not there. */
		if (rc == -ENOENT)
			count++; /* gone already: skip it */
		else if (rc)
			return rc;
		/* No progress without an error would be a loop for ever. */
		if (!count)
			return -EIO;
	}
	return 0;
}

void kern_rows_free(struct kern_rows *r)
{
	free(r->keys);
	free(r->values);
	memset(r, 0, sizeof(*r));
}
