/* SPDX-License-Identifier: MIT */
/*
 * Places in programs that only debug information knows:
 * process("PATH").statement("func@file:line"), .function("func@file"),
 * .function("func").inline. Tags: 0 statement, 1 the nearest one, 2 an address,
 * 3 inlined copies, 4 labels.
 */
#include "probe/uvar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "types/debug.h"
#include "types/glob.h"

enum { TAG_STATEMENT, TAG_NEAREST, TAG_ADDRESS, TAG_INLINE, TAG_LABEL };
/* Of "file:10-20": more would be a probe on every line of a file. */
enum { RANGES_MAX = 8, LINES_MAX = 1000 };

/* --- "func@file:lines" ---------------------------------------------------- */

struct line_range {
	int from, to;
};

struct source_spec {
	struct debug_query q; /* but for the line */
	struct line_range range[RANGES_MAX];
	unsigned nranges; /* 0: the functions themselves */
};

/*
 * "+3", "12", "10-20,25", or "*" for all lines: of q.relative the numbers are
 * distances from the function's own line. False: not of this form.
 */
static bool read_lines(const char *s, struct source_spec *ret)
{
	char *end;

	if (!strcmp(s, "*")) {
		ret->range[ret->nranges++] = (struct line_range){1, INT32_MAX};
		return true;
	}
	if (*s == '+') {
		ret->q.relative = true;
		s++;
	}
	for (;;) {
		struct line_range *r = &ret->range[ret->nranges];
		long from, to;

		if (*s < '0' || *s > '9' || ret->nranges == RANGES_MAX)
			return false;
		from = to = strtol(s, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			to = strtol(end + 1, &end, 10);
		/* Line numbers count from 1; a distance can be 0. */
		if (from < !ret->q.relative || to < from ||
		    to - from >= LINES_MAX || to > INT32_MAX / 2)
			return false;
		*r = (struct line_range){from, to};
		ret->nranges++;
		if (!*end)
			return true;
		/* "+3,5" would leave open whether 5 is a distance. */
		if (*end != ',' || ret->q.relative)
			return false;
		s = end + 1;
	}
}

/*
 * Strings of ret are text's own, or in the arena. The last ':' parts the lines
 * off: a path may have one of its own.
 */
static bool read_source(struct compile *c, const char *text,
			struct source_spec *ret)
{
	const char *at = strchr(text, '@'), *colon;

	memset(ret, 0, sizeof(*ret));
	ret->q.func = at ? arena_strndup(c->a, text, at - text) : text;
	if (!at)
		return true;
	colon = strrchr(at, ':');
	if (!colon) {
		ret->q.file = at + 1;
		return true;
	}
	ret->q.file = arena_strndup(c->a, at + 1, colon - at - 1);
	return read_lines(colon + 1, ret);
}

/* --- probes --------------------------------------------------------------- */

/*
 * The point's last components after the one that names the place. pp() gives
 * them back as they were written, with the label that was found.
 */
static const char *suffix_of(struct compile *c, const struct match *m,
			     const char *label)
{
	const char *text = "";
	unsigned i = 0;

	while (i < m->nparts && strcmp(m->name[i], "function") &&
	       strcmp(m->name[i], "statement"))
		i++;
	for (i++; i < m->nparts; i++)
		text = arena_printf(c->a, "%s.%s", text, m->name[i]);
	return label ? arena_printf(c->a, "%s(\"%s\")", text, label) : text;
}

/* where: as written between the brackets, with quotes. */
static void add_at(const struct uprobe_file *f, const struct debug_place *at,
		   const char *where)
{
	struct compile *c = f->c;
	uint64_t offset = elf_offset(f->elf, at->addr);
	bool is_function = uprobe_part(f->m, "function") != NULL;
	struct probe *p;
	struct uprobe *u;

	if (!offset)
		return; /* described, but not in the file: not linked in */
	p = uprobe_add(f, offset);
	u = p->data;
	u->addr = at->addr;
	u->scope = at->scope;
	u->name = at->func;
	p->is_inlined = is_function && at->is_inline;
	p->is_return = u->is_return =
	    !strcmp(f->m->name[f->m->nparts - 1], "return");
	p->pp = str_internz(
	    c->str, arena_printf(c->a, "process(\"%s\").%s(%s)%s",
				 f->elf->path,
				 is_function ? "function" : "statement", where,
				 suffix_of(c, f->m, at->label)));
}

static void add_places(const struct uprobe_file *f, const debug_places *places)
{
	for (unsigned i = 0; i < places->n; i++) {
		const struct debug_place *p = &places->v[i];

		add_at(f, p, arena_printf(f->c->a, "\"%s@%s:%d\"", p->func,
					  p->file, p->line));
	}
}

/* "; lines 12 and 15 have code", or "" */
static const char *near_lines(struct compile *c, const int near[2])
{
	if (near[0] && near[1])
		return arena_printf(c->a, " (lines %d and %d have)", near[0],
				    near[1]);
	if (near[0] || near[1])
		return arena_printf(c->a, " (line %d has)",
				    near[0] ? near[0] : near[1]);
	return "";
}

/*
 * A line without code is an error, with the nearest lines that have some; a
 * function that is not in the file is left to the caller, who knows similar
 * names.
 */
static int add_lines(const struct uprobe_file *f, struct debug_file *debug,
		     struct source_spec *spec)
{
	struct compile *c = f->c;
	int near[2] = {0, 0};
	debug_places places = {0};
	struct debug_query q = spec->q;

	q.nearest = f->m->pattern->tag == TAG_NEAREST;
	for (unsigned i = 0; i < spec->nranges; i++) {
		q.line = spec->range[i].from;
		q.last = spec->range[i].to;
		debug_find(debug, &q, &places, near);
	}
	if (places.n > LINES_MAX)
		return family_refuse(c, f->m, "'%s' in '%s' has %u places; at "
				     "most %d are probed at once",
				     q.func, q.file, places.n, LINES_MAX);
	add_places(f, &places);
	if (places.n || !spec->nranges)
		return 0;
	if (spec->range[0].to == INT32_MAX)
		return family_refuse(c, f->m, "no code of '%s' in '%s'", q.func,
				     q.file);
	return family_refuse(c, f->m, "no code of '%s' in '%s' at line %s%d%s",
			     q.func, q.file, q.relative ? "+" : "",
			     spec->range[0].from, near_lines(c, near));
}

/*
 * "f@file:12": the function that line 12 is in, which is the last that starts
 * at or before the line, with its copies. Debug information lists functions by
 * their first line, so nothing else has to be read.
 */
static void function_around(debug_places *places, int line)
{
	const struct debug_place *best = NULL;
	struct debug_place around;
	unsigned to = 0;

	for (unsigned i = 0; i < places->n; i++)
		if (places->v[i].line <= line &&
		    (!best || places->v[i].line > best->line))
			best = &places->v[i];
	if (best)
		around = *best;
	for (unsigned i = 0; best && i < places->n; i++)
		if (places->v[i].line == around.line &&
		    !strcmp(places->v[i].func, around.func) &&
		    !strcmp(places->v[i].file, around.file))
			places->v[to++] = places->v[i];
	places->n = to;
}

/*
 * Which places a point on functions means: .function alone all of them, with
 * .inline the copies, and .call and .return are of the function's own code.
 */
static unsigned what_of(const struct match *m)
{
	const char *last = m->name[m->nparts - 1];

	if (!strcmp(last, "inline"))
		return SKIM_INLINED;
	if (!strcmp(last, "function") || !strcmp(last, "label"))
		return SKIM_FUNCTIONS | SKIM_INLINED;
	return SKIM_FUNCTIONS;
}

/*
 * gcc makes f.part.0 of what is left of f when its beginning alone is inlined.
 * Debug information calls both f, but a call enters the part behind the place
 * that was counted already, or it does not enter it at all.
 */
static void drop_parts(const struct uprobe_file *f, debug_places *places)
{
	elf_funcs parts = {0};
	unsigned to = 0;

	if (elf_find_funcs(f->c, f->elf, "*.part.*", &parts) || !parts.n)
		return;
	for (unsigned i = 0; i < places->n; i++) {
		const struct debug_place *p = &places->v[i];

		if (p->is_inline || !elf_func_at(&parts, p->addr))
			places->v[to++] = *p;
	}
	places->n = to;
}

static int add_functions(const struct uprobe_file *f,
			 struct debug_file *debug, struct source_spec *spec)
{
	debug_places places = {0};
	int near[2];

	if (f->m->pattern->tag == TAG_LABEL)
		spec->q.label = uprobe_part(f->m, "label");
	spec->q.what = what_of(f->m);
	/* A copy has no lines of its own to be chosen by. */
	if (spec->nranges &&
	    (spec->q.label || f->m->pattern->tag == TAG_INLINE))
		return family_refuse(f->c, f->m,
				     ".%s takes no line: probe a statement, "
				     "which is found in inlined copies too",
				     spec->q.label ? "label" : "inline");
	debug_find(debug, &spec->q, &places, near);
	if (spec->nranges)
		function_around(&places, spec->range[0].from);
	if (!spec->q.label)
		drop_parts(f, &places);
	add_places(f, &places);
	return 0;
}

void source_add_functions(const struct uprobe_file *f, const char *name,
			  const elf_funcs *have)
{
	struct debug_query q = {.func = name, .what = what_of(f->m)};
	debug_places places = {0};
	struct debug_file *debug;
	const char *why = NULL;
	unsigned to = 0;
	int near[2];

	if (!elf_has_debug(f->c, f->elf))
		return;
	debug = debug_open(f->c, f->elf->path, &why);
	if (!debug) {
		/* what would be missing in the number is not passed over */
		if (q.what & SKIM_INLINED &&
		    debug_may_inline(f->c, f->elf, name))
			diag_note(f->c->diag,
				  complain(f->c, COPIES_UNSEEN,
					   &f->m->point->span, name),
				  NULL, "'%s': %s", f->elf->path, why);
		return;
	}
	debug_find(debug, &q, &places, near);
	for (unsigned i = 0; i < places.n; i++) {
		const struct debug_place *p = &places.v[i];

		if (p->is_inline || !elf_func_at(have, p->addr))
			places.v[to++] = *p;
	}
	places.n = to;
	drop_parts(f, &places);
	add_places(f, &places);
}

/*
 * The argument that names the place. From the end: process(...) and
 * library(...) come first and have arguments too.
 */
static const struct literal *place_of(const struct match *m)
{
	for (unsigned i = m->nparts; i-- > 1;)
		if (!strcmp(m->name[i], "statement") ||
		    !strcmp(m->name[i], "function"))
			return m->arg[i];
	return NULL;
}

static int expand_file(const struct uprobe_file *f)
{
	struct debug_file *debug;
	const struct literal *arg = place_of(f->m);
	struct source_spec spec;
	const char *why = NULL;

	/* a bare address: nothing to look up, nothing to check */
	if (arg->type == TY_LONG) {
		struct debug_place at = {.addr = arg->num, .func = ""};

		add_at(f, &at, arena_printf(f->c->a, "0x%" PRIx64, arg->num));
		return 0;
	}
	if (!read_source(f->c, arg->str, &spec))
		return family_refuse(f->c, f->m,
				     "'%s' is no place in a source: write "
				     "\"func@file\", \"func@file:12\", "
				     "\"func@file:10-20\", \"func@file:+3\" "
				     "or \"func@file:*\"",
				     arg->str);
	debug = debug_open(f->c, f->elf->path, &why);
	if (!debug)
		return family_refuse(f->c, f->m, "'%s': %s", f->elf->path, why);
	if (spec.nranges && !uprobe_part(f->m, "function"))
		return add_lines(f, debug, &spec);
	return add_functions(f, debug, &spec);
}

int source_expand(struct compile *c, const struct match *m, probe_list *out)
{
	return uprobe_expand(c, m, out, expand_file);
}

const struct family family_source = {
    .name = "uprobe",
    .type = "uprobe",
    .expand = source_expand,
    .target = uvar_target,
    .names = uvar_names,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};
