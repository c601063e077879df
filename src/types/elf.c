/* SPDX-License-Identifier: MIT */
/*
 * libelf reads, this file decides. What a file says is not trusted: offsets and
 * counts go through libelf's checks, strings through elf_strptr(), which keeps
 * them inside their section.
 */
#include "types/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include "types/glob.h"

/*
 * The section of a type and (unless NULL) a name. *ret is its header. NULL:
 * none, or the file is damaged.
 */
static Elf_Scn *find_section(Elf *elf, uint32_t type, const char *name,
			     GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t strs;

	if (elf_getshdrstrndx(elf, &strs))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, ret) || ret->sh_type != type)
			continue;
		s = elf_strptr(elf, strs, ret->sh_name);
		if (!name || (s && !strcmp(s, name)))
			return scn;
	}
	return NULL;
}

/* --- opening -------------------------------------------------------------- */

/* Bytes; linkers write 16 or 20. Longer ones make no file's name. */
enum { BUILD_ID_MAX = 64 };

/* The bytes that tell this build from all others. NULL: it has none. */
static const unsigned char *build_id(Elf *elf, size_t *ret_n)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_section(elf, SHT_NOTE, ".note.gnu.build-id", &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t name, desc;
	GElf_Nhdr note;

	if (!data || !gelf_getnote(data, 0, &note, &name, &desc) ||
	    note.n_type != NT_GNU_BUILD_ID || note.n_descsz < 2 ||
	    note.n_descsz > BUILD_ID_MAX)
		return NULL;
	*ret_n = note.n_descsz;
	return (const unsigned char *)data->d_buf + desc;
}

/*
 * "/usr/lib/debug/.build-id/ab/cdef....debug", if that exists. Where
 * distributions put symbols by build id: the first byte names a folder, the
 * rest the file in it.
 */
static const char *debug_path(struct compile *c, Elf *elf)
{
	size_t n;
	const unsigned char *id = build_id(elf, &n);
	const char *path;

	if (!id)
		return NULL;
	path = arena_printf(c->a, "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (unsigned i = 1; i < n; i++)
		path = arena_printf(c->a, "%s%02x", path, id[i]);
	path = arena_printf(c->a, "%s.debug", path);
	return access(path, R_OK) ? NULL : path;
}

/*
 * "prog.debug" beside "/bin/prog", in its folder .debug, or in the tree of
 * folders that debuggers search: what the section .gnu_debuglink names. The
 * file's checksum follows the name, at a multiple of 4.
 */
static const char *linked_path(struct compile *c, const struct elf_file *f,
			       uint32_t *ret_crc)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_section(f->elf, SHT_PROGBITS, ".gnu_debuglink",
				    &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const char *slash = strrchr(f->path, '/'), *name;
	int dir = slash ? (int)(slash - f->path) : 1;
	size_t at;

	if (!data || !data->d_buf || !memchr(data->d_buf, 0, data->d_size))
		return NULL;
	name = data->d_buf;
	at = (strlen(name) + 4) / 4 * 4;
	if (at + sizeof(*ret_crc) > data->d_size)
		return NULL;
	memcpy(ret_crc, name + at, sizeof(*ret_crc));
	for (int i = 0; i < 3; i++) {
		const char *path =
		    arena_printf(c->a, "%s%.*s%s/%s",
				 i == 2 ? "/usr/lib/debug" : "", dir,
				 slash ? f->path : ".", i == 1 ? "/.debug" : "",
				 name);

		if (!access(path, R_OK))
			return path;
	}
	return NULL;
}

bool elf_has_debug(struct compile *c, const struct elf_file *f)
{
	GElf_Shdr sh;
	uint32_t crc;

	return find_section(f->elf, SHT_PROGBITS, ".debug_info", &sh) ||
	       find_section(f->elf, SHT_PROGBITS, ".zdebug_info", &sh) ||
	       debug_path(c, f->elf) || linked_path(c, f, &crc);
}

static bool has_crc(int fd, uint32_t crc)
{
	unsigned char buf[1 << 14];
	uLong sum = crc32(0, NULL, 0);
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, buf, sizeof(buf), at)) > 0; at += n)
		sum = crc32(sum, buf, n);
	return !n && sum == crc;
}

/* A file by its name alone may be of another build. */
static bool is_same_build(const struct elf_file *f, uint32_t crc)
{
	size_t n, m;
	const unsigned char *a = build_id(f->elf, &n);
	const unsigned char *b = f->debug ? build_id(f->debug, &m) : NULL;

	if (a && b)
		return n == m && !memcmp(a, b, n);
	return f->debug && has_crc(f->debug_fd, crc);
}

/*
 * A stripped program's symbols may be in a file of their own. Failing to open
 * that is no error: what the file itself exports is still there.
 */
static void open_debug(struct compile *c, struct elf_file *f)
{
	GElf_Shdr sh;
	const char *path, *linked = NULL;
	uint32_t crc = 0;

	f->debug_fd = -1;
	if (find_section(f->elf, SHT_SYMTAB, NULL, &sh))
		return;
	path = debug_path(c, f->elf);
	if (!path)
		path = linked = linked_path(c, f, &crc);
	if (!path)
		return;
	f->debug_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->debug_fd < 0)
		return;
	f->debug = elf_begin(f->debug_fd, ELF_C_READ_MMAP, NULL);
	if (linked && !is_same_build(f, crc)) {
		elf_end(f->debug);
		f->debug = NULL;
	}
}

/* Asks for a loader (PT_INTERP), as programs that can be started do. */
static bool has_interpreter(Elf *elf)
{
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_INTERP)
			return true;
	return false;
}

struct elf_file *elf_open_file(struct compile *c, const char *path,
			       const char **ret_why)
{
	struct elf_file *f = arena_new_of(c->a, struct elf_file);
	GElf_Ehdr eh;

	f->path = path;
	f->debug_fd = -1;
	/*
	 * O_NONBLOCK: the path is the user's, and may be a FIFO that nobody
	 * writes to.
	 */
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0) {
		*ret_why = strerror(errno);
		return NULL;
	}
	/* libelf refuses to work before it has been asked for its version. */
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF ||
	    !gelf_getehdr(f->elf, &eh)) {
		*ret_why = "not an ELF file";
		elf_close_file(f);
		return NULL;
	}
	if (eh.e_machine != EM_X86_64) {
		*ret_why = "not for this machine (only 64-bit programs can be "
			   "probed)";
		elf_close_file(f);
		return NULL;
	}
	/* A position-independent program looks like a library but for the
	 * loader it asks for; libc asks for one too, and has a DT_SONAME. */
	f->is_exec = eh.e_type == ET_EXEC ||
		     (has_interpreter(f->elf) && !strstr(path, ".so"));
	open_debug(c, f);
	return f;
}

/* All of it may be half open: elf_open_file() ends here when it fails. */
void elf_close_file(struct elf_file *f)
{
	if (!f)
		return;
	if (f->elf)
		elf_end(f->elf);
	if (f->debug)
		elf_end(f->debug);
	if (f->fd >= 0)
		close(f->fd);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	f->fd = f->debug_fd = -1;
	f->elf = f->debug = NULL;
}

/*
 * Uprobes are placed by offset in the file, symbols have addresses: the segment
 * that maps the address tells how far they are apart. 0 is the ELF header
 * itself, so it can stand for "nowhere".
 */
uint64_t elf_offset(const struct elf_file *f, uint64_t addr)
{
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, i, &ph) && ph.p_type == PT_LOAD &&
		    addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			return addr - ph.p_vaddr + ph.p_offset;
	return 0;
}

/* --- functions ------------------------------------------------------------ */

/*
 * "memcpy@@GLIBC_2.14" is memcpy; the compiler's parts (f.cold) stay apart. A
 * dot in the name marks such a part: it is not where the function begins.
 */
static const char *plain_name(struct compile *c, const char *name)
{
	size_t len = strcspn(name, "@");

	return name[len] ? str_intern(c->str, name, len)
			 : str_internz(c->str, name);
}

/* Entries of a symbol table; *ret: its header. NULL: none of that type. */
static Elf_Data *open_table(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = find_section(elf, type, NULL, ret);

	return scn && ret->sh_entsize ? elf_getdata(scn, NULL) : NULL;
}

/*
 * Adds the defined functions of one symbol table. false: there is no such
 * table. f, not elf, gives offsets: a file of symbols has the addresses but not
 * the code.
 */
static bool read_table(struct compile *c, const struct elf_file *f, Elf *elf,
		       uint32_t type, const char *glob, elf_funcs *ret)
{
	GElf_Shdr sh;
	Elf_Data *data = open_table(elf, type, &sh);
	GElf_Sym sym;

	if (!data)
		return false;
	for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
		struct elf_func fn;
		const char *name;

		if (!gelf_getsym(data, i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		fn.name = plain_name(c, name);
		if (name_is_copy(fn.name, glob))
			fn.name = str_internz(c->str, glob);
		else if (!name_glob(glob, fn.name))
			continue;
		fn.addr = sym.st_value;
		fn.size = sym.st_size;
		fn.is_global = GELF_ST_BIND(sym.st_info) == STB_GLOBAL;
		fn.offset = elf_offset(f, fn.addr);
		/* Not in a segment: such a symbol has no code to probe. */
		if (fn.offset)
			vec_push(c->a, ret, fn);
	}
	return true;
}

/* "read" comes before "__read": libc has both for the same address. */
static unsigned underscores(const char *s)
{
	return strspn(s, "_");
}

/* By address; the name that a person would use first. */
static int compare_funcs(const void *va, const void *vb)
{
	const struct elf_func *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->is_global != b->is_global)
		return a->is_global ? -1 : 1;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

int elf_find_funcs(struct compile *c, const struct elf_file *f,
		   const char *glob, elf_funcs *ret)
{
	unsigned first = ret->n, to;
	bool any;

	/*
	 * The full table if there is one, here or in the debug file; the
	 * dynamic one always, since only it has the versions' plain names in a
	 * stripped library.
	 */
	any = read_table(c, f, f->elf, SHT_SYMTAB, glob, ret);
	if (!any && f->debug)
		any = read_table(c, f, f->debug, SHT_SYMTAB, glob, ret);
	if (!any) {
		/* A stripped program exports nothing: none of its functions
		 * has a name any more. */
		elf_funcs exported = {0};

		read_table(c, f, f->elf, SHT_DYNSYM, "*", &exported);
		if (!exported.n)
			return -ENOENT;
	}
	read_table(c, f, f->elf, SHT_DYNSYM, glob, ret);
	if (ret->n == first)
		return 0;
	qsort(ret->v + first, ret->n - first, sizeof(*ret->v), compare_funcs);
	/* Of each address the first in this order stays. */
	to = first + 1;
	for (unsigned i = to; i < ret->n; i++)
		if (ret->v[i].addr != ret->v[to - 1].addr)
			ret->v[to++] = ret->v[i];
	ret->n = to;
	return 0;
}

bool elf_func_at(const elf_funcs *funcs, uint64_t addr)
{
	unsigned lo = 0, hi = funcs->n;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;

		if (funcs->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < funcs->n && funcs->v[lo].addr == addr;
}

static bool symbol_of_table(Elf *elf, uint32_t type, const char *name,
			    GElf_Sym *ret)
{
	GElf_Shdr sh;
	Elf_Data *data = open_table(elf, type, &sh);

	if (!data)
		return false;
	for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
		const char *s;

		if (!gelf_getsym(data, i, ret))
			break;
		if (ret->st_shndx == SHN_UNDEF)
			continue;
		s = elf_strptr(elf, sh.sh_link, ret->st_name);
		if (s && !strcmp(s, name))
			return true;
	}
	return false;
}

static bool find_symbol(const struct elf_file *f, const char *name,
			GElf_Sym *ret)
{
	return symbol_of_table(f->elf, SHT_SYMTAB, name, ret) ||
	       (f->debug && symbol_of_table(f->debug, SHT_SYMTAB, name, ret)) ||
	       symbol_of_table(f->elf, SHT_DYNSYM, name, ret);
}

bool elf_symbol(const struct elf_file *f, const char *name, uint64_t *ret)
{
	GElf_Sym sym;

	if (!find_symbol(f, name, &sym))
		return false;
	*ret = sym.st_value;
	return true;
}

bool elf_variable(const struct elf_file *f, const char *name, uint64_t *ret,
		  uint64_t *ret_size)
{
	GElf_Sym sym;

	/* A thread-local one's value is an offset, not an address. */
	if (!find_symbol(f, name, &sym) ||
	    GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
		return false;
	*ret = sym.st_value;
	*ret_size = sym.st_size;
	return true;
}

bool elf_is_fixed(const struct elf_file *f)
{
	GElf_Ehdr eh;

	return gelf_getehdr(f->elf, &eh) && eh.e_type == ET_EXEC;
}

/*
 * The address that the segment which begins on the file's page at off is linked
 * for; false: there is none. Segments are mapped in pages, so the page counts.
 */
static bool segment_at(const struct elf_file *f, uint64_t off, uint64_t *ret)
{
	enum { PAGE = 4096 };
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_offset / PAGE * PAGE == off) {
			*ret = ph.p_vaddr / PAGE * PAGE;
			return true;
		}
	return false;
}

int elf_bias(const struct elf_file *f, long pid, uint64_t *ret)
{
	uint64_t start, off, inode, linked;
	unsigned major, minor;
	int err = -ENOENT;
	char name[64];
	struct stat st;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%ld/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return -errno;
	if (fstat(f->fd, &st))
		err = -errno;
	/* start-end permissions offset device inode path */
	while (err == -ENOENT &&
	       fscanf(maps, "%" SCNx64 "-%*x %*s %" SCNx64 " %x:%x %" SCNu64
		      "%*[^\n]", &start, &off, &major, &minor, &inode) == 5)
		if (inode == st.st_ino && makedev(major, minor) == st.st_dev &&
		    segment_at(f, off, &linked)) {
			*ret = start - linked;
			err = 0;
		}
	fclose(maps);
	return err;
}

void elf_find_needed(struct compile *c, const struct elf_file *f,
		     name_vec *ret)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_section(f->elf, SHT_DYNAMIC, NULL, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	/*
	 * The list ends with DT_NULL or with the section; neither has to be
	 * right.
	 */
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *name;

		if (dyn.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(f->elf, sh.sh_link, dyn.d_un.d_val);
		if (name)
			vec_push(c->a, ret, str_internz(c->str, name));
	}
}

/* --- static probes -------------------------------------------------------- */

/*
 * A note of type 3, owner "stapsdt": three addresses (of the probe, of the
 * section .stapsdt.base when linked, of the semaphore), then provider, name and
 * arguments as C strings. This is the layout of <sys/sdt.h>; the text must end
 * inside the note.
 */
static bool read_mark(struct compile *c, const struct elf_file *f,
		      const char *desc, size_t size, uint64_t base,
		      struct elf_mark *ret)
{
	const char *s = desc + 24, *end = desc + size;
	const char *text[3];
	uint64_t addr[3];

	if (size < 24 + 3 || end[-1])
		return false;
	memcpy(addr, desc, sizeof(addr));
	for (int i = 0; i < 3; i++) {
		if (s >= end)
			return false;
		text[i] = str_internz(c->str, s);
		s += strlen(s) + 1;
	}
	/*
	 * A prelinked library was moved after its notes were written. The
	 * linker wrote the base's address into the note; how far it has moved
	 * since then is how far the probe has.
	 */
	if (base && addr[1]) {
		addr[0] += base - addr[1];
		if (addr[2])
			addr[2] += base - addr[1];
	}
	ret->provider = text[0];
	ret->name = text[1];
	ret->args = text[2];
	ret->addr = addr[0];
	ret->offset = elf_offset(f, addr[0]);
	ret->semaphore = addr[2] ? elf_offset(f, addr[2]) : 0;
	return ret->offset != 0;
}

int elf_find_marks(struct compile *c, const struct elf_file *f,
		   const char *provider, const char *name, elf_marks *ret)
{
	GElf_Shdr sh, base = {0};
	Elf_Scn *scn = find_section(f->elf, SHT_NOTE, ".note.stapsdt", &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t off = 0, next, name_off, desc_off;
	GElf_Nhdr note;
	struct elf_mark m;

	if (!data)
		return -ENOENT;
	if (!find_section(f->elf, SHT_PROGBITS, ".stapsdt.base", &base))
		base.sh_addr = 0;
	while ((next = gelf_getnote(data, off, &note, &name_off, &desc_off))) {
		const char *d = data->d_buf;

		off = next;
		/* Another tool's notes may stand in the same section. */
		if (note.n_type != 3 || note.n_namesz != 8 ||
		    memcmp(d + name_off, "stapsdt", 8))
			continue;
		if (!read_mark(c, f, d + desc_off, note.n_descsz, base.sh_addr,
			       &m))
			continue;
		if (name_glob(provider, m.provider) && name_glob(name, m.name))
			vec_push(c->a, ret, m);
	}
	return 0;
}

/* --- where programs are --------------------------------------------------- */

/*
 * root, dir and name put together, if that is a file (not a folder, as "/bin/."
 * would be). dir is dir_len bytes long, without a NUL.
 */
static const char *try_path(struct compile *c, const char *root,
			    const char *dir, size_t dir_len, const char *name)
{
	const char *path = arena_printf(c->a, "%s%.*s%s%s", root, (int)dir_len,
					dir, dir_len ? "/" : "", name);
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	return path;
}

/*
 * dirs has colons between them, as $PATH. The first that has the file counts.
 */
static const char *try_dirs(struct compile *c, const char *root,
			    const char *dirs, const char *name)
{
	while (*dirs) {
		size_t len = strcspn(dirs, ":");
		const char *path = try_path(c, root, dirs, len, name);

		if (path)
			return path;
		dirs += len;
		dirs += *dirs == ':';
	}
	return NULL;
}

const char *elf_search(struct compile *c, const char *name, const char *root)
{
	/*
	 * Where Debian and the others keep 64-bit libraries. ld.so.cache is not
	 * read: it describes this system, not what is below root.
	 */
	static const char libs[] =
	    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
	    "/usr/lib64:/lib:/usr/lib:/usr/local/lib64:/usr/local/lib";
	const char *path, *dirs = getenv("PATH");

	if (!root)
		root = "";
	if (strchr(name, '/'))
		return try_path(c, *name == '/' ? root : "", "", 0, name);
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
	path = try_dirs(c, root, dirs, name);
	if (!path && strstr(name, ".so"))
		path = try_dirs(c, root, libs, name);
	return path;
}
