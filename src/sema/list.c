/* SPDX-License-Identifier: MIT */
/* -l and -L: the probe points that match a pattern. */
#include <stdlib.h>
#include <string.h>

#include "sema/sema.h"

struct line {
	const char *point;
	struct probe *p;
};

static int by_point(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->point,
		      ((const struct line *)b)->point);
}

/* What the alias' prologue sets, then what the family offers. */
static void print_vars(struct compile *c, struct probe *p, FILE *f)
{
	ctx_names names = {0};
	unsigned i;

	for (i = 0; i < p->locals.n; i++) {
		const struct var *v = p->locals.v[i];

		if (v->is_written && v->name[0] != '_')
			fprintf(f, " %s:%s", v->name, type_name(v->type));
	}
	if (p->family && p->family->names)
		p->family->names(c, p, &names);
	for (i = 0; i < names.n; i++)
		fprintf(f, " %s:%s", names.v[i].name, names.v[i].type);
}

/* Is there more to say than that nothing matches? Places in code are looked for
 * in files and modules that may not be there. */
static bool says_why(const struct point *pt)
{
	const char *first = pt->parts.v[0].name;

	return pt->parts.n > 1 &&
	       (!strcmp(first, "kernel") || !strcmp(first, "module") ||
		!strcmp(first, "process"));
}

/* Nothing is attached or run: only names are looked up. */
unsigned sema_list(struct compile *c, struct file **files, unsigned nfiles,
		   const char *pattern, bool with_vars, FILE *f)
{
	struct sema *s = sema_new(c, files, nfiles);
	struct source *src;
	struct point *pt;
	probe_list out = {0};
	struct line *line;
	unsigned i, n = 0, shown = 0;

	src = compile_source(c, "<probe point>", pattern, strlen(pattern));
	pt = parse_point_text(c, src);
	if (!pt)
		return 0;
	/* the script's own probes are not wanted */
	s->expanded = s->p->files.n;
	alias_expand_point(s, pt, &out);
	/* Once more, for what the family has to say about it. */
	pt->optional = false;
	if (!out.n && says_why(pt))
		probe_resolve(c, pt, NULL, 0, false, &out);
	for (i = 0; i < out.n; i++)
		vec_push(c->a, &s->p->probes, out.v[i]);
	if (with_vars)
		sema_types(s);
	line = arena_array(c->a, struct line, out.n + 1);
	for (i = 0; i < out.n; i++) {
		line[n].p = out.v[i];
		line[n++].point =
		    out.v[i]->derivation ? out.v[i]->pn : out.v[i]->pp;
	}
	qsort(line, n, sizeof(*line), by_point);
	for (i = 0; i < n; i++) {
		/* several ways to the same point */
		if (i && !strcmp(line[i].point, line[i - 1].point))
			continue;
		fputs(line[i].point, f);
		if (with_vars)
			print_vars(c, line[i].p, f);
		fputc('\n', f);
		shown++;
	}
	return shown;
}
