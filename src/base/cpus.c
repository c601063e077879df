/* SPDX-License-Identifier: MIT */
#include "base/cpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cpus_add(struct cpus *set, unsigned cpu)
{
	if (cpu < CPUS_MAX)
		set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

bool cpus_parse(const char *s, struct cpus *ret)
{
	memset(ret, 0, sizeof(*ret));
	while (*s && *s != '\n') {
		unsigned long from, to;
		char *end;

		/* strtoul() would take blanks and signs. */
		if (*s < '0' || *s > '9')
			return false;
		from = to = strtoul(s, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			to = strtoul(end + 1, &end, 10);
		}
		for (; from <= to && from < CPUS_MAX; from++)
			cpus_add(ret, (unsigned)from);
		if (*end != ',')
			return !*end || *end == '\n';
		s = end + 1;
	}
	return true;
}

bool cpus_read(const char *name, struct cpus *ret)
{
	/* sysfs writes a page at most: a list that fills it may be cut. */
	char path[64], list[4096];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, list, sizeof(list) - 1);
		close(fd);
	}
	if (n <= 0 || n == sizeof(list) - 1)
		return false;
	list[n] = 0;
	return cpus_parse(list, ret);
}

bool cpus_has(const struct cpus *set, unsigned cpu)
{
	return cpu < CPUS_MAX && set->bits[cpu / 64] >> cpu % 64 & 1;
}

unsigned cpus_count(const struct cpus *set)
{
	unsigned i, n = 0;

	for (i = 0; i < CPUS_MAX / 64; i++)
		n += (unsigned)__builtin_popcountll(set->bits[i]);
	return n;
}

unsigned cpus_end(const struct cpus *set)
{
	unsigned i = CPUS_MAX / 64;

	while (i && !set->bits[i - 1])
		i--;
	return i ? i * 64 - (unsigned)__builtin_clzll(set->bits[i - 1]) : 0;
}
