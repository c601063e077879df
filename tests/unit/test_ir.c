/* SPDX-License-Identifier: MIT */
/* The intermediate form: text and back, the check, passes on small texts. */
#include "test.h"

#include <stdlib.h>

#include "base/compile.h"
#include "base/settings.h"
#include "front/parse.h"
#include "ir/ir.h"
#include "ir/pass.h"
#include "ir/plan.h"
#include "sema/program.h"

struct kit {
	struct compile *c;
	struct program *p;
	struct ir *ir;
};

/* A script through sema. */
static struct kit kit_script(const char *text)
{
	struct kit k = {.c = compile_new()};
	struct source *s = compile_source(k.c, "<input>", text, strlen(text));
	struct file *f = parse_file(k.c, macros_new(k.c), s, 0);

	k.c->set.no_autoprint = true;
	k.p = sema_run(k.c, &f, 1);
	return k;
}

/* Its ir; then an ir text on the script's names instead. */
static struct kit kit_build(const char *script)
{
	struct kit k = kit_script(script);

	if (!diags_errors(k.c->diag))
		k.ir = ir_build(k.c, k.p);
	return k;
}

static void kit_read(struct kit *k, const char *text)
{
	k->ir = ir_read(k->c, k->p, compile_source(k->c, "<ir>", text,
						   strlen(text)));
}

static char *kit_text(const struct kit *k)
{
	size_t n = 1 << 20, used;
	char *s = calloc(1, n);
	FILE *f = fmemopen(s, n, "w");

	ir_print(k->ir, f);
	fflush(f);
	used = (size_t)ftell(f);
	fclose(f);
	s[used < n ? used : n - 1] = 0;
	return s;
}

static void kit_free(struct kit *k, char *text)
{
	free(text);
	compile_free(k->c);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *s = text; (s = strstr(s, what)); s++)
		n++;
	return n;
}

/* --- text ----------------------------------------------------------------- */

static const char *const scripts[] = {
	"probe begin { printf(\"%d\\n\", 1 + 2) exit() }",
	"global s, a; probe begin { s <<< 1; a[1, \"x\"] = 2 }"
	"probe end { print(@count(s)); foreach ([k, t] in a- limit 3)"
	"  printf(\"%5d %-*s %%\\n\", k, 4, t) }",
	"function f:long(n:long) { if (n < 1) return 0; return f(n - 1) }"
	"probe begin { try { println(f(3) / 0) } catch (e) { print(e) } }",
	"global h; probe begin { h <<< 3; print(@hist_log(h));"
	"  if (\"abc\" =~ \"^a(b|c)*$\")"
	"    println(matched(1), \"\\001\\\"\\\\\") }",
	"global n; probe begin { for (i = 0; i < 9; i++) { if (i == 4) continue"
	"  while (n < i) { n++; if (n == 7) break } } delete n }",
	"global a; probe begin { a[1, 2] = 3; foreach ([x, y] in a[1, *])"
	"  if ([*, y] in a) print(x) ; delete a[*, 2]; delete a }",
};

TEST(text_round_trip)
{
	for (unsigned i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		for (unsigned passes = 0; passes < 2; passes++) {
			struct kit k = kit_build(scripts[i]);
			char *first, *second;

			CHECK(k.ir != NULL);
			if (!k.ir) {
				kit_free(&k, NULL);
				continue;
			}
			if (passes)
				ir_passes(k.c, k.ir);
			first = kit_text(&k);
			kit_read(&k, first);
			CHECK(k.ir != NULL);
			if (k.ir) {
				for (unsigned n = 0; n < k.ir->funcs.n; n++)
					CHECK(!ir_check(k.c, k.ir,
							k.ir->funcs.v[n]));
				second = kit_text(&k);
				CHECK_STR(second, first);
				free(second);
			}
			kit_free(&k, first);
		}
	}
}

TEST(text_is_refused_with_its_place)
{
	static const char *const bad[] = {
		"nonsense",
		"func 0 \"x\" probe nowhere 0\n",
		"func 0 \"x\" probe host 7\n",
		"func 0 \"x\" probe host 0\n  regs q\n",
		"func 0 \"x\" probe host 0\nb0:\n  r0 = mov 1\n",
		"func 0 \"x\" probe host 0\nb0:\n  frobnicate\n",
		"func 0 \"x\" probe host 0\nb0:\n  gst @none 1\n  ret\n",
		"func 0 \"x\" probe host 0\nb0:\n  ret\nb0:\n  ret\n",
		"func 0 \"x\" probe host 0\nb0:\n  print fmt 3\n  ret\n",
		"fmt 0 \"unterminated\n",
		"fmt 0 \"%q\" l\n",
		"func 99999999 \"x\" probe host 0\n",
		"",
	};

	for (unsigned i = 0; bad[i][0]; i++) {
		struct kit k = kit_build("probe begin { exit() }");

		kit_read(&k, bad[i]);
		CHECK(k.ir == NULL);
		CHECK(diags_errors(k.c->diag) > 0);
		kit_free(&k, NULL);
	}
}

/* --- check ---------------------------------------------------------------- */

TEST(check_finds_what_is_wrong)
{
	static const struct { const char *body, *says; } bad[] = {
		{"  regs l\nb0:\n  r0 = add 1, 2\n", "does not end"},
		{"  regs l l\nb0:\n  r0 = add r1, 2\n  ret\n", "not set"},
		{"  regs s8\nb0:\n  r0 = mov 1\n  ret\n", "result"},
		{"  regs s8 l\nb0:\n  r0 = smov \"\"\n"
		 "  r1 = add r0, 1\n  ret\n", "operand 0"},
		{"  regs l\nb0:\n  r0 = add 1\n  ret\n", "operand 1"},
		{"  regs l\nb0:\n  r0 = mov 1, 2\n  ret\n", "operands"},
		{"b0:\n  jmp\n", "targets"},
		{"b0:\n  ret -> b0\n", "targets"},
		{"b0:\n  act 1 -> b0\n", "targets"},
		{"b0:\n  ret\n  ret\n", "more after"},
		{"  regs l\nb0:\n  br 1 -> b1, b2\nb1:\n  r0 = mov 1\n"
		 "  jmp -> b3\nb2:\n  jmp -> b3\nb3:\n  gst @g r0\n  ret\n",
		 "r0 is not set"},
		{"b0:\n  aset @a 1, 2\n  ret\n", "key 1"},
		{"b0:\n  gst 1\n  ret\n", "no global"},
		{"  regs s12\nb0:\n  r0 = smov \"\"\n  ret\n", "width"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct kit k = kit_build("global g, a; probe begin { g = 1; "
					 "a[1, \"x\"] = g }");
		char *text = NULL;
		const char *wrong;

		if (asprintf(&text, "func 0 \"x\" probe host 0\n%s",
			     bad[i].body) < 0)
			abort();
		kit_read(&k, text);
		CHECK(k.ir != NULL);
		wrong = k.ir ? ir_check(k.c, k.ir, k.ir->funcs.v[0]) : "";
		CHECK(wrong && strstr(wrong, bad[i].says));
		if (wrong && !strstr(wrong, bad[i].says))
			printf("# %u: %s, not %s\n", i, wrong, bad[i].says);
		kit_free(&k, text);
	}
}

/* --- passes --------------------------------------------------------------- */

TEST(fold_computes_as_the_language_says)
{
	static const struct { const char *ins, *want; } rows[] = {
		{"shl 1, 65", "2"},
		{"shl 1, -1", "-9223372036854775808"},
		{"ushr -8, 60", "15"},
		{"shr -8, 1", "-4"},
		{"div -9223372036854775808, -1", "-9223372036854775808"},
		{"div -7, 2", "-3"},
		{"mod -7, 2", "-1"},
		{"mod 5, -1", "0"},
		{"add 9223372036854775807, 1", "-9223372036854775808"},
		{"mul 4611686018427387904, 2", "-9223372036854775808"},
		{"sub -9223372036854775808, 1", "9223372036854775807"},
		{"neg -9223372036854775808", "-9223372036854775808"},
		{"not 5", "0"},
		{"inv 0", "-1"},
		{"lt -1, 0", "1"},
		{"slt \"a\", \"b\"", "1"},
		{"slt \"b\", \"\377\"", "1"},
		{"sge \"\", \"a\"", "0"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct kit k = kit_build("global g; probe begin { g = 0 }");
		char *in = NULL, *want = NULL, *text;

		if (asprintf(&in, "func 0 \"x\" probe host 0\n  regs l\n"
			     "b0:\n  r0 = %s\n  gst @g r0\n  ret\n",
			     rows[i].ins) < 0 ||
		    asprintf(&want, "gst @g %s\n", rows[i].want) < 0)
			abort();
		kit_read(&k, in);
		CHECK(k.ir != NULL);
		opt_fold(k.c, k.ir);
		text = kit_text(&k);
		CHECK(strstr(text, want) != NULL);
		if (!strstr(text, want))
			printf("# %s: %s\n", rows[i].ins, text);
		free(text);
		free(in);
		kit_free(&k, want);
	}
}

TEST(fold_keeps_effects_and_drops_the_rest)
{
	struct kit k = kit_build("global g; probe begin { g = 0 }");
	char *text;

	kit_read(&k, "func 0 \"x\" probe host 0\n"
		 "  regs l l l s8\n"
		 "b0:\n"
		 "  r0 = gld @g\n"		/* read, never used */
		 "  r1 = gxadd @g 2\n"		/* result not used */
		 "  r3 = smov \"a\"\n"
		 "  r2 = seq r3, \"a\"\n"
		 "  br r2 -> b1, b2\n"
		 "b1:\n  gst @g 5\n  jmp -> b3\n"
		 "b2:\n  gst @g 6\n  jmp -> b3\n"
		 "b3:\n  ret\n");
	CHECK(k.ir != NULL);
	opt_fold(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(count(text, "gld"), 0);
	CHECK_EQ(count(text, "gxadd"), 0);
	CHECK_EQ(count(text, "gadd @g 2"), 1);
	CHECK_EQ(count(text, "gst @g 5"), 1);
	CHECK_EQ(count(text, "gst @g 6"), 0);
	CHECK_EQ(count(text, "b1"), 0);
	kit_free(&k, text);
}

/* A copy may not be carried past a change of what it was copied from. */
TEST(fold_respects_order)
{
	struct kit k = kit_build("global g; probe begin { x = g; "
				 "y = x++ + x; g = y }");
	char *text;

	opt_fold(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(count(text, "add"), 2);
	kit_free(&k, text);

	k = kit_build("global g; probe begin { g = 0 }");
	kit_read(&k, "func 0 \"x\" probe host 0\n"
		 "  regs l l\n"
		 "b0:\n  r0 = gld @g\n  r1 = mov r0\n  jmp -> b1\n"
		 "b1 depth 1:\n  r0 = gld @g\n  brlt r0, r1 -> b1, b2\n"
		 "b2:\n  gst @g r1\n  ret\n");
	CHECK(k.ir != NULL);
	opt_fold(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(count(text, "gst @g r1"), 1);
	kit_free(&k, text);
}

static const char kernel_script[] =
	"global g, a; probe kernel.trace(\"sys_enter\") { g = 1; a[g] = 1 }";

TEST(split_sends_what_lives)
{
	struct kit k = kit_build(kernel_script);
	char *text;

	kit_read(&k, "iter 0 a\n"
		 "func 0 \"probe 0\" probe kernel 0\n"
		 "  regs l l l\n"
		 "b0:\n  r0 = gld @g\n  r1 = gld @g\n  br r0 -> b1, b2\n"
		 "b1:\n  gst @g 3\n  aclr @a\n  r2 = arg 1\n"
		 "  r1 = add r1, r2\n  gst @g r1\n  ret\n"
		 "b2:\n  ret\n");
	CHECK(k.ir != NULL);
	opt_split(k.c, k.ir);
	CHECK_EQ(k.ir->funcs.n, 2);
	for (unsigned i = 0; i < k.ir->funcs.n; i++)
		CHECK(!ir_check(k.c, k.ir, k.ir->funcs.v[i]));
	text = kit_text(&k);
	/* r1, and the argument, read before the send. */
	CHECK_EQ(count(text, "enter r1, r3"), 1);
	CHECK_EQ(count(text, "resume r1, r3"), 1);
	CHECK_EQ(count(text, "r3 = arg 1"), 1);
	CHECK_EQ(count(text, "arg 1"), 1);
	CHECK_EQ(count(text, "aclr"), 1);
	CHECK_EQ(k.ir->funcs.v[1]->place, PLACE_HOST);
	CHECK_EQ(k.ir->funcs.v[1]->nresume, 1);
	kit_free(&k, text);
}

/* The address is known on the host only: the host reads, with a warning. */
TEST(split_leaves_to_the_host_what_is_read_late)
{
	struct kit k = kit_build(kernel_script);

	kit_read(&k, "iter 0 a\n"
		 "func 0 \"probe 0\" probe kernel 0\n"
		 "  regs l l l\n"
		 "b0:\n  r0 = itnew @a iter 0\n  r1 = itkey @a r0, 0\n"
		 "  r2 = kld r1, 8 -> b1, b2\n"
		 "b1:\n  gst @g r2\n  ret\n"
		 "b2:\n  raise \"x\"\n");
	CHECK(k.ir != NULL);
	opt_split(k.c, k.ir);
	CHECK_EQ(diags_errors(k.c->diag), 0);
	CHECK_EQ(diags_warnings(k.c->diag), 1);
	kit_free(&k, NULL);
}

/* Taking away blocks that nothing leads to, none is left without a cycle. */
static bool has_cycle(struct arena *a, const struct ir_func *f)
{
	unsigned *preds = arena_array(a, unsigned, f->nblocks);
	uint8_t *gone = arena_alloc(a, f->nblocks);
	unsigned left = f->nblocks;
	bool moved = true;

	for (const struct ir_block *b = f->blocks; b; b = b->next)
		for (unsigned t = 0; t < 2; t++)
			if (b->last->target[t])
				preds[b->last->target[t]->id]++;
	while (moved) {
		moved = false;
		for (const struct ir_block *b = f->blocks; b; b = b->next) {
			if (gone[b->id] || preds[b->id])
				continue;
			gone[b->id] = 1;
			left--;
			moved = true;
			for (unsigned t = 0; t < 2; t++)
				if (b->last->target[t])
					preds[b->last->target[t]->id]--;
		}
	}
	return left != 0;
}

TEST(outline_has_no_back_edges)
{
	struct kit k = kit_build(
		"global g; probe kernel.trace(\"sys_enter\") {"
		"  for (i = 0; i < 10; i++) { if (g == 3) break; "
		"    for (j = 0; j < i; j++) { g += j; if (g == 9) next } } "
		"  g = i }");
	char *text;

	CHECK(k.ir != NULL);
	ir_passes(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(k.ir->funcs.n, 3);
	CHECK_EQ(count(text, "loop func"), 2);
	for (unsigned i = 0; i < k.ir->funcs.n; i++) {
		const struct ir_func *f = k.ir->funcs.v[i];

		CHECK(!ir_check(k.c, k.ir, f));
		CHECK(!has_cycle(k.c->a, f));
		CHECK_EQ(f->kind, i ? IR_LOOP_BODY : IR_PROBE);
	}
	/* i is used on both sides of both borders. */
	CHECK_EQ(count(text, "l.i!"), 3);
	kit_free(&k, text);
}

TEST(lock_covers_accesses_on_every_path)
{
	struct kit k = kit_build("global g, a; probe begin { g = a[1]; "
				 "a[g] = 1 }");
	uint32_t of[2] = {1, 0}, probes[1] = {1};
	char *text;

	kit_read(&k, "func 0 \"x\" probe host 0\n"
		 "  regs l l\n"
		 "b0:\n  r0 = aget @a 1\n  br r0 -> b1, b2\n"
		 "b1:\n  r1 = gld @g\n  r1 = add r1, 1\n  gst @g r1\n"
		 "  aclr @a\n  jmp -> b2\n"
		 "b2:\n  ret\n");
	CHECK(k.ir != NULL);
	k.ir->lock_of = of;
	k.ir->probe_locks = probes;
	opt_lock(k.c, k.ir);
	CHECK(!ir_check(k.c, k.ir, k.ir->funcs.v[0]));
	text = kit_text(&k);
	CHECK_EQ(count(text, "  lock locks 0x1"), 1);
	CHECK_EQ(count(text, "unlock locks 0x1"), 1);
	/* b0 reads only what is not guarded: no lock before the branch. */
	CHECK(strstr(text, "aget") < strstr(text, "  lock"));
	CHECK(strstr(text, "  lock") < strstr(text, "gld"));
	CHECK(strstr(text, "gst") < strstr(text, "unlock"));
	CHECK(strstr(text, "unlock") < strstr(text, "aclr"));
	kit_free(&k, text);
}

TEST(lock_is_held_around_loops)
{
	struct kit k = kit_build("global g; probe begin { g = 1 }");
	uint32_t of[1] = {1}, probes[1] = {1};
	char *text;

	kit_read(&k, "func 0 \"x\" probe host 0\n"
		 "  regs l\n"
		 "b0:\n  jmp -> b1\n"
		 "b1:\n  r0 = gld @g\n  brlt r0, 5 -> b2, b3\n"
		 "b2:\n  gadd @g 1\n  jmp -> b1\n"
		 "b3:\n  ret\n");
	CHECK(k.ir != NULL);
	k.ir->lock_of = of;
	k.ir->probe_locks = probes;
	opt_lock(k.c, k.ir);
	CHECK(!ir_check(k.c, k.ir, k.ir->funcs.v[0]));
	text = kit_text(&k);
	CHECK_EQ(count(text, "  lock locks"), 1);
	CHECK_EQ(count(text, "unlock locks"), 1);
	CHECK(strstr(text, "  lock") < strstr(text, "gld"));
	kit_free(&k, text);
}

TEST(calls_that_come_back_are_not_inlined)
{
	struct kit k = kit_build(
		"global g; function f:long(n:long) { if (n < 1) return 0; "
		"return f(n - 1) + 1 }"
		"probe kernel.trace(\"sys_enter\") { g = f(g) }");
	char *text;

	CHECK(k.ir != NULL);
	ir_passes(k.c, k.ir);
	text = kit_text(&k);
	CHECK(count(text, "call func") >= 2);
	CHECK(count(text, "resume") >= 1);
	kit_free(&k, text);
}

TEST(counting_only_where_it_can_matter)
{
	struct kit k = kit_build("probe begin { if (1) exit() exit() }");
	char *text;

	ir_passes(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(count(text, "  act "), 0);
	kit_free(&k, text);
	k = kit_build("global n; probe begin {"
		      "  for (i = 0; i < n; i++) n = i }");
	ir_passes(k.c, k.ir);
	text = kit_text(&k);
	CHECK_EQ(count(text, "  act "), 2);
	CHECK_EQ(count(text, "  act 5 "), 1); /* for, init, step, last test */
	CHECK_EQ(count(text, "  act 2 "), 1); /* iteration, statement */
	kit_free(&k, text);
}

/* --- documentation -------------------------------------------------------- */

TEST(every_instruction_is_documented)
{
	char heading[64];
	static char text[1 << 17];
	FILE *f;
	size_t n;

	f = fopen(TOP "/docs/ir.md", "re");
	CHECK(f != NULL);
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	for (unsigned i = 0; i < OP_MAX; i++) {
		snprintf(heading, sizeof(heading), "\n### %s\n",
			 op_info(i)->text);
		CHECK_EQ(count(text, heading), 1);
		if (count(text, heading) != 1)
			printf("# %s\n", op_info(i)->text);
	}
	CHECK_EQ(count(text, "\n### "), OP_MAX);
}

/* --- plan ----------------------------------------------------------------- */

static struct plan *kit_plan(struct kit *k, unsigned ncpus)
{
	ir_passes(k->c, k->ir);
	return plan_make(k->c, k->ir, ncpus);
}

static const struct plan_global *global(const struct plan *p, const char *name)
{
	for (unsigned i = 0; i < p->nglobals; i++)
		if (!strcmp(p->globals[i].var->name, name))
			return &p->globals[i];
	abort();
}

TEST(plan_places_everything_apart)
{
	struct kit k = kit_build(
		"global s, t, n, str, a, h; "
		"probe kernel.trace(\"sys_enter\") { s <<< 1; t[tid()] <<< 2; "
		"  n++; str = \"abc\"; a[execname()] = 1 }"
		"probe kernel.trace(\"sys_exit\") { s <<< 2; n = 4 }"
		"probe end { print(@count(s), @sum(t[1])); h[1] = 2; "
		"  print(n, str, a[\"x\"], h[1]) }");
	struct plan *p = kit_plan(&k, 3);
	const struct plan_global *s, *t;

	CHECK(p != NULL);
	CHECK_EQ(p->nrows, 4);
	CHECK_EQ(p->row_size % 64, 0);
	CHECK_EQ(p->bank_off % 64, 0);
	s = global(p, "s");
	CHECK(s->slot[0] != s->slot[1]);
	CHECK(s->slot[0] < p->bank_size && s->slot[1] < p->bank_size);
	CHECK_EQ(s->slot[2], UINT32_MAX);
	t = global(p, "t");
	CHECK(t->map != UINT32_MAX && t->other_off < p->bank_size);
	CHECK_EQ(p->maps.v[t->map].kind, PM_BANKS);
	CHECK_EQ(p->maps.v[t->map].inner, PM_PERCPU_HASH);
	CHECK_EQ(t->atomic, false);
	CHECK_EQ(global(p, "h")->map, UINT32_MAX);
	CHECK(global(p, "a")->map != UINT32_MAX);
	CHECK_EQ(global(p, "a")->key.size, 16);
	CHECK(global(p, "n")->off >= sizeof(struct control));
	CHECK(global(p, "n")->off != global(p, "str")->off);
	CHECK(p->control_size <= p->maps.v[MAP_CONTROL].value_size);
	CHECK(p->total_bytes > 0);
	kit_free(&k, NULL);
}

TEST(plan_shares_big_cells)
{
	struct kit k = kit_build(
		"global t; probe kernel.trace(\"sys_enter\") "
		"{ t[tid()] <<< 2 } probe end { print(@hist_log(t[1])) }");
	struct plan *p = kit_plan(&k, 64);
	const struct plan_global *t;

	CHECK(p != NULL);
	t = global(p, "t");
	CHECK_EQ(p->maps.v[t->map].inner, PM_HASH);
	CHECK_EQ(t->atomic, true);
	kit_free(&k, NULL);
}

/* Hot entries: of programs that cannot be preempted by themselves, for cells
 * without buckets and keys that are not long; apart from all else. */
TEST(plan_gives_hot_entries)
{
	struct kit k = kit_build(
		"global c, v, h, q, d, l; "
		"probe kernel.trace(\"sys_enter\") { c[tid()] <<< 1; "
		"  v[execname()] <<< 2; h[1] <<< 3; q[1] <<< 4; d[1] <<< 1; "
		"  l[1] <<< 1; if (@count(l[1]) > 5) exit() } "
		"probe kernel.trace(\"sys_exit\") { c[tid()] <<< 1 }"
		"probe end { print(@count(c[1]), @variance(v[\"\"]), "
		"  @quantile(q[1], 9), @distinct(d[1])) "
		"  print(@hist_log(h[1])) }");
	struct plan *p = kit_plan(&k, 4);
	const struct plan_global *c, *v;

	CHECK(p != NULL);
	c = global(p, "c");
	v = global(p, "v");
	CHECK_EQ(c->hot_ways, 16);
	CHECK_EQ(c->hot_size, 16);
	CHECK_EQ(c->hot[0] + 16 * 16, c->hot[1]);
	CHECK_EQ(c->hot[2], UINT32_MAX);
	CHECK(c->other_off < c->hot[0] && v->other_off < c->hot[0]);
	CHECK_EQ(v->hot_size, v->part.size + 16);
	CHECK(v->hot_ways * v->hot_size <= 2048);
	CHECK(v->hot[0] + v->hot_ways * v->hot_size <= p->bank_size);
	CHECK_EQ(v->hot[1], UINT32_MAX);
	CHECK_EQ(global(p, "h")->hot_ways, 0);
	CHECK_EQ(global(p, "q")->hot_ways, 0);
	CHECK_EQ(global(p, "d")->hot_ways, 0);
	CHECK_EQ(global(p, "l")->hot_ways, 0);
	kit_free(&k, NULL);
}

/* Many CPUs: fewer entries each, and all of them in a megabyte. */
TEST(plan_bounds_hot_entries)
{
	struct kit k = kit_build(
		"global a; probe kernel.trace(\"sys_enter\") "
		"{ a[tid(), execname()] <<< 1 } "
		"probe end { print(@count(a[1, \"\"])) }");
	struct plan *p = kit_plan(&k, 4096);
	const struct plan_global *a;

	CHECK(p != NULL);
	a = global(p, "a");
	CHECK_EQ(a->hot_size, 32);
	CHECK_EQ(a->hot_ways, 8);
	kit_free(&k, NULL);
}

TEST(plan_refuses_what_does_not_fit)
{
	struct kit k = kit_build(
		"global a[10000000]; probe kernel.trace(\"sys_enter\") "
		"{ a[tid()] = 2 } probe end { print(a[1]) }");

	settings_define(k.c, "MEMORY_MIB=1");
	CHECK(kit_plan(&k, 2) == NULL);
	CHECK_EQ(diags_errors(k.c->diag), 1);
	kit_free(&k, NULL);
}

TEST(rodata_is_shared)
{
	struct kit k = kit_build("probe begin { exit() }");
	struct plan *p = kit_plan(&k, 2);
	uint32_t a = plan_rodata(k.c, p, "hello", 6);
	uint32_t b = plan_rodata(k.c, p, "world", 6);

	CHECK_EQ(plan_rodata(k.c, p, "hello", 6), a);
	CHECK(a != b);
	CHECK_EQ(b % 8, 0);
	CHECK_EQ(p->maps.v[MAP_RODATA].value_size, p->rodata_size);
	kit_free(&k, NULL);
}
