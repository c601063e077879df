/* SPDX-License-Identifier: MIT */
/*
 * Adding to an element of a kernel map from outside, atomically: the bpf system
 * call can only read and overwrite, which would lose what programs add in
 * between. A small program that is run on request does it.
 */
#ifndef STORE_KERN_ADD_H
#define STORE_KERN_ADD_H

#include <stdint.h>

/* A program for a map of plain_value with keys of key_size bytes (a multiple
 * of 8, at most 400). Its descriptor or a negative errno. */
int kern_add_load(int map_fd, uint32_t key_size);
/* 0 with the old value, -ENOENT, or another negative errno. */
int kern_add_run(int prog_fd, const void *key, uint32_t key_size,
		 int64_t delta, int64_t *ret_old);

#endif
