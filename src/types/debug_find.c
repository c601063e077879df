/* SPDX-License-Identifier: MIT */
/* From "func@file:line" to addresses. */
#include "types/debug_file.h"

#include <stdlib.h>
#include <string.h>

#include "types/glob.h"

bool debug_file_matches(const char *glob, const char *path)
{
	size_t want = strlen(glob), len = strlen(path);
	const char *base = strrchr(path, '/');

	if (!strchr(glob, '/'))
		return name_glob(glob, base ? base + 1 : path);
	/* "src/a.c" is the end of "/build/src/a.c", not of "/my-src/a.c". */
	if (len > want && path[len - want - 1] == '/' &&
	    !strcmp(path + len - want, glob))
		return true;
	return name_glob(glob, path);
}

/* Longest chain from a copy to the declaration of its function. */
enum { ORIGINS_MAX = 8 };

/* A search under way. */
struct search {
	struct debug_file *f;
	const struct debug_query *q;
	debug_places *ret;
	unsigned first; /* of ret, what this search has added */
	const char *name;  /* of q->func, without its scopes */
	const char *scope; /* glob of these; NULL: any */
	bool linkage;	   /* name is one that the linker knows */
	int line, last; /* that are looked for */
	int near[2];	/* lines with code next below and above; 0: none */
};

static void add_place(struct search *s, Dwarf_Die *die, uint64_t addr,
		      const char *file, int line)
{
	const struct libdw *dw = s->f->dw;
	struct debug_place p = {.addr = addr, .line = line};
	const char *name = die_name(s->f, die);

	p.func = name ? name : "";
	p.file = file ? str_internz(s->f->c->str, file) : "";
	p.is_inline = dw->dwarf_tag(die) == DW_TAG_inlined_subroutine;
	p.scope = die_id(s->f, die);
	vec_push(s->f->c->a, s->ret, p);
}

/*
 * File number 0 is the unit's own in DWARF 5 (clang writes it); libdw takes it
 * for none, as it was before. NULL: not known.
 */
static const char *decl_file(struct search *s, Dwarf_Die *die)
{
	const struct libdw *dw = s->f->dw;
	const char *file = dw->dwarf_decl_file(die), *dir = NULL;
	Dwarf_Attribute at;
	Dwarf_Die cu;

	if (file || !dw->dwarf_diecu(die, &cu, NULL, NULL))
		return file;
	file = die_name(s->f, &cu);
	if (!file || *file == '/')
		return file;
	if (dw->dwarf_attr(&cu, DW_AT_comp_dir, &at))
		dir = dw->dwarf_formstring(&at);
	return dir ? arena_printf(s->f->c->a, "%s/%s", dir, file) : file;
}

/* --- functions ------------------------------------------------------------ */

/* A label that the compiler did away with has no address. */
static void see_label(struct search *s, Dwarf_Die *func, Dwarf_Die *die,
		      const char *file)
{
	const struct libdw *dw = s->f->dw;
	const char *name = die_name(s->f, die);
	Dwarf_Attribute at;
	Dwarf_Addr addr;
	int line = 0;

	if (!name || !name_glob(s->q->label, name) ||
	    !dw->dwarf_attr(die, DW_AT_low_pc, &at) ||
	    dw->dwarf_formaddr(&at, &addr) || !addr)
		return;
	/* a copy's label has its line where the function is described */
	if (dw->dwarf_attr_integrate(die, DW_AT_decl_line, &at)) {
		Dwarf_Word n;

		if (!dw->dwarf_formudata(&at, &n))
			line = (int)n;
	}
	add_place(s, func, addr, file, line);
	vec_last(s->ret).label = name;
}

/* In blocks, not in other functions that were inlined there. */
static void see_labels(struct search *s, Dwarf_Die *func, Dwarf_Die *parent,
		       const char *file, int depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(s->f, parent, &die))
		return;
	do {
		int tag = s->f->dw->dwarf_tag(&die);

		if (tag == DW_TAG_label)
			see_label(s, func, &die, file);
		else if (tag == DW_TAG_lexical_block)
			see_labels(s, func, &die, file, depth + 1);
	} while (die_next(s->f, &die, &die));
}

/* What die completes or is a copy of, to the end of the chain. */
static void follow_origin(struct search *s, Dwarf_Die *die)
{
	const struct libdw *dw = s->f->dw;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute at;
		Dwarf_Die to;

		if (!dw->dwarf_attr(die, DW_AT_abstract_origin, &at) &&
		    !dw->dwarf_attr(die, DW_AT_specification, &at))
			return;
		if (!dw->dwarf_formref_die(&at, &to))
			return;
		*die = to;
	}
}

/* "ns::Class", where a function is declared; "" outside of all. */
static const char *scope_text(struct search *s, Dwarf_Die die)
{
	const struct libdw *dw = s->f->dw;
	const char *text = "";
	Dwarf_Die *scopes = NULL;
	int n;

	follow_origin(s, &die);
	n = dw->dwarf_getscopes_die(&die, &scopes);
	for (int i = 1; i < n; i++) {
		const char *name;

		if (!die_is_name_scope(dw->dwarf_tag(&scopes[i])))
			continue;
		name = die_name(s->f, &scopes[i]);
		text = arena_printf(s->f->c->a, "%s%s%s",
				    name ? name : "(anonymous)",
				    *text ? "::" : "", text);
	}
	free(scopes);
	return text;
}

/* All of the scopes, or the last ones of them. */
static bool scope_matches(const char *glob, const char *text)
{
	if (!strncmp(glob, "::", 2))
		return name_glob(glob + 2, text);
	for (;;) {
		if (name_glob(glob, text))
			return true;
		text = strstr(text, "::");
		if (!text)
			return false;
		text += 2;
	}
}

static bool name_matches(struct search *s, Dwarf_Die *die)
{
	const struct libdw *dw = s->f->dw;
	const char *name;
	Dwarf_Attribute at;

	if (s->linkage) {
		name = dw->dwarf_attr_integrate(die, DW_AT_linkage_name, &at)
			       ? dw->dwarf_formstring(&at)
			       : NULL;
		return name && name_glob(s->name, name);
	}
	name = die_name(s->f, die);
	return name && debug_name_matches(s->f->c, s->name, name) &&
	       (!s->scope || scope_matches(s->scope, scope_text(s, *die)));
}

static void see_function(struct search *s, Dwarf_Die *die)
{
	const struct libdw *dw = s->f->dw;
	const char *file;
	Dwarf_Addr addr;
	int line = 0;

	if (!name_matches(s, die))
		return;
	file = decl_file(s, die);
	if (s->q->file && (!file || !debug_file_matches(s->q->file, file)))
		return;
	if (!die_entry(s->f, die, &addr))
		return;
	if (s->q->label) {
		see_labels(s, die, die, file, 0);
		return;
	}
	dw->dwarf_decl_line(die, &line);
	add_place(s, die, addr, file, line);
}

static void see_functions(struct search *s, Dwarf_Die *parent, int depth)
{
	bool inlined = s->q->what & SKIM_INLINED;
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(s->f, parent, &die))
		return;
	do {
		int tag = s->f->dw->dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine ? inlined
		    : tag == DW_TAG_subprogram &&
			      s->q->what & SKIM_FUNCTIONS)
			see_function(s, &die);
		if (die_is_name_scope(tag) ||
		    (inlined && (tag == DW_TAG_subprogram ||
				 tag == DW_TAG_lexical_block ||
				 tag == DW_TAG_inlined_subroutine)))
			see_functions(s, &die, depth + 1);
	} while (die_next(s->f, &die, &die));
}

static bool functions_of_unit(void *ctx, Dwarf_Die *cu)
{
	see_functions(ctx, cu, 0);
	return false;
}

/*
 * The last "::" parts the scopes off that a function is in; those in the
 * arguments of a template do not count.
 */
static void split_name(struct search *s, const char *func)
{
	const char *colons = NULL;
	int depth = 0;

	for (const char *p = func; *p; p++) {
		depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
		if (!depth && p[0] == ':' && p[1] == ':')
			colons = p;
	}
	s->name = colons ? colons + 2 : func;
	/* "::f" is in no scope at all: "::" of it matches "" */
	if (colons)
		s->scope = colons == func
			       ? "::"
			       : arena_strndup(s->f->c->a, func, colons - func);
	s->linkage = !strncmp(func, "_Z", 2) || !strncmp(func, "_R", 2);
}

static void find_functions(struct search *s)
{
	die_offsets offs = {0};
	Dwarf_Die die;

	if (!debug_skim(s->f, s->name, s->q->what, &offs)) {
		die_units(s->f, functions_of_unit, s);
		return;
	}
	for (unsigned i = 0; i < offs.n; i++)
		if (s->f->dw->dwarf_offdie(s->f->dbg, offs.v[i], &die))
			see_function(s, &die);
}

/* --- lines ---------------------------------------------------------------- */

/* The innermost function around pc, inlined ones included. */
static bool scope_at(struct search *s, Dwarf_Die *cu, uint64_t pc,
		     Dwarf_Die *ret)
{
	Dwarf_Die *scopes = NULL;
	int n = s->f->dw->dwarf_getscopes(cu, pc, &scopes), i;

	for (i = 0; i < n; i++) {
		int tag = s->f->dw->dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram ||
		    tag == DW_TAG_inlined_subroutine)
			break;
	}
	if (i < n)
		*ret = scopes[i];
	free(scopes);
	return i < n;
}

/* Of each function (each copy of it) the line's lowest address stays. */
static void add_line(struct search *s, Dwarf_Die *func, uint64_t addr,
		     const char *file, int line)
{
	uint64_t scope = die_id(s->f, func);

	for (unsigned i = s->first; i < s->ret->n; i++) {
		struct debug_place *p = &s->ret->v[i];

		if (p->scope != scope || p->line != line)
			continue;
		if (addr < p->addr)
			p->addr = addr;
		return;
	}
	add_place(s, func, addr, file, line);
}

static bool in_wanted(struct search *s, Dwarf_Die *cu, uint64_t pc,
		      Dwarf_Die *ret)
{
	return scope_at(s, cu, pc, ret) && name_matches(s, ret);
}

/* Lines with code that a message can offer, or .nearest can take. */
static void note_near(struct search *s, int line)
{
	if (line < s->line && line > s->near[0])
		s->near[0] = line;
	if (line > s->last && (!s->near[1] || line < s->near[1]))
		s->near[1] = line;
}

static bool lines_of_unit(void *ctx, Dwarf_Die *cu)
{
	struct search *s = ctx;
	const struct libdw *dw = s->f->dw;
	Dwarf_Lines *lines;
	Dwarf_Die func;
	size_t n;

	if (dw->dwarf_getsrclines(cu, &lines, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dw->dwarf_onesrcline(lines, i);
		const char *file = l ? dw->dwarf_linesrc(l, NULL, NULL) : NULL;
		bool begins = false;
		Dwarf_Addr addr;
		int line;

		if (!file || dw->dwarf_lineno(l, &line) || line <= 0 ||
		    dw->dwarf_lineaddr(l, &addr) ||
		    (s->q->file && !debug_file_matches(s->q->file, file)))
			continue;
		/* Only where a statement begins are its operands in place. */
		if (dw->dwarf_linebeginstatement(l, &begins) || !begins)
			continue;
		/* The scope is looked up last: it is the dear part. */
		if (line < s->line && line <= s->near[0])
			continue;
		if (line > s->last && s->near[1] && line >= s->near[1])
			continue;
		if (!in_wanted(s, cu, addr, &func))
			continue;
		if (line >= s->line && line <= s->last)
			add_line(s, &func, addr, file, line);
		else
			note_near(s, line);
	}
	return false;
}

static void find_lines(struct search *s, int line, int last)
{
	s->line = line;
	s->last = last > line ? last : line;
	s->near[0] = s->near[1] = 0;
	die_units(s->f, lines_of_unit, s);
	if (s->ret->n > s->first || !s->q->nearest)
		return;
	s->line = s->last = s->near[1] ? s->near[1] : s->near[0];
	if (s->line)
		die_units(s->f, lines_of_unit, s);
}

/* "f@file+2": the declarations say which lines are meant. */
static void find_relative(struct search *s)
{
	debug_places funcs = {0};
	struct search decl = *s;
	struct debug_query named = *s->q;
	unsigned first = s->first;

	named.what = SKIM_FUNCTIONS;
	decl.q = &named;
	decl.ret = &funcs;
	decl.first = 0;
	find_functions(&decl);
	for (unsigned i = 0; i < funcs.n; i++) {
		struct debug_query q = *s->q;
		unsigned k;

		for (k = 0; k < i; k++)
			if (funcs.v[k].line == funcs.v[i].line &&
			    funcs.v[k].func == funcs.v[i].func)
				break;
		if (k < i)
			continue; /* copies in several units */
		s->name = funcs.v[i].func;
		s->linkage = false;
		s->q = &q;
		s->first = s->ret->n;
		find_lines(s, funcs.v[i].line + q.line,
			   funcs.v[i].line + q.last);
	}
	s->first = first;
}

static int by_address(const void *va, const void *vb)
{
	const struct debug_place *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->func, b->func);
}

void debug_find(struct debug_file *f, const struct debug_query *q,
		debug_places *ret, int ret_near[2])
{
	struct search s = {.f = f, .q = q, .ret = ret, .first = ret->n};
	unsigned to = ret->n;

	ret_near[0] = ret_near[1] = 0;
	if (!debug_reopen(f))
		return;
	split_name(&s, q->func);
	if (!q->line && !q->relative)
		find_functions(&s);
	else if (q->relative)
		find_relative(&s);
	else
		find_lines(&s, q->line, q->last);
	memcpy(ret_near, s.near, sizeof(s.near));
	if (ret->n == s.first)
		return;
	qsort(ret->v + s.first, ret->n - s.first, sizeof(*ret->v), by_address);
	/*
	 * A function of a header can be described by several units. Of another
	 * name at the same address is a copy that its caller begins with.
	 */
	for (unsigned i = s.first; i < ret->n; i++)
		if (to == s.first || by_address(&ret->v[to - 1], &ret->v[i]))
			ret->v[to++] = ret->v[i];
	ret->n = to;
}

/* Lines are in order of address: the last one at or before pc is its own. */
bool debug_line(struct debug_file *f, uint64_t pc, const char **ret_file,
		int *ret_line)
{
	const struct libdw *dw = f->dw;
	size_t lo = 0, hi;
	Dwarf_Lines *lines;
	Dwarf_Line *l;
	Dwarf_Addr addr;
	Dwarf_Die cu;

	if (!debug_reopen(f) || !die_unit_at(f, pc, &cu) ||
	    dw->dwarf_getsrclines(&cu, &lines, &hi))
		return false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		l = dw->dwarf_onesrcline(lines, mid);
		if (!l || dw->dwarf_lineaddr(l, &addr))
			return false;
		if (addr <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	l = lo ? dw->dwarf_onesrcline(lines, lo - 1) : NULL;
	if (!l || dw->dwarf_lineno(l, ret_line) || *ret_line <= 0)
		return false;
	*ret_file = dw->dwarf_linesrc(l, NULL, NULL);
	return *ret_file != NULL;
}
