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

/* A program for a map of plain_value with keys of key_size bytes (a multiple
 * of 8, at most 400); `set`: it puts delta in place of the value. Its
 * descriptor or a negative errno. */
int kern_add_load(int map_fd, uint32_t key_size, bool set);
/* 0 with the old value, -ENOENT, or another negative errno. */
int kern_add_run(int prog_fd, const void *key, uint32_t key_size,
		 int64_t delta, int64_t *ret_old);

#endif
