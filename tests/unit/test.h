/* SPDX-License-Identifier: MIT */
/*
 * Unit tests in one header. A test file holds
 *
 *     #include "test.h"
 *     TEST(arena_zeroes) { CHECK_EQ(x, 0); CHECK_STR(s, "a"); }
 *
 * and nothing else: main() is here. Prints TAP; a failed check is shown and
 * the test goes on, so that one run shows all that is wrong.
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

static struct test *test_first, **test_end = &test_first;
static unsigned test_failures;
static const char *test_skip_reason;

/* Tests run in the order of the file: constructors run in that order. */
#define TEST(id)                                                               \
	static void test_##id(void);                                           \
	static struct test test_row_##id = {#id, test_##id, NULL};             \
	__attribute__((constructor)) static void test_add_##id(void)           \
	{                                                                      \
		*test_end = &test_row_##id;                                    \
		test_end = &test_row_##id.next;                                \
	}                                                                      \
	static void test_##id(void)

#define TEST_FAIL(...)                                                         \
	do {                                                                   \
		test_failures++;                                               \
		printf("# %s:%d: ", __FILE__, __LINE__);                       \
		printf(__VA_ARGS__);                                           \
		putchar('\n');                                                 \
	} while (0)

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond))                                                   \
			TEST_FAIL("not true: %s", #cond);                      \
	} while (0)

/* Integers; shown as signed 64-bit numbers. */
#define CHECK_EQ(got, want)                                                    \
	do {                                                                   \
		int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);        \
		if (got_ != want_)                                             \
			TEST_FAIL("%s is %" PRId64 ", not %" PRId64, #got,     \
				  got_, want_);                                \
	} while (0)

#define CHECK_STR(got, want)                                                   \
	do {                                                                   \
		const char *got_ = (got), *want_ = (want);                     \
		if (!got_ || strcmp(got_, want_))                              \
			TEST_FAIL("%s is \"%s\", not \"%s\"", #got,            \
				  got_ ? got_ : "(null)", want_);              \
	} while (0)

/* Ends the test as skipped; reason: a string that outlives it. */
#define SKIP(reason)                                                           \
	do {                                                                   \
		test_skip_reason = (reason);                                   \
		return;                                                        \
	} while (0)

int main(void)
{
	unsigned n = 0, bad = 0;
	const struct test *t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (t = test_first; t; t = t->next)
		n++;
	printf("1..%u\n", n);
	n = 0;
	for (t = test_first; t; t = t->next) {
		test_failures = 0;
		test_skip_reason = NULL;
		t->run();
		printf("%sok %u - %s", test_failures ? "not " : "", ++n,
		       t->name);
		if (test_skip_reason)
			printf(" # SKIP %s", test_skip_reason);
		putchar('\n');
		bad += test_failures != 0;
	}
	return bad != 0;
}

#endif
