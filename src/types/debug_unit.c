/* SPDX-License-Identifier: MIT */
/*
 * .debug_info as bytes (DWARF 5, chapter 7): headers of units, abbreviations,
 * lengths of forms. Nothing in a file is trusted: each read asks whether it
 * stays inside of its unit.
 */
#include "types/debug_unit.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "types/debug_file.h"

/* More in one table than any compiler writes: a damaged file. */
enum { ABBREVS_MAX = 1 << 16, ATTRS_MAX = 1 << 8 };

/* Lengths of forms that are not just bytes. Positive ones are. */
enum {
	LEN_LEB = -1,	 /* seven bits a byte, until one without the eighth */
	LEN_STRING = -2, /* to its NUL */
	LEN_BLOCK = -3,	 /* a LEB128 of bytes follow */
	LEN_BLOCK1 = -4, LEN_BLOCK2 = -5, LEN_BLOCK4 = -6, /* n bytes: length */
	LEN_UNKNOWN = -7,
};

struct attr {
	uint16_t at, form;
};

struct shape {
	uint16_t tag;
	uint16_t kind; /* SKIM_*, or 0 */
	uint16_t nsteps, nattrs;
	/* Lengths one after the other; runs of bytes are added up. */
	const int16_t *steps;
	const struct attr *attrs;
};

struct unit_table {
	struct shape *shape; /* by code; tag 0: there is none */
	unsigned n;
	unsigned has; /* SKIM_* */
	bool far; /* functions refer to DIEs of other units */
	/* of the units that it is for: lengths of forms follow from them */
	uint8_t version, addr_size, off_size;
};

/* --- reading -------------------------------------------------------------- */

/* From p up to end; what does not fit sets bad, and reads as 0. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t get(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < bytes) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	memcpy(&v, c->p, bytes); /* little-endian: elf.c takes x86-64 only */
	c->p += bytes;
	return v;
}

static uint64_t get_leb(struct cursor *c)
{
	uint64_t v = 0;

	if (c->p < c->end && *c->p < 128)
		return *c->p++; /* nearly always */
	for (unsigned shift = 0; c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
	c->bad = true;
	return 0;
}

static void skip(struct cursor *c, uint64_t bytes)
{
	if ((uint64_t)(c->end - c->p) < bytes) {
		c->bad = true;
		c->p = c->end;
		return;
	}
	c->p += bytes;
}

static const char *get_string(struct cursor *c)
{
	const uint8_t *nul = memchr(c->p, 0, c->end - c->p), *s = c->p;

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->p = nul + 1;
	return (const char *)s;
}

static const char *string_at(struct byte_span b, uint64_t off)
{
	if (off >= b.n || !memchr(b.p + off, 0, b.n - off))
		return NULL;
	return (const char *)b.p + off;
}

static void skip_length(struct cursor *c, int len)
{
	if (len >= 0) {
		skip(c, len);
		return;
	}
	switch (len) {
	case LEN_LEB:
		while (c->p < c->end && *c->p & 128)
			c->p++;
		skip(c, 1);
		return;
	case LEN_STRING:
		get_string(c);
		return;
	case LEN_BLOCK:
		skip(c, get_leb(c));
		return;
	case LEN_BLOCK1:
		skip(c, get(c, 1));
		return;
	case LEN_BLOCK2:
		skip(c, get(c, 2));
		return;
	case LEN_BLOCK4:
		skip(c, get(c, 4));
		return;
	default:
		c->bad = true;
	}
}

/* --- sections ------------------------------------------------------------- */

static struct byte_span section(const struct libdw *dw, Elf *elf,
				const char *name)
{
	struct byte_span b = {0};
	Elf_Scn *scn = NULL;
	size_t strs;

	if (dw->elf_getshdrstrndx(elf, &strs))
		return b;
	while ((scn = dw->elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *s;
		Elf_Data *data;

		if (!dw->gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		s = dw->elf_strptr(elf, strs, sh.sh_name);
		/* .zdebug_info: the old way of compressing it */
		if (!s || s[0] != '.' ||
		    strcmp(s + 1 + (s[1] == 'z'), name + 1))
			continue;
		/* As the library has done for itself; then it is done. */
		if (sh.sh_flags & SHF_COMPRESSED)
			dw->elf_compress(scn, 0, 0);
		data = dw->elf_getdata(scn, NULL);
		if (data && data->d_buf)
			b = (struct byte_span){data->d_buf, data->d_size};
		break;
	}
	return b;
}

bool unit_open(const struct libdw *dw, Elf *elf, Elf *alt,
	       struct unit_bytes *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!elf)
		return false;
	ret->info = section(dw, elf, ".debug_info");
	ret->abbrev = section(dw, elf, ".debug_abbrev");
	ret->str = section(dw, elf, ".debug_str");
	ret->line_str = section(dw, elf, ".debug_line_str");
	ret->str_offsets = section(dw, elf, ".debug_str_offsets");
	if (alt)
		ret->alt_str = section(dw, alt, ".debug_str");
	return ret->info.n && ret->abbrev.n;
}

/* --- units ---------------------------------------------------------------- */

bool unit_read_head(const struct unit_bytes *b, uint64_t off, struct unit *ret)
{
	struct cursor c = {b->info.p + off, b->info.p + b->info.n, false};
	uint64_t len = get(&c, 4);
	int type = DW_UT_compile;

	memset(ret, 0, sizeof(*ret));
	ret->start = off;
	ret->off_size = 4;
	if (len == 0xffffffff) { /* lengths and offsets of 64 bits */
		ret->off_size = 8;
		len = get(&c, 8);
	}
	if (c.bad || len > (uint64_t)(c.end - c.p))
		return false;
	c.end = c.p + len;
	ret->end = c.end - b->info.p;
	ret->version = get(&c, 2);
	if (ret->version < 2 || ret->version > 5)
		return false;
	if (ret->version == 5) {
		type = get(&c, 1);
		ret->addr_size = get(&c, 1);
	}
	ret->abbrev = get(&c, ret->off_size);
	if (ret->version < 5)
		ret->addr_size = get(&c, 1);
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		skip(&c, 8);
	else if (type == DW_UT_type || type == DW_UT_split_type)
		skip(&c, 8 + ret->off_size);
	ret->first = c.p - b->info.p;
	ret->has_code = type == DW_UT_compile;
	ret->is_split = type == DW_UT_skeleton;
	return !c.bad && (ret->addr_size == 8 || ret->addr_size == 4);
}

/* --- abbreviations -------------------------------------------------------- */

static int form_length(const struct unit *u, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_ref1:
	case DW_FORM_strx1: case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_strx4:
	case DW_FORM_addrx4: case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_size;
	case DW_FORM_ref_addr:
		return u->version == 2 ? u->addr_size : u->off_size;
	case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_line_strp:
	case DW_FORM_strp_sup: case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return u->off_size;
	case DW_FORM_sdata: case DW_FORM_udata: case DW_FORM_ref_udata:
	case DW_FORM_strx: case DW_FORM_addrx: case DW_FORM_loclistx:
	case DW_FORM_rnglistx: case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return LEN_LEB;
	case DW_FORM_string:
		return LEN_STRING;
	case DW_FORM_block: case DW_FORM_exprloc:
		return LEN_BLOCK;
	case DW_FORM_block1:
		return LEN_BLOCK1;
	case DW_FORM_block2:
		return LEN_BLOCK2;
	case DW_FORM_block4:
		return LEN_BLOCK4;
	default:
		return LEN_UNKNOWN;
	}
}

/* Attributes up to the pair of zeros that ends them. */
static bool read_shape(struct arena *a, const struct unit *u, struct cursor *c,
		       struct shape *ret)
{
	VEC(int16_t) steps = {0};
	VEC(struct attr) attrs = {0};

	for (;;) {
		uint64_t at = get_leb(c), form = get_leb(c);
		int len;

		if (c->bad || at > UINT16_MAX || form > UINT16_MAX ||
		    attrs.n > ATTRS_MAX)
			return false;
		if (!at && !form)
			break;
		if (form == DW_FORM_implicit_const)
			skip_length(c, LEN_LEB);
		len = form_length(u, form);
		if (len == LEN_UNKNOWN)
			return false;
		vec_push(a, &attrs, ((struct attr){at, form}));
		if (len >= 0 && steps.n && vec_last(&steps) >= 0)
			vec_last(&steps) += len;
		else
			vec_push(a, &steps, len);
	}
	ret->steps = steps.v;
	ret->nsteps = steps.n;
	ret->attrs = attrs.v;
	ret->nattrs = attrs.n;
	return true;
}

static bool refers_far(const struct shape *sh)
{
	for (unsigned i = 0; i < sh->nattrs; i++)
		if ((sh->attrs[i].at == DW_AT_abstract_origin ||
		     sh->attrs[i].at == DW_AT_specification) &&
		    sh->attrs[i].form == DW_FORM_ref_addr)
			return true;
	return false;
}

bool unit_may_be_far(const struct unit_bytes *b, uint64_t from, uint64_t to)
{
	const uint8_t *p = b->abbrev.p;

	if (to > b->abbrev.n)
		to = b->abbrev.n;
	for (uint64_t i = from; i + 1 < to; i++)
		if (p[i + 1] == DW_FORM_ref_addr &&
		    (p[i] == DW_AT_abstract_origin ||
		     p[i] == DW_AT_specification))
			return true;
	return false;
}

bool unit_table_is_far(const struct unit_table *t)
{
	return t->far;
}

struct unit_table *unit_read_table(struct arena *a, const struct unit_bytes *b,
				   const struct unit *u)
{
	struct unit_table *t = arena_new_of(a, struct unit_table);
	struct cursor c = {b->abbrev.p, b->abbrev.p + b->abbrev.n, false};
	VEC(struct shape) shapes = {0};

	t->version = u->version;
	t->addr_size = u->addr_size;
	t->off_size = u->off_size;
	skip(&c, u->abbrev);
	for (;;) {
		uint64_t code = get_leb(&c);
		struct shape sh = {0};

		if (c.bad || code > ABBREVS_MAX)
			return NULL;
		if (!code)
			break;
		sh.tag = get_leb(&c);
		skip(&c, 1); /* whether it has children: all are gone through */
		if (!read_shape(a, u, &c, &sh))
			return NULL;
		sh.kind = sh.tag == DW_TAG_subprogram ? SKIM_FUNCTIONS
			  : sh.tag == DW_TAG_inlined_subroutine ? SKIM_INLINED
								: 0;
		t->has |= sh.kind;
		t->far |= sh.kind && refers_far(&sh);
		while (shapes.n <= code)
			vec_push(a, &shapes, (struct shape){0});
		shapes.v[code] = sh;
	}
	t->shape = shapes.v;
	t->n = shapes.n;
	return t;
}

bool unit_table_has(const struct unit_table *t, unsigned what)
{
	return t->has & what;
}

/* --- DIEs ----------------------------------------------------------------- */

/* The shape of the DIE at *c, which is left behind its code. NULL: a 0. */
static const struct shape *shape_at(const struct unit *u, struct cursor *c)
{
	uint64_t code = get_leb(c);

	if (!code)
		return NULL;
	if (code >= u->table->n || !u->table->shape[code].tag) {
		c->bad = true;
		return NULL;
	}
	return &u->table->shape[code];
}

int unit_find(const struct unit_bytes *b, const struct unit *u, uint64_t off,
	      unsigned what, uint64_t *ret_at, uint64_t *ret_next)
{
	struct cursor c = {b->info.p + off, b->info.p + u->end, false};

	while (c.p < c.end) {
		const uint8_t *at = c.p;
		const struct shape *sh = shape_at(u, &c);

		for (unsigned i = 0; sh && i < sh->nsteps; i++)
			skip_length(&c, sh->steps[i]);
		if (c.bad)
			return -EINVAL;
		if (sh && sh->kind & what) {
			*ret_at = at - b->info.p;
			*ret_next = c.p - b->info.p;
			return 1;
		}
	}
	return 0;
}

static const char *indexed_string(const struct unit_bytes *b,
				  const struct unit *u, uint64_t index)
{
	struct cursor c = {b->str_offsets.p,
			   b->str_offsets.p + b->str_offsets.n, false};

	if (index > b->str_offsets.n)
		return NULL;
	skip(&c, u->str_base + index * u->off_size);
	return string_at(b->str, get(&c, u->off_size));
}

/* The string at *c; it is skipped in any case. NULL: no string, or damaged. */
static const char *read_text(const struct unit_bytes *b, const struct unit *u,
			     unsigned form, struct cursor *c)
{
	int len = form_length(u, form);

	switch (form) {
	case DW_FORM_string:
		return get_string(c);
	case DW_FORM_strp:
		return string_at(b->str, get(c, len));
	case DW_FORM_line_strp:
		return string_at(b->line_str, get(c, len));
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return string_at(b->alt_str, get(c, len));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return indexed_string(b, u, get_leb(c));
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		return indexed_string(b, u, get(c, len));
	default:
		skip_length(c, len);
		return NULL;
	}
}

/* A reference to another DIE: as read_text(). */
static void read_ref(const struct unit *u, unsigned form, struct cursor *c,
		     struct unit_die *ret)
{
	int len = form_length(u, form);

	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		ret->origin = u->start + get(c, len);
		break;
	case DW_FORM_ref_udata:
		ret->origin = u->start + get_leb(c);
		break;
	case DW_FORM_ref_addr:
		ret->origin = get(c, len);
		break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		ret->origin = get(c, len);
		ret->origin_alt = true;
		break;
	default:
		skip_length(c, len);
	}
}

bool unit_read_die(const struct unit_bytes *b, const struct unit *u,
		   uint64_t off, struct unit_die *ret)
{
	struct cursor c = {b->info.p + off, b->info.p + u->end, false};
	const struct shape *sh = shape_at(u, &c);

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; sh && i < sh->nattrs; i++) {
		unsigned form = sh->attrs[i].form;

		switch (sh->attrs[i].at) {
		case DW_AT_name:
			ret->name = read_text(b, u, form, &c);
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			ret->linkage = read_text(b, u, form, &c);
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			read_ref(u, form, &c, ret);
			break;
		case DW_AT_low_pc:
		case DW_AT_ranges:
		case DW_AT_entry_pc:
			ret->has_code = true;
			/* fall through */
		default:
			skip_length(&c, form_length(u, form));
		}
	}
	return sh && !c.bad;
}

bool unit_bases(const struct unit_bytes *b, struct unit *u)
{
	const struct unit_table *t = u->table;
	struct cursor c = {b->info.p + u->first, b->info.p + u->end, false};
	const struct shape *sh = u->first < u->end ? shape_at(u, &c) : NULL;

	/* Lengths in the table are those of the unit that it was read for. */
	if (t->version != u->version || t->addr_size != u->addr_size ||
	    t->off_size != u->off_size)
		return false;
	u->str_base = u->off_size == 8 ? 16 : 8; /* behind the only header */
	for (unsigned i = 0; sh && i < sh->nattrs; i++) {
		int len = form_length(u, sh->attrs[i].form);

		if (sh->attrs[i].at == DW_AT_GNU_dwo_name)
			u->is_split = true;
		if (sh->attrs[i].at == DW_AT_str_offsets_base && len > 0)
			u->str_base = get(&c, len);
		else
			skip_length(&c, len);
	}
	/* Units that only others import have no code of their own. */
	if (sh && sh->tag != DW_TAG_compile_unit)
		u->has_code = false;
	return !c.bad;
}
