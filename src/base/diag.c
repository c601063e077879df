/* SPDX-License-Identifier: MIT */
/* Collecting messages; diag_print.c shows them. */
#include "base/diag.h"

#include "base/diag_list.h"
#include "base/map.h"

/* One row a message, from the table that docs/errors.md is checked against. */
static const struct diag_row {
	const char *name;
	enum diag_class class;
	const char *fmt, *explain;
} diag_row[D_MAX] = {
#define DIAG(id, class, fmt, explain) {#id, class, fmt, explain},
#include "base/diag.def"
#undef DIAG
};

struct diags *diags_new(struct arena *a)
{
	struct diags *d = arena_new_of(a, struct diags);

	d->a = a;
	d->seen = map_new(a);
	return d;
}

/*
 * True when the same was said of the same place before; remembers it. The text
 * takes part in the key: two different mistakes at one place are both worth
 * reading.
 */
static bool seen_before(struct diags *d, const struct diag *m)
{
	/* What is near a name differs from probe to probe of a wildcard: of
	 * one kind of warning a place has one. */
	bool alike = m->class == DIAG_WARNING && m->at.src;
	char *key;

	key = arena_printf(d->a, "%p %u %u %d %s", (const void *)m->at.src,
			   m->at.line, m->at.col, alike ? (int)m->id : -1,
			   alike ? "" : m->text);
	if (map_has(d->seen, key))
		return true;
	map_set(d->seen, key, NULL);
	return false;
}

/* m becomes one of those that are printed. */
static void say(struct diags *d, struct diag *m)
{
	m->order = d->list.n;
	/* Counted once: "2 errors" must be the number that was printed. */
	m->repeats = seen_before(d, m);
	if (!m->repeats)
		d->count[m->class]++;
	vec_push(d->a, &d->list, m);
}

struct diag *diag(struct diags *d, enum diag_id id, const struct span *at, ...)
{
	struct diag *m = arena_new_of(d->a, struct diag);
	va_list ap;

	m->id = id;
	m->class = diag_row[id].class;
	if (at)
		m->at = *at;
	va_start(ap, at);
	m->text = arena_vprintf(d->a, diag_row[id].fmt, ap);
	va_end(ap);
	if (d->muted) {
		/*
		 * A message that is dropped is still made and returned, so that
		 * callers hang their notes on it without asking whether anybody
		 * listens.
		 */
		d->hushed += m->class != DIAG_WARNING;
		return m;
	}
	if (d->held) {
		d->held->errors += m->class != DIAG_WARNING;
		vec_push(d->a, &d->held->list, m);
	} else {
		say(d, m);
	}
	return m;
}

void diag_note(struct diags *d, struct diag *to, const struct span *at,
	       const char *fmt, ...)
{
	struct diag_extra e = {0};
	va_list ap;

	if (at)
		e.at = *at;
	va_start(ap, fmt);
	e.text = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
	vec_push(d->a, &to->extra, e);
}

void diag_help(struct diags *d, struct diag *to, const char *fmt, ...)
{
	struct diag_extra e = {.is_help = true};
	va_list ap;

	va_start(ap, fmt);
	e.text = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
	vec_push(d->a, &to->extra, e);
}

unsigned diags_mute(struct diags *d)
{
	d->muted++;
	return d->hushed;
}

bool diags_unmute(struct diags *d, unsigned since)
{
	d->muted--;
	return d->hushed != since;
}

void diags_hold(struct diags *d)
{
	struct diag_held *h = arena_new_of(d->a, struct diag_held);

	h->outer = d->held;
	d->held = h;
}

struct diag_held *diags_held(struct diags *d)
{
	struct diag_held *h = d->held;

	d->held = h->outer;
	if (h->errors)
		return h;
	diags_say(d, h); /* warnings do not wait */
	return NULL;
}

void diags_say(struct diags *d, struct diag_held *h)
{
	unsigned i;

	for (i = 0; i < h->list.n; i++) {
		struct diag *m = h->list.v[i];

		if (!d->held) {
			say(d, m);
			continue;
		}
		d->held->errors += m->class != DIAG_WARNING;
		vec_push(d->a, &d->held->list, m);
	}
	h->list.n = 0; /* a tree's copies share it: once is enough */
}

unsigned diags_errors_of(const struct diags *d, enum diag_class c)
{
	return d->count[c];
}

unsigned diags_errors(const struct diags *d)
{
	return d->count[DIAG_PARSE] + d->count[DIAG_SEMANTIC] +
	       d->count[DIAG_SYSTEM];
}

unsigned diags_errors_id(const struct diags *d, enum diag_id id)
{
	unsigned i, n = 0;

	for (i = 0; i < d->list.n; i++)
		n += d->list.v[i]->id == id && !d->list.v[i]->repeats;
	return n;
}

unsigned diags_warnings(const struct diags *d)
{
	return d->count[DIAG_WARNING];
}

const char *diag_name(enum diag_id id)
{
	return diag_row[id].name;
}

const char *diag_explain(enum diag_id id)
{
	return diag_row[id].explain;
}

