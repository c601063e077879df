/* SPDX-License-Identifier: MIT */
/* Whole texts into memory, from files and pipes. */
#ifndef BASE_SLURP_H
#define BASE_SLURP_H

#include <stddef.h>

struct arena;

/*
 * Reads fd to its end: *ret_n bytes at *ret and a NUL behind them. Texts have
 * no NUL: reading ends soon behind the first one, and who parses the text must
 * refuse one that has any, as what follows may be missing (/dev/zero has no
 * end). The caller closes fd. 0, or a negative errno: -EFBIG when there are
 * max bytes or more.
 */
int slurp(struct arena *a, int fd, size_t max, char **ret, size_t *ret_n);

#endif
