/* SPDX-License-Identifier: MIT */
/* types/: the running kernel's types; what is asserted holds for all. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compile.h"
#include "base/settings.h"
#include "types/types.h"
#include "types/walk.h"

static struct compile *open_types(void)
{
	struct compile *c = compile_new();

	if (!types_missing(c))
		return c;
	compile_free(c);
	return NULL;
}

static void close_types(struct compile *c)
{
	types_close(c);
	compile_free(c);
}

static const char *no_btf = "the kernel has no BTF";

TEST(finds_types_by_name)
{
	struct compile *c = open_types();
	const struct ctype *t;

	if (!c)
		SKIP(no_btf);
	t = types_find(c, "struct task_struct");
	CHECK(t && t->kind == CT_STRUCT && t->size > 1000);
	CHECK(types_find(c, "task_struct") == t);
	t = types_find(c, "int");
	CHECK(t && t->kind == CT_INT && t->size == 4 && t->sign);
	t = types_find(c, "unsigned int");
	CHECK(t && t->size == 4 && !t->sign);
	t = ctype_strip(types_find(c, "pid_t"));
	CHECK(t && t->kind == CT_INT && t->size == 4 && t->sign);
	CHECK_STR(ctype_text(c, types_find(c, "struct file *")),
		  "struct file*");
	CHECK(!types_find(c, "struct no_such_struct"));
	CHECK(!types_find(c, ""));
	CHECK(!types_find(c, "***"));
	close_types(c);
}

TEST(follows_member_chains)
{
	struct compile *c = open_types();
	uint32_t off[CHAIN_MAX];
	int size;

	if (!c)
		SKIP(no_btf);
	CHECK_EQ(types_chain(c, "task_struct", "tgid", off, &size), 1);
	CHECK_EQ(size, -4);
	CHECK_EQ(types_chain(c, "task_struct", "real_parent.tgid", off, &size),
		 2);
	CHECK_EQ(types_chain(c, "task_struct", "comm", off, &size), 1);
	CHECK_EQ(size, 16);
	CHECK_EQ(types_chain(c, "task_struct",
			     "signal.pids[2].numbers[0].nr", off, &size),
		 3);
	CHECK_EQ(types_chain(c, "task_struct", "nosuch.tgid", off, &size),
		 -ENOENT);
	CHECK_EQ(types_chain(c, "task_struct", "tgid[1]", off, &size), -ENOENT);
	CHECK_EQ(types_chain(c, "nosuch", "tgid", off, &size), -ENOENT);
	close_types(c);
}

TEST(knows_arguments_of_tracepoints)
{
	struct compile *c = open_types();
	const struct ctype *t;
	name_vec names = {0};

	if (!c)
		SKIP(no_btf);
	t = types_tracepoint(c, "sys_enter");
	CHECK(t && t->members.n == 2);
	CHECK_STR(t->members.v[0].name, "regs");
	CHECK_STR(ctype_text(c, t->members.v[0].type), "struct pt_regs*");
	CHECK_STR(t->members.v[1].name, "id");
	CHECK(!types_tracepoint(c, "sys_entr"));
	CHECK_EQ(types_tracepoints(c, "sys_*", &names), 0);
	CHECK_EQ(names.n, 2);
	CHECK_STR(names.v[0], "sys_enter");
	close_types(c);
}

TEST(knows_constants_and_functions)
{
	struct compile *c = open_types();
	const struct ctype *t;
	int64_t v = -1;

	if (!c)
		SKIP(no_btf);
	CHECK(types_constant(c, "PIDTYPE_PGID", &v));
	CHECK_EQ(v, 2);
	CHECK(!types_constant(c, "PIDTYPE_NONE_SUCH", &v));
	t = types_function(c, "", "vfs_read");
	CHECK(t && t->members.n == 4);
	CHECK_STR(t->members.v[0].name, "file");
	close_types(c);
}

/* A walk over "->"s and one index, without a syntax tree around it. */
static int walk(struct compile *c, struct access *a, const char *type,
		const char *const *names, unsigned n)
{
	struct walk w;
	struct span at = {0};

	walk_start(&w, c, a,
		   ctype_pointer_to(c, types_find(c, type)));
	for (unsigned i = 0; i < n; i++)
		if (walk_member(&w, names[i], &at, false))
			return -1;
	walk_value(&w);
	return 0;
}

TEST(walks_through_pointers)
{
	static const char *const chain[] = {"real_parent", "tgid"};
	struct compile *c = open_types();
	struct access a = {.base = ACC_VALUE};
	uint32_t off[CHAIN_MAX];
	int size;

	if (!c)
		SKIP(no_btf);
	CHECK_EQ(walk(c, &a, "struct task_struct", chain, 2), 0);
	types_chain(c, "task_struct", "real_parent.tgid", off, &size);
	CHECK_EQ(a.steps.n, 2);
	CHECK_EQ(a.steps.v[0].off, off[0]);
	CHECK_EQ(a.steps.v[0].load, 8);
	CHECK_EQ(a.steps.v[1].off, off[1]);
	CHECK_EQ(a.steps.v[1].load, 4);
	CHECK(a.steps.v[1].sign);
	close_types(c);
}

TEST(walks_inside_one_struct_in_one_step)
{
	static const char *const chain[] = {"se", "sum_exec_runtime"};
	struct compile *c = open_types();
	struct access a = {.base = ACC_VALUE};

	if (!c)
		SKIP(no_btf);
	CHECK_EQ(walk(c, &a, "struct task_struct", chain, 2), 0);
	CHECK_EQ(a.steps.n, 1);
	CHECK_EQ(a.steps.v[0].load, 8);
	close_types(c);
}

TEST(gives_the_address_of_an_array)
{
	static const char *const chain[] = {"comm"};
	struct compile *c = open_types();
	struct access a = {.base = ACC_VALUE};

	if (!c)
		SKIP(no_btf);
	CHECK_EQ(walk(c, &a, "struct task_struct", chain, 1), 0);
	CHECK_EQ(a.steps.n, 1);
	CHECK_EQ(a.steps.v[0].load, 0);
	CHECK_STR(ctype_text(c, a.type), "char [16]");
	close_types(c);
}

TEST(finds_bit_fields)
{
	static const char *const chain[] = {"pkt_type"};
	struct compile *c = open_types();
	struct access a = {.base = ACC_VALUE};

	if (!c)
		SKIP(no_btf);
	CHECK_EQ(walk(c, &a, "struct sk_buff", chain, 1), 0);
	CHECK_EQ(a.steps.v[0].bit_size, 3);
	CHECK(a.steps.v[0].load > 0);
	CHECK(a.steps.v[0].bit_off + 3 <= a.steps.v[0].load * 8);
	close_types(c);
}

/* What is said of a member that is not there. */
static char *complaint(struct compile *c, const char *type, const char *member)
{
	const char *const chain[] = {member};
	struct access a = {.base = ACC_VALUE};
	struct diag_style style = {0};
	char *text = NULL;
	size_t n;
	FILE *f;

	CHECK_EQ(walk(c, &a, type, chain, 1), -1);
	f = open_memstream(&text, &n);
	diags_print(c->diag, f, &style);
	fclose(f);
	return text;
}

TEST(names_members_that_are_near)
{
	struct compile *c = open_types();
	char *text;

	if (!c)
		SKIP(no_btf);
	text = complaint(c, "struct task_struct", "tgidd");
	CHECK(strstr(text, "unable to find member 'tgidd' for struct "
			   "task_struct (alternatives: tgid, "));
	free(text);
	close_types(c);
	/* Its members are those of an anonymous struct in it. */
	c = open_types();
	text = complaint(c, "struct mm_struct", "mm_user");
	CHECK(strstr(text, "(alternatives: mm_users, "));
	free(text);
	close_types(c);
}

TEST(types_stay_when_the_file_is_closed)
{
	struct compile *c = open_types();
	const struct ctype *t;
	uint32_t bit;

	if (!c)
		SKIP(no_btf);
	t = types_find(c, "struct task_struct");
	types_close(c);
	CHECK_STR(t->name, "task_struct");
	/* Asked for only now. */
	CHECK(ctype_member(t, "tgid", &bit) && bit > 0);
	CHECK(types_find(c, "struct task_struct") == t);
	CHECK(types_function(c, "no_such_module", "vfs_read") == NULL);
	CHECK(types_function(c, "../vmlinux", "vfs_read") == NULL);
	close_types(c);
}
