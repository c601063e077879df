/* SPDX-License-Identifier: MIT */
/*
 * Where instructions end up: those that cannot be reached are left out, as the
 * kernel refuses them; for the host a jump too far for 16 bits becomes one of
 * 32. Then all jumps, relocations and places are patched.
 */
#include "gen/asm.h"

#include <assert.h>
#include <string.h>

enum { UNBOUND = UINT32_MAX };

/* Works on the instructions as they were made; positions are those after it. */
struct layout {
	struct assembler *as;
	uint32_t *target;  /* by instruction: where it jumps, or UNBOUND */
	uint8_t *len;	   /* by instruction: how many become of it */
	uint8_t *is_far; /* its jump does not fit 16 bits */
	uint32_t *pos;	   /* by instruction: where it goes; one more */
	/* of instructions still to be followed from, in the memory of pos,
	 * which is not needed before all are found */
	uint32_t *stack, depth;
};

/* len 0 means not reached, until the long forms are known. */
static void reach(struct layout *l, uint32_t at)
{
	if (at >= l->as->insns.n || l->len[at])
		return;
	l->len[at] = 1;
	l->stack[l->depth++] = at;
}

static bool is_wide(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_DW | BPF_IMM);
}

/* Everything that subprograms, their jumps and the extra entries lead to. */
static void reach_all(struct layout *l)
{
	struct assembler *as = l->as;

	reach(l, 0);
	for (unsigned i = 0; i < as->fixups.n; i++)
		if (as->fixups.v[i].func)
			reach(l, as->labels.v[as->fixups.v[i].label]);
	for (unsigned i = 0; i < as->entries.n; i++)
		reach(l, as->labels.v[as->entries.v[i]]);
	while (l->depth) {
		uint32_t at = l->stack[--l->depth];
		const struct bpf_insn *in = &as->insns.v[at];

		if (is_wide(in)) /* the second word goes with the first */
			l->len[++at] = 1;
		if (l->target[at] != UNBOUND)
			reach(l, l->target[at]);
		/* nothing falls through these */
		if (in->code != (BPF_JMP | BPF_JA) &&
		    in->code != (BPF_JMP | BPF_EXIT))
			reach(l, at + 1);
	}
}

static int64_t distance(const struct layout *l, uint32_t at)
{
	/* the long form of a branch jumps from its last instruction */
	return (int64_t)l->pos[l->target[at]] - l->pos[at] - l->len[at];
}

/*
 * Positions; again while a jump grows. Growing one can only make others grow:
 * it ends, at the latest with all long.
 */
static void place_all(struct layout *l)
{
	struct assembler *as = l->as;
	bool grown = true;

	while (grown) {
		uint32_t n = 0;

		grown = false;
		for (uint32_t i = 0; i < as->insns.n; i++) {
			l->pos[i] = n;
			n += l->len[i];
		}
		l->pos[as->insns.n] = n;
		for (uint32_t i = 0; i < as->insns.n; i++) {
			int64_t d;

			if (!l->len[i] || l->target[i] == UNBOUND ||
			    l->is_far[i])
				continue;
			d = distance(l, i);
			if (d >= INT16_MIN && d <= INT16_MAX)
				continue;
			/* a kernel before 6.6 has no long jumps */
			if (!as->long_jumps) {
				as->far_jump = true;
				continue;
			}
			l->is_far[i] = 1;
			/* a plain jump changes its code, not its length */
			if (as->insns.v[i].code != (BPF_JMP | BPF_JA)) {
				l->len[i] = 3;
				grown = true;
			}
		}
	}
}

/*
 * A branch over a long jump: if (c) goto a; goto b; a: long jump; b: How many
 * instructions it became.
 */
static uint32_t move_far(struct layout *l, uint32_t i, struct bpf_insn *to)
{
	struct bpf_insn in = l->as->insns.v[i];
	uint32_t n = 0;

	if (l->len[i] == 3) {
		in.off = 1;
		to[n++] = in;
		to[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_JA, .off = 1};
	}
	to[n++] = (struct bpf_insn){.code = BPF_JMP32 | BPF_JA,
				    .imm = (int32_t)distance(l, i)};
	return n;
}

static void move_all(struct layout *l, struct arena *a)
{
	struct assembler *as = l->as;
	uint32_t n = l->pos[as->insns.n];
	struct bpf_insn *insns = arena_array(a, struct bpf_insn, n + 1);
	uint32_t *locs = arena_array(a, uint32_t, n + 1);
	for (uint32_t i = 0; i < as->insns.n; i++) {
		uint32_t to = l->pos[i];

		for (uint8_t k = 0; k < l->len[i]; k++)
			locs[to + k] = as->locs.v[i];
		if (!l->len[i])
			continue;
		if (l->is_far[i]) {
			move_far(l, i, insns + to);
			continue;
		}
		insns[to] = as->insns.v[i];
		if (l->target[i] != UNBOUND)
			insns[to].off = (int16_t)distance(l, i);
	}
	as->insns.v = insns;
	as->locs.v = locs;
	as->insns.n = as->insns.cap = as->locs.n = as->locs.cap = n;
}

/* What is remembered by instruction follows it. */
static void follow(struct layout *l)
{
	struct assembler *as = l->as;
	unsigned kept = 0;

	for (unsigned i = 0; i < as->relocs.n; i++) {
		struct reloc r = as->relocs.v[i];

		if (!l->len[r.insn]) /* of code that nothing reaches */
			continue;
		r.insn = l->pos[r.insn];
		as->relocs.v[kept++] = r;
	}
	as->relocs.n = kept;
	for (unsigned i = 0; i < as->fixups.n; i++) {
		const struct asm_fixup *f = &as->fixups.v[i];
		uint32_t at = l->pos[f->insn];

		if (f->func && l->len[f->insn])
			as->insns.v[at].imm =
			    /* calls count from the next instruction */
			    (int32_t)(l->pos[as->labels.v[f->label]] - at - 1);
	}
	for (unsigned i = 0; i < as->labels.n; i++)
		if (as->labels.v[i] != UNBOUND)
			as->labels.v[i] = l->pos[as->labels.v[i]];
}

/* Arrays are by instruction, with one more for the end. */
void asm_finish(struct assembler *as, struct arena *a)
{
	struct arena *tmp = arena_new();
	uint32_t n = as->insns.n;
	struct layout l = {
		.as = as,
		.target = arena_array(tmp, uint32_t, n + 1),
		.len = arena_alloc(tmp, n + 1),
		.is_far = arena_alloc(tmp, n + 1),
		.pos = arena_array(tmp, uint32_t, n + 1),
	};

	l.stack = l.pos;

	/* UNBOUND in every word */
	memset(l.target, 0xff, (n + 1) * sizeof(*l.target));
	for (unsigned i = 0; i < as->fixups.n; i++) {
		const struct asm_fixup *f = &as->fixups.v[i];

		assert(as->labels.v[f->label] != UNBOUND);
		if (!f->func)
			l.target[f->insn] = as->labels.v[f->label];
	}
	reach_all(&l);
	place_all(&l);
	move_all(&l, a);
	follow(&l);
	arena_free(tmp);
}
