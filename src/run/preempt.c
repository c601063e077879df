/* SPDX-License-Identifier: MIT */
/*
 * Holding off the scheduler costs 25 ns a time (two calls of kernel functions),
 * eight times what a lock costs. Most servers run kernels that do not preempt
 * what runs in the kernel (none, voluntary); there it is left out. Such a
 * kernel's mode can be changed while it runs: others then may wait in vain for
 * a handler that was put aside, which is counted, and nothing worse.
 */
#include "run/preempt.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

static bool mode_preempts(const char *mode, size_t n)
{
	return !(n == 4 && !strncmp(mode, "none", n)) &&
	       !(n == 9 && !strncmp(mode, "voluntary", n));
}

/* The last preempt= of the command line, as the kernel has it. */
static const char *boot_mode(const char *line)
{
	const char *found = NULL, *at = line;

	while (at && (at = strstr(at, "preempt="))) {
		if (at == line || at[-1] == ' ')
			found = at + 8;
		at += 8;
	}
	return found;
}

bool preempt_may(const struct preempt_facts *f)
{
	const char *at;

	if (!f->version)
		return true;
	if (!strstr(f->version, "PREEMPT"))
		return false;
	if (strstr(f->version, "PREEMPT_RT") ||
	    !strstr(f->version, "PREEMPT_DYNAMIC"))
		return true;
	at = f->mode ? strchr(f->mode, '(') : NULL;
	if (at)
		return mode_preempts(at + 1, strcspn(at + 1, ")"));
	at = boot_mode(f->cmdline);
	if (at)
		return mode_preempts(at, strcspn(at, " \n"));
	return !f->built;
}

static const char *read_line(const char *path, char *buf, int size)
{
	FILE *f = fopen(path, "re");
	const char *line = f ? fgets(buf, size, f) : NULL;

	if (f)
		fclose(f);
	return line;
}

/* zlib reads plain files as well. */
static char built_mode(const char *path)
{
	gzFile f = gzopen(path, "rbe");
	char line[256], mode = 0;

	while (f && !mode && gzgets(f, line, sizeof(line))) {
		if (!strncmp(line, "CONFIG_PREEMPT_NONE=y", 21))
			mode = 'n';
		else if (!strncmp(line, "CONFIG_PREEMPT_VOLUNTARY=y", 26))
			mode = 'v';
		else if (!strncmp(line, "CONFIG_PREEMPT_COUNT", 20))
			break; /* what follows says nothing of it */
	}
	if (f)
		gzclose(f);
	return mode;
}

bool preempt_here(void)
{
	struct utsname u;
	char mode[128], cmdline[4096], path[sizeof(u.release) + 16];
	struct preempt_facts f = {0};

	if (uname(&u))
		return true;
	f.version = u.version;
	f.mode = read_line("/sys/kernel/debug/sched/preempt", mode,
			   sizeof(mode));
	f.cmdline = read_line("/proc/cmdline", cmdline, sizeof(cmdline));
	if (!f.mode && strstr(u.version, "PREEMPT_DYNAMIC") &&
	    !boot_mode(f.cmdline)) {
		snprintf(path, sizeof(path), "/boot/config-%s", u.release);
		f.built = built_mode("/proc/config.gz");
		if (!f.built)
			f.built = built_mode(path);
	}
	return preempt_may(&f);
}
