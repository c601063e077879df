/* SPDX-License-Identifier: MIT */
/*
 * Limits of control groups, of both versions, where distributions and container
 * engines mount them. A group is in others, each of which may have a limit.
 */
#include "base/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* "max", a missing file and what is no number are no limit. */
static uint64_t read_limit(const char *path)
{
	char text[32], *end;
	unsigned long long v;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	errno = 0;
	v = strtoull(text, &end, 10);
	return end == text || errno ? UINT64_MAX : v;
}

/*
 * The least of a group and those around it. A container that sees another path
 * than it is mounted at finds its own group at the top. dir is used up.
 */
static uint64_t least(const char *mount, char *dir, const char *file)
{
	uint64_t min = UINT64_MAX, v;
	char path[PATH_SIZE], *slash;

	for (;;) {
		if (snprintf(path, sizeof(path), "%s%s/%s", mount, dir,
			     file) < (int)sizeof(path)) {
			v = read_limit(path);
			min = v < min ? v : min;
		}
		slash = strrchr(dir, '/');
		if (!slash)
			return min;
		*slash = 0;
	}
}

/* Is word among the words between commas? */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, n) && (!list[n] || list[n] == ','))
			return true;
	}
	return false;
}

/* A line of the file is NUMBER:CONTROLLERS:PATH; version 2 has no names. */
uint64_t cgroup_memory(void)
{
	char line[PATH_SIZE], *names, *dir;
	uint64_t min = UINT64_MAX, v;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		names = strchr(line, ':');
		dir = names ? strchr(names + 1, ':') : NULL;
		if (!dir)
			continue;
		*dir++ = 0;
		names++;
		if (!*names)
			v = least("/sys/fs/cgroup", dir, "memory.max");
		else if (lists(names, "memory"))
			v = least("/sys/fs/cgroup/memory", dir,
				  "memory.limit_in_bytes");
		else
			continue;
		min = v < min ? v : min;
	}
	if (f)
		fclose(f);
	return min;
}
