/* SPDX-License-Identifier: MIT */
/* String, time and memory built-ins, called as generated host code calls them.
 */
#include "test.h"

#include <stdlib.h>

#include "base/settings.h"
#include "store/store.h"
#include "vm/op.h"
#include "vm/vm.h"

enum { WIDTH = 512 };

/* What the program sees at r1. */
static struct {
	uint64_t arg[4];
	char str[3][WIDTH];
	char dst[WIDTH], err[WIDTH];
} mem;

static struct compile compile;
static struct plan plan;
static struct gen gen;
static struct ir ir;
static struct store *store;
static struct vm *vm;
static char printed[WIDTH], warned[WIDTH];
static int exits;

static void on_out(void *ctx, const char *s, size_t n)
{
	memcpy(printed, s, n);
	printed[n] = 0;
}

static void on_warn(void *ctx, const char *s)
{
	snprintf(warned, sizeof(warned), "%s", s);
}

static void on_exit_call(void *ctx)
{
	exits++;
}

static void on_who(void *ctx, struct vm_who *w)
{
	*w = (struct vm_who){.pid = 11,
			     .tid = 12,
			     .ppid = 13,
			     .pgrp = 14,
			     .sid = 15,
			     .uid = 16,
			     .euid = 17,
			     .gid = 18,
			     .egid = 19,
			     .cpu = 3,
			     .comm = "abc",
			     .pcomm = "parent",
			     .wall_ns = 1700000000123456789,
			     .mono_ns = 5000000001};
}

static void start(void)
{
	const struct vm_hooks hooks = {.out = on_out,
				       .warn = on_warn,
				       .exit = on_exit_call,
				       .who = on_who};

	if (vm)
		return;
	settings_init(&compile.set);
	gen.c = &compile;
	gen.ir = &ir;
	gen.plan = &plan;
	plan.ncpus = plan.nrows = 1;
	plan.row_size = 64;
	plan.control_size = sizeof(struct control);
	store = store_mem_open(&plan);
	vm = vm_new(&compile, &gen, store, &hooks);
}

static uint64_t addr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

#define INSN(c, d, s, o, i)                                                    \
	((struct bpf_insn){.code = (c),                                        \
			   .dst_reg = (d),                                     \
			   .src_reg = (s),                                     \
			   .off = (o),                                         \
			   .imm = (i)})
#define LDDW(d, v)                                                             \
	INSN(CODE_LDDW, d, 0, 0, (int32_t)(uint32_t)(uint64_t)(v)),            \
	    INSN(0, 0, 0, 0, (int32_t)((uint64_t)(v) >> 32))
#define CALL(i) INSN(CODE_CALL, 0, 0, 0, i)

/* Calls a built-in; mem.err has the error's text, or "". */
static int64_t call(enum builtin_id id, uint64_t width)
{
	const struct bpf_insn code[] = {
	    LDDW(1, id),
	    LDDW(2, addr(mem.arg)),
	    LDDW(3, addr(mem.dst)),
	    LDDW(4, width),
	    LDDW(5, -1),
	    CALL(HOST_BUILTIN),
	    INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0),
	    LDDW(1, addr(mem.err)),
	    LDDW(2, WIDTH),
	    CALL(HOST_TAKEERR),
	    INSN(BPF_ALU64 | BPF_MOV | BPF_X, 0, 6, 0, 0),
	    INSN(CODE_EXIT, 0, 0, 0, 0),
	};
	uint64_t r0 = 0;

	start();
	memset(mem.dst, 0x5a, sizeof(mem.dst));
	memset(mem.err, 0, sizeof(mem.err));
	if (vm_run_insns(vm, code, sizeof(code) / sizeof(code[0]), &mem,
			 sizeof(mem), &r0) &&
	    vm_fault(vm)[0])
		TEST_FAIL("fault: %s", vm_fault(vm));
	return (int64_t)r0;
}

/* Argument i is a string; a number. */
static void str(unsigned i, const char *s)
{
	memset(mem.str[i], 0, WIDTH);
	memcpy(mem.str[i], s, strlen(s));
	mem.arg[i] = addr(mem.str[i]);
}

static int64_t num1(enum builtin_id id, const char *a)
{
	str(0, a);
	return call(id, 0);
}

static int64_t num2(enum builtin_id id, const char *a, const char *b)
{
	str(0, a);
	str(1, b);
	return call(id, 0);
}

static int64_t numi(enum builtin_id id, const char *a, int64_t b)
{
	str(0, a);
	mem.arg[1] = (uint64_t)b;
	return call(id, 0);
}

static const char *substr(const char *s, int64_t from, int64_t n)
{
	str(0, s);
	mem.arg[1] = (uint64_t)from;
	mem.arg[2] = (uint64_t)n;
	call(BI_SUBSTR, WIDTH);
	return mem.dst;
}

static const char *text(enum builtin_id id, const char *s, int64_t n, int64_t q)
{
	str(0, s);
	mem.arg[1] = (uint64_t)n;
	mem.arg[2] = (uint64_t)q;
	call(id, WIDTH);
	return mem.dst;
}

static const char *replace(const char *s, const char *what, const char *put)
{
	str(0, s);
	str(1, what);
	str(2, put);
	call(BI_STR_REPLACE, WIDTH);
	return mem.dst;
}

TEST(lengths_and_searches)
{
	CHECK_EQ(num1(BI_STRLEN, ""), 0);
	CHECK_EQ(num1(BI_STRLEN, "hello"), 5);
	CHECK_EQ(num2(BI_ISINSTR, "hello", "ell"), 1);
	CHECK_EQ(num2(BI_ISINSTR, "hello", "elx"), 0);
	CHECK_EQ(num2(BI_ISINSTR, "hello", ""), 1);
	CHECK_EQ(num2(BI_STRPOS, "hello", "l"), 2);
	CHECK_EQ(num2(BI_STRPOS, "hello", "z"), -1);
	CHECK(num1(BI_ISDIGIT, "7x"));
	CHECK(!num1(BI_ISDIGIT, "x7"));
	CHECK(!num1(BI_ISDIGIT, ""));
}

TEST(substrings)
{
	CHECK_STR(substr("hello", 1, 3), "ell");
	CHECK_STR(substr("hello", 1, 99), "ello");
	CHECK_STR(substr("hello", 0, INT64_MAX), "hello");
	CHECK_STR(substr("hello", -1, 3), "");
	CHECK_STR(substr("hello", 5, 3), "");
	CHECK_STR(substr("hello", 1, 0), "");
	CHECK_STR(substr("hello", 1, INT64_MIN), "");
	/* padded with zeros to the width */
	for (int i = 1; i < WIDTH; i++)
		CHECK_EQ(mem.dst[i], 0);
}

TEST(bytes_of_a_string)
{
	CHECK_EQ(numi(BI_STRINGAT, "a\xff", 0), 'a');
	CHECK_EQ(numi(BI_STRINGAT, "a\xff", 1), -1);
	CHECK_STR(mem.err, "");
	CHECK_EQ(numi(BI_STRINGAT, "ab", 2), 0);
	CHECK_STR(mem.err, "Position out of bounds");
	numi(BI_STRINGAT, "ab", -1);
	CHECK_STR(mem.err, "Position out of bounds");
}

TEST(numbers_in_strings)
{
	CHECK_EQ(numi(BI_STRTOL, "123", 10), 123);
	CHECK_EQ(numi(BI_STRTOL, "-123abc", 10), -123);
	CHECK_EQ(numi(BI_STRTOL, " 1", 10), 0);
	CHECK_EQ(numi(BI_STRTOL, "+1", 10), 0);
	CHECK_EQ(numi(BI_STRTOL, "0x1F", 16), 31);
	CHECK_EQ(numi(BI_STRTOL, "1f", 16), 31);
	CHECK_EQ(numi(BI_STRTOL, "0x1f", 0), 31);
	CHECK_EQ(numi(BI_STRTOL, "017", 0), 15);
	CHECK_EQ(numi(BI_STRTOL, "17", 0), 17);
	CHECK_EQ(numi(BI_STRTOL, "17", 8), 15);
	CHECK_EQ(numi(BI_STRTOL, "0x", 0), 0);
	CHECK_EQ(numi(BI_STRTOL, "", 10), 0);
	CHECK_EQ(numi(BI_STRTOL, "18446744073709551617", 10), 1);
	CHECK_EQ(numi(BI_STRTOL, "12", 1), 0);
}

TEST(replacing)
{
	CHECK_STR(replace("aaa", "a", "bb"), "bbbbbb");
	CHECK_STR(replace("abcabc", "bc", ""), "aa");
	CHECK_STR(replace("abc", "", "x"), "abc");
	CHECK_STR(replace("aaaa", "aa", "a"), "aa");
	CHECK_STR(replace("abc", "x", "y"), "abc");
}

TEST(tokens)
{
	str(0, ",,one, two;three,");
	str(1, ",; ");
	call(BI_TOKENIZE2, WIDTH);
	CHECK_STR(mem.dst, "one");
	/* the state is the handler's: another handler starts anew */
	str(0, "");
	call(BI_TOKENIZE2, WIDTH);
	CHECK_STR(mem.dst, "");
}

TEST(escapes)
{
	CHECK_STR(
	    text(BI_TEXT_STR, "a\tb\001\177\xc3\xa9\"\\\xe2\x82\xac", 0, 0),
	    "a\\tb\\001\\177\\u00E9\\\"\\\\\\u20AC");
	CHECK_STR(text(BI_STRING_QUOTED,
		       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff", 0, 0),
		  "\"\\u00E9\\u20AC\\U0001F600\\377\"");
	CHECK_STR(text(BI_TEXT_STRN, "abcdefghij", 8, 1), "\"abc\"...");
	CHECK_STR(text(BI_TEXT_STRN, "abcdefghij", 5, 1), "\"\"...");
	CHECK_STR(text(BI_TEXT_STRN, "abcdefghij", 1, 1), "\"\"...");
	CHECK_STR(text(BI_TEXT_STRN, "abcdef", 8, 1), "\"abcdef\"");
	CHECK_STR(text(BI_TEXT_STRN, "abcdefghij", 4, 0), "abcd");
	CHECK_STR(text(BI_TEXT_STRN, "abc\n", 4, 0), "abc");
	CHECK_STR(text(BI_TEXT_STRN, "abc", 0, 0), "abc");
	CHECK_STR(text(BI_TEXT_STR, "", 0, 0), "");
}

TEST(time_as_text)
{
	mem.arg[0] = 0;
	call(BI_CTIME, 32);
	CHECK_STR(mem.dst, "Thu Jan  1 00:00:00 1970");
	mem.arg[0] = 1700000000;
	call(BI_CTIME, 32);
	CHECK_STR(mem.dst, "Tue Nov 14 22:13:20 2023");
	mem.arg[0] = 1ull << 31;
	call(BI_CTIME, 32);
	CHECK_STR(mem.err, "Time too far in the future to be converted");
	mem.arg[0] = (uint64_t)INT32_MIN - 1;
	call(BI_CTIME, 32);
	CHECK_STR(mem.err, "Time too far in the past to be converted");
	setenv("TZ", "EST5", 1);
	CHECK_EQ(call(BI_TZ_GMTOFF, 0), 5 * 3600);
	call(BI_TZ_NAME, 16);
	CHECK_STR(mem.dst, "EST");
	str(0, "%H:%M");
	mem.arg[1] = 1700000000;
	call(BI_STRFTIME, WIDTH);
	CHECK_STR(mem.dst, "17:13");
	str(0, "");
	call(BI_STRFTIME, WIDTH);
	CHECK_STR(mem.dst, "");
}

TEST(who_and_when)
{
	static const enum builtin_id ids[] = {BI_PID,  BI_TID, BI_PPID,
					      BI_PGRP, BI_SID, BI_UID,
					      BI_EUID, BI_GID, BI_EGID};

	for (int i = 0; i < 9; i++)
		CHECK_EQ(call(ids[i], 0), 11 + i);
	CHECK_EQ(call(BI_CPU, 0), 3);
	CHECK_EQ(call(BI_GETTIMEOFDAY_NS, 0), 1700000000123456789);
	CHECK_EQ(call(BI_GETTIMEOFDAY_US, 0), 1700000000123456);
	CHECK_EQ(call(BI_GETTIMEOFDAY_MS, 0), 1700000000123);
	CHECK_EQ(call(BI_GETTIMEOFDAY_S, 0), 1700000000);
	CHECK_EQ(call(BI_KTIME_GET_NS, 0), 5000000001);
	CHECK_EQ(call(BI_LOCAL_CLOCK_S, 0), 5);
	call(BI_EXECNAME, 16);
	CHECK_STR(mem.dst, "abc");
	call(BI_PEXECNAME, 16);
	CHECK_STR(mem.dst, "parent");
}

TEST(session)
{
	num1(BI_LOG, "line");
	CHECK_STR(printed, "line\n");
	num1(BI_WARN, "careful");
	CHECK_STR(warned, "careful");
	num1(BI_ERROR, "boo\n");
	CHECK_STR(mem.err, "boo\n");
	call(BI_EXIT, 0);
	CHECK_EQ(exits, 1);
}

TEST(random_numbers)
{
	int64_t first[8];
	bool differ = false;

	start();
	mem.arg[0] = 10;
	for (int round = 0; round < 2; round++) {
		vm_seed(vm, 42);
		for (int i = 0; i < 8; i++) {
			int64_t v = call(BI_RANDINT, 0);

			CHECK(v >= 0 && v < 10);
			if (round)
				CHECK_EQ(v, first[i]);
			first[i] = v;
			differ |= v != first[0];
		}
	}
	CHECK(differ);
	mem.arg[0] = 1048577;
	call(BI_RANDINT, 0);
	CHECK_STR(mem.err, "range too wide");
	mem.arg[0] = 0;
	CHECK_EQ(call(BI_RANDINT, 0), 0);
}

TEST(memory_faults_are_errors)
{
	static const char text_here[] = "some text";

	mem.arg[0] = addr(text_here);
	call(BI_USER_STRING, WIDTH);
	CHECK_STR(mem.dst, "some text");
	CHECK_STR(mem.err, "");
	mem.arg[1] = 4;
	call(BI_USER_STRING_N, WIDTH);
	CHECK_STR(mem.dst, "some");
	mem.arg[0] = 16;
	call(BI_USER_STRING, WIDTH);
	CHECK_STR(mem.dst, "");
	CHECK_STR(mem.err,
		  "user string copy fault -14 at 0x10 [man error::fault]");
	mem.arg[1] = addr(memcpy(mem.str[1], "instead", 8));
	call(BI_KERNEL_STRING2, WIDTH);
	CHECK_STR(mem.dst, "instead");
	CHECK_STR(mem.err, "");
	mem.arg[1] = 4;
	call(BI_KERNEL_READ, 0);
	CHECK_STR(mem.err,
		  "kernel read fault at 0x10 (addr) [man error::fault]");
	mem.arg[0] = addr("\xfe\xff\xff\xff");
	mem.arg[1] = (uint64_t)-4;
	CHECK_EQ(call(BI_USER_READ, 0), -2);
	mem.arg[1] = 2;
	CHECK_EQ(call(BI_USER_READ, 0), 0xfffe);
	vm_free(vm);
	store_close(store);
}
