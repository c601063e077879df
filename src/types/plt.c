/* SPDX-License-Identifier: MIT */
/*
 * The stubs of a file's procedure linkage table. A stub is known by where it
 * jumps: through a word of the global offset table, which a relocation fills in
 * with the function of some name. So it does not matter how the linker arranges
 * its stubs (.plt, .plt.sec of -z ibtplt, .plt.got, other linkers' layouts).
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "types/elf.h"
#include "types/glob.h"

/* A word of the global offset table, and the function it will hold. */
struct slot {
	uint64_t addr;
	const char *name;
};

struct plt {
	struct compile *c;
	const struct elf_file *f;
	const char *glob;
	VEC(struct slot) slots;
};

static int compare_slots(const void *va, const void *vb)
{
	const struct slot *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Only relocations by name: a static program's are by address alone. */
static void read_relocations(struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf *elf = p->f->elf;
	Elf_Data *data = elf_getdata(scn, NULL), *syms;
	Elf_Scn *table = elf_getscn(elf, sh->sh_link);
	GElf_Shdr table_sh;
	GElf_Rela r;
	GElf_Sym sym;

	syms = table ? elf_getdata(table, NULL) : NULL;
	if (!data || !syms || !gelf_getshdr(table, &table_sh))
		return;
	for (int i = 0; gelf_getrela(data, i, &r); i++) {
		uint32_t type = GELF_R_TYPE(r.r_info);
		struct slot s = {.addr = r.r_offset};

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		if (!gelf_getsym(syms, GELF_R_SYM(r.r_info), &sym))
			continue;
		s.name = elf_strptr(elf, table_sh.sh_link, sym.st_name);
		if (!s.name || !*s.name || !name_glob(p->glob, s.name))
			continue;
		s.name = str_internz(p->c->str, s.name);
		vec_push(p->c->a, &p->slots, s);
	}
}

/*
 * The word that a stub of size bytes jumps through (ff 25: jmp *disp32(%rip)),
 * or NULL. Before the jump may stand endbr64, a bnd prefix, or a number for the
 * loader.
 */
static const struct slot *stub_slot(const struct plt *p,
				    const unsigned char *code, size_t size,
				    uint64_t addr)
{
	enum { JUMP = 6 };
	struct slot key;
	const struct slot *s;
	int32_t disp;

	for (size_t i = 0; i + JUMP <= size; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&disp, code + i + 2, sizeof(disp));
		key.addr = addr + i + JUMP + (int64_t)disp;
		s = bsearch(&key, p->slots.v, p->slots.n, sizeof(key),
			    compare_slots);
		if (s)
			return s;
	}
	return NULL;
}

static void read_stubs(const struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh,
		       elf_funcs *ret)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	/* .plt.got has short ones; some linkers leave the size out */
	size_t step = sh->sh_entsize == 8 ? 8 : 16;

	for (size_t i = 0; data && i + step <= data->d_size; i += step) {
		struct elf_func fn = {.addr = sh->sh_addr + i, .size = step};
		const struct slot *s = stub_slot(
		    p, (const unsigned char *)data->d_buf + i, step, fn.addr);

		if (!s)
			continue;
		fn.name = s->name;
		fn.offset = elf_offset(p->f, fn.addr);
		if (fn.offset)
			vec_push(p->c->a, ret, fn);
	}
}

static int compare_stubs(const void *va, const void *vb)
{
	const struct elf_func *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

void elf_find_plt(struct compile *c, const struct elf_file *f, const char *glob,
		  elf_funcs *ret)
{
	struct plt p = {.c = c, .f = f, .glob = glob};
	unsigned first = ret->n;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t strs;

	if (elf_getshdrstrndx(f->elf, &strs))
		return;
	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA &&
		    sh.sh_flags & SHF_ALLOC)
			read_relocations(&p, scn, &sh);
	if (!p.slots.n)
		return;
	qsort(p.slots.v, p.slots.n, sizeof(*p.slots.v), compare_slots);
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS ||
		    !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(f->elf, strs, sh.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			read_stubs(&p, scn, &sh, ret);
	}
	if (ret->n > first)
		qsort(ret->v + first, ret->n - first, sizeof(*ret->v),
		      compare_stubs);
}
