/* SPDX-License-Identifier: MIT */
/*
 * perf.*.counter("name"): events that are counted and fire nothing. @perf reads
 * them (sema/counter.c says how a thread's count is kept).
 */
#include "probe/perf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"

/* Its component process(...), with or without an argument; NULL: none. */
static const struct literal *process_of(const struct match *m, bool *ret_is)
{
	*ret_is = false;
	for (unsigned i = 0; i < m->nparts; i++)
		if (!strcmp(m->name[i], "process")) {
			*ret_is = true;
			return m->arg[i];
		}
	return NULL;
}

/*
 * An optional counter that cannot be had is not declared at all: a handler that
 * reads it asks @defined(@perf("c")) first, where it would otherwise take
 * zeroes for counts. Who may not count at all is told so when the run begins.
 */
static bool left_out(struct compile *c, const struct match *m,
		     const struct probe *p)
{
	const char *why = NULL;
	struct cpus online;
	unsigned cpu = 0;
	int fd;

	if (!(m->point->optional || m->point->sufficient) ||
	    c->set.runtime == RUNTIME_VM || !cpus_read("online", &online))
		return false;
	while (cpu < CPUS_MAX && !cpus_has(&online, cpu))
		cpu++;
	fd = counter_open(c, p, cpu, &why);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -EPERM || fd == -EACCES)
		return false;
	complain(c, COUNTER_LEFT_OUT, &m->point->span, p->counter, why);
	return true;
}

static int expand_counter(struct compile *c, const struct match *m,
			  probe_list *out)
{
	const char *name = m->arg[m->nargs - 1]->str;
	const struct literal *process;
	struct sampler *s;
	struct probe *p;
	name_list files = {0};
	bool of_process;

	if (!*name)
		return family_refuse(c, m, "a counter needs a name, by which "
				     "@perf reads it");
	if (perf_check_type(c, m))
		return -1;
	/* what cannot be found is told here, where the point is */
	process = process_of(m, &of_process);
	if (of_process &&
	    probe_programs(c, m->point, process, m->quiet, &files))
		return -1;
	if (of_process && !files.n)
		return 0;
	p = family_probe(c, m);
	s = arena_new_of(c->a, struct sampler);
	s->type = (uint32_t)m->arg[1]->num;
	s->config = (uint64_t)m->arg[2]->num;
	p->data = s;
	p->counter = name;
	p->counter_from = s->type == PERF_TYPE_SOFTWARE &&
			  s->config == PERF_COUNT_SW_CONTEXT_SWITCHES ? -1 : 0;
	p->place = PLACE_NEVER;
	p->when = WHEN_NEVER;
	if (!left_out(c, m, p))
		vec_push(c->a, out, p);
	return 0;
}

/* As its read_format says. */
struct value {
	uint64_t count, running_ns;
};

/* A pinned event that the CPU has no room for is in an error state: nothing can
 * be read from it. */
static bool read_value(int fd, struct value *ret)
{
	return read(fd, ret, sizeof(*ret)) == sizeof(*ret);
}

bool counter_alive(int fd)
{
	struct value a, b;

	return read_value(fd, &a) && read_value(fd, &b) &&
	       b.running_ns > a.running_ns;
}

int counter_open(struct compile *c, const struct probe *p, unsigned cpu,
		 const char **ret_why)
{
	const struct sampler *s = p->data;
	struct perf_event_attr attr = {
	    .type = s->type,
	    .size = sizeof(attr),
	    .config = s->config,
	    /* All the time or not at all: a counter that takes turns with
	     * others counts a part, which would have to be guessed up. */
	    .pinned = 1,
	    .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = perf_open(&attr, cpu);
	struct value v;

	if (fd < 0) {
		*ret_why = perf_explain(c, s, fd, cpu);
		return fd;
	}
	if (!read_value(fd, &v)) {
		close(fd);
		*ret_why = arena_printf(
		    c->a, "CPU %u has no free hardware counter for it: read "
		    "fewer counters, or stop what uses them (other users of "
		    "perf; the kernel's watchdog: sysctl "
		    "kernel.nmi_watchdog=0)", cpu);
		return -EBUSY;
	}
	return fd;
}

const struct family family_counter = {
    .name = "counter",
    .type = "perf_event",
    .expand = expand_counter,
};
