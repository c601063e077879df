/* SPDX-License-Identifier: MIT */
/*
 * Sampling: timer.profile and perf.*. One perf event on each online CPU, all
 * running the same program. Tags of profile: 0 tick, 1 frequency; of perf:
 * 0 default period, 1 period, 2 frequency. The named events (perf.sw.*,
 * perf.hw.*) are aliases of the tapset.
 */
#include "probe/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpus.h"
#include "probe/tick.h"

/* events; what systemtap and perf use for perf.type().config() */
enum { DEFAULT_PERIOD = 1000000 };

/* The caller fills in the event. */
static struct sampler *sampler_probe(struct compile *c, const struct match *m,
				     probe_list *out)
{
	struct probe *p = family_probe(c, m);
	struct sampler *s = arena_new_of(c->a, struct sampler);

	p->data = s;
	p->place = PLACE_KERNEL;
	p->prog = PROG_PERF_EVENT;
	p->guard = GUARD_SELF;
	vec_push(c->a, out, p);
	return s;
}

static int expand_profile(struct compile *c, const struct match *m,
			  probe_list *out)
{
	struct sampler *s;
	int64_t hz = 0;

	if (m->pattern->tag == 1) {
		hz = m->arg[3]->num;
		if (hz <= 0)
			return family_refuse(
			    c, m, "frequency must be greater than 0");
	}
	s = sampler_probe(c, m, out);
	s->type = PERF_TYPE_SOFTWARE;
	s->config = PERF_COUNT_SW_CPU_CLOCK;
	/* The cpu clock counts nanoseconds. A fixed period is exact, where
	 * the kernel's frequency control needs a while to settle. */
	s->every = hz ? (1000000000 + hz / 2) / hz : tick_ns();
	if (!s->every)
		s->every = 1;
	return 0;
}

int perf_check_type(struct compile *c, const struct match *m)
{
	/* attr.type has 32 bits */
	if (m->arg[1]->num >= 0 && m->arg[1]->num <= UINT32_MAX)
		return 0;
	family_refuse(c, m, "invalid perf type");
	return -1;
}

static int expand_perf(struct compile *c, const struct match *m,
		       probe_list *out)
{
	struct sampler *s;
	int64_t every = DEFAULT_PERIOD;

	if (m->pattern->tag) {
		every = m->arg[3]->num;
		if (every < 1)
			return family_refuse(c, m, "%s",
					     m->pattern->tag == 1
						 ? "invalid perf sample count"
						 : "invalid perf frequency");
	}
	if (perf_check_type(c, m))
		return -1;
	s = sampler_probe(c, m, out);
	s->type = m->arg[1]->num;
	s->config = m->arg[2]->num;
	s->every = every;
	s->is_freq = m->pattern->tag == 2;
	return 0;
}

/* --- attaching ------------------------------------------------------------ */

const char *perf_explain(struct compile *c, const struct sampler *s, int err,
			 unsigned cpu)
{
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV) {
		if (s->type == PERF_TYPE_SOFTWARE)
			return "the kernel has no such software event";
		return arena_printf(
		    c->a, "this machine has no such hardware counter (virtual "
		    "machines often have none); use %s", s->every ?
		    "perf.sw.cpu_clock or timer.profile" :
		    "what the kernel counts: perf.sw.task_clock, "
		    "perf.sw.page_faults, perf.sw.context_switches");
	}
	if (err == -EACCES || err == -EPERM)
		return "not allowed to open perf events: run as root, or with "
		       "CAP_PERFMON and kernel.perf_event_paranoid <= 2";
	if (err == -EINVAL)
		return "the kernel refuses this event with this period or "
		       "frequency (see kernel.perf_event_max_sample_rate)";
	if (err == -EMFILE)
		return "too many open files: raise `ulimit -n` (one is needed "
		       "for each CPU)";
	return arena_printf(c->a, "perf_event_open on CPU %u: %s", cpu,
			    strerror(-err));
}

int perf_open(struct perf_event_attr *attr, unsigned cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_one(struct perf_event_attr *attr, unsigned cpu, int prog_fd)
{
	return family_start_event(perf_open(attr, cpu), prog_fd);
}

/* All CPUs or none: a histogram that misses one is wrong without showing it. */
int perf_attach_cpus(struct compile *c, struct perf_event_attr *attr,
		     int prog_fd, struct attach *ret, unsigned *ret_cpu)
{
	struct cpus online;
	struct cpu_event e = {.fd = -ENODEV};
	unsigned end;

	if (!cpus_read("online", &online))
		return -EIO;
	end = cpus_end(&online);
	for (e.cpu = 0; e.cpu < end; e.cpu++) {
		if (!cpus_has(&online, e.cpu))
			continue;
		e.fd = open_one(attr, e.cpu, prog_fd);
		/*
		 * This CPU may have gone offline since the list was read. A
		 * kernel without the event says so on all of them.
		 */
		if (e.fd == -ENODEV)
			continue;
		if (e.fd < 0)
			break;
		vec_push(c->a, &ret->on, e);
	}
	if (e.fd >= 0 || (e.fd == -ENODEV && ret->on.n))
		return 0;
	while (ret->on.n)
		close(ret->on.v[--ret->on.n].fd);
	*ret_cpu = e.cpu;
	return e.fd;
}

int perf_event_on(const struct attach *at, unsigned cpu)
{
	for (unsigned i = 0; i < at->on.n; i++)
		if (at->on.v[i].cpu == cpu)
			return at->on.v[i].fd;
	return -1;
}

/*
 * At offline the kernel takes a CPU's events out of its context for good
 * (perf_event_exit_cpu(), kernel/events/core.c): they can be read and closed,
 * but will not count again.
 */
int perf_attach_cpu(struct compile *c, struct perf_event_attr *attr,
		    int prog_fd, unsigned cpu, struct attach *at)
{
	struct cpu_event e = {.cpu = cpu};
	unsigned i = 0;

	while (i < at->on.n && at->on.v[i].cpu != cpu)
		i++;
	if (i < at->on.n) {
		close(at->on.v[i].fd);
		at->on.v[i] = at->on.v[--at->on.n];
	}
	e.fd = open_one(attr, cpu, prog_fd);
	if (e.fd < 0)
		return e.fd;
	vec_push(c->a, &at->on, e);
	return 0;
}

static struct perf_event_attr attr_of(const struct sampler *s)
{
	return (struct perf_event_attr){
	    .type = s->type,
	    .size = sizeof(struct perf_event_attr),
	    .config = s->config,
	    .sample_period = s->every, /* shares its word with sample_freq */
	    .freq = s->is_freq,
	    .disabled = 1,
	};
}

static int attach_sampler(struct compile *c, struct probe *p, int prog_fd,
			  struct attach *ret, const char **ret_why)
{
	const struct sampler *s = p->data;
	struct perf_event_attr attr = attr_of(s);
	unsigned cpu = 0;
	int err;

	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	err = perf_attach_cpus(c, &attr, prog_fd, ret, &cpu);
	if (err == -EIO)
		*ret_why = "cannot read /sys/devices/system/cpu/online";
	else if (err)
		*ret_why = perf_explain(c, s, err, cpu);
	return err;
}

/*
 * How often an event has fired; 0 where its count does not say. Counters of the
 * hardware stop while they are throttled, and a period that the kernel adapts
 * says nothing about how many samples were due.
 */
static uint64_t due_event(const struct sampler *s, int fd)
{
	enum { CLOCK_LEAST = 10000 /* ns, the kernel's */ };
	bool is_clock = s->config == PERF_COUNT_SW_CPU_CLOCK ||
			s->config == PERF_COUNT_SW_TASK_CLOCK;
	uint64_t every = s->every, n;

	if (s->type != PERF_TYPE_SOFTWARE || s->is_freq ||
	    read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	/*
	 * perf_swevent_init_hrtimer() and perf_swevent_start_hrtimer() raise
	 * shorter periods to 10 us (kernel/events/core.c).
	 */
	if (is_clock && every < CLOCK_LEAST)
		every = CLOCK_LEAST;
	n /= every;
	/*
	 * The clock that counts and the one that interrupts are not the same:
	 * they drift by at most 0.05 %, and one tick is on its way.
	 */
	if (is_clock && n)
		n -= 1 + n / 1000;
	return n;
}

/*
 * The events count on when the kernel does not run their program, because that
 * CPU is in a bpf program or system call, or when a clock's interrupt is late.
 * One whose CPU went offline keeps what it had counted by then.
 */
static uint64_t due_sampler(const struct probe *p, const struct attach *at)
{
	uint64_t due = at->past;

	for (unsigned i = 0; i < at->on.n; i++)
		due += due_event(p->data, at->on.v[i].fd);
	return due;
}

static int attach_cpu_sampler(struct compile *c, struct probe *p, int prog_fd,
			      unsigned cpu, struct attach *at,
			      const char **ret_why)
{
	const struct sampler *s = p->data;
	struct perf_event_attr attr = attr_of(s);
	int err;

	at->past += due_event(s, perf_event_on(at, cpu));
	err = perf_attach_cpu(c, &attr, prog_fd, cpu, at);
	if (err)
		*ret_why = perf_explain(c, s, err, cpu);
	return err;
}

static int load_opts_sampler(struct compile *c, struct probe *p,
			     struct load_opts *ret)
{
	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_PERF_EVENT};
	return 0;
}

const struct family family_profile = {
    .name = "profile",
    .type = "profile_timer",
    .expand = expand_profile,
    .attach = attach_sampler,
    .attach_cpu = attach_cpu_sampler,
    .due = due_sampler,
    .load_opts = load_opts_sampler,
};

const struct family family_perf = {
    .name = "perf",
    .type = "perf_event",
    .expand = expand_perf,
    .attach = attach_sampler,
    .attach_cpu = attach_cpu_sampler,
    .due = due_sampler,
    .load_opts = load_opts_sampler,
};
