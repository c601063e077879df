/* SPDX-License-Identifier: MIT */
/* Copying, or removing, all elements of a plain array at once: by a program. */
#ifndef STORE_KERN_COPY_H
#define STORE_KERN_COPY_H

#include <stdint.h>

#include "store/hostprog.h"

/* All zeroes: not asked for yet. */
struct kern_copy {
	struct mapped buf; /* the number of elements, then key, value, ... */
	struct hostprog copy, clear;
};

/* Makes buffer and programs once. key_size and value_size (of the map):
 * multiples of 8, in bytes; entries: as many as the map can hold. 0 or a
 * negative errno, the same each time. */
int kern_copy_open(struct kern_copy *c, int map_fd, uint32_t key_size,
		   uint32_t value_size, uint32_t entries);
void kern_copy_close(struct kern_copy *c);
/* Number of elements, or a negative errno. Only after kern_copy_open() gave 0,
 * as what follows. */
int64_t kern_copy_run(struct kern_copy *c);

/* Removes all elements, while nobody else uses the map. 0 or a negative errno:
 * nothing was removed. */
int kern_copy_clear(struct kern_copy *c);

static inline const uint8_t *kern_copy_elems(const struct kern_copy *c)
{
	return c->buf.at + 8;
}

#endif
