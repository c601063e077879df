/* SPDX-License-Identifier: MIT */
/*
 * @words that stand for something simpler: @enum and @const for a number,
 * @enumname for a call of a function that is made for the enum, @kregister and
 * @uregister for register().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/map.h"
#include "front/parse.h"

#include <assert.h>
#include "sema/sema.h"
#include "types/ctype.h"
#include "types/debug.h"
#include "types/elf.h"
#include "types/types.h"

/* --- @enum, @const -------------------------------------------------------- */

/* Macros are in no BTF. Those that scripts want, as on all 64-bit machines. */
static const struct {
	const char *name;
	int64_t value;
} macros[] = {
#define CONSTANT(name, value) {#name, value},
#include "sema/constant.def"
};

/* An enumerator of the program that the handler's probe stands in. */
static bool of_program(struct scope *sc, const char *name, int64_t *ret)
{
	const char *path = sc->probe ? probe_program(sc->probe) : NULL, *why;
	struct debug_file *f = path ? debug_open(sc->s->c, path, &why) : NULL;

	return f && debug_constant(f, name, ret);
}

/*
 * The number that the word names. The program's own go before the kernel's, and
 * a type's enumerator before a macro.
 */
static bool constant(struct scope *sc, const struct node *n, int64_t *ret)
{
	struct compile *c = sc->s->c;
	const struct node *a =
	    n->u.atword.args.n ? n->u.atword.args.v[0] : NULL;

	if (!a || a->kind != N_STR)
		return false;
	if (of_program(sc, a->u.str, ret) || types_constant(c, a->u.str, ret))
		return true;
	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
		if (strcmp(n->u.atword.word, "@const") ||
		    strcmp(macros[i].name, a->u.str))
			continue;
		*ret = macros[i].value;
		return true;
	}
	return false;
}

bool word_defined(struct scope *sc, struct node *n)
{
	int64_t value;

	return constant(sc, n, &value);
}

static void become_number(struct node *n, int64_t v)
{
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = v;
}

static void resolve_constant(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	const char *missing;
	struct diag *d;
	int64_t v = 0;

	if (!constant(sc, n, &v)) {
		d = complain(c, NO_CONSTANT, &n->span, n->u.atword.word);
		missing = types_missing(c);
		if (missing)
			diag_note(c->diag, d, NULL, "%s", missing);
		else if (!strcmp(n->u.atword.word, "@const"))
			diag_help(c->diag, d,
				  "C macros are not in the kernel's types; "
				  "write the number");
	}
	become_number(n, v);
}

/* --- @enumname ------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	const struct cconst *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/*
 * A tree of comparisons: few for each value, and one statement in all. n is 1
 * at least. The text is that of one expression of the language.
 */
static void put_choice(FILE *f, const struct cconst *k, unsigned n)
{
	if (n == 1) {
		fprintf(f, "v == %lld ? \"%s\" : sprint(v)",
			(long long)k->value, k->name);
		return;
	}
	fprintf(f, "v < %lld ? (", (long long)k[n / 2].value);
	put_choice(f, k, n / 2);
	fputs(") : (", f);
	put_choice(f, k + n / 2, n - n / 2);
	fputc(')', f);
}

/* Sorted by value; of several names for one value the first. */
static unsigned sort_constants(struct compile *c, const struct ctype *t,
			       struct cconst **ret)
{
	struct cconst *k = arena_array(c->a, struct cconst, t->consts.n + 1);
	unsigned n = 0;

	for (unsigned i = 0; i < t->consts.n; i++) {
		bool again = false;

		for (unsigned j = 0; j < n && !again; j++)
			again = k[j].value == t->consts.v[i].value;
		if (!again)
			k[n++] = t->consts.v[i];
	}
	qsort(k, n, sizeof(*k), by_value);
	*ret = k;
	return n;
}

/* Ids of types count in each file anew. */
static unsigned source_number(struct compile *c, const void *owner)
{
	struct map **kept = (struct map **)types_keep(c, "enum sources");
	uint64_t key = (uintptr_t)owner;

	if (!*kept)
		*kept = map_new(c->a);
	if (!map_get_num(*kept, key))
		map_set_num(*kept, key, (void *)(uintptr_t)(map_count(*kept) +
							    1));
	return (uintptr_t)map_get_num(*kept, key);
}

/*
 * The function that gives a value's name; made once for each enum. Source text
 * is made and parsed: less code than syntax trees, and --dump shows it.
 */
static const char *name_function(struct sema *s, const struct ctype *t)
{
	struct compile *c = s->c;
	const char *name = str_internz(
	    c->str, arena_printf(c->a, "__enumname_%u_%llu_%s",
				     source_number(c, t->owner),
				     (unsigned long long)t->id, t->name));
	struct cconst *k;
	struct source *src;
	size_t len = 0;
	char *text = NULL;
	unsigned n;
	FILE *f;

	if (map_has(s->fns, name))
		return name;
	n = sort_constants(c, t, &k);
	f = open_memstream(&text, &len);
	fprintf(f, "function %s:string(v:long) { return ", name);
	if (n)
		put_choice(f, k, n);
	else
		fputs("sprint(v)", f);
	fputs(" }\n", f);
	fclose(f);
	src = source_new(c->a, name, arena_strndup(c->a, text, len), len,
			 c->sources.n);
	src->is_library = 1;
	vec_push(c->a, &c->sources, src);
	free(text);
	sema_add_file(s, parse_file(c, NULL, src, PARSE_LIBRARY));
	return name;
}

/* Of the program at a path, or the one that is found by a name. */
static const struct ctype *program_type(struct compile *c, const char *program,
					const char *name)
{
	const char *path = elf_search(c, program, NULL), *why;
	struct debug_file *f = path ? debug_open(c, path, &why) : NULL;

	return f ? debug_type(f, name) : NULL;
}

/*
 * By name, or from the type of the value itself. NULL: no enum, or none known.
 */
static const struct ctype *enum_type(struct scope *sc, const struct node *n)
{
	struct compile *c = sc->s->c;
	const node_list *args = &n->u.atword.args;
	const struct node *of = args->v[0];
	const struct ctype *t = NULL;
	const char *module = args->n > 2 ? args->v[2]->u.str : "kernel";

	/* In a probe of a program its own enums come first. */
	if (args->n == 2 && sc->probe && probe_program(sc->probe))
		t = program_type(c, probe_program(sc->probe),
				 args->v[1]->u.str);
	if (!t && args->n > 1 &&
	    (!strncmp(module, "kernel", 6) || *module == '<'))
		t = types_find(c, args->v[1]->u.str);
	else if (!t && args->n > 1)
		t = types_find_in(c, module, args->v[1]->u.str);
	if (!t && args->n > 2)
		t = program_type(c, module, args->v[1]->u.str);
	if (args->n == 1 && (of->kind == N_TARGET || of->kind == N_ARROW) &&
	    of->u.target.access)
		t = of->u.target.access->type;
	t = ctype_fill(ctype_strip(t));
	return t && t->kind == CT_ENUM ? t : NULL;
}

static void resolve_enumname(struct scope *sc, struct node *n)
{
	struct compile *c = sc->s->c;
	node_list args = n->u.atword.args;
	const struct ctype *t;
	struct diag *d;

	resolve_operand(sc, args.v[0]);
	t = enum_type(sc, n);
	if (!t) {
		d = complain(c, NO_ENUM, &n->span);
		if (args.n > 1)
			diag_note(c->diag, d, &args.v[1]->span,
				  "'%s' is no enum that is known",
				  args.v[1]->u.str);
		else
			diag_help(c->diag, d, "name it: @enumname(value, "
				  "\"enum pid_type\")");
		n->kind = N_STR;
		n->type = TY_STRING;
		n->u.str = str_internz(c->str, "");
		return;
	}
	args.n = 1;
	memset(&n->u, 0, sizeof(n->u));
	n->kind = N_CALL;
	n->u.call.name = name_function(sc->s, t);
	n->u.call.args = args;
	resolve_operand(sc, n);
}

/* --- @kregister, @uregister ----------------------------------------------- */

/* As DWARF numbers them on this machine; NULL: no such one. */
static const char *register_name(struct compile *c, int64_t n)
{
	static const char *const x86[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};
	struct utsname u;

	if (uname(&u))
		return NULL;
	if (!strcmp(u.machine, "x86_64"))
		return n >= 0 && n < (int)(sizeof(x86) / sizeof(*x86)) ? x86[n]
								      : NULL;
	if (n < 0 || n > 31)
		return NULL;
	return n == 31 ? "sp" : arena_printf(c->a, "x%d", (int)n);
}

static void resolve_register(struct scope *sc, struct node *n, bool user)
{
	struct compile *c = sc->s->c;
	struct node *num = n->u.atword.args.v[0], *name;
	bool in_user = sc->probe && sc->probe->guard == GUARD_PREEMPTIBLE;
	const char *reg = register_name(c, num->u.num);
	struct diag *d;

	if (!reg || (user && sc->probe && !in_user)) {
		d = complain(c, NO_REGISTER, &n->span, n->u.atword.word,
			     (long long)num->u.num);
		if (reg)
			diag_note(c->diag, d, NULL, "the user's registers are "
				  "only known in probes of programs");
		become_number(n, 0);
		return;
	}
	name = node_new(c->a, N_STR, num->span);
	name->type = TY_STRING;
	name->u.str = str_internz(c->str, reg);
	memset(&n->u, 0, sizeof(n->u));
	n->kind = N_CALL;
	n->u.call.name = str_internz(c->str, "register");
	vec_push(c->a, &n->u.call.args, name);
	resolve_operand(sc, n);
}

void word_resolve(struct scope *sc, struct node *n)
{
	const char *word = n->u.atword.word;

	if (!strcmp(word, "@enum") || !strcmp(word, "@const")) {
		resolve_constant(sc, n);
	} else if (!strcmp(word, "@enumname")) {
		resolve_enumname(sc, n);
	} else if (!strcmp(word, "@kregister")) {
		resolve_register(sc, n, false);
	} else if (!strcmp(word, "@uregister")) {
		resolve_register(sc, n, true);
	} else if (!strcmp(word, "@perf")) {
		counter_resolve(sc, n);
	} else {
		assert(!"a word that nobody resolves");
	}
}
