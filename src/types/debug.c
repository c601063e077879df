/* SPDX-License-Identifier: MIT */
/*
 * Opening debug information and walking its tree. libdwfl knows where
 * distributions keep it: in the file, by build id, by debug link, and (when
 * $DEBUGINFOD_URLS is set) on a server.
 */
#include "types/debug.h"

#include <string.h>

#include "base/map.h"
#include "types/debug_file.h"
#include "types/glob.h"
#include "types/types.h"

/* Bytes of .debug_info that are looked at for units of a split program. */
enum { SPLIT_LOOK = 1 << 16 };

/* --- opening -------------------------------------------------------------- */

/* All files of this compilation: path -> struct debug_file. */
static struct map *files(struct compile *c)
{
	void **kept = types_keep(c, "debug files");

	if (!*kept)
		*kept = map_new(c->a);
	return *kept;
}

/*
 * Whether units only name the files that their descriptions are in. One is as
 * good as another: who builds so does it for all.
 */
static bool is_split(struct debug_file *f)
{
	const struct libdw *dw = f->dw;
	Dwarf_Off off = 0, next;
	size_t head;
	Dwarf_Die cu;

	while (!dw->dwarf_nextcu(f->dbg, off, &next, &head, NULL, NULL, NULL)) {
		if (dw->dwarf_offdie(f->dbg, off + head, &cu) &&
		    (dw->dwarf_tag(&cu) == DW_TAG_skeleton_unit ||
		     dw->dwarf_hasattr(&cu, DW_AT_GNU_dwo_name)))
			return true;
		if (next <= off || next > SPLIT_LOOK)
			break;
		off = next;
	}
	return false;
}

/*
 * The module is placed at 0 with its own addresses on top, so that what libdw
 * calls an address is the address as linked.
 */
static void open_module(struct debug_file *f)
{
	const struct libdw *dw = f->dw;
	/* libdwfl keeps a pointer to it as long as the session. */
	Dwfl_Callbacks *how = arena_new_of(f->c->a, Dwfl_Callbacks);
	Dwarf_Addr bias = 0;
	const char *name;
	const void *id;

	how->find_elf = dw->dwfl_build_id_find_elf;
	how->find_debuginfo = dw->dwfl_standard_find_debuginfo;
	how->section_address = dw->dwfl_offline_section_address;
	f->missing = "it cannot be read as an ELF file";
	f->dwfl = dw->dwfl_begin(how);
	if (!f->dwfl)
		return;
	dw->dwfl_report_begin(f->dwfl);
	f->mod = dw->dwfl_report_elf(f->dwfl, f->path, f->path, -1, 0, true);
	dw->dwfl_report_end(f->dwfl, NULL, NULL);
	if (!f->mod)
		return;
	f->dbg = dw->dwfl_module_getdwarf(f->mod, &bias);
	f->alt = f->dbg ? dw->dwarf_getalt(f->dbg) : NULL;
	if (!f->dbg || bias)
		f->missing = "it has no debug information: build it with -g, "
			     "or install its debug symbols (Debian: the "
			     "package's -dbgsym)";
	else if (!f->alt &&
		 dw->dwelf_dwarf_gnu_debugaltlink(f->dbg, &name, &id) > 0)
		f->missing = arena_printf(
		    f->c->a, "the file with the common parts of its debug "
			     "information is missing: %s", name);
	else if (is_split(f))
		f->missing = "its debug information is in .dwo files, which "
			     "are not read: build it without -gsplit-dwarf";
	else
		f->missing = NULL;
}

static void close_file(struct debug_file *f)
{
	if (f->dwfl)
		f->dw->dwfl_end(f->dwfl);
	f->dwfl = NULL;
	f->mod = NULL;
	f->dbg = f->alt = NULL;
}

struct debug_file *debug_open(struct compile *c, const char *path,
			      const char **ret_why)
{
	const struct libdw *dw = libdw_open(c, ret_why);
	struct debug_file *f = map_get(files(c), path);

	if (!dw)
		return NULL;
	if (!f) {
		f = arena_new_of(c->a, struct debug_file);
		f->source.fill = debug_fill;
		f->source.user = true;
		f->c = c;
		f->dw = dw;
		f->path = arena_strdup(c->a, path);
		f->made = map_new(c->a);
		map_set(files(c), path, f);
	}
	if (debug_reopen(f))
		return f;
	*ret_why = f->missing;
	return NULL;
}

bool debug_reopen(struct debug_file *f)
{
	if (!f->dbg && !f->missing) {
		open_module(f);
		if (f->missing)
			close_file(f);
	}
	return !f->missing;
}

void debug_close(struct compile *c)
{
	for (unsigned i = 0; i < map_count(files(c)); i++)
		close_file(map_at(files(c), i, NULL));
}

/* --- the tree ------------------------------------------------------------- */

static const uint64_t in_alt = 1ull << 63;

uint64_t die_id(struct debug_file *f, Dwarf_Die *die)
{
	uint64_t off = f->dw->dwarf_dieoffset(die);

	return f->alt && f->dw->dwarf_cu_getdwarf(die->cu) == f->alt
		   ? off | in_alt
		   : off;
}

bool die_of_id(struct debug_file *f, uint64_t id, Dwarf_Die *ret)
{
	Dwarf *dbg = id & in_alt ? f->alt : f->dbg;

	return dbg && f->dw->dwarf_offdie(dbg, id & ~in_alt, ret);
}

/* parts: also what is no unit with code. */
static bool units_of(struct debug_file *f, Dwarf *dbg, bool parts,
		     bool (*visit)(void *ctx, Dwarf_Die *cu), void *ctx)
{
	const struct libdw *dw = f->dw;
	Dwarf_Off off = 0, next;
	size_t head;
	Dwarf_Die cu;

	while (!dw->dwarf_nextcu(dbg, off, &next, &head, NULL, NULL, NULL)) {
		if (dw->dwarf_offdie(dbg, off + head, &cu) &&
		    (parts || dw->dwarf_tag(&cu) == DW_TAG_compile_unit) &&
		    visit(ctx, &cu))
			return true;
		if (next <= off)
			break; /* a damaged file must not hold us here */
		off = next;
	}
	return false;
}

bool die_units(struct debug_file *f, bool (*visit)(void *ctx, Dwarf_Die *cu),
	       void *ctx)
{
	return units_of(f, f->dbg, false, visit, ctx);
}

bool die_all_units(struct debug_file *f,
		   bool (*visit)(void *ctx, Dwarf_Die *cu), void *ctx)
{
	return units_of(f, f->dbg, true, visit, ctx) ||
	       (f->alt && units_of(f, f->alt, true, visit, ctx));
}

bool die_first(struct debug_file *f, Dwarf_Die *die, Dwarf_Die *ret)
{
	return f->dw->dwarf_child(die, ret) == 0;
}

bool die_next(struct debug_file *f, Dwarf_Die *die, Dwarf_Die *ret)
{
	return f->dw->dwarf_siblingof(die, ret) == 0;
}

const char *die_name(struct debug_file *f, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	const char *s = NULL;

	if (f->dw->dwarf_attr_integrate(die, DW_AT_name, &at))
		s = f->dw->dwarf_formstring(&at);
	return s ? str_internz(f->c->str, s) : NULL;
}

bool debug_name_matches(struct compile *c, const char *glob,
			const char *name)
{
	const char *args = strchr(name, '<');

	if (name_glob(glob, name))
		return true;
	/* "operator<" and "operator<<" are no templates */
	return args && args != name && !strchr(glob, '<') &&
	       name[strlen(name) - 1] == '>' &&
	       strncmp(name, "operator", args - name) &&
	       name_glob(glob, arena_strndup(c->a, name, args - name));
}

bool die_entry(struct debug_file *f, Dwarf_Die *die, Dwarf_Addr *ret)
{
	const struct libdw *dw = f->dw;
	Dwarf_Addr base, end, start;
	Dwarf_Attribute at;
	Dwarf_Word off = 0;
	ptrdiff_t next = 0;
	bool any = false;

	/* Also of a copy whose code is all its caller's: 0 bytes long. */
	if (!dw->dwarf_entrypc(die, ret))
		return *ret != 0;
	/*
	 * In several parts: the first one that is listed is entered (DWARF 5,
	 * 2.17.3 and 2.18), or a distance from there is given. gcc writes
	 * functions with a cold part so, clang inlined copies.
	 */
	if (dw->dwarf_attr(die, DW_AT_entry_pc, &at) &&
	    dw->dwarf_formudata(&at, &off))
		return false;
	while ((next = dw->dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (any && start == end)
			continue;
		*ret = start + off;
		any = true;
		if (start < end)
			break;
	}
	return any && *ret;
}

bool die_is_name_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

struct at_pc {
	struct debug_file *f;
	uint64_t pc;
	Dwarf_Die *ret;
};

static bool unit_has(void *ctx, Dwarf_Die *cu)
{
	struct at_pc *p = ctx;

	if (p->f->dw->dwarf_haspc(cu, p->pc) <= 0)
		return false;
	*p->ret = *cu;
	return true;
}

bool die_unit_at(struct debug_file *f, uint64_t pc, Dwarf_Die *ret)
{
	struct at_pc p = {f, pc, ret};

	/* By the file's index; not every compiler writes one. */
	if (f->dw->dwarf_addrdie(f->dbg, pc, ret) &&
	    f->dw->dwarf_tag(ret) == DW_TAG_compile_unit)
		return true;
	return die_units(f, unit_has, &p);
}

static bool function_below(struct debug_file *f, Dwarf_Die *parent, uint64_t pc,
			   int depth, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(f, parent, &die))
		return false;
	do {
		int tag = f->dw->dwarf_tag(&die);

		if (tag == DW_TAG_subprogram &&
		    f->dw->dwarf_haspc(&die, pc) > 0) {
			*ret = die;
			return true;
		}
		if (die_is_name_scope(tag) &&
		    function_below(f, &die, pc, depth + 1, ret))
			return true;
	} while (die_next(f, &die, &die));
	return false;
}

bool die_function_at(struct debug_file *f, Dwarf_Die *cu, uint64_t pc,
		     Dwarf_Die *ret)
{
	return function_below(f, cu, pc, 0, ret);
}
