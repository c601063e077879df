/* SPDX-License-Identifier: MIT */
/*
 * Adding to an element of a kernel map from outside, atomically: the bpf system
 * call can only read and overwrite, which would lose what programs add in
 * between. A small program that is run on request does it. Setting is the same:
 * the system call would put a new element in the old one's place, and a program
 * that has found the old one would write to what is another key's by then.
 */
#ifndef STORE_KERN_ADD_H
#define STORE_KERN_ADD_H

#include <stdbool.h>
#include <stdint.h>

#include "store/hostprog.h"

/* A map of plain_value with keys of key_size bytes (a multiple of 8). */
struct kern_add {
	struct mapped request;
	struct hostprog add, set;
};

/*
 * Adds v to an element, or sets it (`set`); *ret_old, unless NULL, is what was
 * there. 0, -ENOENT: no such element, or -ENOTSUP: this kernel has no way to.
 */
int kern_add_run(struct kern_add *a, int map_fd, const void *key,
		 uint32_t key_size, bool set, int64_t v, int64_t *ret_old);
void kern_add_close(struct kern_add *a);

#endif
