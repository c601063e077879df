/* SPDX-License-Identifier: MIT */
/*
 * Reads the text form. Places come back as line and column only. The first
 * mistake ends the reading.
 */
#include "ir/ir.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "front/parse.h"
#include "front/regex.h"
#include "ir/util.h"

/* T_LINE: the end of a line, which ends most things. */
enum tok { T_END, T_LINE, T_WORD, T_TEXT, T_SIGN };

/* The text is a test's or a user's: nothing in it is trusted. */
struct reader {
	struct compile *c;
	struct arena *a;
	struct program *p;
	struct source *src;
	const char *at, *end, *line_start;
	unsigned line;
	bool failed;
	/* the token at hand */
	enum tok tok;
	const char *s; /* interned word, text or sign */
	unsigned col;
	struct ir *ir;
	struct ir_func *f;
	VEC(struct ir_block *) blocks; /* by number */
	struct ir_block *cur;
};

/* --- tokens --------------------------------------------------------------- */

/* After a mistake the text is over: no token follows, so every loop ends. */
static void fail(struct reader *r, const char *what)
{
	struct span at = {.src = r->src, .line = r->line, .col = r->col,
			  .text = r->s};

	if (!r->failed)
		complain(r->c, EXPECTED, &at, what);
	r->failed = true;
	r->tok = T_END;
	r->at = r->end;
}

/* Characters of words: names, numbers, "@global", "name/2", "s16.x!". */
static bool is_word(int ch)
{
	return isalnum(ch) || strchr("_.!#@/-", ch);
}

/* Undoes put_text() of print.c. */
static void read_text(struct reader *r)
{
	size_t max = (size_t)(r->end - r->at), n = 0;
	char *buf = arena_alloc(r->a, max + 1);

	for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
		char ch = *r->at;

		if (ch == '\\' && r->at + 1 < r->end) {
			ch = *++r->at;
			if (ch == 'n')
				ch = '\n';
			else if (ch == 't')
				ch = '\t';
			else if (isdigit((unsigned char)ch) &&
				 r->at + 2 < r->end) {
				ch = (char)((ch - '0') * 64 +
					    (r->at[1] - '0') * 8 +
					    (r->at[2] - '0'));
				r->at += 2;
			}
		}
		buf[n++] = ch;
	}
	if (r->at == r->end) {
		fail(r, "the text's end");
		return;
	}
	r->at++;
	r->tok = T_TEXT;
	r->s = str_intern(r->c->str, buf, n);
}

static void next(struct reader *r)
{
	const char *from;

	if (r->failed)
		return;
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
	r->col = (unsigned)(r->at - r->line_start) + 1;
	if (r->at == r->end) {
		r->tok = T_END;
		r->s = NULL;
		return;
	}
	from = r->at;
	if (*r->at == '\n') {
		r->at++;
		r->line++;
		r->line_start = r->at;
		r->tok = T_LINE;
		r->s = NULL;
		return;
	}
	if (*r->at == '"') {
		read_text(r);
		return;
	}
	if (*r->at == '-' && r->at + 1 < r->end && r->at[1] == '>') {
		r->at += 2;
		r->tok = T_SIGN;
	} else if (*r->at && is_word((unsigned char)*r->at)) {
		while (r->at < r->end && *r->at &&
		       is_word((unsigned char)*r->at))
			r->at++;
		r->tok = T_WORD;
	} else {
		r->at++;
		r->tok = T_SIGN;
	}
	r->s = str_intern(r->c->str, from, (size_t)(r->at - from));
}

static bool is(const struct reader *r, const char *s)
{
	return (r->tok == T_WORD || r->tok == T_SIGN) && !strcmp(r->s, s);
}

static bool accept(struct reader *r, const char *s)
{
	if (!is(r, s))
		return false;
	next(r);
	return true;
}

static void expect(struct reader *r, const char *s)
{
	if (!accept(r, s))
		fail(r, s);
}

/* A number at s; false when it is none. */
static bool to_num(const char *s, int64_t *ret)
{
	char *end;

	if (*s == '-' || isdigit((unsigned char)*s)) {
		*ret = *s == '-' ? strtoll(s, &end, 0) :
		       (int64_t)strtoull(s, &end, 0);
		return end != s && !*end;
	}
	return false;
}

static int64_t number(struct reader *r)
{
	int64_t n = 0;

	if (r->tok != T_WORD || !to_num(r->s, &n))
		fail(r, "a number");
	else
		next(r);
	return n;
}

/* A number below limit, as an index. */
static unsigned index_below(struct reader *r, unsigned limit)
{
	int64_t n = number(r);

	if (n >= 0 && n < limit)
		return (unsigned)n;
	fail(r, "a number in range");
	return 0;
}

/*
 * rN, bN: the number behind the letter, or -1. More than a million would be
 * memory for nothing.
 */
static long numbered(const char *s, char letter)
{
	char *end;
	long n;

	if (s[0] != letter || !isdigit((unsigned char)s[1]))
		return -1;
	n = strtol(s + 1, &end, 10);
	return *end || n > 1000000 ? -1 : n;
}

static void end_line(struct reader *r)
{
	if (r->tok != T_LINE && r->tok != T_END)
		fail(r, "the line's end");
	while (r->tok == T_LINE)
		next(r);
}

/* --- names ---------------------------------------------------------------- */

static struct var *find_global(struct reader *r, const char *name)
{
	for (unsigned i = 0; i < r->p->globals.n; i++)
		if (!strcmp(r->p->globals.v[i]->name, name))
			return r->p->globals.v[i];
	fail(r, "a global of the program");
	return NULL;
}

/* name/n */
static const char *split_name(struct reader *r, unsigned *ret_n)
{
	const char *slash = r->tok == T_WORD ? strrchr(r->s, '/') : NULL;
	const char *name;

	if (!slash) {
		fail(r, "name/arity");
		return "";
	}
	*ret_n = (unsigned)strtoul(slash + 1, NULL, 10);
	name = str_intern(r->c->str, r->s, (size_t)(slash - r->s));
	next(r);
	return name;
}

static struct function *find_function(struct reader *r)
{
	unsigned n = 0;
	const char *name = split_name(r, &n);

	for (unsigned i = 0; i < r->p->functions.n; i++) {
		struct function *f = r->p->functions.v[i];

		if (!strcmp(f->name, name) && f->params.n == n)
			return f;
	}
	fail(r, "a function of the program");
	return NULL;
}

/*
 * Functions may be referred to before they come: they are made empty, and must
 * all have blocks in the end.
 */
static struct ir_func *func_at(struct reader *r, unsigned n)
{
	while (r->ir->funcs.n <= n && n < 100000) {
		struct ir_func *f = arena_new_of(r->a, struct ir_func);

		f->index = r->ir->funcs.n;
		vec_push(r->a, &r->ir->funcs, f);
	}
	if (n >= r->ir->funcs.n) {
		fail(r, "a function's number");
		return NULL;
	}
	return r->ir->funcs.v[n];
}

/* Likewise blocks of the function at hand. */
static struct ir_block *block_at(struct reader *r)
{
	long n = r->tok == T_WORD ? numbered(r->s, 'b') : -1;

	if (n < 0) {
		fail(r, "a block");
		return NULL;
	}
	next(r);
	while (r->blocks.n <= (unsigned long)n) {
		struct ir_block *b = arena_new_of(r->a, struct ir_block);

		vec_push(r->a, &r->blocks, b);
	}
	return r->blocks.v[n];
}

/* --- tables --------------------------------------------------------------- */

/* l, s16: ret width, 0 for a number. What follows comes back. */
static const char *type_of(struct reader *r, uint32_t *ret)
{
	char *end;

	*ret = 0;
	if (r->tok == T_WORD && r->s[0] == 'l')
		return r->s + 1;
	if (r->tok == T_WORD && r->s[0] == 's' &&
	    isdigit((unsigned char)r->s[1])) {
		*ret = (uint32_t)strtoul(r->s + 1, &end, 10);
		return end;
	}
	fail(r, "a type: l or sWIDTH");
	return "";
}

/* fmt ID "text" TYPES */
static void read_fmt(struct reader *r)
{
	struct ir_fmt *m = arena_new_of(r->a, struct ir_fmt);
	struct fmt *f = arena_new_of(r->a, struct fmt);
	struct span at = {.src = r->src, .line = r->line, .col = 1};

	m->id = index_below(r, r->ir->fmts.n + 1);
	if (r->tok != T_TEXT) {
		fail(r, "a format");
		return;
	}
	if (!parse_format(r->c, r->s, &at, f)) {
		fail(r, "a format");
		return;
	}
	m->fmt = f;
	next(r);
	while (r->tok == T_WORD && m->nargs < 32) {
		unsigned i = m->nargs++;
		uint32_t w;

		type_of(r, &w);
		next(r);
		m->is_str[i] = w != 0;
		m->width[i] = w ? w : 8;
		m->off[i] = m->size;
		m->size += m->width[i];
	}
	vec_push(r->a, &r->ir->fmts, m);
}

/* iter ID array [hist] [sort DIR key N] [by OP param N] [limit] [slice BITS] */
static void read_iter(struct reader *r)
{
	struct ir_iter *it = arena_new_of(r->a, struct ir_iter);

	it->id = index_below(r, r->ir->iters.n + 1);
	if (r->tok == T_WORD)
		it->array = find_global(r, r->s);
	next(r);
	it->is_hist = accept(r, "hist");
	if (accept(r, "sort")) {
		it->sort_dir = (int)number(r);
		expect(r, "key");
		it->sort_key = (int)number(r);
	}
	if (accept(r, "by")) {
		it->sort_by_stat = true;
		it->sort_op = index_below(r, STAT_MAX_OP);
		expect(r, "param");
		it->sort_param = number(r);
	}
	it->has_limit = accept(r, "limit");
	if (accept(r, "slice")) {
		it->has_slice = true;
		it->wild = (uint32_t)number(r);
	}
	vec_push(r->a, &r->ir->iters, it);
}

/* regex ID "pattern" */
static void read_regex(struct reader *r)
{
	const char *why;
	unsigned pos;
	struct regex *re;

	index_below(r, r->ir->regexes.n + 1);
	if (r->tok != T_TEXT) {
		fail(r, "a pattern");
		return;
	}
	re = regex_compile(r->c, r->s, str_len(r->s), &pos, &why);
	if (!re) {
		fail(r, why);
		return;
	}
	vec_push(r->a, &r->ir->regexes, re);
	vec_push(r->a, &r->ir->patterns, r->s);
	next(r);
}

/* --- instructions --------------------------------------------------------- */

/* A register must be one of the function's: its list comes first. */
static struct ir_val value(struct reader *r)
{
	struct ir_val v = {0};
	long reg;

	if (r->tok == T_TEXT) {
		v = val_str(r->s);
	} else if (r->tok == T_WORD && (reg = numbered(r->s, 'r')) >= 0 &&
		   reg < (long)r->f->regs.n) {
		v = val_reg((uint32_t)reg);
	} else if (r->tok == T_WORD && to_num(r->s, &v.num)) {
		v.kind = VAL_NUM;
	} else if (!is(r, "none")) {
		fail(r, "an operand");
	}
	next(r);
	return v;
}

/*
 * What an instruction has besides operands. In the order in which print.c
 * writes them.
 */
static void read_extra(struct reader *r, struct ir_ins *i)
{
	unsigned n = 0;
	const char *name;

	if (r->tok == T_WORD && r->s[0] == '#') {
		if (!to_num(r->s + 1, &i->num))
			fail(r, "a number");
		next(r);
	}
	if (r->tok == T_WORD && r->s[0] == '@') {
		i->global = find_global(r, r->s + 1);
		next(r);
	}
	if (i->op == OP_BCALL || i->op == OP_BCALLE) {
		name = split_name(r, &n);
		i->builtin = builtin_find(name, n);
		if (!i->builtin)
			fail(r, "a built-in function");
	}
	if (accept(r, "func"))
		i->callee = func_at(r, (unsigned)number(r));
	if (accept(r, "fmt") && !r->failed) {
		n = index_below(r, r->ir->fmts.n);
		i->fmt = r->failed ? NULL : r->ir->fmts.v[n];
	}
	if (accept(r, "iter") && !r->failed) {
		n = index_below(r, r->ir->iters.n);
		i->iter = r->failed ? NULL : r->ir->iters.v[n];
	}
	if (accept(r, "regex") && !r->failed) {
		n = index_below(r, r->ir->regexes.n);
		i->re = r->failed ? NULL : r->ir->regexes.v[n];
	}
	if (accept(r, "locks"))
		i->locks = (uint32_t)number(r);
}

/*
 * ; 3:1 < 2:5: the place, then the calls it was inlined at. Each place refers
 * to its caller, so they are added from the outermost in.
 */
static uint32_t read_loc(struct reader *r)
{
	struct { uint32_t line, col; } chain[64];
	int32_t caller = -1;
	unsigned n = 0;

	if (!accept(r, ";"))
		return 0;
	do {
		if (n == 64) {
			fail(r, "fewer calls");
			return 0;
		}
		chain[n].line = (uint32_t)number(r);
		expect(r, ":");
		chain[n++].col = (uint32_t)number(r);
	} while (accept(r, "<"));
	while (n--) {
		struct ir_loc l = {.caller = caller};

		l.span = (struct span){.src = r->src, .line = chain[n].line,
				       .col = chain[n].col};
		caller = (int32_t)r->ir->locs.n;
		vec_push(r->a, &r->ir->locs, l);
	}
	return (uint32_t)caller;
}

/* [rN =] OP EXTRA OPERANDS [-> bN [, bM]] [; PLACE] */
static void read_ins(struct reader *r)
{
	struct ir_val args[64];
	struct ir_ins *i = arena_new_of(r->a, struct ir_ins);
	long reg = r->tok == T_WORD ? numbered(r->s, 'r') : -1;

	if (reg >= 0) {
		if (reg >= (long)r->f->regs.n)
			fail(r, "a register");
		next(r);
		expect(r, "=");
		i->dst = (uint32_t)reg;
		i->has_dst = true;
	}
	if (r->tok != T_WORD ||
	    (i->op = op_find(r->s, strlen(r->s))) == OP_MAX) {
		fail(r, "an instruction");
		return;
	}
	next(r);
	read_extra(r, i);
	while (!r->failed && r->tok != T_LINE && r->tok != T_END &&
	       !is(r, "->") && !is(r, ";")) {
		if (i->nargs == 64 || (i->nargs && !accept(r, ","))) {
			fail(r, "','");
			break;
		}
		args[i->nargs++] = value(r);
	}
	i->args = arena_array(r->a, struct ir_val, i->nargs + 1);
	memcpy(i->args, args, i->nargs * sizeof(*args));
	if (accept(r, "->")) {
		i->target[0] = block_at(r);
		if (accept(r, ","))
			i->target[1] = block_at(r);
	}
	i->loc = read_loc(r);
	if (!r->failed)
		block_append(r->cur, i);
}

/* --- functions ------------------------------------------------------------ */

/*
 * Types of registers: l or sWIDTH, with .name of a variable and ! for shared.
 */
static void read_regs(struct reader *r)
{
	while (r->tok == T_WORD) {
		struct ir_reg reg = {0};
		const char *rest = type_of(r, &reg.width);
		size_t n = strlen(rest);

		reg.is_str = reg.width != 0;
		if (n && rest[n - 1] == '!') {
			reg.shared = true;
			n--;
		}
		if (n > 1 && rest[0] == '.')
			reg.name = str_intern(r->c->str, rest + 1, n - 1);
		vec_push(r->a, &r->f->regs, reg);
		next(r);
	}
}

static void read_kind(struct reader *r, struct ir_func *f)
{
	if (accept(r, "probe"))
		f->kind = IR_PROBE;
	else if (accept(r, "function"))
		f->kind = IR_FUNCTION;
	else if (accept(r, "body"))
		f->kind = IR_LOOP_BODY;
	else
		fail(r, "probe, function or body");
	if (accept(r, "host"))
		f->place = PLACE_HOST;
	else if (accept(r, "kernel"))
		f->place = PLACE_KERNEL;
	else
		fail(r, "host or kernel");
	if (f->kind == IR_FUNCTION) {
		f->fn = find_function(r);
	} else {
		unsigned n = index_below(r, r->p->probes.n);

		f->probe = r->failed ? NULL : r->p->probes.v[n];
	}
}

/* func N "name" KIND PLACE ... */
static void read_func(struct reader *r)
{
	struct ir_func *f = func_at(r, (unsigned)number(r));

	if (!f || f->name || r->tok != T_TEXT) {
		fail(r, "a new function's name");
		return;
	}
	r->f = f;
	r->cur = NULL;
	r->blocks.n = 0;
	f->name = r->s;
	next(r);
	read_kind(r, f);
	if (accept(r, "params"))
		f->nparams = (unsigned)number(r);
	if (accept(r, "ret")) {
		f->has_ret = true;
		type_of(r, &f->ret_reg_type);
		next(r);
	}
	if (accept(r, "parent"))
		f->parent = func_at(r, (unsigned)number(r));
	if (accept(r, "locks"))
		f->locks = (uint32_t)number(r);
}

/* bN [depth D]: begins a block; layout is the order of the text. */
static void read_block(struct reader *r)
{
	struct ir_block *b = block_at(r), **link = &r->f->blocks;

	if (!b)
		return;
	if (accept(r, "depth"))
		b->loop_depth = (unsigned)number(r);
	expect(r, ":");
	if (r->cur)
		link = &r->cur->next;
	if (b->first || *link || b == r->cur) {
		fail(r, "a new block");
		return;
	}
	*link = b;
	r->cur = b;
}

/* One line; what it is says its first word. */
static void read_line(struct reader *r)
{
	if (accept(r, "fmt"))
		read_fmt(r);
	else if (accept(r, "iter"))
		read_iter(r);
	else if (accept(r, "regex"))
		read_regex(r);
	else if (accept(r, "func"))
		read_func(r);
	else if (!r->f)
		fail(r, "fmt, iter, regex or func");
	else if (!r->cur && accept(r, "regs"))
		read_regs(r);
	else if (!r->cur && accept(r, "resume"))
		while (r->tok == T_WORD) {
			vec_push(r->a, &r->f->resume, block_at(r));
			r->f->nresume++;
		}
	else if (r->tok == T_WORD && numbered(r->s, 'b') >= 0)
		read_block(r);
	else if (r->cur)
		read_ins(r);
	else
		fail(r, "a block");
}

struct ir *ir_read(struct compile *c, struct program *p, struct source *src)
{
	struct reader r = {.c = c, .a = c->a, .p = p, .src = src};
	struct ir_loc none = {.caller = -1};

	r.at = r.line_start = src->text;
	r.end = src->text + src->len;
	r.line = 1;
	r.ir = arena_new_of(c->a, struct ir);
	r.ir->prog = p;
	/* Place 0 stands for "none". */
	vec_push(c->a, &r.ir->locs, none);
	next(&r);
	while (r.tok == T_LINE)
		next(&r);
	while (!r.failed && r.tok != T_END) {
		read_line(&r);
		end_line(&r);
	}
	for (unsigned i = 0; !r.failed && i < r.ir->funcs.n; i++) {
		if (!r.ir->funcs.v[i]->blocks)
			fail(&r, "all functions");
		else
			ir_number(r.ir->funcs.v[i]);
	}
	return r.failed ? NULL : r.ir;
}
