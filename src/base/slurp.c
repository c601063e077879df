/* SPDX-License-Identifier: MIT */
/* Pipes have no size to ask for, so the buffer grows as it is needed. */
#include "base/slurp.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

int slurp(struct arena *a, int fd, size_t max, char **ret, size_t *ret_n)
{
	size_t n = 0, cap = 64 << 10;
	struct stat st;
	char *buf;
	ssize_t k;

	/* A byte for the NUL, one to see the end; sizes of /proc are 0. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size < max)
		cap = (size_t)st.st_size + 2;
	buf = arena_alloc(a, cap);

	for (;;) {
		/* One byte stays free for the NUL. */
		k = read(fd, buf + n, cap - n - 1);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			break;
		n += (size_t)k;
		if (n >= max)
			return -EFBIG;
		if (n + 1 == cap) {
			buf = arena_grow(a, buf, cap, 2 * cap);
			cap *= 2;
		}
	}
	buf[n] = '\0';
	*ret = buf;
	*ret_n = n;
	return 0;
}
