/* SPDX-License-Identifier: MIT */
/*
 * timer.*: intervals on the host clock. Tags of hrtimer: 0 s, 1 ms, 2 us,
 * 3 ns, 4 hz; of timer: 0 jiffies. timer.profile is sampling and lives in
 * perf.c.
 */
#include <inttypes.h>
#include <time.h>

#include "probe/family.h"
#include "probe/tick.h"

enum { NS = 1000000000 };

/*
 * Limits in the point's own unit; the longest period is a day. Below 100 us a
 * host would do little else than wake up.
 */
static const struct unit {
	int64_t ns, lo, hi;
} units[] = {
    {NS, 1, 86400},
    {1000000, 1, 86400000},
    {1000, 100, INT64_C(86400000000)},
    {1, 100000, INT64_C(86400000000000)},
};

/* The coarse clock advances once a tick, and its resolution says how long a
 * tick is: no kernel configuration has to be found. */
int64_t tick_ns(void)
{
	struct timespec ts;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &ts) || !ts.tv_nsec)
		return NS / 250;
	return ts.tv_sec * NS + ts.tv_nsec;
}

static int expand_unit(struct compile *c, const struct match *m,
		       const struct unit *u, probe_list *out)
{
	int64_t n = m->arg[1]->num;
	struct probe *p;

	if (n < u->lo || n > u->hi)
		return family_refuse(c, m,
				     "interval value out of range (%" PRId64
				     ", %" PRId64 ")",
				     u->lo, u->hi);
	p = family_probe(c, m);
	p->place = PLACE_HOST;
	p->when = WHEN_TIMER;
	p->timer.period_ns = n * u->ns;
	/* timer.ms(N).randomize(M): a third component. */
	if (m->nparts == 3) {
		int64_t r = m->arg[2]->num;
 /* more than N would let a period become negative */
		if (r < 0 || r > n)
			return family_refuse(
			    c, m, "randomization value out of range");
		p->timer.randomize_ns = r * u->ns;
	}
	vec_push(c->a, out, p);
	return 0;
}

/*
 * The shortest period is that of timer.ns, and a frequency that is no divisor
 * of a second gets the next longer period.
 */
static int expand_hz(struct compile *c, const struct match *m, probe_list *out)
{
	const struct unit *ns = &units[3];
	int64_t n = m->arg[1]->num, period;
	struct probe *p;

	if (n <= 0)
		return family_refuse(c, m, "frequency must be greater than 0");
	period = n > NS ? 1 : (NS + n - 1) / n;
	if (period < ns->lo)
		return family_refuse(c, m,
				     "interval value out of range (%" PRId64
				     ", %" PRId64 ")",
				     ns->lo, ns->hi);
	p = family_probe(c, m);
	p->place = PLACE_HOST;
	p->when = WHEN_TIMER;
	p->timer.period_ns = period;
	vec_push(c->a, out, p);
	return 0;
}

static int expand_hrtimer(struct compile *c, const struct match *m,
			  probe_list *out)
{
	if (m->pattern->tag == 4)
		return expand_hz(c, m, out);
	return expand_unit(c, m, &units[m->pattern->tag], out);
}

static int expand_jiffies(struct compile *c, const struct match *m,
			  probe_list *out)
{
	/*
	 * As long as it is measured when the probe is made; at most a million
	 * of them.
	 */
	const struct unit tick = {tick_ns(), 1, 1000000};

	return expand_unit(c, m, &tick, out);
}

const struct family family_hrtimer = {
    .name = "timer",
    .type = "hrtimer",
    .expand = expand_hrtimer,
};

const struct family family_timer = {
    .name = "timer",
    .type = "timer",
    .expand = expand_jiffies,
};
