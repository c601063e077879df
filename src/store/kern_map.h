/* SPDX-License-Identifier: MIT */
/* Whole hash maps in few system calls. */
#ifndef STORE_KERN_MAP_H
#define STORE_KERN_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Copies of a map's elements; sizes in bytes, values of all CPUs together. */
struct kern_rows {
	uint8_t *keys, *values; /* malloc'd */
	size_t n, cap; /* rows that are there, and that there is room for */
	uint32_t key_size;
	size_t value_size;
};

/*
 * Reads a map in short batches: programs of some kinds are skipped on the CPU
 * that is inside the call. 0 or a negative errno; free in both cases.
 */
int kern_map_read(int fd, uint32_t key_size, size_t value_size,
		  struct kern_rows *ret);
/* Deletes the elements that were read. */
int kern_map_delete(int fd, const struct kern_rows *rows);
void kern_rows_free(struct kern_rows *rows);

static inline const uint8_t *kern_rows_key(const struct kern_rows *r, size_t i)
{
	return r->keys + i * r->key_size;
}

static inline const uint8_t *kern_rows_value(const struct kern_rows *r,
					     size_t i)
{
	return r->values + i * r->value_size;
}

#endif
