/* SPDX-License-Identifier: MIT */
/* Making, copying and walking nodes. */
#include "front/ast.h"

const char *oper_text(enum oper o)
{
	switch (o) {
	case OPER_NONE:
		return "";
	case OPER_PLUS:
	case OPER_ADD:
		return "+";
	case OPER_MINUS:
	case OPER_SUB:
		return "-";
	case OPER_NOT:
		return "!";
	case OPER_BITNOT:
		return "~";
	case OPER_MUL:
		return "*";
	case OPER_DIV:
		return "/";
	case OPER_MOD:
		return "%";
	case OPER_AND:
		return "&";
	case OPER_OR:
		return "|";
	case OPER_XOR:
		return "^";
	case OPER_SHL:
		return "<<";
	case OPER_SHR:
		return ">>";
	case OPER_USHR:
		return ">>>";
	case OPER_CONCAT:
		return ".";
	case OPER_EQ:
		return "==";
	case OPER_NE:
		return "!=";
	case OPER_LT:
		return "<";
	case OPER_LE:
		return "<=";
	case OPER_GT:
		return ">";
	case OPER_GE:
		return ">=";
	case OPER_LAND:
		return "&&";
	case OPER_LOR:
		return "||";
	case OPER_SET:
		return "=";
	case OPER_FEED:
		return "<<<";
	case OPER_INC:
		return "++";
	case OPER_DEC:
		return "--";
	case OPER_MATCH:
		return "=~";
	case OPER_NOMATCH:
		return "!~";
	}
	return "?";
}

const char *stat_op_name(enum stat_op o)
{
	switch (o) {
	case STAT_COUNT:
		return "@count";
	case STAT_SUM:
		return "@sum";
	case STAT_MIN:
		return "@min";
	case STAT_MAX:
		return "@max";
	case STAT_AVG:
		return "@avg";
	case STAT_VARIANCE:
		return "@variance";
	case STAT_STDDEV:
		return "@stddev";
	case STAT_QUANTILE:
		return "@quantile";
	case STAT_MEDIAN:
		return "@median";
	case STAT_DISTINCT:
		return "@distinct";
	case STAT_MODE:
		return "@mode";
	case STAT_QUANTILES:
		return "@quantiles";
	case STAT_MAX_OP:
		break;
	}
	return "?";
}

const char *node_kind_name(enum node_kind k)
{
	static const char *const names[] = {
#define NODE(id, name, member) name,
#include "front/ast.def"
#undef NODE
	};

	return k < N_MAX ? names[k] : "?";
}

struct node *node_new(struct arena *a, enum node_kind k, struct span at)
{
	struct node *n = arena_new_of(a, struct node);

	n->kind = k;
	n->span = at;
	return n;
}

/* --- children ------------------------------------------------------------ */

struct walk {
	int (*fn)(struct node **child, void *ctx);
	void *ctx;
};

static int one(const struct walk *w, struct node **child)
{
	return *child ? w->fn(child, w->ctx) : 0;
}

static int list(const struct walk *w, node_list *l)
{
	int ret = 0;

	for (unsigned i = 0; !ret && i < l->n; i++)
		ret = one(w, &l->v[i]);
	return ret;
}

static int target(const struct walk *w, struct node *n)
{
	int ret = one(w, &n->u.target.base);

	for (unsigned i = 0; !ret && i < n->u.target.parts.n; i++)
		ret = one(w, &n->u.target.parts.v[i].index);
	return ret;
}

static int foreach (const struct walk *w, struct node * n)
{
	int ret = list(w, &n->u.foreach.slice);

	if (!ret)
		ret = one(w, &n->u.foreach.sort_param);
	if (!ret)
		ret = one(w, &n->u.foreach.limit);
	if (!ret)
		ret = one(w, &n->u.foreach.array);
	if (!ret)
		ret = one(w, &n->u.foreach.value);
	if (!ret)
		ret = list(w, &n->u.foreach.keys);
	return ret ? ret : one(w, &n->u.foreach.body);
}

static int loop(const struct walk *w, struct node *n)
{
	int ret = one(w, &n->u.loop.init);

	if (!ret)
		ret = one(w, &n->u.loop.cond);
	if (!ret)
		ret = one(w, &n->u.loop.body);
	return ret ? ret : one(w, &n->u.loop.step);
}

static int two(const struct walk *w, struct node **a, struct node **b)
{
	int ret = one(w, a);

	return ret ? ret : one(w, b);
}

int node_each_child(struct node *n, int (*fn)(struct node **child, void *ctx),
		    void *ctx)
{
	struct walk w = {fn, ctx};
	int ret;

	switch (n->kind) {
	case N_NUM:
	case N_STR:
	case N_NAME:
	case N_WILD:
	case N_EMBEDDED:
	case N_EMPTY:
	case N_BREAK:
	case N_CONTINUE:
	case N_NEXT:
	case N_MAX:
		return 0;
	case N_INDEX:
		return list(&w, &n->u.index.keys);
	case N_CALL:
		return list(&w, &n->u.call.args);
	case N_UNARY:
	case N_DEFINED:
	case N_ENTRY:
	case N_ADDRESS:
	case N_EXPR:
	case N_RETURN:
	case N_DELETE:
		return one(&w, &n->u.unary.a);
	case N_INCDEC:
		return one(&w, &n->u.incdec.a);
	case N_BINARY:
	case N_LOGIC:
	case N_CONCAT:
	case N_ASSIGN:
		return two(&w, &n->u.binary.a, &n->u.binary.b);
	case N_TERNARY:
	case N_IF:
		ret = two(&w, &n->u.ternary.a, &n->u.ternary.b);
		return ret ? ret : one(&w, &n->u.ternary.c);
	case N_IN:
		ret = list(&w, &n->u.in.keys);
		return ret ? ret : one(&w, &n->u.in.array);
	case N_MATCH:
		return one(&w, &n->u.match.a);
	case N_STAT:
		return two(&w, &n->u.stat.a, &n->u.stat.param);
	case N_HIST:
		return one(&w, &n->u.hist.a);
	case N_HIST_AT:
		return two(&w, &n->u.hist_at.hist, &n->u.hist_at.index);
	case N_PRINT:
		return list(&w, &n->u.print.args);
	case N_TARGET:
	case N_ARROW:
		return target(&w, n);
	case N_ATWORD:
		ret = list(&w, &n->u.atword.args);
		return ret ? ret : list(&w, &n->u.atword.index);
	case N_BLOCK:
		return list(&w, &n->u.block.stmts);
	case N_FOR:
		return loop(&w, n);
	case N_FOREACH:
		return foreach (&w, n);
	case N_TRY:
		ret = two(&w, &n->u.try.body, &n->u.try.name);
		return ret ? ret : one(&w, &n->u.try.catcher);
	}
	return 0;
}

/* --- copies -------------------------------------------------------------- */

static int clone_child(struct node **child, void *ctx)
{
	*child = node_clone(ctx, *child);
	return 0;
}

/* The vectors of a copied node still are those of its original. */
#define own_vec(a, vec)                                                        \
	((vec)->v = arena_grow((a), (vec)->v, (vec)->n * sizeof(*(vec)->v),    \
			       (vec)->n * sizeof(*(vec)->v)),                  \
	 (vec)->cap = (vec)->n)

static void own_vecs(struct arena *a, struct node *n)
{
	switch (n->kind) {
	case N_INDEX:
		own_vec(a, &n->u.index.keys);
		break;
	case N_CALL:
		own_vec(a, &n->u.call.args);
		break;
	case N_IN:
		own_vec(a, &n->u.in.keys);
		break;
	case N_PRINT:
		own_vec(a, &n->u.print.args);
		own_vec(a, &n->u.print.fmt.parts);
		break;
	case N_TARGET:
	case N_ARROW:
		own_vec(a, &n->u.target.parts);
		break;
	case N_ATWORD:
		own_vec(a, &n->u.atword.args);
		own_vec(a, &n->u.atword.index);
		break;
	case N_BLOCK:
		own_vec(a, &n->u.block.stmts);
		break;
	case N_FOREACH:
		own_vec(a, &n->u.foreach.keys);
		own_vec(a, &n->u.foreach.slice);
		break;
	default:
		break;
	}
}

struct node *node_clone(struct arena *a, const struct node *n)
{
	struct node *copy;

	if (!n)
		return NULL;
	copy = arena_new_of(a, struct node);
	*copy = *n;
	own_vecs(a, copy);
	node_each_child(copy, clone_child, a);
	return copy;
}
