/* SPDX-License-Identifier: MIT */
#include "types/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "types/debug.h"
#include "types/elf.h"

enum {
	PROCS_MAX = 512, /* processes whose mappings are kept */
};

struct kernel_sym {
	uint64_t addr;
	const char *name, *module; /* "kernel" for the kernel itself */
};

/* An executable mapping: [start, end) is the file from offset on. */
struct mapping {
	uint64_t start, end, offset;
	const char *path;	 /* as the process sees it; "" anonymous */
	struct file_syms *syms;	 /* NULL: not looked for yet */
};

struct file_syms {
	elf_funcs funcs; /* by address, so by offset within a segment */
	const char *path; /* by which it was read */
	bool unread;
};

struct process {
	int pid;
	struct mapping *maps;
	unsigned n, cap;
};

struct symbol_book {
	struct compile *c;
	struct kernel_sym *kernel;
	size_t nkernel;
	char *kernel_text; /* what their names point to; NULL: not read */
	struct process *procs;
	unsigned nprocs, next; /* next: the one to be given up */
	struct map *files;     /* "device:inode path": struct file_syms */
};

struct symbol_book *symbol_book_new(struct compile *c)
{
	struct symbol_book *b = xcalloc(1, sizeof(*b));

	b->c = c;
	b->procs = xcalloc(PROCS_MAX, sizeof(*b->procs));
	b->files = map_new(c->a);
	return b;
}

void symbol_book_free(struct symbol_book *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < b->nprocs; i++)
		free(b->procs[i].maps);
	free(b->procs);
	free(b->kernel);
	free(b->kernel_text);
	free(b);
}

/* --- the kernel ----------------------------------------------------------- */

static int by_address(const void *va, const void *vb)
{
	const struct kernel_sym *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	/* Of several names for one place the one a person would use. */
	return (int)strspn(a->name, "_") - (int)strspn(b->name, "_");
}

/* The whole file: its size is not known before. Ends with a NUL. */
static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n = 0, cap = 1 << 24, got;
	char *text;

	if (!f)
		return NULL;
	text = xmalloc(cap);
	while ((got = fread(text + n, 1, cap - n - 1, f)) > 0) {
		n += got;
		if (cap - n < 2) {
			cap *= 2;
			text = xrealloc(text, cap);
		}
	}
	text[n] = 0;
	fclose(f);
	return text;
}

/* "ffffffff81000000 T name\t[module]\n" taken apart in place; where the next
 * line starts, or NULL. */
static char *kernel_line(char *s, struct kernel_sym *ret, char *ret_type)
{
	char *end = s + strcspn(s, "\n"), *p;
	bool last = !*end;

	*end = 0;
	ret->module = "kernel";
	ret->addr = strtoull(s, &p, 16);
	*ret_type = *p ? p[1] : 0;
	ret->name = "";
	if (*p == ' ' && p[1] && p[2] == ' ') {
		ret->name = p + 3;
		p += 3 + strcspn(p + 3, "\t");
		if (*p == '\t' && p[1] == '[') {
			*p = 0;
			ret->module = p + 2;
			p[2 + strcspn(p + 2, "]")] = 0;
		}
	}
	return last ? NULL : end + 1;
}

void symbol_read_kernel(struct symbol_book *b)
{
	char *line, type;
	size_t room = 0;
	struct kernel_sym s;

	if (b->kernel_text)
		return;
	b->kernel_text = read_all("/proc/kallsyms");
	for (line = b->kernel_text; line && *line;) {
		line = kernel_line(line, &s, &type);
		if (!*s.name || !type || !strchr("tTwW", type) || !s.addr)
			continue;
		if (b->nkernel == room) {
			room = room ? 2 * room : 1 << 16;
			b->kernel = xrealloc(b->kernel,
					     room * sizeof(*b->kernel));
		}
		b->kernel[b->nkernel++] = s;
	}
	if (b->nkernel)
		qsort(b->kernel, b->nkernel, sizeof(*b->kernel), by_address);
	if (!b->kernel_text)
		b->kernel_text = xcalloc(1, 1);
}

void symbol_of_kernel(struct symbol_book *b, uint64_t addr, struct symbol *ret)
{
	size_t lo = 0, hi, next;

	memset(ret, 0, sizeof(*ret));
	symbol_read_kernel(b);
	hi = b->nkernel;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->kernel[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return;
	next = lo--;
	while (lo && b->kernel[lo - 1].addr == b->kernel[lo].addr)
		lo--;
	ret->off = addr - b->kernel[lo].addr;
	/* A function ends where the next one starts; behind the last function
	 * of a module there is no telling. */
	if (next < b->nkernel && !strcmp(b->kernel[next].module,
					 b->kernel[lo].module))
		ret->size = b->kernel[next].addr - b->kernel[lo].addr;
	else if (ret->off > 1 << 16)
		return;
	ret->name = b->kernel[lo].name;
	ret->module = b->kernel[lo].module;
}

/* --- processes ------------------------------------------------------------ */

static struct process *process_at(struct symbol_book *b, int pid)
{
	for (unsigned i = 0; i < b->nprocs; i++)
		if (b->procs[i].pid == pid)
			return &b->procs[i];
	return NULL;
}

static struct process *process_new(struct symbol_book *b, int pid)
{
	struct process *p;

	if (b->nprocs < PROCS_MAX) {
		p = &b->procs[b->nprocs++];
	} else {
		p = &b->procs[b->next];
		b->next = (b->next + 1) % PROCS_MAX;
	}
	p->pid = pid;
	p->n = 0;
	return p;
}

/* One table for all processes that map the file. */
static struct file_syms *syms_of(struct symbol_book *b, const char *dev,
				 unsigned long long ino, const char *path)
{
	char key[4200];
	struct file_syms *s;

	snprintf(key, sizeof(key), "%s:%llu %s", dev, ino, path);
	s = map_get(b->files, key);
	if (!s) {
		s = arena_new_of(b->c->a, struct file_syms);
		s->unread = ino != 0;
		map_set(b->files, key, s);
	}
	return s;
}

void symbol_use_process(struct symbol_book *b, int pid)
{
	struct process *p = process_at(b, pid);
	char name[64], *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return;
	if (!p)
		p = process_new(b, pid);
	for (bool first = true; getline(&line, &cap, f) > 0; first = false) {
		unsigned long long ino;
		char perm[8], dev[32];
		struct mapping m = {0};
		const char *path;
		int at = 0;

		/* A zombie has the file, but nothing in it. */
		if (first)
			p->n = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %31s %llu %n", &m.start, &m.end, perm, &m.offset,
			   dev, &ino, &at) < 6 || perm[2] != 'x' || !at)
			continue;
		path = line + at;
		m.path = str_intern(b->c->str, path, strcspn(path, "\n"));
		m.syms = syms_of(b, dev, ino, m.path);
		if (p->n == p->cap) {
			p->cap = p->cap ? 2 * p->cap : 16;
			p->maps = xrealloc(p->maps,
					   p->cap * sizeof(*p->maps));
		}
		p->maps[p->n++] = m;
	}
	free(line);
	fclose(f);
}

/* The file as the process sees it, also when it is in a container or has been
 * removed; of a process that is gone, as tally sees it. */
static void read_file(struct symbol_book *b, int pid, const struct mapping *m)
{
	const char *paths[] = {
		arena_printf(b->c->a, "/proc/%d/root%s", pid, m->path),
		arena_printf(b->c->a, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			     pid, m->start, m->end),
		m->path,
	};
	const char *why;

	m->syms->unread = false;
	for (unsigned i = 0; i < 3; i++) {
		struct elf_file *f = elf_open_file(b->c, paths[i], &why);

		if (!f)
			continue;
		elf_find_funcs(b->c, f, "*", &m->syms->funcs);
		m->syms->path = paths[i];
		elf_close_file(f);
		return;
	}
}

void symbol_of_process(struct symbol_book *b, int pid, uint64_t addr,
		       struct symbol *ret)
{
	const struct process *p = process_at(b, pid);
	const struct mapping *m = NULL;
	const struct elf_func *fn;
	size_t lo = 0, hi;
	uint64_t at;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; p && i < p->n && !m; i++)
		if (addr >= p->maps[i].start && addr < p->maps[i].end)
			m = &p->maps[i];
	if (!m)
		return;
	ret->module = *m->path ? m->path : NULL;
	ret->base_off = at = addr - m->start + m->offset;
	if (m->syms->unread)
		read_file(b, pid, m);
	hi = m->syms->funcs.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->syms->funcs.v[mid].offset <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return;
	fn = &m->syms->funcs.v[lo - 1];
	/* Hand-written code has no sizes: it reaches to what comes next. */
	if (fn->size && at - fn->offset >= fn->size)
		return;
	ret->name = fn->name;
	ret->off = at - fn->offset;
	ret->size = fn->size;
	ret->file = m->syms->path;
	ret->linked = fn->addr + ret->off;
}

bool symbol_line(struct symbol_book *b, const struct symbol *s,
		 const char **ret_file, int *ret_line)
{
	const char *why;
	struct debug_file *f = s->file ? debug_open(b->c, s->file, &why) : NULL;

	return f && debug_line(f, s->linked, ret_file, ret_line);
}
