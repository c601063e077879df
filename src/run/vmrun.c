/* SPDX-License-Identifier: MIT */
/*
 * --events: the whole script in the VM. Time is that of the events, so a run
 * gives the same output each time.
 */
#include "run/state.h"

#include <errno.h>
#include <string.h>

#include "run/events.h"

enum { SIGNALS_EVERY = 256 /* events */ };

/* Probes that an event of one written point hits. */
struct hit_list {
	VEC(struct probe *) v;
};

struct vmrun {
	struct session *s;
	struct map *hits;	/* point text -> struct hit_list */
	uint64_t unknown;	/* events that hit nothing */
	unsigned unknown_line;
};

int vmrun_open(struct session *s)
{
	int rc;

	s->events = arena_new_of(s->c->a, struct events);
	rc = events_open(s->events, s->c, s->o->events);
	if (rc < 0)
		session_note(s, "ERROR: cannot read '%s': %s", s->o->events,
			     strerror(-rc));
	else if (rc)
		session_note(s, "ERROR: %s", s->events->error);
	if (rc)
		return EXIT_FAILED;
	s->clock.is_virtual = true;
	s->clock.now_ns = s->events->start_ns;
	/* fake_time_ns moves the wall clock without touching the file. */
	s->clock.wall_off_ns = s->events->wall_ns - s->events->start_ns +
			       s->c->set.fake_time_ns;
	return 0;
}

/*
 * As resolved ("kernel.trace(...)") or as the script wrote it; but what the
 * script wrote of a hidden entry is the return that it serves.
 */
static bool is_hit(const struct probe *p, const char *point)
{
	return !strcmp(p->pp, point) ||
	       (p->pn && !p->is_entry && !strcmp(p->pn, point));
}

/*
 * The probes of a point, in the script's order. Looked up once a point: a file
 * has few points and many lines.
 */
static struct hit_list *hits_of(struct vmrun *r, const char *point)
{
	struct session *s = r->s;
	struct hit_list *l = map_get(r->hits, point);
	unsigned i;

	if (l)
		return l;
	l = arena_new_of(s->c->a, struct hit_list);
	for (i = 0; i < s->prog->probes.n; i++) {
		struct probe *p = s->prog->probes.v[i];

		if (s->kernel_code[i] && is_hit(p, point))
			vec_push(s->c->a, &l->v, p);
	}
	map_set(r->hits, point, l);
	return l;
}

/*
 * Runs what is due up to and including a time, at its own time. Timers and
 * events are handled in the order of their times; a timer of an event's own
 * time runs first.
 */
static void run_timers(struct session *s, int64_t until)
{
	const struct probe *p;
	int64_t at;

	while (s->state == STATE_RUNNING && timers_next(&s->timers) <= until) {
		s->clock.now_ns = timers_next(&s->timers);
		if (!timers_take(&s->timers, s->clock.now_ns, &p, &at))
			return;
		if (!p)
			session_stop(s);
		else if (!session_handle(s, p))
			session_fail(s);
	}
	/* Also without a timer the clock moves on. */
	if (s->state == STATE_RUNNING && until > s->clock.now_ns)
		s->clock.now_ns = until;
}

/* One simulated event, one handler; as the kernel would run it. */
static void run_probe(struct session *s, struct event *ev, struct probe *p)
{
	uint8_t ctx[EVENT_CTX] __attribute__((aligned(8)));
	const struct control *c = (const struct control *)s->store->control;
	int rc;

	ev->vm.ctx = ctx;
	ev->vm.ctx_size = event_context(s->events, ev, p, ctx);
	if (!ev->vm.ctx_size) {
		session_note(s, "ERROR: %s", s->events->error);
		s->status = EXIT_FAILED;
		session_fail(s);
		return;
	}
	/* Clocks are the event's: a handler that reads the time sees it. */
	ev->vm.who = ev->who;
	ev->vm.who.mono_ns = ev->time_ns;
	ev->vm.who.wall_ns = ev->time_ns + s->clock.wall_off_ns;
	s->event = &ev->vm;
	rc = vm_run_kernel(s->vm, s->kernel_code[p->index], &ev->vm);
	s->event = NULL;
	if (rc < 0) {
		session_note(s, "ERROR: internal: probe %s: %s", p->pp,
			     vm_fault(s->vm));
		s->status = EXIT_BUG;
		session_fail(s);
	}
	/* The program has counted them in CONTROL, like one in the kernel. */
	hooks_too_many_skips(s, s->skipped + c->skipped);
}

/*
 * A point that no probe has is told once, at the end: most often it is
 * misspelt.
 */
static void run_event(struct vmrun *r, struct event *ev)
{
	struct session *s = r->s;
	struct hit_list *l = hits_of(r, ev->point);
	unsigned i;

	if (!l->v.n && !r->unknown++)
		r->unknown_line = s->events->line;
	for (i = 0; i < l->v.n && s->state == STATE_RUNNING; i++)
		run_probe(s, ev, l->v.v[i]);
	output_flush(&s->out);
	if (s->out.broken)
		session_stop(s);
}

void vmrun_events(struct session *s)
{
	struct vmrun r = { .s = s, .hits = map_new(s->c->a) };
	struct event ev;
	unsigned n = 0;
	int rc = 0;

	while (s->state == STATE_RUNNING) {
		rc = events_next(s->events, &ev);
		if (rc <= 0)
			break;
		run_timers(s, ev.time_ns);
		if (s->state == STATE_RUNNING)
			run_event(&r, &ev);
		/*
		 * A signal ends a long file early; asking on every event would
		 * be a system call each.
		 */
		if (!(++n % SIGNALS_EVERY))
			loop_signals(s);
	}
	if (rc < 0) {
		session_note(s, "ERROR: %s", s->events->error);
		s->status = EXIT_FAILED;
		session_fail(s);
	}
	/* With -T the session outlives its events. */
	if (s->o->timeout_ns)
		run_timers(s, INT64_MAX);
	if (r.unknown && !s->o->no_warnings)
		session_note(s, "WARNING: %llu event%s of '%s' hit no probe "
			     "of the script, the first on line %u",
			     (unsigned long long)r.unknown,
			     r.unknown == 1 ? "" : "s", s->o->events,
			     r.unknown_line);
	session_stop(s);
}

void vmrun_stop(struct session *s)
{
	const struct control *c = (const struct control *)s->store->control;

	s->errors += c->errors;
	s->skipped += c->skipped;
}
