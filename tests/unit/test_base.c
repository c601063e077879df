/* SPDX-License-Identifier: MIT */
/* base/: memory, maps, strings, messages, JSON, limits. */
#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compile.h"
#include "base/cpus.h"
#include "base/json.h"
#include "base/map.h"
#include "base/settings.h"
#include "base/utf8.h"
#include "base/xalloc.h"

TEST(arena_gives_zeroed_aligned_memory)
{
	struct arena *a = arena_new();
	size_t total = 0;

	for (size_t n = 0; n < 40000; n += 997) {
		unsigned char *p = arena_alloc(a, n);

		CHECK_EQ((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			CHECK_EQ(p[i], 0);
		memset(p, 0xee, n);
		total += n;
	}
	CHECK_EQ(arena_bytes(a), total);
	arena_free(a);
	arena_free(NULL);
}

TEST(arena_grows_and_prints)
{
	struct arena *a = arena_new();
	char *p = arena_grow(a, "abc", 3, 10);

	CHECK(!memcmp(p, "abc\0\0\0\0\0\0\0", 10));
	CHECK_STR(arena_printf(a, "%d-%s", 7, "x"), "7-x");
	CHECK_STR(arena_strndup(a, "hello", 2), "he");
	CHECK_STR(arena_strndup(a, "hello", 20), "hello");
	arena_free(a);
}

TEST(no_memory_is_a_message_and_a_status)
{
	char text[100] = "";
	int pipes[2], status = -1;
	pid_t pid;

	CHECK_EQ(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		xalloc_fail(123);
	}
	close(pipes[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 1);
	CHECK(read(pipes[0], text, sizeof(text) - 1) > 0);
	CHECK_STR(text, "tally: out of memory (wanted 123 bytes)\n");
	close(pipes[0]);
}

TEST(vec_keeps_what_is_pushed)
{
	struct arena *a = arena_new();
	VEC(int) v = {0};

	for (int i = 0; i < 1000; i++)
		vec_push(a, &v, i * i);
	CHECK_EQ(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(v.v[i], i * i);
	CHECK_EQ(vec_last(&v), 999 * 999);
	arena_free(a);
}

TEST(map_finds_and_keeps_order)
{
	struct arena *a = arena_new();
	struct map *m = map_new(a);
	int values[2000];
	const char *key;

	CHECK(!map_get(m, "absent"));
	for (int i = 0; i < 2000; i++)
		map_set(m, arena_printf(a, "k%d", i), &values[i]);
	map_set(m, "k7", &values[0]);
	CHECK_EQ(map_count(m), 2000);
	CHECK(map_get(m, "k7") == &values[0]);
	CHECK(map_at(m, 7, &key) == &values[0]);
	CHECK_STR(key, "k7");
	for (int i = 8; i < 2000; i++)
		CHECK(map_get(m, arena_printf(a, "k%d", i)) == &values[i]);
	map_set(m, "null", NULL);
	CHECK(map_has(m, "null") && !map_has(m, "k2000"));
	arena_free(a);
}

TEST(map_takes_numbers_and_bytes)
{
	struct arena *a = arena_new();
	struct map *m = map_new(a);
	int x, y;

	map_set_num(m, 0, &x);
	map_set_num(m, UINT64_MAX, &y);
	map_set_bytes(m, "a\0b", 3, &x);
	map_set_bytes(m, "a\0c", 3, &y);
	map_set_bytes(m, "", 0, &y);
	CHECK(map_get_num(m, 0) == &x && map_get_num(m, UINT64_MAX) == &y);
	CHECK(map_get_bytes(m, "a\0b", 3) == &x);
	CHECK(map_get_bytes(m, "a\0c", 3) == &y);
	CHECK(map_get_bytes(m, "", 0) == &y);
	CHECK(!map_get_num(m, 1));
	arena_free(a);
}

TEST(strings_are_interned_once)
{
	struct arena *a = arena_new();
	struct strtab *t = strtab_new(a);
	const char *s = str_internz(t, "abc");

	CHECK(str_intern(t, "abcd", 3) == s);
	CHECK(str_intern(t, "ab\0", 3) != str_internz(t, "ab"));
	CHECK_EQ(str_len(str_intern(t, "a\0b", 3)), 3);
	CHECK_EQ(str_len(str_internz(t, "")), 0);
	arena_free(a);
}

TEST(distance_counts_edits)
{
	CHECK_EQ(str_distance("kitten", "sitting"), 3);
	CHECK_EQ(str_distance("", "abc"), 3);
	CHECK_EQ(str_distance("same", "same"), 0);
	CHECK_EQ(str_distance("ab", "ba"), 2);
}

TEST(source_knows_its_lines)
{
	struct compile *c = compile_new();
	const char *text = "one\ntwo\r\n\nlast";
	struct source *s = compile_source(c, "f", text, strlen(text));
	size_t n;

	CHECK_EQ(s->nlines, 4);
	CHECK(!memcmp(source_line(s, 1, &n), "one", 3) && n == 3);
	CHECK(!memcmp(source_line(s, 2, &n), "two", 3) && n == 3);
	source_line(s, 3, &n);
	CHECK_EQ(n, 0);
	CHECK(!memcmp(source_line(s, 4, &n), "last", 4) && n == 4);
	source_line(s, 5, &n);
	CHECK_EQ(n, 0);
	compile_free(c);
}

/* What diags_print prints; to be freed. */
static char *printed(struct compile *c, struct diag_style style)
{
	enum { ROOM = 16384 };
	char *text = calloc(1, ROOM);
	FILE *f = fmemopen(text, ROOM - 1, "w");

	diags_print(c->diag, f, &style);
	fclose(f);
	return text;
}

TEST(diag_shows_line_caret_notes_in_order)
{
	struct compile *c = compile_new();
	const char *text = "a\n\tb = \xc3\xa4 + \x01;\n";
	struct source *s = compile_source(c, "x.stp", text, strlen(text));
	struct span call = {.src = s, .text = "M", .line = 1, .col = 1};
	struct span late = {.src = s, .line = 2, .col = 11, .macro = &call};
	struct span early = {.src = s, .line = 2, .col = 2};
	struct diag *d;
	char *got;

	complain(c, BAD_DEFINE, NULL, "a b", "pat");
	d = complain(c, NO_CONSTANT, &late, "late");
	diag_help(c->diag, d, "do %s", "this");
	d = complain(c, EXPECTED, &early, "early");
	diag_note(c->diag, d, &call, "first seen here");
	complain(c, EXPECTED, &early, "early");
	CHECK_EQ(diags_errors(c->diag), 3);
	CHECK_EQ(diags_errors_of(c->diag, DIAG_PARSE), 1);
	got = printed(c, (struct diag_style){0});
	CHECK_STR(got, "x.stp:2:2: parse error: expected early\n"
		       "    \tb = \xc3\xa4 + ?;\n"
		       "    \t^\n"
		       "x.stp:1:1: note: first seen here\n"
		       "    a\n"
		       "    ^\n"
		       "x.stp:2:11: semantic error: late names no enumerator "
		       "of the kernel's types\n"
		       "    \tb = \xc3\xa4 + ?;\n"
		       "    \t        ^\n"
		       "x.stp:1:1: note: in expansion of macro 'M'\n"
		       "    a\n"
		       "    ^\n"
		       "help: do this\n"
		       "error: Safety pattern mismatch for -D parameter "
		       "('a b' vs. 'pat') rc=1\n"
		       "Number of similar error messages suppressed: 1.\n"
		       "Rerun with -v to see them.\n");
	free(got);
	got = printed(c, (struct diag_style){0});
	CHECK_STR(got, "");
	free(got);
	compile_free(c);
}

TEST(diag_stops_at_twenty)
{
	struct compile *c = compile_new();
	char *got, *last;

	for (int i = 0; i < 25; i++)
		complain(c, NO_CONSTANT, NULL,
			 arena_printf(c->a, "thing%d", i));
	got = printed(c, (struct diag_style){0});
	CHECK(strstr(got, "thing19") && !strstr(got, "thing20"));
	last = strstr(got, "Number");
	CHECK_STR(last, "Number of further error messages not shown: 5.\n"
			"Rerun with -v to see them.\n");
	free(got);
	compile_free(c);
}

TEST(diag_cuts_long_lines)
{
	struct compile *c = compile_new();
	char text[1000];
	struct span at = {.line = 1, .col = 501};
	char *got;

	memset(text, 'x', sizeof(text));
	text[500] = '!';
	at.src = compile_source(c, "f", text, sizeof(text));
	complain(c, NO_CONSTANT, &at, "it");
	got = printed(c, (struct diag_style){0});
	CHECK(strlen(got) < 300);
	/* The caret stands below the '!'. */
	CHECK_EQ(strcspn(strchr(got, '\n') + 1, "!"),
		 strcspn(strchr(strchr(got, '\n') + 1, '\n') + 1, "^"));
	free(got);
	compile_free(c);
}

TEST(diag_holds_what_may_never_be_said)
{
	struct compile *c = compile_new();
	struct diag_held *inner, *outer;
	unsigned since;

	diags_hold(c->diag);
	complain(c, NO_CONSTANT, NULL, "outer");
	diags_hold(c->diag);
	complain(c, NEVER_LOCAL, NULL, "warned", "");
	CHECK(!diags_held(c->diag)); /* no error: nothing to wait for */
	diags_hold(c->diag);
	complain(c, NO_CONSTANT, NULL, "inner");
	inner = diags_held(c->diag);
	since = diags_mute(c->diag);
	complain(c, NO_CONSTANT, NULL, "muted");
	CHECK(diags_unmute(c->diag, since));
	outer = diags_held(c->diag);
	CHECK(inner && outer);
	CHECK_EQ(diags_errors(c->diag), 0);
	CHECK_EQ(diags_warnings(c->diag), 0);
	diags_say(c->diag, outer);
	diags_say(c->diag, outer);
	CHECK_EQ(diags_errors(c->diag), 1);
	CHECK_EQ(diags_warnings(c->diag), 1);
	diags_say(c->diag, inner);
	CHECK_EQ(diags_errors(c->diag), 2);
	compile_free(c);
}

TEST(settings_limits_and_defines)
{
	struct compile *c = compile_new();
	int64_t *limit = c->set.limit;

	CHECK_EQ(limit[LIMIT_MAXSTRINGLEN], 512);
	CHECK(settings_define(c, "MAXACTION=500"));
	CHECK_EQ(limit[LIMIT_MAXACTION], 500);
	CHECK_EQ(limit[LIMIT_MAXACTION_INTERRUPTIBLE], 5000);
	CHECK(settings_define(c, "MAXACTION_INTERRUPTIBLE=7"));
	CHECK(settings_define(c, "MAXACTION=600"));
	CHECK_EQ(limit[LIMIT_MAXACTION_INTERRUPTIBLE], 7);
	CHECK(settings_define(c, "STP_NO_OVERLOAD"));
	CHECK_EQ(limit[LIMIT_STP_NO_OVERLOAD], 1);
	CHECK(settings_define(c, "HIST_ELISION=-1"));
	CHECK_EQ(limit[LIMIT_HIST_ELISION], -1);
	CHECK(settings_define(c, "MAXMAPENTRIES=0x10"));
	CHECK_EQ(limit[LIMIT_MAXMAPENTRIES], 16);
	CHECK(settings_define(c, "other=x_1"));
	CHECK(settings_define(c, "other=y"));
	CHECK_EQ(c->set.defines.n, 1);
	CHECK_STR(c->set.defines.v[0].value, "y");
	CHECK(!diags_errors(c->diag));
	CHECK(!settings_define(c, "1x"));
	CHECK(!settings_define(c, "a="));
	CHECK(!settings_define(c, "a=b c"));
	CHECK(!settings_define(c, ""));
	CHECK(!settings_define(c, "MAXSTRINGLEN=1"));
	CHECK(!settings_define(c, "MAXSTRINGLEN=many"));
	CHECK_EQ(diags_errors(c->diag), 6);
	compile_free(c);
}

TEST(json_escapes_and_nests)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	struct json j;

	json_init(&j, f, false);
	json_object(&j);
	json_key(&j, "a\"b");
	json_array(&j);
	json_int(&j, INT64_MIN);
	json_uint(&j, UINT64_MAX);
	json_bool(&j, true);
	json_null(&j);
	json_str(&j, "\xff\xc3\xa4\n\0\x1f", 6);
	json_end_array(&j);
	json_key(&j, "e");
	json_object(&j);
	json_end_object(&j);
	json_end_object(&j);
	fclose(f);
	CHECK_STR(text, "{\"a\\\"b\":[-9223372036854775808,"
			"18446744073709551615,true,null,"
			"\"\\u00ff\xc3\xa4\\n\\u0000\\u001f\"],\"e\":{}}");
	free(text);
}

TEST(utf8_refuses_what_is_not)
{
	CHECK_EQ(utf8_len("a", 1), 1);
	CHECK_EQ(utf8_len("\xe2\x82\xac", 3), 3);
	CHECK_EQ(utf8_len("\xf0\x9f\x98\x80", 4), 4);
	CHECK_EQ(utf8_len("\xe2\x82\xac", 2), 0);
	CHECK_EQ(utf8_len("\xc0\x80", 2), 0);
	CHECK_EQ(utf8_len("\xed\xa0\x80", 3), 0);
	CHECK_EQ(utf8_len("\xf4\x90\x80\x80", 4), 0);
	CHECK_EQ(utf8_len("\x80", 1), 0);
	CHECK_EQ(utf8_len("", 0), 0);
}

TEST(cpus_are_read_as_sysfs_writes_them)
{
	static const char *const wrong[] = {
		"0-", "-1", "a", "1,b", "1-2-3", " 1", "(null)",
	};
	struct cpus c;

	CHECK(cpus_parse("0-3,6,64-65,4095\n", &c));
	CHECK_EQ(cpus_count(&c), 8);
	CHECK_EQ(cpus_end(&c), 4096);
	CHECK(cpus_has(&c, 0) && cpus_has(&c, 3) && cpus_has(&c, 6));
	CHECK(cpus_has(&c, 64) && cpus_has(&c, 65) && cpus_has(&c, 4095));
	CHECK(!cpus_has(&c, 4) && !cpus_has(&c, 63) && !cpus_has(&c, 9999));
	CHECK(cpus_parse("\n", &c)); /* no CPU is isolated */
	CHECK_EQ(cpus_end(&c), 0);
	CHECK(cpus_parse("7-99999", &c));
	CHECK_EQ(cpus_count(&c), 4096 - 7);
	cpus_add(&c, 2);
	cpus_add(&c, 5000);
	CHECK_EQ(cpus_count(&c), 4096 - 6);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(!cpus_parse(wrong[i], &c));
	CHECK(cpus_read("online", &c) && cpus_count(&c) > 0);
	CHECK(!cpus_read("no such list", &c));
}
