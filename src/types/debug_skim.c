/* SPDX-License-Identifier: MIT */
/*
 * Which descriptions (DIEs) are of functions with a name, read from the bytes
 * of .debug_info. Walking the tree through the library costs some 200 ns for
 * each DIE, seconds for a big program, and most of what it finds is of no
 * interest here: types, variables, calls. So this file steps over everything
 * but functions and inlined copies, by the lengths that the unit's
 * abbreviations give, and leaves to the library what the few DIEs say that are
 * wanted.
 *
 * What cannot be read so (a form of a later DWARF, a damaged file) makes the
 * whole fail: the caller then walks.
 */
#include "types/debug_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "types/debug_unit.h"
#include "types/elf.h"
#include "types/glob.h"

/* One file: the program's own, or the one that dwz put common parts into. */
struct image {
	struct unit_bytes b;
	struct unit *units; /* in order of offset */
	unsigned nunits;
	struct map *tables; /* offset of abbreviations -> struct unit_table */
	struct map *named;  /* offset of a DIE -> YES or NO: has the name */
};

/* Longest chain of abstract origins and specifications that is followed. */
enum { CHAIN_DEPTH = 8 };
/*
 * Places in the table of strings that have the name: with more, short names at
 * the end of longer ones, a search for them costs what it saves. Smaller files
 * (bytes) are gone through in less time than is worth saving.
 */
enum { NEEDLES_MAX = 8, FILTER_FROM = 1 << 20 };

struct skim {
	struct compile *c;
	bool every; /* every unit is to be looked at */
	struct arena *a; /* of the skim alone */
	const char *glob;
	bool linkage; /* glob is of names as the linker knows them */
	struct image main, alt;
	bool has_alt;
	bool filter; /* pass over units that have none of these: */
	const char *opened; /* the name with what opens arguments: "f<" */
	uint32_t needle[NEEDLES_MAX];
	unsigned nneedles;
};

/* --- names ---------------------------------------------------------------- */

/* Values of map image.named, which has NULL for "not asked yet". */
static void *known(bool yes)
{
	static const char yes_or_no[2];

	return (void *)(uintptr_t)&yes_or_no[yes];
}

/* Reads what the unit's DIEs are described by. false: it cannot be read. */
static bool make_ready(struct skim *s, struct image *im, struct unit *u)
{
	struct unit_table *t;

	if (u->table)
		return true;
	t = map_get_num(im->tables, u->abbrev);
	if (!t) {
		t = unit_read_table(s->a, &im->b, u);
		if (!t)
			return false;
		map_set_num(im->tables, u->abbrev, t);
	}
	u->table = t;
	return unit_bases(&im->b, u);
}

static struct unit *unit_of(const struct image *im, uint64_t off)
{
	unsigned lo = 0, hi = im->nunits;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;

		if (im->units[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < im->nunits && off >= im->units[lo].first ? &im->units[lo]
							      : NULL;
}

static bool is_named(struct skim *s, const char *name)
{
	return s->linkage ? name_glob(s->glob, name)
			  : debug_name_matches(s->c, s->glob, name);
}

/* Whether the DIE, or what it completes or is a copy of, has the name. */
static bool has_name(struct skim *s, struct image *im, uint64_t off, int depth)
{
	struct unit *u;
	struct unit_die d;
	const char *name;
	bool yes = false;
	void *is = map_get_num(im->named, off);

	if (is)
		return is == known(true);
	u = unit_of(im, off);
	if (u && depth < CHAIN_DEPTH && make_ready(s, im, u) &&
	    unit_read_die(&im->b, u, off, &d)) {
		name = s->linkage ? d.linkage : d.name;
		if (name)
			yes = is_named(s, name);
		else if (d.origin && !d.origin_alt)
			yes = has_name(s, im, d.origin, depth + 1);
		else if (d.origin && s->has_alt)
			yes = has_name(s, &s->alt, d.origin, depth + 1);
	}
	map_set_num(im->named, off, known(yes));
	return yes;
}

/* --- which units can be passed over --------------------------------------- */

/*
 * Where the table that a place in .debug_abbrev belongs to begins and ends is
 * known from the units alone when they come in its order, as linkers write it.
 */
static bool are_far(struct skim *s, struct image *im)
{
	for (unsigned i = 0; i < im->nunits; i++) {
		struct unit *u = &im->units[i];
		uint64_t next = im->b.abbrev.n;

		if (i && u->abbrev == im->units[i - 1].abbrev)
			continue;
		for (unsigned k = i + 1; k < im->nunits; k++)
			if (im->units[k].abbrev != u->abbrev) {
				next = im->units[k].abbrev;
				break;
			}
		if (next < u->abbrev)
			return true;
		if (!unit_may_be_far(&im->b, u->abbrev, next))
			continue;
		if (!make_ready(s, im, u) || unit_table_is_far(u->table))
			return true;
	}
	return false;
}

/* A linker lets "add" be the end of "work_add". */
static void find_text(struct skim *s, const char *text, size_t len,
		      struct byte_span in)
{
	const uint8_t *p = in.p, *end = in.p + in.n;

	while (s->nneedles <= NEEDLES_MAX && end - p >= (ptrdiff_t)len &&
	       (p = memmem(p, end - p, text, len))) {
		if (s->nneedles < NEEDLES_MAX)
			s->needle[s->nneedles] = (uint32_t)(p - in.p);
		s->nneedles++;
		p++;
	}
}

/*
 * A unit whose bytes have neither the name nor the offset of it in the table of
 * strings has no function of that name; looking for bytes is ten times as fast
 * as stepping over DIEs. It does not work where names are numbers in a further
 * table, for patterns, and where a unit's copies can be of another's function.
 */
static void make_filter(struct skim *s)
{
	size_t len = strlen(s->glob);

	if (name_is_glob(s->glob) || s->has_alt || s->main.b.str_offsets.n ||
	    s->main.b.info.n < FILTER_FROM)
		return;
	find_text(s, s->glob, len + 1, s->main.b.str);
	find_text(s, s->glob, len + 1, s->main.b.line_str);
	/* what a template makes; the table has it as "f<int>" */
	s->opened = arena_printf(s->a, "%s<", s->glob);
	find_text(s, s->opened, len + 1, s->main.b.str);
	s->filter = s->nneedles <= NEEDLES_MAX && !are_far(s, &s->main);
}

/* One of the four bytes that are rare in general, to be looked for first. */
static bool has_word(const uint8_t *p, const uint8_t *end, uint32_t word)
{
	uint8_t bytes[4];
	unsigned at = 0, i;

	memcpy(bytes, &word, sizeof(bytes));
	/* The low byte, unless it is one of those that are everywhere. */
	for (i = 0; i < 3; i++)
		if (bytes[i] > bytes[at] && bytes[at] < 0x20)
			at = i;
	for (const uint8_t *q = p + at;
	     q < end && (q = memchr(q, bytes[at], end - q)); q++)
		if (end - (q - at) >= 4 && !memcmp(q - at, bytes, 4))
			return true;
	return false;
}

static bool may_have(const struct skim *s, const struct unit *u)
{
	const uint8_t *p = s->main.b.info.p + u->first;
	const uint8_t *end = s->main.b.info.p + u->end;

	for (unsigned i = 0; i < s->nneedles; i++)
		if (has_word(p, end, s->needle[i]))
			return true;
	return memmem(p, end - p, s->glob, strlen(s->glob) + 1) ||
	       memmem(p, end - p, s->opened, strlen(s->opened));
}

/* --- going through -------------------------------------------------------- */

static bool is_wanted(struct skim *s, const struct unit_die *d)
{
	const char *name = s->linkage ? d->linkage : d->name;

	if (!d->has_code)
		return false;
	if (name)
		return is_named(s, name);
	if (!d->origin)
		return false;
	return has_name(s, d->origin_alt ? &s->alt : &s->main, d->origin, 0);
}

static bool skim_unit(struct skim *s, struct unit *u, unsigned what,
		      struct arena *a, die_offsets *ret)
{
	const struct unit_bytes *b = &s->main.b;
	uint64_t off = u->first, at;
	struct unit_die d;
	int found;

	while ((found = unit_find(b, u, off, what, &at, &off)) > 0) {
		if (!unit_read_die(b, u, at, &d) ||
		    (d.origin_alt && !s->has_alt))
			return false;
		if (is_wanted(s, &d))
			vec_push(a, ret, at);
	}
	return !found;
}

/* Units one after the other; each names its abbreviations. */
static bool read_units(struct skim *s, struct image *im)
{
	VEC(struct unit) units = {0};
	uint64_t off = 0;

	im->tables = map_new(s->a);
	im->named = map_new(s->a);
	while (off < im->b.info.n) {
		struct unit u;

		if (!unit_read_head(&im->b, off, &u))
			return false;
		vec_push(s->a, &units, u);
		off = u.end;
	}
	im->units = units.v;
	im->nunits = units.n;
	return true;
}

static bool skim(struct skim *s, const struct libdw *dw, Elf *elf, Elf *alt,
		 unsigned what, die_offsets *ret)
{
	if (!unit_open(dw, elf, alt, &s->main.b) || !read_units(s, &s->main))
		return false;
	s->has_alt = alt && unit_open(dw, alt, NULL, &s->alt.b) &&
		     read_units(s, &s->alt);
	if (!s->every)
		make_filter(s);
	for (unsigned i = 0; i < s->main.nunits; i++) {
		struct unit *u = &s->main.units[i];

		if ((!u->has_code && !u->is_split) ||
		    (s->filter && !may_have(s, u)))
			continue;
		if (!make_ready(s, &s->main, u) || u->is_split)
			return false;
		/* It may turn out to be a part that others import. */
		if (u->has_code && unit_table_has(u->table, what) &&
		    !skim_unit(s, u, what, s->c->a, ret))
			return false;
	}
	return true;
}

/* Names as the linker knows them, of C++ and of Rust. */
static bool is_linkage(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

bool debug_skim(struct debug_file *f, const char *glob, unsigned what,
		die_offsets *ret)
{
	struct skim s = {.c = f->c, .a = arena_new(), .glob = glob};
	const struct libdw *dw = f->dw;
	unsigned first = ret->n;
	bool ok;

	s.linkage = is_linkage(glob);
	ok = skim(&s, dw, dw->dwarf_getelf(f->dbg),
		  f->alt ? dw->dwarf_getelf(f->alt) : NULL, what, ret);
	if (!ok)
		ret->n = first;
	arena_free(s.a);
	return ok;
}

bool debug_may_inline(struct compile *c, const struct elf_file *f,
		      const char *name)
{
	/* libelf is in this program; only what reads the rest may be missing */
	static const struct libdw own = {
	    .elf_compress = elf_compress,
	    .elf_getdata = elf_getdata,
	    .elf_getshdrstrndx = elf_getshdrstrndx,
	    .elf_nextscn = elf_nextscn,
	    .elf_strptr = elf_strptr,
	    .gelf_getshdr = gelf_getshdr,
	};
	const char *colons = strrchr(name, ':');
	struct skim s = {.c = c, .a = arena_new(), .every = true,
			 .glob = colons ? colons + 1 : name};
	die_offsets found = {0};
	bool ok;

	s.linkage = is_linkage(name);
	ok = skim(&s, &own, f->elf, NULL, SKIM_INLINED, &found);
	if (!ok && f->debug)
		ok = skim(&s, &own, f->debug, NULL, SKIM_INLINED, &found);
	arena_free(s.a);
	return !ok || found.n;
}
