/* SPDX-License-Identifier: MIT */
/* The plan as text: all of it, or what -v says about memory. */
#include <inttypes.h>

#include "ir/plan.h"

/* Rounded up, in the largest unit that leaves at least two digits. */
static void print_bytes(uint64_t n, FILE *f)
{
	if (n < 10240)
		fprintf(f, "%" PRIu64 " bytes", n);
	else if (n < 10240 * 1024)
		fprintf(f, "%" PRIu64 " KiB", (n + 1023) / 1024);
	else
		fprintf(f, "%" PRIu64 " MiB", (n + (1 << 20) - 1) >> 20);
}

/* --- for -v --------------------------------------------------------------- */

/* Programs' cells of a scalar, and the host's. */
static unsigned cells_in_rows(const struct plan_global *g, unsigned nprobes)
{
	unsigned n = 0;

	for (unsigned i = 0; g->slot && i <= nprobes; i++)
		n += g->slot[i] != UINT32_MAX;
	return n;
}

/* A cell for each program that feeds it, in both banks of all rows. */
static void print_scalar(const struct plan *p, const struct plan_global *g,
			 unsigned n, FILE *f)
{
	fprintf(f, "%u cell%s x %u CPUs x %u bytes x 2 banks = ", n,
		n == 1 ? "" : "s", p->ncpus, g->cell.size);
	print_bytes((uint64_t)n * g->cell.size * p->ncpus * 2, f);
}

static void print_keyed(const struct plan *p, const struct plan_global *g,
			FILE *f)
{
	const struct plan_map *m = &p->maps.v[g->map];
	bool banks = m->kind == PM_BANKS;
	uint64_t n = plan_map_bytes(p, m);

	fprintf(f, "%u entries x ", m->max_entries);
	if ((banks ? m->inner : m->kind) == PM_PERCPU_HASH)
		fprintf(f, "%u CPUs x ", p->ncpus);
	fprintf(f, "%u bytes", m->value_size);
	if (banks)
		fputs(" x 2 banks", f);
	if (g->var->type == TY_STATS && g->grid_map != UINT32_MAX) {
		m = &p->maps.v[g->grid_map];
		n += plan_map_bytes(p, m);
		fprintf(f, ", octaves %u x %u bytes x 2 banks",
			m->max_entries, m->value_size);
	}
	fputs(", with keys ", f);
	print_bytes(n, f);
}

void plan_print_memory(const struct plan *p, unsigned nprobes, FILE *f)
{
	for (unsigned i = 0; i < p->nglobals; i++) {
		const struct plan_global *g = &p->globals[i];
		bool stats = g->var->type == TY_STATS;
		unsigned cells = cells_in_rows(g, nprobes);

		if (!stats && !g->key.n)
			continue;
		fprintf(f, "memory of %s: ", g->var->name);
		if (g->map != UINT32_MAX)
			print_keyed(p, g, f);
		else if (cells)
			print_scalar(p, g, cells, f);
		else
			fputs("as needed", f);
		fputs("; ", f);
		if (stats && !g->live && (cells || g->map != UINT32_MAX))
			fputs("banked: ", f);
		fprintf(f, "%s\n", g->why);
	}
	fputs("memory of all: ", f);
	print_bytes(p->total_bytes, f);
	fputs(" in the kernel, up to ", f);
	print_bytes(p->host_bytes, f);
	fputs(" of totals; the limit is ", f);
	print_bytes(p->limit_bytes, f);
	fputs(" (-DMEMORY_MIB)\n", f);
}

/* --- for --dump=plan ------------------------------------------------------ */

/* name[keys]: type, map (why). */
static void print_global(const struct plan *p, const struct plan_global *g,
			 FILE *f)
{
	const struct var *v = g->var;

	fprintf(f, "  %s", v->name);
	if (g->key.n) {
		for (unsigned i = 0; i < g->key.n; i++)
			fprintf(f, "%c%s%u", i ? ',' : '[',
				g->key.is_str[i] ? "s" : "l",
				g->key.width[i]);
		fputc(']', f);
	}
	if (v->type == TY_STATS)
		fprintf(f, ": aggregate of %u bytes", g->cell.size);
	else
		fprintf(f, ": %s%u", v->type == TY_STRING ? "s" : "l",
			g->value_width);
	if (g->map != UINT32_MAX)
		fprintf(f, ", map %u of %u entries", g->map,
			p->maps.v[g->map].max_entries);
	fprintf(f, " (%s)\n", g->why);
}

void plan_print(const struct plan *p, FILE *f)
{
	static const char *const kind[] = {
		"array, mapped", "array, read-only", "ring", "hash",
		"per-CPU hash", "two banks", "perf events", "turns",
	};

	fprintf(f, "plan: %u CPUs, %u rows of %u bytes (scratch %u x %u, "
		"banks 2 x %u), control %u bytes\n", p->ncpus, p->nrows,
		p->row_size, p->scratch_slots, p->scratch_size, p->bank_size,
		p->control_size);
	for (unsigned i = 0; i < p->nglobals; i++)
		print_global(p, &p->globals[i], f);
	for (unsigned i = 0; i < p->maps.n; i++) {
		const struct plan_map *m = &p->maps.v[i];
		uint64_t n = plan_map_bytes(p, m);

		fprintf(f, "  map %u %s: %s", i, m->name, kind[m->kind]);
		if (m->kind == PM_BANKS)
			fprintf(f, " of %s", kind[m->inner]);
		fprintf(f, ", key %u, value %u, %llu KiB\n", m->key_size,
			m->value_size, (unsigned long long)((n + 1023) / 1024));
	}
	fprintf(f, "  kernel memory: %llu KiB\n",
		(unsigned long long)((p->total_bytes + 1023) / 1024));
}
