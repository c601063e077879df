/* SPDX-License-Identifier: MIT */
/*
 * process("PATH").begin, .end, .thread.begin, .thread.end, .syscall and
 * .syscall.return, the same of process(PID), and perf events of a program: the
 * library's __program.begin and so on, which see all processes, behind a
 * statement that leaves the handler in the others. Uprobes need no such
 * statement: they are in the program's file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sema/sema.h"

static bool is_named(const struct component *k, const char *name)
{
	return !strcmp(k->name, name) && k->arg.type == TY_UNKNOWN;
}

/* What follows process(...): begin, thread.end, syscall.return, ... */
static bool is_life(const struct point *pt)
{
	const struct component *k = pt->parts.v + 1;
	unsigned n = pt->parts.n - 1;

	if (n == 1)
		return is_named(k, "begin") || is_named(k, "end") ||
		       is_named(k, "syscall");
	if (n != 2)
		return false;
	if (is_named(k, "syscall"))
		return is_named(k + 1, "return");
	return is_named(k, "thread") &&
	       (is_named(k + 1, "begin") || is_named(k + 1, "end"));
}

/* The component that names the program; NULL: there is none. */
static const struct component *program_of(const struct point *pt)
{
	const struct component *k = pt->parts.v;
	unsigned n = pt->parts.n;

	if (n < 2)
		return NULL;
	if (!strcmp(k->name, "process") && k->arg.type != TY_UNKNOWN)
		return is_life(pt) ? k : NULL;
	/* of perf events also that of the target, which has no argument */
	if (!is_named(k, "perf") || strcmp(k[n - 1].name, "process"))
		return NULL;
	/* process() comes before counter() */
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(k[i].name, "counter"))
			return NULL;
	return &k[n - 1];
}

struct point *program_point(struct compile *c, const struct point *pt)
{
	const struct component *k = program_of(pt);
	struct component first;
	struct point *ret;
	unsigned i;

	if (!k)
		return NULL;
	ret = arena_new_of(c->a, struct point);
	*ret = *pt;
	memset(&ret->parts, 0, sizeof(ret->parts));
	if (k == pt->parts.v) {
		first = *k;
		first.name = str_internz(c->str, "__program");
		first.arg = (struct literal){0};
		vec_push(c->a, &ret->parts, first);
	}
	for (i = 0; i < pt->parts.n; i++)
		if (&pt->parts.v[i] != k)
			vec_push(c->a, &ret->parts, pt->parts.v[i]);
	return ret;
}

static struct node *call(struct compile *c, const struct span *at,
			 const char *name)
{
	struct node *n = node_new(c->a, N_CALL, *at);

	n->u.call.name = str_internz(c->str, name);
	return n;
}

static struct node *number(struct compile *c, const struct span *at, int64_t v)
{
	struct node *n = node_new(c->a, N_NUM, *at);

	n->u.num = v;
	return n;
}

static struct node *binary(struct compile *c, const struct span *at,
			   enum node_kind kind, enum oper op, struct node *a,
			   struct node *b)
{
	struct node *n = node_new(c->a, kind, *at);

	n->u.binary.op = op;
	n->u.binary.a = a;
	n->u.binary.b = b;
	return n;
}

bool program_id(struct compile *c, const char *path, int64_t *ret_ino,
		const char **ret_name)
{
	char *real = realpath(path, NULL);
	const char *base = real ? real : path;
	struct stat st;

	if (stat(path, &st)) {
		free(real);
		return false;
	}
	if (strrchr(base, '/'))
		base = strrchr(base, '/') + 1;
	*ret_ino = (int64_t)st.st_ino;
	*ret_name = str_internz(c->str, base);
	free(real);
	return true;
}

/* Is the current process running this file? */
static struct node *runs_file(struct compile *c, const struct span *at,
			      const char *path)
{
	struct node *n = call(c, at, "__program_is"), *name;
	const char *text;
	int64_t ino;

	if (!program_id(c, path, &ino, &text))
		return NULL;
	name = node_new(c->a, N_STR, *at);
	name->u.str = text;
	vec_push(c->a, &n->u.call.args, number(c, at, ino));
	vec_push(c->a, &n->u.call.args, name);
	return n;
}

/* pid() == what, which is a number or the call of a function. */
static struct node *runs_as(struct compile *c, const struct span *at,
			    struct node *what)
{
	return binary(c, at, N_BINARY, OPER_EQ, call(c, at, "pid"), what);
}

int program_filter(struct sema *s, const struct point *pt, bool quiet,
		   struct node **ret)
{
	const struct component *k = program_of(pt);
	const struct span *at = &pt->span;
	struct compile *c = s->c;
	struct node *mine = NULL, *no, *leave;
	name_list files = {0};
	unsigned i;

	if (k->arg.type == TY_UNKNOWN && !c->set.target_pid && !c->set.cmd) {
		/* which says so; the handler would never run */
		probe_programs(c, pt, NULL, quiet, &files);
		return -1;
	} else if (k->arg.type == TY_UNKNOWN) {
		mine = runs_as(c, at, call(c, at, "target"));
	} else if (k->arg.type == TY_LONG) {
		mine = runs_as(c, at, number(c, at, k->arg.num));
	} else if (probe_programs(c, pt, &k->arg, quiet, &files)) {
		return -1;
	}
	for (i = 0; i < files.n; i++) {
		struct node *one = runs_file(c, at, files.v[i]);

		if (one)
			mine = mine ? binary(c, at, N_LOGIC, OPER_LOR, mine,
					     one)
				    : one;
	}
	if (!mine) /* a glob without files: never */
		mine = number(c, at, 0);
	no = node_new(c->a, N_UNARY, *at);
	no->u.unary.op = OPER_NOT;
	no->u.unary.a = mine;
	leave = node_new(c->a, N_IF, *at);
	leave->u.ternary.a = no;
	leave->u.ternary.b = node_new(c->a, N_NEXT, *at);
	*ret = leave;
	return 0;
}
