/* SPDX-License-Identifier: MIT */
/*
 * needs:  kernel handlers with all calls inlined that can be
 * keeps:  what the handler does; output stays in order
 * breaks: kernel functions have no host-only instruction any more; each that
 *         had one gets a host version, entered at resume points
 *
 * At the first host-only instruction on a path the kernel handler sends its
 * live registers to the host, which goes on with the same instruction.
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/plan.h"
#include "ir/split.h"

/* --- what the kernel cannot do -------------------------------------------- */

/*
 * matched() and ngroups() look at the host's last match, so the match must be
 * the host's, too.
 */
static bool uses_matched(const struct ir_func *f)
{
	for (const struct ir_block *b = f->blocks; b; b = b->next)
		for (const struct ir_ins *i = b->first; i; i = i->next)
			if (i->builtin && (i->builtin->id == BI_MATCHED ||
					   i->builtin->id == BI_NGROUPS))
				return true;
	return false;
}

enum {
	/* More levels of loops than this are more calls than the kernel's
	 * check of a program takes. */
	LOOPS_DEEP = 5,
	/*
	 * That check walks the body of a loop about four times, and that of a
	 * loop in it four times as often; each branch is a state that it keeps.
	 * It gives up at a million instructions: measured on 6.18, what is
	 * estimated at 107,000 takes 2 s, what is at 166,000 is refused.
	 */
	LOOP_WALKS = 4, BRANCH_COST = 3, COST_MAX = 120000,
};

static uint64_t block_cost(const struct ir_block *b)
{
	uint64_t cost = b->last && b->last->target[0] && b->last->target[1]
			    ? BRANCH_COST : 0;

	for (const struct ir_ins *i = b->first; i; i = i->next)
		cost++;
	for (unsigned d = 0; d < b->loop_depth; d++)
		cost *= LOOP_WALKS;
	return cost;
}

/* How deep loops may nest for the kernel to accept the handler: at least 1, as
 * a loop that is not in another is never too much. */
static unsigned loops_deep(const struct ir_func *f)
{
	uint64_t cost[LOOPS_DEEP + 1] = {0}, sum = 0;
	unsigned deep = 0;

	for (const struct ir_block *b = f->blocks; b; b = b->next)
		if (b->loop_depth <= LOOPS_DEEP)
			cost[b->loop_depth] += block_cost(b);
	for (unsigned d = 0; d <= LOOPS_DEEP; d++) {
		sum += cost[d];
		if (sum <= COST_MAX)
			deep = d;
	}
	return deep ? deep : 1;
}

bool split_to_host(const struct split *s, const struct ir_block *b,
		   const struct ir_ins *i)
{
	if (i->global && s->ir->late && i->global->is_global &&
	    s->ir->late[i->global->index])
		return true;
	if (b->loop_depth > s->deep || ins_host_only(i) ||
	    (s->ir->kernel_can && !s->ir->kernel_can(s->f, i)))
		return true;
	switch (i->op) {
	case OP_CALL:
		return true;
	case OP_SPRINT: /* the text of an error */
		return i->num != 0;
	case OP_MATCH: /* matched() looks at what the host's match left */
		return s->matched;
	case OP_SGET: /* banked: from settled totals, after a drain */
		return !plan_is_live(i->global) ||
		       !plan_reads((enum stat_op)i->num);
	case OP_HGET:
		return !plan_is_live(i->global) || i->target[0];
	case OP_AHAS:
	case OP_ADEL:
		return i->global->type == TY_STATS && !plan_is_live(i->global);
	default:
		return false;
	}
}

/* --- resume points -------------------------------------------------------- */

/*
 * Operands: what is live before instruction i of block b. The set is kept, too:
 * fetching ahead asks what is there already.
 */
static void live_before(struct split *s, const struct ir_block *b,
			const struct ir_ins *at, struct resume_at *p)
{
	uint64_t *set = arena_array(s->a, uint64_t, s->live->words);
	unsigned n = 0;

	memcpy(set, s->live->out[b->id], s->live->words * sizeof(*set));
	for (const struct ir_ins *i = b->first; i; i = i->next)
		s->list[n++] = (struct ir_ins *)i;
	while (n && s->list[n - 1] != at)
		ins_flow(s->list[--n], set);
	if (n)
		ins_flow(s->list[n - 1], set);
	for (unsigned r = 0; r < s->f->regs.n; r++)
		if (set[r / 64] >> (r % 64) & 1)
			vec_push(s->a, &p->live, r);
	p->set = set;
}

/*
 * Host: block b splits before the n-th instruction; the point enters there. The
 * same number on both sides: host is a copy of f, block by block.
 */
static struct ir_block *split_host(struct split *s, struct ir_block *b,
				   unsigned n)
{
	struct ir_block *tail = b, *enter;
	struct ir_ins *i = b->first, *prev = NULL, *j;

	while (n--) {
		prev = i;
		i = i->next;
	}
	if (prev) {
		tail = arena_new_of(s->a, struct ir_block);
		tail->loop_depth = b->loop_depth;
		tail->first = i;
		tail->last = b->last;
		tail->next = b->next;
		b->next = tail;
		j = ins_new(s->a, OP_JMP, 0);
		j->loc = i->loc;
		j->target[0] = tail;
		prev->next = j;
		b->last = j;
	}
	enter = arena_new_of(s->a, struct ir_block);
	j = ins_new(s->a, OP_ENTER, 0);
	j->loc = i->loc;
	block_append(enter, j);
	j = ins_new(s->a, OP_JMP, 0);
	j->loc = i->loc;
	j->target[0] = tail;
	block_append(enter, j);
	return enter;
}

/*
 * Kernel: block b ends before instruction `at` with a RESUME. What came behind
 * is the host's now; unreachable blocks are pruned later.
 */
static struct ir_ins *cut_kernel(struct split *s, struct ir_block *b,
				 struct ir_ins *at)
{
	struct ir_ins *prev = NULL, *r;

	for (struct ir_ins *i = b->first; i != at; i = i->next)
		prev = i;
	r = ins_new(s->a, OP_RESUME, 0);
	r->loc = at->loc;
	if (prev)
		prev->next = r;
	else
		b->first = r;
	b->last = r;
	return r;
}

/* -v: what makes a handler go on on the host costs a record of each event. */
static void say_point(const struct split *s, const struct ir_ins *at)
{
	struct span where = s->ir->locs.v[at->loc].span;

	log_say(&s->c->log, LOG_IR, 1, "%s: continues on the host at line "
		"%u: %s%s%s", s->f->probe->pp, where.line,
		at->builtin ? at->builtin->name : op_info(at->op)->text,
		at->global ? ", " : "", at->global ? at->global->name : "");
}

/* Does something that block b leads to, itself from instruction i on, store an
 * element? */
static bool leads_to_store(struct split *s, struct ir_block *b,
			   const struct ir_ins *i)
{
	struct ir_block **stack = arena_array(s->a, struct ir_block *,
					      s->f->nblocks + 1);
	uint8_t *seen = arena_alloc(s->a, s->f->nblocks + 1);
	unsigned n = 0;

	for (;;) {
		struct ir_block *succ[2];
		unsigned ns;

		for (; i; i = i->next)
			if (i->op == OP_ASET)
				return true;
		ns = ir_succ(b, succ);
		for (unsigned k = 0; k < ns; k++) {
			if (seen[succ[k]->id])
				continue;
			seen[succ[k]->id] = 1;
			stack[n++] = succ[k];
		}
		if (!n)
			return false;
		b = stack[--n];
		i = b->first;
	}
}

/*
 * What a handler of @entry stores after it has gone on on the host is there too
 * late. To report an error is all that it may do there.
 */
static void check_entry(struct split *s, struct ir_block *b,
			const struct ir_ins *at)
{
	if (s->f->probe->is_entry && !s->late && leads_to_store(s, b, at)) {
		s->late = true;
		/* not where it is: that may be in the library */
		complain(s->c, ENTRY_LATE, &s->f->probe->span,
			 at->builtin ? at->builtin->name
				     : op_info(at->op)->text);
	}
}

/*
 * Both versions are cut at the same instruction; its registers have the same
 * numbers in both.
 */
static void add_point(struct split *s, struct ir_block *b, struct ir_ins *at,
		      unsigned n)
{
	struct resume_at *p = arena_new_of(s->a, struct resume_at);

	say_point(s, at);
	check_entry(s, b, at);
	live_before(s, b, at, p);
	p->enter = split_host(s, s->map[b->id], n);
	p->block = b;
	p->resume = cut_kernel(s, b, at);
	p->resume->num = s->points.n;
	p->enter->first->num = s->points.n;
	vec_push(s->a, &s->points, p);
}

/* Walks what the kernel reaches; cuts where it cannot go on. */
static void cut_paths(struct split *s)
{
	struct ir_block **stack = arena_array(s->a, struct ir_block *,
					      s->f->nblocks + 1);
	uint8_t *seen = arena_alloc(s->a, s->f->nblocks + 1);
	unsigned n = 0;

	stack[n++] = s->f->blocks;
	seen[s->f->blocks->id] = 1;
	while (n) {
		struct ir_block *b = stack[--n], *succ[2];
		struct ir_ins *i = b->first;
		unsigned at = 0, ns;

		for (; i && !split_to_host(s, b, i); i = i->next)
			at++;
		if (i) {
			add_point(s, b, i, at);
			continue;
		}
		ns = ir_succ(b, succ);
		for (unsigned k = ns; k-- > 0;) {
			if (seen[succ[k]->id])
				continue;
			seen[succ[k]->id] = 1;
			stack[n++] = succ[k];
		}
	}
}

static bool needs_split(const struct split *s)
{
	for (const struct ir_block *b = s->f->blocks; b; b = b->next)
		for (const struct ir_ins *i = b->first; i; i = i->next)
			if (split_to_host(s, b, i))
				return true;
	return false;
}

/* Operands of RESUME and of its ENTER: the live registers, then what was
 * fetched ahead. */
static void set_operands(struct split *s, struct resume_at *p)
{
	unsigned n = p->live.n + p->ahead.n;
	struct ir_ins *to[2] = {p->resume, p->enter->first};

	for (unsigned k = 0; k < 2; k++) {
		to[k]->nargs = n;
		to[k]->args = arena_array(s->a, struct ir_val, n + 1);
		for (unsigned i = 0; i < p->live.n; i++)
			to[k]->args[i] = val_reg(p->live.v[i]);
		for (unsigned i = 0; i < p->ahead.n; i++)
			to[k]->args[p->live.n + i] = val_reg(p->ahead.v[i]);
	}
}

void split_begin(struct split *s, struct compile *c, struct ir *ir,
		 struct ir_func *f)
{
	*s = (struct split){.c = c, .a = c->a, .ir = ir, .f = f};
	ir_prune(c->a, f);
	s->matched = uses_matched(f);
	s->deep = loops_deep(f);
}

/*
 * The host version is a copy of the handler with an entry for each place at
 * which the kernel stops; it is entered nowhere else.
 */
static void split_func(struct compile *c, struct ir *ir, struct ir_func *f)
{
	struct split s;
	struct ir_block *last = NULL;

	split_begin(&s, c, ir, f);
	if (ir_is_huge(f)) {
		complain(c, HANDLER_LONG, &f->probe->span, f->nblocks);
		return;
	}
	if (!needs_split(&s))
		return;
	s.live = ir_liveness(c->a, f);
	s.list = arena_array(c->a, struct ir_ins *, block_longest(f) + 1);
	s.use = reg_uses(c->a, f);
	s.host = func_copy(c->a, ir, f, &s.map);
	s.host->place = PLACE_HOST;
	s.host->name = arena_printf(c->a, "%s host", f->name);
	cut_paths(&s);
	for (unsigned i = 0; i < s.points.n; i++) {
		struct ir_block *e = s.points.v[i]->enter;

		vec_push(c->a, &s.host->resume, e);
		if (last)
			last->next = e;
		last = e;
	}
	/*
	 * Resume points come first in layout: the first block must be an entry.
	 */
	if (last) {
		last->next = s.host->blocks;
		s.host->blocks = s.points.v[0]->enter;
	}
	f->nresume = s.host->nresume = s.points.n;
	f->host = s.host;
	ir_prune(c->a, f);
	ir_prune(c->a, s.host);
	split_fetch_ahead(&s);
	for (unsigned i = 0; i < s.points.n; i++)
		set_operands(&s, s.points.v[i]);
	ir_prune(c->a, f);
	ir_prune(c->a, s.host);
}

/* n: functions that are added here are host versions. */
void opt_split(struct compile *c, struct ir *ir)
{
	unsigned n = ir->funcs.n;

	for (unsigned i = 0; i < n; i++)
		if (ir->funcs.v[i]->place == PLACE_KERNEL)
			split_func(c, ir, ir->funcs.v[i]);
}
