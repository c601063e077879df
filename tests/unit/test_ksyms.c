/* SPDX-License-Identifier: MIT */
/*
 * types/ksyms: functions of a list of symbols that is ours, so that what is in
 * it and how often it is opened do not depend on the kernel.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compile.h"
#include "types/ksyms.h"
#include "types/types.h"

static const char symbols[] =
	"ffffffff81000000 T alpha_one\n"
	"ffffffff81000010 t beta\n"
	"ffffffff81000020 t beta\n"
	"ffffffff81000030 T __pfx_alpha_one\n"
	"ffffffff81000040 t alpha_one.cold\n"
	"ffffffff81000050 D alpha_data\n"
	"no line of a symbol\n"
	"ffffffff81000060 t gamma.constprop.0\n"
	"ffffffff81000070 t gamma.isra.0\n"
	"ffffffff81000080 W alpha_weak\n"
	"ffffffff82000000 T _sinittext\n"
	"ffffffff82000010 T alpha_start\n"
	"ffffffff82000020 T _einittext\n"
	"ffffffffc0000000 t alpha_one\t[mod_a]\n"
	"ffffffffc0000010 t delta.isra.0\t[mod_a]\n"
	"ffffffffc0000020 t alpha_two\t[mod_b]\n"
	"ffffffffc0000030 t alpha_program\t[bpf]\n"
	"ffffffffc0000040 t alpha_call\t[__builtin__ftrace]\n"
	/* Once more, as functions that are gone after a module's start. */
	"ffffffffc0000050 t alpha_one\t[mod_a]\n";

static unsigned opened;
static int refuse; /* errno that opening fails with; 0: it works */

/* Instead of the C library's. Nothing else is opened here. */
FILE *fopen(const char *path, const char *mode)
{
	CHECK_STR(path, "/proc/kallsyms");
	CHECK_STR(mode, "re");
	opened++;
	errno = refuse;
	return refuse ? NULL : fmemopen((char *)symbols, strlen(symbols), "r");
}

/* "module:name" of what is found, by blanks; lives in c. */
static const char *find(struct compile *c, const char *module,
			const char *name)
{
	ksym_list got = {0};
	const char *text = "";

	CHECK_EQ(ksyms_find(c, module, name, &got), 0);
	for (unsigned i = 0; i < got.n; i++)
		text = arena_printf(c->a, "%s%s%s:%s", text, i ? " " : "",
				    got.v[i].module, got.v[i].symbol);
	return text;
}

TEST(functions_that_match)
{
	struct compile *c = compile_new();

	CHECK_STR(find(c, "", "alpha*"), ":alpha_one :alpha_weak");
	CHECK_STR(find(c, "", "alpha_one"), ":alpha_one");
	CHECK_STR(find(c, "", "beta"), ":beta");
	CHECK_STR(find(c, "", "alpha_data"), "");
	CHECK_STR(find(c, "", "alpha_start"), "");
	CHECK_STR(find(c, "", "*[.]*"), "");
	CHECK_STR(find(c, "*", "alpha*"), "mod_a:alpha_one mod_b:alpha_two");
	CHECK_STR(find(c, "mod_b", "*"), "mod_b:alpha_two");
	types_close(c);
	compile_free(c);
}

/* The first copy there is, for a name without wildcards, of the kernel. */
TEST(copies_of_functions)
{
	struct compile *c = compile_new();

	CHECK_STR(find(c, "", "gamma"), ":gamma.constprop.0");
	CHECK_STR(find(c, "", "gam*"), "");
	CHECK_STR(find(c, "mod_a", "delta"), "");
	types_close(c);
	compile_free(c);
}

TEST(symbols_are_read_once)
{
	struct compile *c = compile_new();
	ksym_list got = {0};

	opened = 0;
	/* A script without functions of the kernel does not read them. */
	types_close(c);
	CHECK_EQ(opened, 0);
	find(c, "", "alpha*");
	find(c, "", "beta");
	find(c, "*", "*");
	CHECK_EQ(opened, 1);
	/* What was found outlives the names, which come back when asked for. */
	CHECK_EQ(ksyms_find(c, "", "beta", &got), 0);
	types_close(c);
	CHECK_STR(got.v[0].name, "beta");
	CHECK_STR(find(c, "", "beta"), ":beta");
	CHECK_EQ(opened, 2);
	types_close(c);
	types_close(c);
	compile_free(c);
}

TEST(symbols_that_cannot_be_read)
{
	struct compile *c = compile_new();
	ksym_list got = {0};

	refuse = EACCES;
	CHECK_EQ(ksyms_find(c, "", "beta", &got), -EACCES);
	CHECK_EQ(got.n, 0);
	refuse = 0;
	CHECK_STR(find(c, "", "beta"), ":beta");
	types_close(c);
	compile_free(c);
}
