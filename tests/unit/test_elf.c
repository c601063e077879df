/* SPDX-License-Identifier: MIT */
/* types/elf: symbols of this very program. */
#include "test.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compile.h"
#include "base/settings.h"
#include "types/elf.h"
#include "types/files.h"
#include "types/glob.h"

/* Found by name below; the two names share an address. */
int elf_marker_one(int x);
int __elf_marker_alias(int x);

int __attribute__((noinline, used)) elf_marker_one(int x)
{
	return x + getpid();
}
int __elf_marker_alias(int x) __attribute__((alias("elf_marker_one")));

/* As gcc names what it made of a function for its callers. */
int elf_copied(int x) __asm__("elf_copied.constprop.0");
int __attribute__((noinline, used)) elf_copied(int x)
{
	return x - getpid();
}

static struct elf_file *open_self(struct compile *c)
{
	const char *why = "";
	struct elf_file *f = elf_open_file(c, "/proc/self/exe", &why);

	if (!f)
		TEST_FAIL("cannot open /proc/self/exe: %s", why);
	return f;
}

TEST(finds_a_function)
{
	struct compile *c = compile_new();
	struct elf_file *f = open_self(c);
	elf_funcs fn = {0};
	unsigned char code[16], mem[16];

	CHECK_EQ(elf_find_funcs(c, f, "elf_marker_one", &fn), 0);
	CHECK_EQ(fn.n, 1);
	CHECK_STR(fn.v[0].name, "elf_marker_one");
	CHECK(fn.v[0].is_global);
	/* The file holds at that offset what memory holds at that address. */
	CHECK_EQ(pread(f->fd, code, sizeof(code), fn.v[0].offset),
		 sizeof(code));
	memcpy(mem, (const void *)(uintptr_t)elf_marker_one, sizeof(mem));
	CHECK(!memcmp(code, mem, sizeof(mem)));
	elf_close_file(f);
	compile_free(c);
}

TEST(finds_a_specialized_copy)
{
	struct compile *c = compile_new();
	struct elf_file *f = open_self(c);
	elf_funcs fn = {0};

	CHECK(elf_copied(0) < 0); /* or the linker leaves it out */
	CHECK_EQ(elf_find_funcs(c, f, "elf_copied", &fn), 0);
	CHECK_EQ(fn.n, 1);
	CHECK_STR(fn.v[0].name, "elf_copied");
	elf_close_file(f);
	compile_free(c);
}

TEST(takes_an_address_once)
{
	struct compile *c = compile_new();
	struct elf_file *f = open_self(c);
	elf_funcs fn = {0};

	CHECK_EQ(elf_find_funcs(c, f, "*elf_marker_*", &fn), 0);
	CHECK_EQ(fn.n, 1);
	CHECK_STR(fn.v[0].name, "elf_marker_one");
	elf_close_file(f);
	compile_free(c);
}

TEST(finds_nothing_of_other_names)
{
	struct compile *c = compile_new();
	struct elf_file *f = open_self(c);
	elf_funcs fn = {0};

	CHECK_EQ(elf_find_funcs(c, f, "no_such_function", &fn), 0);
	CHECK_EQ(fn.n, 0);
	/* Called here, but it lives in libc. */
	CHECK_EQ(elf_find_funcs(c, f, "getpid", &fn), 0);
	CHECK_EQ(fn.n, 0);
	elf_close_file(f);
	compile_free(c);
}

TEST(refuses_other_files)
{
	struct compile *c = compile_new();
	const char *why = NULL;

	CHECK(!elf_open_file(c, "/proc/self/cmdline", &why));
	CHECK(why != NULL);
	CHECK(!elf_open_file(c, "/no/such/file", &why));
	CHECK_STR(why, "No such file or directory");
	CHECK(!elf_open_file(c, "/", &why));
	elf_close_file(NULL);
	compile_free(c);
}

TEST(searches_programs)
{
	struct compile *c = compile_new();
	const char *sh;

	sh = elf_search(c, "sh", NULL);
	CHECK(sh && *sh == '/' && !access(sh, X_OK));
	CHECK(!elf_search(c, "no-such-program-here", NULL));
	CHECK_STR(elf_search(c, "/proc/self/exe", NULL), "/proc/self/exe");
	CHECK(!elf_search(c, "/proc", NULL));
	compile_free(c);
}

TEST(globs)
{
	CHECK(name_is_copy("f.isra.0", "f"));
	CHECK(name_is_copy("f.constprop.12", "f"));
	CHECK(!name_is_copy("f", "f"));
	CHECK(!name_is_copy("f.part.0", "f"));
	CHECK(!name_is_copy("f.isra.0.cold", "f"));
	CHECK(!name_is_copy("ff.isra.0", "f"));
	CHECK(name_glob("*", ""));
	CHECK(name_glob("a*c", "abbbc"));
	CHECK(name_glob("a*b*c", "aXbYbZc"));
	CHECK(!name_glob("a*b*c", "aXbYbZ"));
	CHECK(name_glob("?bc", "abc"));
	CHECK(!name_glob("?", ""));
	CHECK(!name_glob("", "a"));
	CHECK(name_glob("*aab", "aaaaaaab"));
	CHECK(name_glob("vfs[_]read", "vfs_read"));
	CHECK(name_glob("*[a-c]x*", "aaabxx"));
	CHECK(!name_glob("[a-c]", "d"));
	CHECK(name_glob("[!a-c]d", "dd"));
	CHECK(!name_glob("[^a-c]", "b"));
	CHECK(name_glob("[]x]", "]"));
	CHECK(name_glob("[a-]", "-"));
	CHECK(name_glob("[\xc3\xa4]", "\xa4"));
	CHECK(name_glob("a[", "a["));
	CHECK(name_glob("[a", "[a"));
	CHECK(!name_glob("[a", "a"));
	CHECK(!name_glob("[", ""));
	CHECK(!name_glob("[a]", ""));
}

/* The same as libc finds, which has no limit. */
TEST(patterns_of_files)
{
	static const char *const patterns[] = {
		"/bin/l?", "/usr/*/[k-m]s", "/etc/pass*", "/proc/self/ex*",
		"/etc//*.conf", "/no/such/*", "/*/", "/proc/self/.*", "*",
	};
	struct compile *c = compile_new();

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		name_vec got = {0};
		glob_t want = {0};

		CHECK_EQ(files_glob(c->a, patterns[i], &got), 0);
		glob(patterns[i], 0, NULL, &want);
		CHECK_EQ(got.n, want.gl_pathc);
		for (unsigned k = 0; k < got.n && k < want.gl_pathc; k++)
			CHECK_STR(got.v[k], want.gl_pathv[k]);
		globfree(&want);
	}
	compile_free(c);
}
