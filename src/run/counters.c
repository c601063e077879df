/* SPDX-License-Identifier: MIT */
/*
 * Perf counters of a session: one event a counter and CPU, in the map that
 * programs read them from, and what of them was missed.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cpus.h"
#include "probe/perf.h"
#include "run/kern.h"
#include "run/state.h"

/*
 * Counter n on a CPU. One that counts there goes on: threads that run have
 * accounts which refer to its count. 0, or a negative errno with *ret_why set.
 */
static int start_one(struct session *s, unsigned n, unsigned cpu,
		     const char **ret_why)
{
	const struct plan *plan = s->g->plan;
	uint32_t at = n * plan->ncpus + cpu;
	int *have = &s->kern->counter_fd[at], fd, rc;

	if (*have >= 0 && counter_alive(*have))
		return 0;
	fd = counter_open(s->c, s->prog->counters.v[n], cpu, ret_why);
	if (fd < 0)
		return fd;
	rc = bpf_map_update_elem(s->store->map_fd[plan->perf_map], &at, &fd,
				 BPF_ANY);
	if (rc) {
		close(fd);
		*ret_why = strerror(-rc);
		return rc;
	}
	if (*have >= 0)
		close(*have);
	*have = fd;
	return 0;
}

/* On all CPUs of the set. 0 or the exit status. */
static int start_all(struct session *s, unsigned n, const struct cpus *online)
{
	const struct probe *p = s->prog->counters.v[n];
	unsigned cpu, started = 0, ncpus = s->g->plan->ncpus;
	const char *why = NULL;
	int rc = -ENODEV;

	for (cpu = 0; cpu < ncpus; cpu++) {
		if (!cpus_has(online, cpu))
			continue;
		rc = start_one(s, n, cpu, &why);
		/* It may have gone offline since the list was read. A kernel
		 * without the event says so on all CPUs. */
		if (rc && rc != -ENODEV)
			break;
		started += !rc;
	}
	if (!rc || (rc == -ENODEV && started))
		return 0;
	complain(s->c, ATTACH_REFUSED, &p->span, p->pp, why);
	if (rc == -EPERM || rc == -EACCES)
		privilege_explain(s, "count perf events");
	return EXIT_REFUSED;
}

int counters_start(struct session *s)
{
	const struct plan *plan = s->g->plan;
	unsigned i, n = s->prog->counters.n;
	struct cpus online;
	int rc = 0;

	if (plan->perf_map == UINT32_MAX)
		return 0;
	if (!cpus_read("online", &online)) {
		session_note(s, "ERROR: cannot read "
			     "/sys/devices/system/cpu/online");
		return EXIT_REFUSED;
	}
	s->kern->counter_fd = arena_array(s->c->a, int, n * plan->ncpus);
	for (i = 0; i < n * plan->ncpus; i++)
		s->kern->counter_fd[i] = -1;
	for (i = 0; !rc && i < n; i++)
		rc = start_all(s, i, &online);
	return rc;
}

/* What threads do there until then, the ledger counts. */
void counters_came(struct session *s, unsigned cpu)
{
	const char *why = NULL;
	unsigned i;
	int rc;

	if (!s->kern->counter_fd || cpu >= s->g->plan->ncpus)
		return;
	for (i = 0; i < s->prog->counters.n; i++) {
		rc = start_one(s, i, cpu, &why);
		log_say(&s->c->log, LOG_RUN, 1, "CPU %u came online: %s %s%s%s",
			cpu, s->prog->counters.v[i]->pp,
			rc ? "is not counted there" : "is counted there",
			rc ? ": " : "", rc ? why : "");
	}
}

void counters_close(struct session *s)
{
	unsigned i, n = s->prog->counters.n * s->g->plan->ncpus;

	for (i = 0; s->kern->counter_fd && i < n; i++)
		if (s->kern->counter_fd[i] >= 0)
			close(s->kern->counter_fd[i]);
}

bool counters_report(struct session *s)
{
	const struct control *c = (const struct control *)s->store->control;

	if (c->perf_late && !s->o->no_warnings)
		session_note(s, "WARNING: perf counters: %" PRIu64 " threads "
			     "found no room when they began, and were counted "
			     "from their first @perf on, if at all; "
			     "-DMAXMAPENTRIES makes room", c->perf_late);
	if (c->perf_gaps && !s->o->no_warnings)
		session_note(s, "WARNING: perf counters: %" PRIu64 " times a "
			     "thread ran or read on a CPU where they could "
			     "not be had; what it did there is not in their "
			     "values", c->perf_gaps);
	return c->perf_late || c->perf_gaps;
}
