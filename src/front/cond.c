/* SPDX-License-Identifier: MIT */
/* The conditions of %( ... %?. */
#include "front/pp.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/compile.h"

/* left op right, as tokens: messages point at one of them. */
struct comparison {
	struct token left, op, right;
};

/* In any of C's notations, as an unsigned number: 0xffffffffffffffff is -1. */
bool number_value(const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = (int64_t)strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

/*
 * The names of T_ ids stand in token.def's order; only six of that range
 * compare.
 */
static bool is_comparison(const struct token *t)
{
	return t->id >= T_EQ && t->id <= T_GT &&
	       (t->id == T_EQ || t->id == T_NE || t->id == T_LT ||
		t->id == T_LE || t->id == T_GT || t->id == T_GE);
}

/* What an order, negative, zero or positive, says about the operator. */
static int holds(enum tok_id op, int order)
{
	switch (op) {
	case T_EQ:
		return order == 0;
	case T_NE:
		return order != 0;
	case T_LT:
		return order < 0;
	case T_LE:
		return order <= 0;
	case T_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* 0, or -1 and a message; likewise the next one. */
static int want_string(struct pp *pp, const struct comparison *cmp)
{
	if (cmp->right.id == T_STRLIT)
		return 0;
	complain(pp->c, EXPECTED, &cmp->right.span, "string literal");
	return -1;
}

static int want_equality(struct pp *pp, const struct comparison *cmp)
{
	if (cmp->op.id == T_EQ || cmp->op.id == T_NE)
		return 0;
	complain(pp->c, EXPECTED, &cmp->op.span, "'==' or '!='");
	return -1;
}

/* value == "pattern" and != only: a pattern has no order. A wildcard in it is
 * the script's, never one in the value. */
static int compare_glob(struct pp *pp, const struct comparison *cmp,
			const char *value)
{
	int differs;

	if (want_equality(pp, cmp) || want_string(pp, cmp))
		return -1;
	differs = fnmatch(cmp->right.span.text, value, 0) != 0;
	return holds(cmp->op.id, differs);
}

/* By strverscmp(): "2.6.9" is before "2.6.10". */
static int compare_version(struct pp *pp, const struct comparison *cmp,
			   const char *version)
{
	const char *right = cmp->right.span.text;

	if (want_string(pp, cmp))
		return -1;
	if (strpbrk(right, "*?[")) {
		if (cmp->op.id == T_EQ || cmp->op.id == T_NE)
			return compare_glob(pp, cmp, version);
		complain(pp->c, COND_WILDCARD, &cmp->op.span);
		return -1;
	}
	return holds(cmp->op.id, version_compare(version, right));
}

/*
 * The architecture as scripts name it. The reference's names, which come from
 * the kernel's arch/ folder.
 */
static const char *arch_name(const struct utsname *u)
{
	static const char *const names[][2] = {
	    {"i?86", "i386"},    {"aarch64*", "arm64"}, {"arm*", "arm"},
	    {"ppc*", "powerpc"}, {"s390*", "s390"},     {"mips*", "mips"},
	    {"riscv*", "riscv"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!fnmatch(names[i][0], u->machine, 0))
			return names[i][1];
	}
	return u->machine;
}

/*
 * CONFIG_A == CONFIG_B as strings; in order as numbers An option that is not
 * set is "" as a string and 0 as a number.
 */
static int compare_options(struct pp *pp, const struct comparison *cmp,
			   const char *left)
{
	const char *right = kconfig_get(pp->library, cmp->right.span.text);
	int64_t a = 0, b = 0;

	if (cmp->op.id == T_EQ || cmp->op.id == T_NE)
		return holds(cmp->op.id, strcmp(left, right));
	if ((*left && !number_value(left, &a)) ||
	    (*right && !number_value(right, &b))) {
		complain(pp->c, COND_CONFIG_NUMBER, &cmp->left.span);
		return -1;
	}
	return holds(cmp->op.id, (a > b) - (a < b));
}

/* What stands on the right decides how: a pattern, a number, another option. */
static int compare_config(struct pp *pp, const struct comparison *cmp)
{
	const char *value = kconfig_get(pp->library, cmp->left.span.text);
	int64_t left = 0, right;

	if (cmp->right.id == T_STRLIT)
		return compare_glob(pp, cmp, value);
	if (cmp->right.id == T_NUMLIT) {
		if ((*value && !number_value(value, &left)) ||
		    !number_value(cmp->right.span.text, &right)) {
			complain(pp->c, COND_CONFIG_NUMBER, &cmp->left.span);
			return -1;
		}
		return holds(cmp->op.id, (left > right) - (left < right));
	}
	if (cmp->right.id == T_IDENT &&
	    !strncmp(cmp->right.span.text, "CONFIG_", 7)) {
		return compare_options(pp, cmp, value);
	}
	complain(pp->c, EXPECTED, &cmp->right.span,
		 "string, number literal or other CONFIG_... as right side "
		 "operand");
	return -1;
}

/* guru_mode is 1 with -g, else 0. */
static int compare_guru(struct pp *pp, const struct comparison *cmp)
{
	int64_t right;

	if (cmp->right.id != T_NUMLIT) {
		complain(pp->c, EXPECTED, &cmp->right.span, "number");
		return -1;
	}
	if (!number_value(cmp->right.span.text, &right) || right < 0 ||
	    right > 1) {
		complain(pp->c, EXPECTED, &cmp->op.span, "0 or 1");
		return -1;
	}
	if (want_equality(pp, cmp))
		return -1;
	/* 0 when equal, as holds() wants an order. */
	return holds(cmp->op.id, pp->c->set.guru != right);
}

/* Two strings or two numbers, mostly from macros or arguments. */
static int compare_literals(struct pp *pp, const struct comparison *cmp)
{
	int64_t left, right;

	if (cmp->left.id == T_STRLIT) {
		if (cmp->right.id == T_STRLIT)
			return holds(cmp->op.id, strcmp(cmp->left.span.text,
							cmp->right.span.text));
		complain(pp->c, EXPECTED, &cmp->right.span,
			 "string literal as right value");
		return -1;
	}
	if (cmp->right.id != T_NUMLIT) {
		complain(pp->c, EXPECTED, &cmp->right.span,
			 "number literal as right value");
		return -1;
	}
	if (!number_value(cmp->left.span.text, &left)) {
		complain(pp->c, NUMBER_BAD, &cmp->left.span);
		return -1;
	}
	if (!number_value(cmp->right.span.text, &right)) {
		complain(pp->c, NUMBER_BAD, &cmp->right.span);
		return -1;
	}
	return holds(cmp->op.id, (left > right) - (left < right));
}

/* 0, 1, or -1 with a message. The names are known_left()'s. */
static int compare(struct pp *pp, const struct comparison *cmp)
{
	const char *name = cmp->left.span.text;
	struct utsname u;

	if (cmp->left.id == T_STRLIT || cmp->left.id == T_NUMLIT)
		return compare_literals(pp, cmp);
	if (!strcmp(name, "systemtap_v"))
		return compare_version(pp, cmp, compat_version(pp->c));
	if (!strcmp(name, "runtime"))
		/* What the reference calls this way of running scripts. */
		return compare_glob(pp, cmp, "bpf");
	if (!strcmp(name, "systemtap_privilege"))
		return compare_glob(pp, cmp, "stapdev");
	if (!strcmp(name, "guru_mode"))
		return compare_guru(pp, cmp);
	if (!strncmp(name, "CONFIG_", 7))
		return compare_config(pp, cmp);
	memset(&u, 0, sizeof(u));
	uname(&u);
	if (!strcmp(name, "arch"))
		return compare_glob(pp, cmp, arch_name(&u));
	/*
	 * kernel_v is the release up to its first letter: "6.1.0" of
	 * "6.1.0-18-amd64"; kernel_vr is all of it.
	 */
	if (!strcmp(name, "kernel_v"))
		u.release[strspn(u.release, "0123456789.")] = 0;
	return compare_version(pp, cmp, u.release);
}

static bool known_left(const struct token *t)
{
	static const char *const names[] = {
	    "arch",        "kernel_v", "kernel_vr",
	    "systemtap_v", "runtime",  "systemtap_privilege",
	    "guru_mode",
	};

	if (t->id == T_STRLIT || t->id == T_NUMLIT)
		return true;
	if (t->id != T_IDENT)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(t->span.text, names[i]))
			return true;
	}
	return !strncmp(t->span.text, "CONFIG_", 7);
}

/*
 * One operand or operator; false: there is none, which was reported. *t is set
 * in any case; a token that was junk has its message already.
 */
static bool cond_token(struct pp *pp, const struct token *open, struct token *t)
{
	macro_next(pp, t);
	if (t->id == T_EOF || t->id == T_PP_CLOSE) {
		complain(pp->c, COND_INCOMPLETE, &open->span);
		return false;
	}
	return !t->reported;
}

/* One comparison; *last is the last token read. */
static int cond_compare(struct pp *pp, const struct token *open,
			struct token *last)
{
	struct comparison cmp;

	if (!cond_token(pp, open, last))
		return -1;
	cmp.left = *last;
	if (!known_left(&cmp.left)) {
		complain(pp->c, COND_OPERAND, &cmp.left.span);
		return -1;
	}
	if (!cond_token(pp, open, last))
		return -1;
	cmp.op = *last;
	if (!is_comparison(&cmp.op)) {
		complain(pp->c, EXPECTED, &cmp.op.span, "comparison operator");
		return -1;
	}
	if (!cond_token(pp, open, last))
		return -1;
	cmp.right = *last;
	return compare(pp, &cmp);
}

/*
 * && binds tighter than ||. All comparisons are made, also where the first one
 * decides, so that mistakes do not hide.
 */
int cond_read(struct pp *pp, const struct token *open, struct token *last)
{
	/* any: an earlier || operand held; all: the && chain so far does */
	int any = 0, all = 1, one;

	for (;;) {
		one = cond_compare(pp, open, last);
		if (one < 0)
			return -1;
		all = all && one;
		macro_next(pp, last);
		if (last->id == T_LOR) {
			any = any || all;
			all = 1;
		} else if (last->id == T_PP_THEN) {
			return any || all;
		} else if (last->id != T_LAND) {
			complain(pp->c, COND_NO_THEN, &open->span);
			return -1;
		}
	}
}
