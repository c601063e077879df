/* SPDX-License-Identifier: MIT */
/*
 * Fetching ahead: the host part of a split handler cannot read the probe's
 * context (registers, arguments, the target's memory). Each such read becomes a
 * register that the kernel fills just before it sends.
 */
#include "ir/split.h"

#include <assert.h>

/* Instructions that computing one operand again may take. */
enum { CHAIN_MAX = 32 };

/* --- which instructions --------------------------------------------------- */

/* The record says who and when: these the host answers from it. */
static bool in_record(enum builtin_id id)
{
	switch (id) {
	case BI_PID: case BI_TID: case BI_UID: case BI_GID:
	case BI_EXECNAME: case BI_CPU: case BI_CPUID:
	case BI_GETTIMEOFDAY_NS: case BI_GETTIMEOFDAY_US:
	case BI_GETTIMEOFDAY_MS: case BI_GETTIMEOFDAY_S:
	case BI_KTIME_GET_NS: case BI_LOCAL_CLOCK_NS:
	case BI_LOCAL_CLOCK_US: case BI_LOCAL_CLOCK_MS:
	case BI_LOCAL_CLOCK_S: case BI_GET_CYCLES: case BI_JIFFIES:
		return true;
	default:
		return false;
	}
}

/* Only these must be fetched: everything else the host has or can compute. */
static bool reads_context(const struct ir_ins *i)
{
	switch (i->op) {
	case OP_ARG: case OP_REG: case OP_CTX:
	case OP_KLD: case OP_ULD: case OP_TLD:
		return true;
	case OP_BCALL: case OP_BCALLE:
		return (i->builtin->flags & BF_CTX) &&
		       !(i->builtin->flags & BF_HOST) &&
		       !in_record(i->builtin->id);
	default:
		return false;
	}
}

/* Computed from its operands alone: may be done again, earlier. */
static bool is_pure(const struct ir_ins *i)
{
	return i->has_dst && !i->target[0] &&
	       !(op_info(i->op)->flags & (OPF_X | OPF_R | OPF_H | OPF_T)) &&
	       i->op != OP_SPRINT && i->op != OP_LOOP;
}

/* --- in the kernel, before the send --------------------------------------- */

/* Code made for one point: a chain of blocks that ends where resume stands. */
struct maker {
	struct split *s;
	struct resume_at *p;
	struct ir_block *cur;
	struct ir_val *made; /* by register: its value recomputed here */
	uint32_t nmade;
	unsigned depth;
	bool in_loop; /* the read is in one, on the host */
};

static void put(struct maker *m, struct ir_ins *i)
{
	block_append(m->cur, i);
}

static void put_mov(struct maker *m, uint32_t dst, struct ir_val v,
		    uint32_t loc)
{
	bool str = m->s->f->regs.v[dst].is_str;
	struct ir_ins *i = ins_new(m->s->a, str ? OP_SMOV : OP_MOV, 1);

	i->args[0] = v;
	i->dst = dst;
	i->has_dst = true;
	i->loc = loc;
	put(m, i);
}

static void put_jmp(struct maker *m, struct ir_block *to, uint32_t loc)
{
	struct ir_ins *j = ins_new(m->s->a, OP_JMP, 0);

	j->target[0] = to;
	j->loc = loc;
	put(m, j);
}

static struct ir_block *new_block(struct maker *m)
{
	struct ir_block *b = arena_new_of(m->s->a, struct ir_block);

	b->loop_depth = m->cur->loop_depth;
	b->next = m->cur->next;
	m->cur->next = b;
	return b;
}

/*
 * Both versions number their registers alike. Registers made for the kernel's
 * chains have no use on the host but take up their numbers there.
 */
static void keep_step(struct split *s)
{
	for (unsigned n = s->host->regs.n; n < s->f->regs.n; n++)
		vec_push(s->a, &s->host->regs, s->f->regs.v[n]);
}

/* A register in both versions of the function. */
static uint32_t both_reg(struct split *s, uint32_t width)
{
	uint32_t r = func_reg(s->a, s->f, width, NULL);

	keep_step(s);
	return r;
}

static bool operand_at(struct maker *m, const struct ir_val *v,
		       struct ir_val *ret);

/*
 * The instruction done here, into register dst. An instruction that may fail
 * sets flag (0 or 1) as well.
 */
static bool redo(struct maker *m, const struct ir_ins *from, uint32_t dst,
		 uint32_t flag)
{
	struct ir_ins *i = ins_copy(m->s->a, from);
	struct ir_block *ok, *bad, *end;

	for (unsigned k = 0; k < i->nargs; k++)
		if (!operand_at(m, &from->args[k], &i->args[k]))
			return false;
	i->dst = dst;
	i->has_dst = true;
	i->target[0] = i->target[1] = NULL;
	put(m, i);
	if (!from->target[0])
		return true;
	end = new_block(m);
	bad = new_block(m);
	ok = new_block(m);
	i->target[0] = ok;
	i->target[1] = bad;
	m->cur = ok;
	put_mov(m, flag, val_num(0), i->loc);
	put_jmp(m, end, i->loc);
	m->cur = bad;
	put_mov(m, dst, m->s->f->regs.v[dst].is_str ?
		val_str(str_internz(m->s->c->str, "")) : val_num(0), i->loc);
	put_mov(m, flag, val_num(1), i->loc);
	put_jmp(m, end, i->loc);
	m->cur = end;
	return true;
}

/*
 * The value that operand v has, at the point. Either it is there already, or
 * its definition can be done again here. false: it depends on something that is
 * not known yet (a loop's variable, a global that may have changed).
 */
static bool operand_at(struct maker *m, const struct ir_val *v,
		       struct ir_val *ret)
{
	const struct reg_use *u = m->s->use;
	const struct ir_ins *d;
	uint32_t r = v->reg;
	uint32_t dst, flag = 0;
	bool done;

	*ret = *v;
	if (v->kind != VAL_REG)
		return true;
	if (r >= m->nmade)
		return false;
	if (m->made[r].kind != VAL_NONE) {
		*ret = m->made[r];
		return true;
	}
	if (u[r].defs != 1)
		return false;
	/* It has its value already; unless another iteration gives another. */
	if ((m->p->set[r / 64] >> (r % 64) & 1) &&
	    !(m->in_loop && u[r].block && u[r].block->loop_depth))
		return true;
	d = u[r].def;
	if (!d || m->depth >= CHAIN_MAX || !(is_pure(d) || reads_context(d)))
		return false;
	m->depth++;
	dst = func_reg(m->s->a, m->s->f, m->s->f->regs.v[r].width, NULL);
	if (d->target[0])
		flag = func_reg(m->s->a, m->s->f, 0, NULL);
	done = redo(m, d, dst, flag);
	m->depth--;
	if (!done)
		return false;
	m->made[r] = *ret = val_reg(dst);
	return true;
}

/* --- in the host part ----------------------------------------------------- */

/* A read on the host that the kernel has to do. */
struct wanted {
	struct ir_ins *ins;	/* host's, already replaced */
	struct ir_ins *was;	/* what it did */
	struct ir_block *block;
	uint32_t reg, flag;
	bool has_flag;
	bool reported;	/* it cannot be read ahead, at some point */
};

/* `dst = read` becomes `dst = reg`, with the failure by the flag. */
static void replace(struct split *s, struct wanted *w)
{
	struct ir_ins *i = w->ins, *br;

	w->was = ins_copy(s->a, i);
	w->reg = both_reg(s, s->host->regs.v[i->dst].width);
	i->op = s->host->regs.v[i->dst].is_str ? OP_SMOV : OP_MOV;
	i->builtin = NULL;
	i->num = 0;
	i->nargs = 1;
	i->args = arena_array(s->a, struct ir_val, 1);
	i->args[0] = val_reg(w->reg);
	if (!i->target[0])
		return;
	w->flag = both_reg(s, 0);
	w->has_flag = true;
	br = ins_new(s->a, OP_BR, 1);
	br->args[0] = val_reg(w->flag);
	br->target[0] = i->target[1];
	br->target[1] = i->target[0];
	br->loc = i->loc;
	i->target[0] = i->target[1] = NULL;
	i->next = br;
	w->block->last = br;
}

/*
 * Blocks of the host version that point b leads to: only what they read is
 * sent.
 */
static uint8_t *reach_from(struct split *s, struct ir_block *b)
{
	uint8_t *seen = arena_alloc(s->a, s->host->nblocks + 1);
	struct ir_block **stack = arena_array(s->a, struct ir_block *,
					      s->host->nblocks + 1);
	unsigned n = 0;

	seen[b->id] = 1;
	stack[n++] = b;
	while (n) {
		struct ir_block *to[2];
		unsigned k = ir_succ(stack[--n], to);

		while (k--) {
			if (seen[to[k]->id])
				continue;
			seen[to[k]->id] = 1;
			stack[n++] = to[k];
		}
	}
	return seen;
}

/* Memory: the host can read it, too. */
static bool is_memory(const struct ir_ins *i)
{
	if (i->op == OP_ULD || i->op == OP_KLD)
		return true;
	if (i->op != OP_BCALL && i->op != OP_BCALLE)
		return false;
	switch (i->builtin->id) {
	case BI_USER_STRING: case BI_USER_STRING2: case BI_USER_STRING_N:
	case BI_USER_READ:
	case BI_KERNEL_STRING: case BI_KERNEL_STRING2: case BI_KERNEL_STRING_N:
	case BI_KERNEL_READ:
		return true;
	default:
		return false;
	}
}

/*
 * What no point can fetch ahead is read when the host gets there, which the
 * user has to know. Only memory is like that: what else a context has takes no
 * operand that could be known late.
 */
static void not_ahead(struct split *s, struct wanted *w)
{
	const struct span *at = &s->ir->locs.v[w->was->loc].span;
	const char *what = at->text ? at->text : op_info(w->was->op)->text;

	if (w->reported)
		return;
	w->reported = true;
	assert(is_memory(w->was));
	complain(s->c, READ_AFTER, at, what);
}

static void do_not_send(struct resume_at *p, uint32_t reg)
{
	unsigned to = 0;

	for (unsigned k = 0; k < p->ahead.n; k++)
		if (p->ahead.v[k] != reg)
			p->ahead.v[to++] = p->ahead.v[k];
	p->ahead.n = to;
}

/* The host part reads for itself, and what was fetched is not wanted. */
static void put_back(struct split *s, struct wanted *w)
{
	struct ir_ins *i = w->ins, *next = i->next;

	*i = *w->was;
	i->next = w->has_flag ? NULL : next;
	/* Only what may fail ended its block, with a branch put behind it. */
	if (w->has_flag)
		w->block->last = i;
	for (unsigned k = 0; k < s->points.n; k++) {
		do_not_send(s->points.v[k], w->reg);
		if (w->has_flag)
			do_not_send(s->points.v[k], w->flag);
	}
}

/*
 * Everything one point must send for what its host part reads. Code is put
 * between the block's last instruction and the send.
 */
static void fetch_for(struct split *s, struct resume_at *p, struct wanted *list,
		      unsigned n)
{
	uint8_t *seen = reach_from(s, p->enter);
	struct maker m = {.s = s, .p = p, .cur = p->block};

	m.nmade = s->live->words * 64;
	if (m.nmade > s->f->regs.n)
		m.nmade = s->f->regs.n;
	m.made = arena_array(s->a, struct ir_val, m.nmade + 1);
	/* The send leaves its block while code is put before it. */
	if (p->block->first == p->resume) {
		p->block->first = p->block->last = NULL;
	} else {
		struct ir_ins *i = p->block->first;

		while (i->next != p->resume)
			i = i->next;
		i->next = NULL;
		p->block->last = i;
	}
	for (unsigned k = 0; k < n; k++) {
		if (!seen[list[k].block->id])
			continue;
		m.in_loop = list[k].block->loop_depth > 0;
		if (redo(&m, list[k].was, list[k].reg, list[k].flag)) {
			uint32_t r = list[k].was->dst;

			if (r < m.nmade && s->use[r].defs == 1)
				m.made[r] = val_reg(list[k].reg);
		} else {
			not_ahead(s, &list[k]);
			put_mov(&m, list[k].reg,
				s->f->regs.v[list[k].reg].is_str ?
				val_str(str_internz(s->c->str, "")) :
				val_num(0), p->resume->loc);
			if (list[k].has_flag)
				put_mov(&m, list[k].flag, val_num(0),
					p->resume->loc);
		}
		vec_push(s->a, &p->ahead, list[k].reg);
		if (list[k].has_flag)
			vec_push(s->a, &p->ahead, list[k].flag);
	}
	block_append(m.cur, p->resume);
	p->block = m.cur;
}

void split_fetch_ahead(struct split *s)
{
	VEC(struct wanted) want = {0};

	for (struct ir_block *b = s->host->blocks; b; b = b->next) {
		for (struct ir_ins *i = b->first; i; i = i->next) {
			struct wanted w = {.ins = i, .block = b};

			if (i->has_dst && reads_context(i))
				vec_push(s->a, &want, w);
		}
	}
	if (!want.n)
		return;
	for (unsigned k = 0; k < want.n; k++)
		replace(s, &want.v[k]);
	for (unsigned k = 0; k < s->points.n; k++)
		fetch_for(s, s->points.v[k], want.v, want.n);
	for (unsigned k = 0; k < want.n; k++)
		if (want.v[k].reported)
			put_back(s, &want.v[k]);
	/* Made for the kernel's chains only, but numbers stay in step. */
	keep_step(s);
}
