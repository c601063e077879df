/* SPDX-License-Identifier: MIT */
/*
 * From DWARF's description of a type to a ctype. A DIE's offset in the file is
 * its id; what a type refers to is read when somebody asks (debug_fill).
 */
#include "types/debug_file.h"

#include <string.h>

#include "base/map.h"

/* Types that are filled because another one is: more is a damaged file. */
enum { FILL_DEPTH = 64 };

/* An attribute that is a number; dflt when there is none. */
static uint64_t number(struct debug_file *f, Dwarf_Die *die, unsigned name,
		       uint64_t dflt)
{
	Dwarf_Attribute at;
	Dwarf_Word v;

	if (!f->dw->dwarf_attr_integrate(die, name, &at) ||
	    f->dw->dwarf_formudata(&at, &v))
		return dflt;
	return v;
}

static bool flag(struct debug_file *f, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	bool v = false;

	return f->dw->dwarf_attr_integrate(die, name, &at) &&
	       !f->dw->dwarf_formflag(&at, &v) && v;
}

static enum ctype_kind kind_of(struct debug_file *f, Dwarf_Die *die)
{
	switch (f->dw->dwarf_tag(die)) {
	case DW_TAG_base_type:
		return number(f, die, DW_AT_encoding, 0) == DW_ATE_float
			   ? CT_FLOAT
			   : CT_INT;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return CT_PTR;
	case DW_TAG_array_type:
		return CT_ARRAY;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return flag(f, die, DW_AT_declaration) ? CT_FWD : CT_STRUCT;
	case DW_TAG_union_type:
		return flag(f, die, DW_AT_declaration) ? CT_FWD : CT_UNION;
	case DW_TAG_enumeration_type:
		return CT_ENUM;
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
		return CT_FUNC;
	case DW_TAG_typedef:
		return CT_TYPEDEF;
	case DW_TAG_const_type:
		return CT_CONST;
	case DW_TAG_volatile_type:
		return CT_VOLATILE;
	case DW_TAG_restrict_type:
		return CT_RESTRICT;
	case DW_TAG_atomic_type:
		return CT_VOLATILE;
	default:
		return CT_VOID;
	}
}

/* The base type that die is of, behind typedefs and qualifiers. */
static bool plain_base(struct debug_file *f, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute at;

	*ret = *die;
	/* a made-up chain of them may end in itself */
	for (int i = 0; i < FILL_DEPTH; i++) {
		if (!f->dw->dwarf_attr_integrate(ret, DW_AT_type, &at) ||
		    !f->dw->dwarf_formref_die(&at, ret))
			return false;
		if (f->dw->dwarf_tag(ret) == DW_TAG_base_type)
			return true;
	}
	return false;
}

static void read_base(struct debug_file *f, struct ctype *ct, Dwarf_Die *die)
{
	uint64_t encoding = number(f, die, DW_AT_encoding, 0);
	Dwarf_Die base;

	/* gcc gives an enumeration an encoding; clang only the type it is of,
	 * which has one. So do both with C++'s "enum class e : byte_t". */
	if (!encoding && ct->kind == CT_ENUM && plain_base(f, die, &base)) {
		encoding = number(f, &base, DW_AT_encoding, 0);
		if (!ct->size)
			ct->size = number(f, &base, DW_AT_byte_size, 0);
	}
	switch (encoding) {
	case DW_ATE_signed_char:
		ct->repr = REPR_CHAR;
		ct->sign = true;
		break;
	case DW_ATE_unsigned_char:
		ct->repr = REPR_CHAR;
		break;
	case DW_ATE_signed:
		ct->sign = true;
		break;
	case DW_ATE_boolean:
		ct->repr = REPR_BOOL;
		break;
	default:
		break;
	}
}

static struct ctype *type_of_die(struct debug_file *f, Dwarf_Die *die)
{
	uint64_t id = die_id(f, die);
	struct ctype *ct = map_get_num(f->made, id);
	const char *name;

	if (ct)
		return ct;
	ct = arena_new_of(f->c->a, struct ctype);
	map_set_num(f->made, id, ct);
	name = die_name(f, die);
	ct->kind = kind_of(f, die);
	ct->name = name ? name : "";
	ct->id = id;
	ct->owner = &f->source;
	if (ct->kind == CT_PTR)
		ct->size = 8;
	else if (ct->kind < CT_TYPEDEF)
		ct->size = number(f, die, DW_AT_byte_size, 0);
	if (ct->kind == CT_INT || ct->kind == CT_ENUM)
		read_base(f, ct, die);
	return ct;
}

const struct ctype *die_type(struct debug_file *f, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Die to;

	if (!f->dw->dwarf_attr_integrate(die, DW_AT_type, &at) ||
	    !f->dw->dwarf_formref_die(&at, &to))
		return NULL;
	return type_of_die(f, &to);
}

/* --- what a type refers to ------------------------------------------------ */

/*
 * Bits from the start of the struct. DWARF 4 counts them so; before it, they
 * were counted from the most significant bit of a storage unit.
 */
static void member_place(struct debug_file *f, Dwarf_Die *die,
			 struct cmember *m)
{
	uint64_t byte = number(f, die, DW_AT_data_member_location, 0);
	uint64_t bits = number(f, die, DW_AT_bit_size, 0);
	const struct ctype *t = ctype_strip(m->type);
	uint64_t unit = number(f, die, DW_AT_byte_size, t ? t->size : 0) * 8;

	m->bit_off = byte * 8;
	if (!bits)
		return;
	m->bit_size = bits;
	if (f->dw->dwarf_hasattr(die, DW_AT_data_bit_offset))
		m->bit_off = number(f, die, DW_AT_data_bit_offset, 0);
	else
		m->bit_off +=
		    unit - number(f, die, DW_AT_bit_offset, 0) - bits;
}

static void fill_members(struct debug_file *f, struct ctype *ct, Dwarf_Die *die)
{
	Dwarf_Die m;

	if (!die_first(f, die, &m))
		return;
	do {
		struct cmember cm = {0};
		int tag = f->dw->dwarf_tag(&m);
		const char *name = die_name(f, &m);

		/* A base class is like an anonymous member: names shine
		 * through. Static members are somewhere else. */
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    flag(f, &m, DW_AT_external) ||
		    flag(f, &m, DW_AT_declaration))
			continue;
		cm.name = tag == DW_TAG_member && name ? name : "";
		cm.type = die_type(f, &m);
		member_place(f, &m, &cm);
		vec_push(f->c->a, &ct->members, cm);
	} while (die_next(f, &m, &m));
}

static void fill_consts(struct debug_file *f, struct ctype *ct, Dwarf_Die *die)
{
	Dwarf_Die e;
	bool sign = false;

	if (!die_first(f, die, &e))
		return;
	do {
		struct cconst k = {.name = die_name(f, &e)};
		Dwarf_Attribute at;
		Dwarf_Word v;

		/* 200 may stand in one byte, which is not to be taken for -56:
		 * what has a sign is written in a form that says so. */
		if (f->dw->dwarf_tag(&e) != DW_TAG_enumerator || !k.name ||
		    !f->dw->dwarf_attr(&e, DW_AT_const_value, &at) ||
		    f->dw->dwarf_formudata(&at, &v))
			continue;
		k.value = (int64_t)v;
		sign |= k.value < 0;
		vec_push(f->c->a, &ct->consts, k);
	} while (die_next(f, &e, &e));
	ct->sign |= sign;
}

/* One parameter a word, as a kernel's prototypes are (types/btf.c). */
static void fill_params(struct debug_file *f, struct ctype *ct, Dwarf_Die *die)
{
	Dwarf_Die p;
	unsigned i = 0;

	ct->to = die_type(f, die);
	if (!die_first(f, die, &p))
		return;
	do {
		struct cmember cm = {.bit_off = i * 64};
		const char *name = die_name(f, &p);

		if (f->dw->dwarf_tag(&p) != DW_TAG_formal_parameter)
			continue;
		cm.name = name ? name : "";
		cm.type = die_type(f, &p);
		vec_push(f->c->a, &ct->members, cm);
		i++;
	} while (die_next(f, &p, &p));
}

/* Elements of one dimension; a flexible array has none. */
static uint32_t dimension(struct debug_file *f, Dwarf_Die *die)
{
	Dwarf_Attribute at;

	if (f->dw->dwarf_attr(die, DW_AT_count, &at))
		return number(f, die, DW_AT_count, 0);
	if (f->dw->dwarf_attr(die, DW_AT_upper_bound, &at))
		return number(f, die, DW_AT_upper_bound, UINT32_MAX) + 1;
	return 0;
}

/*
 * int a[2][3] is one DIE with two dimensions there, and an array of arrays
 * here: the inner ones are made without a DIE of their own.
 */
static void fill_array(struct debug_file *f, struct ctype *ct, Dwarf_Die *die)
{
	const struct ctype *e = die_type(f, die), *plain;
	VEC(uint32_t) dims = {0};
	Dwarf_Die d;

	if (die_first(f, die, &d))
		do {
			if (f->dw->dwarf_tag(&d) == DW_TAG_subrange_type)
				vec_push(f->c->a, &dims, dimension(f, &d));
		} while (die_next(f, &d, &d));
	for (unsigned i = dims.n; i > 1; i--) {
		struct ctype *inner = arena_new_of(f->c->a, struct ctype);

		plain = ctype_fill(ctype_strip(e));
		*inner = (struct ctype){.kind = CT_ARRAY,
					.filled = true,
					.name = "",
					.owner = &f->source,
					.to = e,
					.count = dims.v[i - 1]};
		inner->size = plain ? plain->size * inner->count : 0;
		e = inner;
	}
	plain = ctype_fill(ctype_strip(e));
	ct->to = e;
	ct->count = dims.n ? dims.v[0] : 0;
	ct->size = plain ? plain->size * ct->count : 0;
}

/*
 * A struct that is only declared here may be defined in another unit of the
 * program: that one is what its pointers point to.
 */
static void fill_declared(struct debug_file *f, struct ctype *ct)
{
	const struct ctype *def = *ct->name ? debug_type(f, ct->name) : NULL;

	if (!def || (def->kind != CT_STRUCT && def->kind != CT_UNION))
		return;
	def = ctype_fill(def);
	ct->kind = def->kind;
	ct->size = def->size;
	ct->members.v = def->members.v;
	ct->members.n = ct->members.cap = def->members.n;
}

void debug_fill(struct ctype_source *s, struct ctype *ct)
{
	struct debug_file *f = (struct debug_file *)s;
	Dwarf_Die die;

	/*
	 * An array needs its element's size, and so on down: a made-up file has
	 * a chain of as many arrays as it likes.
	 */
	if (f->filling >= FILL_DEPTH || !debug_reopen(f) ||
	    !die_of_id(f, ct->id, &die))
		return;
	f->filling++;
	switch (ct->kind) {
	case CT_STRUCT:
	case CT_UNION:
		fill_members(f, ct, &die);
		break;
	case CT_ENUM:
		fill_consts(f, ct, &die);
		break;
	case CT_FUNC:
		fill_params(f, ct, &die);
		break;
	case CT_ARRAY:
		fill_array(f, ct, &die);
		break;
	case CT_FWD:
		fill_declared(f, ct);
		break;
	case CT_INT:
	case CT_FLOAT:
	case CT_VOID:
		break;
	default:
		/* pointers, typedefs, qualifiers */
		ct->to = die_type(f, &die);
	}
	f->filling--;
}

/* --- by name -------------------------------------------------------------- */

struct by_name {
	struct debug_file *f;
	const char *name;
	enum ctype_kind kind; /* CT_VOID: any */
	const struct ctype *ret;
};

static bool is_named(struct by_name *b, Dwarf_Die *die)
{
	const struct ctype *t;
	const char *name;

	switch (b->f->dw->dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		break;
	default:
		return false;
	}
	name = die_name(b->f, die);
	if (!name || strcmp(name, b->name))
		return false;
	t = type_of_die(b->f, die);
	if (t->kind == CT_FWD || (b->kind != CT_VOID && t->kind != b->kind))
		return false;
	b->ret = t;
	return true;
}

static bool type_below(struct by_name *b, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(b->f, parent, &die))
		return false;
	do {
		if (is_named(b, &die))
			return true;
		if (die_is_name_scope(b->f->dw->dwarf_tag(&die)) &&
		    type_below(b, &die, depth + 1))
			return true;
	} while (die_next(b->f, &die, &die));
	return false;
}

static bool type_of_unit(void *ctx, Dwarf_Die *cu)
{
	return type_below(ctx, cu, 0);
}

const struct ctype *debug_type(struct debug_file *f, const char *name)
{
	static const struct {
		const char *word;
		enum ctype_kind kind;
	} words[] = {{"struct ", CT_STRUCT}, {"class ", CT_STRUCT},
		     {"union ", CT_UNION}, {"enum ", CT_ENUM}};
	struct by_name b = {.f = f};
	size_t len = strlen(name);
	unsigned stars = 0;

	for (; len && (name[len - 1] == '*' || name[len - 1] == ' '); len--)
		stars += name[len - 1] == '*';
	b.name = arena_strndup(f->c->a, name, len);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].word);

		if (strncmp(b.name, words[i].word, n))
			continue;
		b.kind = words[i].kind;
		b.name += n + strspn(b.name + n, " ");
		break;
	}
	if (!debug_reopen(f) || !die_all_units(f, type_of_unit, &b))
		return NULL;
	while (stars--)
		b.ret = ctype_pointer_to(f->c, b.ret);
	return b.ret;
}

/* --- enumerators ---------------------------------------------------------- */

struct by_constant {
	struct debug_file *f;
	const char *name;
	int64_t value;
};

static bool has_constant(struct by_constant *b, Dwarf_Die *parent)
{
	const struct ctype *t;
	Dwarf_Die e;
	const char *name;

	/* Most enums are not it: only the one that is becomes a type. */
	if (!die_first(b->f, parent, &e))
		return false;
	do {
		name = die_name(b->f, &e);
		if (name && !strcmp(name, b->name))
			break;
	} while (die_next(b->f, &e, &e));
	if (!name || strcmp(name, b->name))
		return false;
	t = ctype_fill(type_of_die(b->f, parent));
	for (unsigned i = 0; i < t->consts.n; i++) {
		if (strcmp(t->consts.v[i].name, b->name))
			continue;
		b->value = t->consts.v[i].value;
		return true;
	}
	return false;
}

static bool constant_below(struct by_constant *b, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || !die_first(b->f, parent, &die))
		return false;
	do {
		int tag = b->f->dw->dwarf_tag(&die);

		if (tag == DW_TAG_enumeration_type && has_constant(b, &die))
			return true;
		if (die_is_name_scope(tag) &&
		    constant_below(b, &die, depth + 1))
			return true;
	} while (die_next(b->f, &die, &die));
	return false;
}

static bool constant_of_unit(void *ctx, Dwarf_Die *cu)
{
	return constant_below(ctx, cu, 0);
}

bool debug_constant(struct debug_file *f, const char *name, int64_t *ret)
{
	struct by_constant b = {.f = f, .name = name};

	if (!debug_reopen(f) || !die_all_units(f, constant_of_unit, &b))
		return false;
	*ret = b.value;
	return true;
}
