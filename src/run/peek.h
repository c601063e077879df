/* SPDX-License-Identifier: MIT */
/*
 * The kernel's memory, for handlers that run on the host: a small program reads
 * it on request. Opened when the first handler reads (a quarter millisecond);
 * a read then takes 2 to 3 us.
 */
#ifndef RUN_PEEK_H
#define RUN_PEEK_H

#include <stddef.h>
#include <stdint.h>

struct peek;

/* NULL and *ret_err (a negative errno): the kernel refuses. */
struct peek *peek_open(int *ret_err);
/* Accepts NULL. */
void peek_close(struct peek *p);
/* n bytes at a kernel address. 0, or -EFAULT: not all of them can be read. */
int peek_read(struct peek *p, uint64_t addr, void *dst, size_t n);
/* Address of the task_struct of this thread of ours; 0: not known. */
uint64_t peek_task(struct peek *p);

#endif
