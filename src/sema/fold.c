/* SPDX-License-Identifier: MIT */
/*
 * Constant folding, in place: by the run-time rules, so that a folded script
 * and one that computes the same at run time agree (shift counts are masked).
 * It is not there for speed, which the passes over ir/ see to: what is constant
 * decides which code is there at all (elide.c), and so which types it has.
 */
#include <string.h>

#include "sema/sema.h"

bool fold_number(const struct node *n, int64_t *ret)
{
	if (n->kind != N_NUM)
		return false;
	*ret = n->u.num;
	return true;
}

static void to_number(struct node *n, int64_t v)
{
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->width = 0;
	n->u.num = v;
}

/* INT64_MIN / -1 overflows in C; here it is INT64_MIN. */
static int64_t divide(int64_t a, int64_t b)
{
	return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* false: not to be folded (a division by 0 is a run-time error). */
static bool compute(enum oper op, int64_t a, int64_t b, int64_t *ret)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case OPER_ADD:
		*ret = (int64_t)(ua + ub);
		return true;
	case OPER_SUB:
		*ret = (int64_t)(ua - ub);
		return true;
	case OPER_MUL:
		*ret = (int64_t)(ua * ub);
		return true;
	case OPER_DIV:
		if (!b)
			return false;
		*ret = divide(a, b);
		return true;
	case OPER_MOD:
		if (!b)
			return false;
		/* a % -1 traps on the machine for INT64_MIN */
		*ret = b == -1 ? 0 : a % b;
		return true;
	case OPER_AND:
		*ret = a & b;
		return true;
	case OPER_OR:
		*ret = a | b;
		return true;
	case OPER_XOR:
		*ret = a ^ b;
		return true;
	case OPER_SHL:
		*ret = (int64_t)(ua << (ub & 63));
		return true;
	case OPER_SHR:
		*ret = a >> (ub & 63);
		return true;
	case OPER_USHR:
		*ret = (int64_t)(ua >> (ub & 63));
		return true;
	case OPER_EQ:
		*ret = a == b;
		return true;
	case OPER_NE:
		*ret = a != b;
		return true;
	case OPER_LT:
		*ret = a < b;
		return true;
	case OPER_LE:
		*ret = a <= b;
		return true;
	case OPER_GT:
		*ret = a > b;
		return true;
	case OPER_GE:
		*ret = a >= b;
		return true;
	default:
		return false;
	}
}

/* Comparison of two literals, bytewise and unsigned. */
static void fold_strings(struct node *n)
{
	const struct node *a = n->u.binary.a, *b = n->u.binary.b;
	int64_t r;
	int cmp;

	cmp = strcmp(a->u.str, b->u.str);
	if (compute(n->u.binary.op, cmp, 0, &r))
		to_number(n, r);
}

/* Types are not known yet: 1 == "1" stays, to be reported by infer.c. */
static void fold_binary(struct node *n)
{
	const struct node *a = n->u.binary.a, *b = n->u.binary.b;
	int64_t r;

	if (a->kind == N_NUM && b->kind == N_NUM) {
		if (compute(n->u.binary.op, a->u.num, b->u.num, &r))
			to_number(n, r);
	} else if (a->kind == N_STR && b->kind == N_STR &&
		   n->u.binary.op >= OPER_EQ && n->u.binary.op <= OPER_GE) {
		fold_strings(n);
	}
}

static void fold_unary(struct node *n)
{
	const struct node *a = n->u.unary.a;

	if (a->kind != N_NUM)
		return;
	switch (n->u.unary.op) {
	case OPER_PLUS:
		to_number(n, a->u.num);
		break;
	case OPER_MINUS:
		to_number(n, (int64_t)(0 - (uint64_t)a->u.num));
		break;
	case OPER_NOT:
		to_number(n, !a->u.num);
		break;
	case OPER_BITNOT:
		to_number(n, ~a->u.num);
		break;
	default:
		break;
	}
}

/* Left sides decide && and ||; a right side alone decides nothing. */
static void fold_logic(struct node *n)
{
	const struct node *a = n->u.binary.a, *b = n->u.binary.b;
	bool is_and = n->u.binary.op == OPER_LAND;

	if (a->kind != N_NUM)
		return;
	if (is_and && !a->u.num)
		to_number(n, 0);
	else if (!is_and && a->u.num)
		to_number(n, 1);
	else if (b->kind == N_NUM)
		to_number(n, b->u.num != 0);
}

/* Cut as at run time, to MAXSTRINGLEN with its NUL. */
static void fold_concat(struct compile *c, struct node *n)
{
	const struct node *a = n->u.binary.a, *b = n->u.binary.b;
	size_t max = (size_t)c->set.limit[LIMIT_MAXSTRINGLEN] - 1, len;
	char *text;

	if (a->kind != N_STR || b->kind != N_STR)
		return;
	text = arena_printf(c->a, "%s%s", a->u.str, b->u.str);
	len = strlen(text);
	n->kind = N_STR;
	n->type = TY_STRING;
	n->u.str = str_intern(c->str, text, len > max ? max : len);
}

/* Children first: what is folded below can be folded above. */
static int child_fold(struct node **child, void *ctx)
{
	if (*child)
		fold_node(ctx, *child);
	return 0;
}

/* A loop that is never entered is what comes before it. */
static void fold_loop(struct node *n)
{
	const struct node *cond = n->u.loop.cond;
	struct node *init = n->u.loop.init;

	if (!cond || cond->kind != N_NUM || cond->u.num)
		return;
	n->kind = init ? N_EXPR : N_EMPTY;
	if (init)
		n->u.unary.a = init;
}

void fold_node(struct compile *c, struct node *n)
{
	node_each_child(n, child_fold, c);
	switch (n->kind) {
	case N_BINARY:
		fold_binary(n);
		break;
	case N_UNARY:
		fold_unary(n);
		break;
	case N_LOGIC:
		fold_logic(n);
		break;
	case N_CONCAT:
		fold_concat(c, n);
		break;
	case N_TERNARY:
		/* the other branch need not even have a type that fits */
		if (n->u.ternary.a->kind == N_NUM)
			*n = *(n->u.ternary.a->u.num ? n->u.ternary.b
						     : n->u.ternary.c);
		break;
	case N_IF:
		if (n->u.ternary.a->kind != N_NUM)
			break;
		if (n->u.ternary.a->u.num)
			*n = *n->u.ternary.b;
		else if (n->u.ternary.c)
			*n = *n->u.ternary.c;
		else
			n->kind = N_EMPTY;
		break;
	case N_FOR:
		fold_loop(n);
		break;
	default:
		break;
	}
}
