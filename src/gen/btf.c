/* SPDX-License-Identifier: MIT */
/*
 * BTF for a program: the smallest blob that lets the verifier name functions
 * and show script lines. Types are: long; a prototype without parameters, which
 * is all that static functions need; those of global ones; a FUNC per
 * subprogram.
 */
#include "gen/code.h"

#include <linux/btf.h>
#include <string.h>

enum { ID_INT = 1 }; /* types are numbered in the order in which they are put */

/* The two sections of BTF behind its header. */
struct blob {
	struct arena *a;
	VEC(uint8_t) types, strings;
};

static void put(struct blob *b, const void *p, size_t n)
{
	const uint8_t *from = p;

	for (size_t i = 0; i < n; i++)
		vec_push(b->a, &b->types, from[i]);
}

/*
 * The offset of the string. Equal strings are stored twice: a program has few.
 */
static uint32_t put_string(struct blob *b, const char *s, size_t n)
{
	uint32_t at = b->strings.n;

	for (size_t i = 0; i < n; i++)
		vec_push(b->a, &b->strings, (uint8_t)s[i]);
	vec_push(b->a, &b->strings, 0);
	return at;
}

/*
 * See "struct btf_type" in the kernel's Documentation/bpf/btf.rst: kind in bits
 * 24 to 28 of info, vlen in the lower 16.
 */
static void put_type(struct blob *b, uint32_t name, uint32_t kind,
		     uint32_t vlen, uint32_t size_or_type)
{
	struct btf_type t = {
		.name_off = name,
		.info = kind << 24 | vlen,
		.size = size_or_type,
	};

	put(b, &t, sizeof(t));
}

/* A name the kernel accepts: letters, digits and _. Longer names are cut. */
static uint32_t put_name(struct blob *b, const char *name)
{
	char buf[64];
	size_t n = 0;

	for (; name[n] && n < sizeof(buf) - 1; n++) {
		char c = name[n];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			  (c >= '0' && c <= '9');

		buf[n] = ok ? c : '_';
	}
	return put_string(b, buf, n);
}

/*
 * Of a subprogram: what its memory is, if it is given any, and its prototype.
 * next: the number of the next type; returns the prototype's. The kernel wants
 * names of parameters, if only these.
 */
static uint32_t put_proto(struct blob *b, uint32_t *next, unsigned nparams,
			  uint32_t memory)
{
	struct btf_param param = { put_name(b, "n"), ID_INT };

	if (memory) {
		put_type(b, put_name(b, "memory"), BTF_KIND_STRUCT, 0, memory);
		put_type(b, 0, BTF_KIND_PTR, 0, (*next)++);
		param.type = (*next)++;
	}
	put_type(b, 0, BTF_KIND_FUNC_PROTO, nparams, ID_INT);
	for (unsigned i = 0; i < nparams; i++) {
		put(b, &param, sizeof(param));
		param.type = ID_INT;
	}
	return (*next)++;
}

static void put_funcs(struct blob *b, const struct code *code, bool once,
		      struct code_btf *ret)
{
	struct bpf_func_info *fi =
	    arena_array(b->a, struct bpf_func_info, code->subprogs.n);
	/* encoding, offset 0, 64 bits */
	const uint32_t int_bits = BTF_INT_SIGNED << 24 | 64;
	uint32_t next = ID_INT + 1, none, proto;

	put_type(b, put_name(b, "long"), BTF_KIND_INT, 0, 8);
	put(b, &int_bits, sizeof(int_bits));
	none = put_proto(b, &next, 0, 0);
	for (unsigned i = 0; i < code->subprogs.n; i++) {
		const struct subprog *s = &code->subprogs.v[i];
		bool global = once && s->nparams;

		proto = global ? put_proto(b, &next, s->nparams, s->memory) :
			none;
		put_type(b, put_name(b, s->name), BTF_KIND_FUNC,
			 global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, proto);
		fi[i] = (struct bpf_func_info){
			.insn_off = s->start,
			.type_id = next++,
		};
	}
	ret->func_info = fi;
	ret->nfuncs = code->subprogs.n;
}

/* last: the place of the line before, to leave out repetitions. */
struct lines {
	struct bpf_line_info *v;
	uint32_t n;
	const struct span *last;
	uint32_t last_text, last_file;
};

/* The kernel wants strictly rising offsets and one at each subprogram. */
static void put_line(struct blob *b, struct lines *l, uint32_t insn,
		     const struct span *s)
{
	size_t n = 0;
	const char *text;

	if (!l->last || l->last->src != s->src)
		l->last_file = put_string(b, s->src->name,
					  strlen(s->src->name));
	if (!l->last || l->last->src != s->src || l->last->line != s->line) {
		text = source_line(s->src, s->line, &n);
		while (n && (*text == ' ' || *text == '\t')) {
			text++;
			n--;
		}
		l->last_text = put_string(b, text, n);
	}
	l->last = s;
	l->v[l->n++] = (struct bpf_line_info){
		.insn_off = insn,
		.file_name_off = l->last_file,
		.line_off = l->last_text,
		/* line in 22 bits, column in 10 */
		.line_col = s->line << 10 | (s->col & 1023),
	};
}

static const struct span *place_of(const struct gen *g,
				   const struct code *code, uint32_t i)
{
	const struct span *s;

	if (code->loc[i] >= g->ir->locs.n)
		return NULL;
	s = &g->ir->locs.v[code->loc[i]].span;
	return s->src && s->line ? s : NULL;
}

static bool same_place(const struct span *a, const struct span *b)
{
	return a && a->src == b->src && a->line == b->line && a->col == b->col;
}

/* False: a subprogram would start without a line, which the kernel refuses. */
static bool put_lines(struct blob *b, const struct gen *g,
		      const struct code *code, struct code_btf *ret)
{
	struct lines l = {0};
	unsigned sub = 0;

	l.v = arena_array(b->a, struct bpf_line_info, code->ninsns + 1);
	for (uint32_t i = 0; i < code->ninsns; i++) {
		const struct span *s = place_of(g, code, i);
		bool start = sub < code->subprogs.n &&
			     code->subprogs.v[sub].start == i;

		if (start) {
			const struct ir_func *f =
			    g->ir->funcs.v[code->subprogs.v[sub++].func];

			if (!s && f->probe && f->probe->span.src &&
			    f->probe->span.line)
				s = &f->probe->span;
			if (!s)
				return false;
			put_line(b, &l, i, s);
		} else if (s && !same_place(l.last, s)) {
			put_line(b, &l, i, s);
		}
		/* the second word is no instruction */
		if (code->insns[i].code == (BPF_LD | BPF_DW | BPF_IMM))
			i++;
	}
	ret->line_info = l.v;
	ret->nlines = l.n;
	return true;
}

struct code_btf *gen_btf(struct compile *c, const struct gen *g,
			 const struct code *code, bool once)
{
	struct code_btf *ret = arena_new_of(c->a, struct code_btf);
	struct blob b = {.a = c->a};
	struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
	};
	uint8_t *out;

	put_string(&b, "", 0); /* offset 0 means no name */
	put_funcs(&b, code, once, ret);
	/*
	 * The kernel wants func_info where there are subprograms, lines are a
	 * help.
	 */
	if (!put_lines(&b, g, code, ret)) {
		ret->line_info = NULL;
		ret->nlines = 0;
		if (code->subprogs.n == 1)
			return NULL;
	}
	h.type_len = b.types.n;
	h.str_off = b.types.n;
	h.str_len = b.strings.n;
	ret->btf_size = (uint32_t)sizeof(h) + b.types.n + b.strings.n;
	out = arena_alloc(c->a, ret->btf_size);
	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), b.types.v, b.types.n);
	memcpy(out + sizeof(h) + b.types.n, b.strings.v, b.strings.n);
	ret->btf = out;
	return ret;
}
