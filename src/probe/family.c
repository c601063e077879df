/* SPDX-License-Identifier: MIT */
#include "probe/family.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The point's components as text, names and arguments as matched. */
static const char *family_point_text(struct compile *c, const struct match *m)
{
	const char *text = "";

	for (unsigned i = 0; i < m->nparts; i++) {
		const struct literal *arg = m->arg[i];

		text = arena_printf(c->a, "%s%s%s", text, i ? "." : "",
				    m->name[i]);
		if (arg && arg->type == TY_LONG)
			text = arena_printf(c->a, "%s(%" PRId64 ")", text,
					    arg->num);
		else if (arg)
			text = arena_printf(c->a, "%s(\"%s\")", text, arg->str);
	}
	return str_internz(c->str, text);
}

struct probe *family_probe(struct compile *c, const struct match *m)
{
	struct probe *p = arena_new_of(c->a, struct probe);

	p->family = m->pattern->family;
	p->pp = p->pn = family_point_text(c, m);
	/*
	 * Whoever resolves keeps the point for as long as the probe. Cast by
	 * way of an integer: the compiler rightly warns of the lost const.
	 */
	p->written = (struct point *)(uintptr_t)m->point;
	p->span = m->point->span;
	return p;
}

int family_refuse(struct compile *c, const struct match *m, const char *fmt,
		  ...)
{
	va_list ap;
	struct diag *d;
	const char *text;

	if (m->quiet)
		return 0;
	va_start(ap, fmt);
	text = arena_vprintf(c->a, fmt, ap);
	va_end(ap);
	d = complain(c, PROBE_POINT, &m->point->parts.v[0].span);
	diag_note(c->diag, d, NULL, "%s", text);
	return -1;
}

void near_add(struct near *ret, const char *want, const char *name)
{
	unsigned dist = str_distance(want, name), i;
	size_t begun = strlen(want);

	/*
	 * Who writes $ret means $return and not $arg1, though that has fewer
	 * letters to change. Of less than three letters anything may come.
	 */
	if (begun > 2 && dist > 2 && !strncmp(want, name, begun))
		dist = 2;
	for (i = 0; i < ret->n; i++)
		if (!strcmp(ret->name[i], name))
			return;
	/* Equal distances keep alphabetical order. */
	for (i = ret->n; i > 0; i--)
		if (ret->dist[i - 1] < dist ||
		    (ret->dist[i - 1] == dist &&
		     strcmp(ret->name[i - 1], name) < 0))
			break;
	if (i == NEAR_MAX)
		return;
	if (ret->n < NEAR_MAX)
		ret->n++;
	for (unsigned k = ret->n - 1; k > i; k--) {
		ret->name[k] = ret->name[k - 1];
		ret->dist[k] = ret->dist[k - 1];
	}
	ret->name[i] = name;
	ret->dist[i] = dist;
}

const char *near_text(struct compile *c, const struct near *n)
{
	const char *text = "";

	for (unsigned i = 0; i < n->n; i++)
		text = arena_printf(c->a, "%s%s%s", text, i ? ", " : "",
				    n->name[i]);
	return text;
}

void near_list(struct compile *c, const struct near *n, name_list *out)
{
	for (unsigned i = 0; i < n->n; i++)
		vec_push(c->a, out, n->name[i]);
}

/*
 * An event of all processes must name a CPU, and one that is online; it goes on
 * hitting on the others when that one goes. Ours is online now, and a kernel
 * that has just taken it away is asked again with the next one.
 */
int family_open_event(struct perf_event_attr *attr, long pid)
{
	enum { TRIES = 3 };
	int fd = -1, i;

	for (i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_perf_event_open, attr,
				  pid ? (int)pid : -1,
				  pid ? -1 : sched_getcpu(), -1,
				  PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0 || errno != ENODEV)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/*
 * The order matters: the event was opened disabled, so no hit finds it without
 * its program.
 */
int family_start_event(int fd, int prog_fd)
{
	int err;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int family_sysfs(const char *path, const char *format, unsigned *ret)
{
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, format, ret);
	fclose(f);
	return n == 1 ? 0 : -EIO;
}
