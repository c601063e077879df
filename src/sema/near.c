/* SPDX-License-Identifier: MIT */
/* "Did you mean": the names nearest to one that does not exist. */
#include <string.h>

#include "sema/sema.h"

/* 0.1 us each; 20 messages are shown, of which each has a few hundred names. */
enum { COMPARED_MAX = 500000 };

bool near_names_worth(struct sema *s, unsigned n)
{
	if (s->compared > COMPARED_MAX)
		return false;
	s->compared += n;
	return true;
}

/* Is a (at distance da) a better proposal than b? */
static bool better(const char *a, unsigned da, const char *b, unsigned db)
{
	size_t la = strlen(a), lb = strlen(b);

	if (da != db)
		return da < db;
	if (la != lb)
		return la < lb;
	return strcmp(a, b) < 0;
}

/* Insertion into the sorted list of those that are kept. */
void near_names_add(struct near_names *nn, const char *name)
{
	unsigned d, i, max = nn->max ? nn->max : 5;

	if (!strcmp(name, nn->want)) /* the name itself is no proposal */
		return;
	for (i = 0; i < nn->n; i++)
		if (!strcmp(nn->name[i], name))
			return;
	d = str_distance(nn->want, name);
	for (i = nn->n; i > 0; i--) {
		if (!better(name, d, nn->name[i - 1], nn->dist[i - 1]))
			break;
		if (i < max) {
			nn->name[i] = nn->name[i - 1];
			nn->dist[i] = nn->dist[i - 1];
		}
	}
	if (i >= max)
		return;
	nn->name[i] = name;
	nn->dist[i] = d;
	if (nn->n < max)
		nn->n++;
}

const char *near_names_text(struct compile *c, const struct near_names *nn)
{
	const char *text = "";
	unsigned i;

	for (i = 0; i < nn->n; i++)
		text = arena_printf(c->a, "%s%s%s", text,
				    i ? ", " : " (similar: ", nn->name[i]);
	return nn->n ? arena_printf(c->a, "%s)", text) : "";
}
