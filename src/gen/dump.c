/* SPDX-License-Identifier: MIT */
/* --dump=bpf: instructions under the script lines they were made from. */
#include "gen/code.h"

#include <string.h>

static const struct span *span_at(const struct gen *g, const struct code *code,
				  uint32_t i)
{
	uint32_t loc = code->loc[i];

	return loc < g->ir->locs.n ? &g->ir->locs.v[loc].span : NULL;
}

static void print_line(const struct span *s, FILE *f)
{
	size_t n = 0;
	const char *text = source_line(s->src, s->line, &n);

	while (n && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	fprintf(f, "; %s:%u: %.*s\n", s->src->name, s->line, (int)n, text);
}

/* They are in the order of their instructions. */
static const struct reloc *reloc_at(const struct code *code, uint32_t i)
{
	unsigned lo = 0, hi = code->relocs.n;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (code->relocs.v[mid].insn < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < code->relocs.n && code->relocs.v[lo].insn == i ?
		       &code->relocs.v[lo] : NULL;
}

static void print_insn(const struct gen *g, const struct code *code,
		       uint32_t i, FILE *f)
{
	const struct reloc *r = reloc_at(code, i);
	char text[96];

	disasm(&code->insns[i], text, sizeof(text));
	fprintf(f, "%5u: %s", i, text);
	if (r && r->kind == RELOC_FUNC)
		fprintf(f, "\t; %s", g->ir->funcs.v[r->func]->name);
	else if (r && r->kind == RELOC_KFUNC)
		fprintf(f, "\t; preempt_%s, if there is one",
			r->func == KF_PREEMPT_DISABLE ? "disable" : "enable");
	else if (r && r->kind == RELOC_TURNS)
		fputs("\t; rounds of a loop", f);
	else if (r && r->kind == RELOC_COMM)
		fputs("\t; offset of comm, if it is known", f);
	else if (r && r->map < g->plan->maps.n)
		fprintf(f, "\t; %s", g->plan->maps.v[r->map].name);
	fputc('\n', f);
}

/* A line is shown where it begins and where it is come back to. */
void gen_dump(const struct gen *g, const struct code *code, FILE *f)
{
	const struct span *last = NULL;
	unsigned sub = 0;

	fprintf(f, "# %s: %u instructions, %u bytes of stack\n", code->fn->name,
		code->ninsns, code->frame);
	if (code->limit)
		fprintf(f, "# over the limit: %s\n", code->limit);
	for (uint32_t i = 0; i < code->ninsns; i++) {
		const struct span *s = span_at(g, code, i);

		if (sub < code->subprogs.n && code->subprogs.v[sub].start == i)
			fprintf(f, "%s:\n", code->subprogs.v[sub++].name);
		if (s && s->line && s->src &&
		    (!last || last->src != s->src || last->line != s->line)) {
			print_line(s, f);
			last = s;
		}
		print_insn(g, code, i, f);
		/* the second word was shown with the first */
		if (code->insns[i].code == (BPF_LD | BPF_DW | BPF_IMM))
			i++;
	}
}
