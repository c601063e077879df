/* SPDX-License-Identifier: MIT */
/*
 * begin, end, error and never: probes of the session itself. They run on the
 * host. Tags: 0 begin, 1 end, 2 error. Also here: points that have no family.
 */
#include <string.h>

#include "probe/family.h"

static int expand_session(struct compile *c, const struct match *m,
			  probe_list *out)
{
	static const enum host_when when[] = {WHEN_BEGIN, WHEN_END, WHEN_ERROR};
	struct probe *p = family_probe(c, m);

	p->place = PLACE_HOST;
	p->when = when[m->pattern->tag];
	/*
	 * A point that has no argument has sequence 0, between begin(-1) and
	 * begin(1).
	 */
	if (m->arg[0])
		p->sequence = m->arg[0]->num;
	vec_push(c->a, out, p);
	return 0;
}

static int expand_never(struct compile *c, const struct match *m,
			probe_list *out)
{
	struct probe *p = family_probe(c, m);

	p->place = PLACE_NEVER;
	p->when = WHEN_NEVER;
	vec_push(c->a, out, p);
	return 0;
}

const struct family family_begin = {
    .name = "begin",
    .type = "begin_end",
    .expand = expand_session,
};

const struct family family_never = {
    .name = "never",
    .type = "never",
    .expand = expand_never,
};

/*
 * What the language has and tally does not. Wildcards pass over it, so that
 * process.* and the like find what can be probed.
 */
static int expand_later(struct compile *c, const struct match *m,
			probe_list *out)
{
	const char *text = "";

	for (unsigned i = 0; i < m->point->parts.n; i++) {
		const struct component *w = &m->point->parts.v[i];

		/*
		 * The name is built before quiet is looked at because a
		 * wildcard anywhere in the point means that the user did not
		 * ask for this one.
		 */
		if (strpbrk(w->name, "*?"))
			return 0;
		text = arena_printf(c->a, "%s%s%s%s", text, i ? "." : "",
				    w->name, w->arg.type ? "(...)" : "");
	}
	if (m->quiet)
		return 0;
	complain(c, NO_POINT, &m->point->span, text, m->pattern->doc);
	return -1;
}

const struct family family_later = {
    .name = "later",
    .type = "unknown",
    .expand = expand_later,
};
