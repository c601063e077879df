/* SPDX-License-Identifier: MIT */
/* Waiting for running handlers. */
#include "store/grace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "store/sysbpf.h"

enum {
	/*
	 * Two migrations a CPU: with more CPUs the kernel's wait is the shorter
	 * one, and it disturbs nobody.
	 */
	VISITS_MAX = 32,
	LIST_MAX = 256, /* more is cut, and so not a list we know */
};

/*
 * No map is made yet: scripts that never drain pay for none. The list of CPUs
 * is read now, before there are handlers: see may_visit().
 */
void grace_init(struct grace *g)
{
	*g = (struct grace){ .map = -1, .inner = -1 };
	if (!cpus_read("online", &g->online))
		memset(&g->online, 0, sizeof(g->online));
}

void grace_close(struct grace *g)
{
	if (g->map >= 0)
		close(g->map);
	if (g->inner >= 0)
		close(g->inner);
	g->map = g->inner = -1;
}

/* --- visiting ------------------------------------------------------------ */

/*
 * First line of a file of sysfs, without its newline; "" when there is none.
 * Cut at size - 1 bytes.
 */
static void read_list(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, ret, size - 1);
		close(fd);
	}
	ret[n > 0 ? n : 0] = 0;
	ret[strcspn(ret, "\n")] = 0;
}

/* Handlers of tracepoints run with preemption off, but for real-time kernels:
 * those say so in their version, whoever built them. */
static bool is_realtime(void)
{
	struct utsname u;

	return !access("/sys/kernel/realtime", F_OK) || uname(&u) ||
	       strstr(u.version, "PREEMPT_RT");
}

/*
 * Should this process go to each CPU? Facts that hold for as long as the
 * machine is up, so they are asked once.
 */
static bool is_welcome(void)
{
	static const char *const quiet_cpus[] = {
		"/sys/devices/system/cpu/isolated",
		"/sys/devices/system/cpu/nohz_full",
	};
	char list[LIST_MAX];
	unsigned i;

	if (is_realtime())
		return false;
	/*
	 * Isolated CPUs were set aside so that nothing else runs there; a visit
	 * would break that promise, however short. "(null)" is how older
	 * kernels write that nohz_full is empty.
	 */
	for (i = 0; i < 2; i++) {
		read_list(quiet_cpus[i], list, sizeof(list));
		if (list[0] && strcmp(list, "(null)"))
			return false;
	}
	return true;
}

/*
 * May it? Asked each time: CPUs come and go, and so do limits (taskset,
 * cpuset). A CPU that is going runs handlers until it is dead, but is in the
 * list no more: the first wait after a change is the kernel's, which includes
 * that CPU until it is dead.
 */
static bool may_visit(struct grace *g)
{
	struct cpus online;
	cpu_set_t allowed;
	unsigned cpu;
	bool same;

	if (!cpus_read("online", &online))
		return false;
	same = !memcmp(&online, &g->online, sizeof(online));
	g->online = online;
	if (!same || cpus_count(&online) > VISITS_MAX ||
	    sched_getaffinity(0, sizeof(allowed), &allowed))
		return false;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpus_has(&online, cpu) != !!CPU_ISSET(cpu, &allowed))
			return false;
	return true;
}

/*
 * Runs on each CPU for a moment: whatever ran there with preemption off has
 * ended then, and what begins later sees what was stored before. A CPU that
 * goes offline meanwhile has no handler any more (the visit fails, and the
 * kernel is asked instead); one that comes online begins later.
 */
static int visit_all(void)
{
	cpu_set_t all, one;
	int cpu, here, rc = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	here = sched_getcpu();
	for (cpu = 0; !rc && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || cpu == here)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			rc = -errno;
	}
	/* `here` was only left if something moved us before the first visit;
	 * ending there makes sure of it. */
	CPU_ZERO(&one);
	CPU_SET(here, &one);
	if (here < 0 || sched_setaffinity(0, sizeof(one), &one))
		rc = rc ? rc : -EINVAL;
	/* All that there are, so that CPUs which come online are allowed too:
	 * it was not restricted, or there would have been no visits. */
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	return rc;
}

/* --- the kernel's way ---------------------------------------------------- */

/*
 * inner: descriptor of the map that tells an array of maps what its elements
 * look like; -1: not such an array.
 */
static int create_array(enum bpf_map_type type, uint32_t value, int inner)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = 4;
	attr.value_size = value;
	attr.max_entries = 1;
	attr.inner_map_fd = inner >= 0 ? (uint32_t)inner : 0;
	sysbpf_name(attr.map_name, "grace");
	return sysbpf(BPF_MAP_CREATE, &attr);
}

/*
 * Replacing an inner map makes the kernel wait for all running programs
 * (maybe_wait_bpf_programs() in its kernel/bpf/syscall.c). Both maps are kept
 * for the next time.
 */
static int wait_kernel(struct grace *g)
{
	union bpf_attr attr;
	uint32_t key = 0;

	if (g->inner < 0)
		g->inner = create_array(BPF_MAP_TYPE_ARRAY, 8, -1);
	if (g->inner < 0)
		return g->inner;
	if (g->map < 0)
		g->map = create_array(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, g->inner);
	if (g->map < 0)
		return g->map;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)g->map;
	attr.key = (uint64_t)(uintptr_t)&key;
	attr.value = (uint64_t)(uintptr_t)&g->inner;
	/* The kernel waits here until no program can hold the old map. */
	return sysbpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int grace_wait(struct grace *g)
{
	/*
	 * Asked late, since store_kern_preemptible() comes after the store was
	 * opened.
	 */
	if (!g->preemptible && !g->asked) {
		g->can_visit = is_welcome();
		g->asked = true;
	}
	/*
	 * Any failure falls back on the kernel's way: a wait must not be
	 * skipped.
	 */
	if (!g->preemptible && g->can_visit && may_visit(g) && !visit_all())
		return 0;
	return wait_kernel(g);
}
