/* SPDX-License-Identifier: MIT */
/* Batched reading and deleting. */
#include "store/kern_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

enum {
	BATCH = 256,
	/* A bucket that does not fit makes the kernel ask for more room. */
	BATCH_MAX = 1 << 20,
	/* The kernel's cursor is a u32; room for anything it may become. */
	CURSOR_SIZE = 64,
};

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
		if (rc && rc != -ENOENT)
			return rc;
		ret->n += count;
		if (rc)
			return 0; /* -ENOENT: that was the end */
		in = cursor;
	}
}

int kern_map_delete(int fd, const struct kern_rows *r)
{
	size_t i;
	uint32_t count;
	int rc;

	for (i = 0; i < r->n; i += count) {
		count = r->n - i > BATCH ? BATCH : (uint32_t)(r->n - i);
		rc = bpf_map_delete_batch(fd, kern_rows_key(r, i), &count,
					  NULL);
		if (rc == -ENOENT)
			count++; /* gone already: skip it */
		else if (rc)
			return rc;
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
