/* SPDX-License-Identifier: MIT */
/* Arrays, aggregates, histograms, delete and foreach. */
#include "ir/build.h"

#include <string.h>

#include "ir/plan.h"

/* --- elements ------------------------------------------------------------- */

/* op.def: keys first, then what else the op takes. */
struct ir_ins *emit_keyed(struct build *b, enum ir_op op, struct var *g,
			  const struct ir_val *keys, unsigned nkeys,
			  const struct ir_val *extra, unsigned nextra)
{
	struct ir_val args[KEYS_MAX + 4];
	struct ir_ins *i;

	for (unsigned k = 0; k < nkeys; k++)
		args[k] = keys[k];
	for (unsigned k = 0; k < nextra; k++)
		args[nkeys + k] = extra[k];
	i = emit_n(b, op, nkeys + nextra, args);
	i->global = g;
	return i;
}

/* Both texts are the reference's: the second when the size is the default. */
void emit_fail_full(struct build *b, struct ir_ins *i, const struct var *g)
{
	if (g->wrap)
		return; /* makes room instead */
	if (g->size)
		emit_fail(b, i, arena_printf(b->a,
			  "Array overflow, check size limit (%lld)",
			  (long long)g->size));
	else
		emit_fail(b, i, "Array overflow, check MAXMAPENTRIES");
}

/*
 * Keys of an index; a wildcard is 0 or "" and its bit in *ret_wild. Keys are
 * evaluated from left to right, wildcards left out.
 */
static unsigned index_keys(struct build *b, const struct var *g,
			   const node_list *list, struct ir_val *keys,
			   uint32_t *ret_wild)
{
	struct node *part[KEYS_MAX];
	struct ir_val v[KEYS_MAX];
	unsigned n = 0, at = 0;
	uint32_t wild = 0;

	/* More keys than KEYS_MAX were refused by sema. */
	for (unsigned i = 0; i < list->n && i < KEYS_MAX; i++) {
		if (list->v[i]->kind == N_WILD)
			wild |= 1u << i;
		else
			part[n++] = list->v[i];
	}
	expr_list(b, part, n, v);
	for (unsigned i = 0; i < list->n && i < KEYS_MAX; i++) {
		if (wild & (1u << i))
			keys[i] = g->key_type[i] == TY_STRING ?
				  val_str(build_text(b, "")) : val_num(0);
		else
			keys[i] = v[at++];
	}
	if (ret_wild)
		*ret_wild = wild;
	return list->n < KEYS_MAX ? list->n : KEYS_MAX;
}

/*
 * A later operand may change a key that is a variable: hold its value.
 * Temporaries have no name, and nothing else writes them.
 */
static void hold_keys(struct build *b, struct ir_val *keys, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t r;

		if (keys[i].kind != VAL_REG ||
		    !b->f->regs.v[keys[i].reg].name)
			continue;
		r = b->f->regs.v[keys[i].reg].is_str ?
		    tmp_str(b, val_width(b->f, &keys[i])) : tmp_num(b);
		emit_mov(b, r, keys[i]);
		keys[i] = val_reg(r);
	}
}

/* A local or scalar has no keys. sema has seen to it that n is a variable. */
struct var *lvalue(struct build *b, struct node *n, struct ir_val *keys,
		   unsigned *ret_nkeys, uint32_t *ret_wild)
{
	*ret_nkeys = 0;
	if (ret_wild)
		*ret_wild = 0;
	if (n->kind != N_INDEX)
		return n->u.name.var;
	*ret_nkeys = index_keys(b, n->u.index.var, &n->u.index.keys, keys,
				ret_wild);
	hold_keys(b, keys, *ret_nkeys);
	return n->u.index.var;
}

/* The element, or 0 or "" where there is none. */
struct ir_val expr_index(struct build *b, struct node *n)
{
	struct ir_val keys[KEYS_MAX];
	struct var *g = n->u.index.var;
	unsigned nkeys = index_keys(b, g, &n->u.index.keys, keys, NULL);
	struct span old = build_at(b, &n->span);
	struct ir_ins *i = emit_keyed(b, OP_AGET, g, keys, nkeys, NULL, 0);

	i->dst = tmp_of(b, g->type, g->width);
	i->has_dst = true;
	b->here = old;
	return val_reg(i->dst);
}

/* [keys] in array; with a wildcard the array has to be searched (AHASW). */
struct ir_val expr_in(struct build *b, struct node *n)
{
	struct node *array = n->u.in.array;
	struct ir_val keys[KEYS_MAX];
	uint32_t wild;
	unsigned nkeys;
	struct ir_ins *i;
	struct span old;

	if (array->kind == N_HIST) /* worth the bucket's counter */
		return expr_hist_at(b, array, n->u.in.keys.v[0],
				    &array->span);
	nkeys = index_keys(b, array->u.name.var, &n->u.in.keys, keys, &wild);
	old = build_at(b, &n->span);
	i = emit_keyed(b, wild ? OP_AHASW : OP_AHAS, array->u.name.var, keys,
		       nkeys, NULL, 0);
	i->num = wild;
	i->dst = tmp_num(b);
	i->has_dst = true;
	b->here = old;
	return val_reg(i->dst);
}

/* --- aggregates ----------------------------------------------------------- */

/*
 * Which extractors fail on an empty aggregate. @sum of an empty one was an
 * error before level 1.5.
 */
static bool stat_fails(struct build *b, enum stat_op op)
{
	const char *level = b->c->set.compatible;

	switch (op) {
	case STAT_COUNT:
	case STAT_DISTINCT:
		return false;
	case STAT_SUM:
		return level && strverscmp(level, "1.5") < 0;
	default:
		return true;
	}
}

/* Fails (E) where the extractor has no value without samples. */
struct ir_val expr_stat(struct build *b, struct node *n)
{
	struct ir_val keys[KEYS_MAX + 1], param = val_num(0);
	unsigned nkeys;
	struct var *g = lvalue(b, n->u.stat.a, keys, &nkeys, NULL);
	struct span old;
	struct ir_ins *i;

	if (n->u.stat.param)
		param = expr(b, n->u.stat.param, true);
	old = build_at(b, &n->span);
	i = emit_keyed(b, OP_SGET, g, keys, nkeys, &param, 1);
	i->num = n->u.stat.op;
	i->dst = tmp_num(b);
	i->has_dst = true;
	if (stat_fails(b, n->u.stat.op))
		emit_fail(b, i, "empty aggregate");
	b->here = old;
	return val_reg(i->dst);
}

/*
 * The kernel knows one cause of a failure: each is tested on its own. In the
 * kernel HGET cannot tell empty from out of range, so both are asked before:
 * @count, then 0 <= index < buckets by its sign bit and one compare.
 */
static void hist_tests(struct build *b, struct var *g, struct ir_val *keys,
		       unsigned nkeys, struct ir_val index)
{
	uint32_t n = cell_layout(g->agg.ops, g->agg.hist, g->agg.lo, g->agg.hi,
				 g->agg.step).nbuckets;
	struct ir_val count = val_num(0), out, zero = val_num(0);
	struct ir_ins *i = emit_keyed(b, OP_SGET, g, keys, nkeys, &zero, 1);
	struct ir_block *empty = block_new(b), *some = block_new(b);
	struct ir_block *bad = block_new(b), *good = block_new(b);

	i->num = STAT_COUNT;
	i->dst = tmp_num(b);
	i->has_dst = true;
	count = val_reg(i->dst);
	emit_br(b, count, some, empty);
	block_start(b, empty);
	emit_raise(b, val_str(build_text(b, "empty aggregate")), 0);
	block_start(b, some);
	out = emit_num(b, OP_USHR, index, val_num(63), NOVAL);
	out = emit_num(b, OP_OR, out,
		       emit_num(b, OP_GE, index, val_num(n), NOVAL), NOVAL);
	emit_br(b, out, bad, good);
	block_start(b, bad);
	emit_raise(b, val_str(build_text(b, "histogram index out of range")),
		   0);
	block_start(b, good);
}

/*
 * @hist_log(x)[i], or x's bucket for `i in @hist_log(x)`. at: what a message
 * points to.
 */
struct ir_val expr_hist_at(struct build *b, struct node *hist,
			   struct node *index, const struct span *at)
{
	struct ir_val keys[KEYS_MAX + 1], v;
	unsigned nkeys;
	struct var *g = lvalue(b, hist->u.hist.a, keys, &nkeys, NULL);
	struct span old;
	struct ir_ins *i;
	bool in_kernel;

	v = expr(b, index, true);
	old = build_at(b, at);
	in_kernel = b->f->place == PLACE_KERNEL && plan_is_live(g);
	if (in_kernel)
		hist_tests(b, g, keys, nkeys, v);
	i = emit_keyed(b, OP_HGET, g, keys, nkeys, &v, 1);
	i->dst = tmp_num(b);
	i->has_dst = true;
	if (!in_kernel) /* two causes: the machine knows which */
		emit_fail(b, i, NULL);
	b->here = old;
	return val_reg(i->dst);
}

/* --- delete --------------------------------------------------------------- */

/*
 * By what is deleted: an element, a slice, a whole array, an aggregate, or a
 * scalar, which becomes 0 or "".
 */
void stmt_delete(struct build *b, struct node *n)
{
	struct node *what = n->u.unary.a;
	struct ir_val keys[KEYS_MAX + 1];
	unsigned nkeys;
	uint32_t wild;
	struct var *v;
	struct ir_ins *i;

	if (what->kind != N_NAME && what->kind != N_INDEX) {
		complain(b->c, BAD_DELETE, &what->span);
		return;
	}
	v = lvalue(b, what, keys, &nkeys, &wild);
	build_at(b, &what->span);
	if (nkeys) {
		i = emit_keyed(b, wild ? OP_ADELW : OP_ADEL, v, keys, nkeys,
			       NULL, 0);
		i->num = wild;
	} else if (v->is_global && v->arity > 0) {
		emit_keyed(b, OP_ACLR, v, NULL, 0, NULL, 0);
	} else if (v->type == TY_STATS) {
		emit_keyed(b, OP_ADEL, v, NULL, 0, NULL, 0);
	} else {
		assign_var(b, v, v->type == TY_STRING ?
			   val_str(build_text(b, "")) : val_num(0));
	}
}

/* --- foreach -------------------------------------------------------------- */

/*
 * What the loop is over does not change while it runs: it is a table's row,
 * which ITNEW names by number.
 */
static struct ir_iter *iter_make(struct build *b, struct node *n)
{
	struct ir_iter *it = arena_new_of(b->a, struct ir_iter);

	it->sort_dir = n->u.foreach.sort_dir;
	it->sort_key = n->u.foreach.sort_key;
	it->sort_by_stat = n->u.foreach.sort_by_stat;
	it->sort_op = n->u.foreach.sort_op;
	if (n->u.foreach.sort_param &&
	    n->u.foreach.sort_param->kind == N_NUM)
		it->sort_param = n->u.foreach.sort_param->u.num;
	it->has_limit = n->u.foreach.limit != NULL;
	it->has_slice = n->u.foreach.slice.n != 0;
	it->id = b->ir->iters.n;
	vec_push(b->a, &b->ir->iters, it);
	return it;
}

/*
 * Starts the iteration; the handle's register comes back. Slices pass the keys
 * that are no wildcards, in order.
 */
static struct ir_val iter_start(struct build *b, struct node *n,
				struct ir_iter **ret_it)
{
	struct node *array = n->u.foreach.array;
	struct ir_iter *it = iter_make(b, n);
	struct ir_val args[KEYS_MAX + 2], keys[KEYS_MAX + 1];
	unsigned nargs = 0, nkeys = 0;
	struct ir_ins *i;

	/* Where the reference evaluates them: the slice, then the limit. */
	if (array->kind == N_HIST) {
		it->is_hist = true;
		it->array = lvalue(b, array->u.hist.a, keys, &nkeys, NULL);
	} else {
		it->array = array->u.name.var;
		if (it->has_slice)
			nkeys = index_keys(b, it->array, &n->u.foreach.slice,
					   keys, &it->wild);
	}
	if (it->has_limit) {
		hold_keys(b, keys, nkeys);
		args[nargs++] = expr(b, n->u.foreach.limit, true);
	}
	for (unsigned k = 0; k < nkeys; k++)
		if (!(it->wild & (1u << k)))
			args[nargs++] = keys[k];
	i = emit_n(b, OP_ITNEW, nargs, args);
	i->global = it->array;
	i->iter = it;
	i->dst = tmp_num(b);
	i->has_dst = true;
	*ret_it = it;
	return val_reg(i->dst);
}

/* Loop variables from the current element. */
static void iter_bind(struct build *b, struct node *n,
		      const struct ir_iter *it, struct ir_val h)
{
	struct ir_ins *i;

	for (unsigned k = 0; k < n->u.foreach.keys.n; k++) {
		struct var *v = n->u.foreach.keys.v[k]->u.name.var;

		i = emit(b, OP_ITKEY, h, val_num(k), NOVAL);
		i->global = it->array;
		i->dst = tmp_of(b, it->is_hist ? TY_LONG :
				it->array->key_type[k],
				it->array->key_width[k]);
		i->has_dst = true;
		assign_var(b, v, val_reg(i->dst));
	}
	if (n->u.foreach.value) {
		i = emit(b, OP_ITVAL, h, NOVAL, NOVAL);
		i->global = it->array;
		i->dst = tmp_of(b, it->is_hist ? TY_LONG : it->array->type,
				it->array->width);
		i->has_dst = true;
		assign_var(b, n->u.foreach.value->u.name.var,
			   val_reg(i->dst));
	}
}

/*
 * The iteration is a snapshot of the array (vm/host_iter.c); break leaves
 * through `done`, where it is given back.
 */
void stmt_foreach(struct build *b, struct node *n)
{
	struct loop l = {.up = b->loop};
	struct ir_block *body, *done, *hit;
	struct ir_iter *it;
	struct ir_ins *i;
	struct ir_val h, got;

	h = iter_start(b, n, &it);
	b->loop_depth++;
	l.cont = block_new(b);
	body = block_new(b);
	b->loop_depth--;
	l.brk = block_new(b);
	done = l.brk;
	emit_jmp(b, l.cont);
	b->loop_depth++;
	block_start(b, l.cont);
	i = emit(b, OP_ITNEXT, h, NOVAL, NOVAL);
	i->global = it->array;
	i->iter = it;
	i->dst = tmp_num(b);
	i->has_dst = true;
	got = val_reg(i->dst);
	hit = it->has_slice ? block_new(b) : NULL;
	emit_br(b, got, body, done);
	block_start(b, body);
	iter_bind(b, n, it, h);
	/* What a slice leaves out last still shows in the loop variables. */
	if (hit) {
		emit_br(b, emit_num(b, OP_EQ, got, val_num(1), NOVAL), hit,
			done);
		block_start(b, hit);
	}
	b->loop = &l;
	region(b, n->u.foreach.body, 1);
	b->loop = l.up;
	emit_jmp(b, l.cont);
	b->loop_depth--;
	block_start(b, done);
	emit(b, OP_ITEND, h, NOVAL, NOVAL);
}
