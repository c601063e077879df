/* SPDX-License-Identifier: MIT */
/* Plain arrays, strings and records, compiled and run in the kernel. */
#include "test.h"

#include "gen_kit.h"

/* a[arg0] = arg1, then gets, adds, tests and deletes. */
TEST(numbers)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *a = kit_global(k, "a", TY_LONG, 8, 1);
	struct var *got = kit_global(k, "got", TY_LONG, 8, 0);
	struct var *miss = kit_global(k, "miss", TY_LONG, 8, 0);
	struct var *old = kit_global(k, "old", TY_LONG, 8, 0);
	struct var *sum = kit_global(k, "sum", TY_LONG, 8, 0);
	struct var *has = kit_global(k, "has", TY_LONG, 8, 0);
	struct var *gone = kit_global(k, "gone", TY_LONG, 8, 0);
	int key = kit_reg(k, 0), v = kit_reg(k, 0), r = kit_reg(k, 0);
	struct ir_val rk = val_reg((uint32_t)key), rv = val_reg((uint32_t)v);
	struct ir_val rr = val_reg((uint32_t)r);

	kit_ins(k, OP_ARG, key, 1, val_num(0));
	kit_ins(k, OP_ARG, v, 1, val_num(1));
	kit_ins(k, OP_AGET, r, 1, rk)->global = a;
	kit_set(k, miss, rr);
	kit_ins(k, OP_ASET, -1, 2, rk, rv)->global = a;
	kit_ins(k, OP_AGET, r, 1, rk)->global = a;
	kit_set(k, got, rr);
	kit_ins(k, OP_AADD, -1, 2, rk, val_num(5))->global = a;
	kit_ins(k, OP_AXADD, r, 2, rk, rv)->global = a;
	kit_set(k, old, rr);
	kit_ins(k, OP_ASET, -1, 2, val_num(3), val_num(1))->global = a;
	kit_ins(k, OP_AADD, -1, 2, val_num(3), val_num(-7))->global = a;
	kit_ins(k, OP_AGET, r, 1, val_num(3))->global = a;
	kit_set(k, sum, rr);
	kit_ins(k, OP_AHAS, r, 1, rk)->global = a;
	kit_set(k, has, rr);
	kit_ins(k, OP_ADEL, -1, 1, rk)->global = a;
	kit_ins(k, OP_AHAS, r, 1, rk)->global = a;
	kit_set(k, gone, rr);
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	for (uint64_t i = 100; i < 200; i++) {
		uint64_t ctx[2] = {i, i * i};

		CHECK_EQ(kit_run(k, ctx, 2), 0);
		CHECK_EQ(kit_num(k, miss), 0);
		CHECK_EQ(kit_num(k, got), i * i);
		CHECK_EQ(kit_num(k, old), i * i + 5);
		CHECK_EQ(kit_num(k, sum), -6);
		CHECK_EQ(kit_num(k, has), 1);
		CHECK_EQ(kit_num(k, gone), 0);
	}
	kit_free(k);
}

/* The array is full: the failure target is taken, nothing is lost silently. */
TEST(full)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *a = kit_global(k, "a", TY_LONG, 8, 1);
	struct var *failed = kit_global(k, "failed", TY_LONG, 8, 0);
	struct ir_block *ok = kit_block(k), *bad = kit_block(k);
	int key = kit_reg(k, 0);
	struct ir_ins *in;

	a->size = 10;
	kit_ins(k, OP_ARG, key, 1, val_num(0));
	in = kit_ins(k, OP_ASET, -1, 2, val_reg((uint32_t)key), val_num(1));
	in->global = a;
	in->target[0] = ok;
	in->target[1] = bad;
	kit_start(k, bad);
	kit_ins(k, OP_GADD, -1, 1, val_num(1))->global = failed;
	kit_ins(k, OP_RAISE, -1, 1,
		kit_str(k, "Array overflow, check size limit (10)"));
	kit_start(k, ok);
	k->c->set.limit[LIMIT_MAXERRORS] = 1000;
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	for (uint64_t i = 0; i < 50; i++)
		CHECK_EQ(kit_run(k, &i, 1), 0);
	CHECK_EQ(kit_num(k, failed), 40);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, errors)), 40);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, map_full)), 40);
	CHECK_EQ(((struct control *)k->control)->errors, 40);
	CHECK_EQ(((struct control *)k->control)->stop, 0);
	kit_free(k);
}

/* One width of strings: copies, comparison, concatenation, elements. */
static int text_ops(uint32_t w)
{
	static const char *const words[] = {
		"", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "b",
		"abcdefgi", "zzzzzzzzzzzzzzz", "abcdefghijklmno", "\xff",
	};
	enum { N = sizeof(words) / sizeof(*words) };
	static const enum ir_op cmp[] = {OP_SEQ, OP_SNE, OP_SLT,
					 OP_SLE, OP_SGT, OP_SGE};
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *x = kit_global(k, "x", TY_STRING, w, 0);
	struct var *y = kit_global(k, "y", TY_STRING, w, 0);
	struct var *cat = kit_global(k, "cat", TY_STRING, w, 0);
	struct var *wide = kit_global(k, "wide", TY_STRING, 2 * w, 0);
	struct var *lit = kit_global(k, "lit", TY_STRING, w, 0);
	struct var *elem = kit_global(k, "elem", TY_STRING, w, 0);
	struct var *arr = kit_global(k, "arr", TY_STRING, w, 1);
	struct var *g[6];
	int rx = kit_reg(k, w), ry = kit_reg(k, w), rc = kit_reg(k, w);
	int rw = kit_reg(k, 2 * w), r = kit_reg(k, 0), loaded;
	struct ir_val vx = val_reg((uint32_t)rx), vy = val_reg((uint32_t)ry);

	arr->key_type[0] = TY_STRING;
	arr->key_width[0] = w;
	for (int i = 0; i < 6; i++)
		g[i] = kit_global(k, "g", TY_LONG, 8, 0);
	kit_ins(k, OP_GLD, rx, 0)->global = x;
	kit_ins(k, OP_GLD, ry, 0)->global = y;
	for (int i = 0; i < 6; i++) {
		kit_ins(k, cmp[i], r, 2, vx, vy);
		kit_set(k, g[i], val_reg((uint32_t)r));
	}
	kit_ins(k, OP_SCAT, rc, 2, vx, vy);
	kit_set(k, cat, val_reg((uint32_t)rc));
	kit_ins(k, OP_SCAT, rw, 2, vx, vy);
	kit_set(k, wide, val_reg((uint32_t)rw));
	kit_ins(k, OP_SMOV, rc, 1, vx);
	kit_ins(k, OP_SCAT, rc, 2, val_reg((uint32_t)rc), kit_str(k, "/lit"));
	kit_set(k, lit, val_reg((uint32_t)rc));
	kit_ins(k, OP_ASET, -1, 2, vx, vy)->global = arr;
	kit_ins(k, OP_AGET, rc, 1, vx)->global = arr;
	kit_set(k, elem, val_reg((uint32_t)rc));
	CHECK(kit_compile(k));
	loaded = kit_load(k);
	if (loaded) {
		CHECK_EQ(loaded, 1);
		kit_free(k);
		return loaded;
	}
	for (int i = 0; i < N * N; i++) {
		char a[64] = {0}, b[64] = {0}, both[128] = {0}, want[128];
		char *px = (char *)kit_text(k, x), *py = (char *)kit_text(k, y);
		int c;

		snprintf(a, w, "%s", words[i / N]);
		snprintf(b, w, "%s", words[i % N]);
		snprintf(both, sizeof(both), "%s%s", a, b);
		memset(px, 0, w);
		memcpy(px, a, strlen(a));
		memset(py, 0, w);
		memcpy(py, b, strlen(b));
		kit_run(k, NULL, 0);
		c = strcmp(a, b);
		CHECK_EQ(kit_num(k, g[0]), c == 0);
		CHECK_EQ(kit_num(k, g[1]), c != 0);
		CHECK_EQ(kit_num(k, g[2]), c < 0);
		CHECK_EQ(kit_num(k, g[3]), c <= 0);
		CHECK_EQ(kit_num(k, g[4]), c > 0);
		CHECK_EQ(kit_num(k, g[5]), c >= 0);
		CHECK_STR(kit_text(k, wide), both);
		CHECK_STR(kit_text(k, elem), b);
		memset(want, 0, sizeof(want));
		snprintf(want, w, "%s", both);
		/* zero-padded, not only equal */
		CHECK(!memcmp(kit_text(k, cat), want, w));
		memset(want, 0, sizeof(want));
		snprintf(want, w, "%s/lit", a);
		CHECK(!memcmp(kit_text(k, lit), want, w));
	}
	kit_free(k);
	return 0;
}

TEST(strings_16)
{
	if (text_ops(16))
		SKIP("bpf() is refused");
}

TEST(strings_24)
{
	if (text_ops(24))
		SKIP("bpf() is refused");
}

/* Long strings: helpers copy, and the stack is too small. */
TEST(strings_in_scratch)
{
	enum { W = 512 };
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *x = kit_global(k, "x", TY_STRING, W, 0);
	struct var *y = kit_global(k, "y", TY_STRING, W, 0);
	struct var *eq = kit_global(k, "eq", TY_LONG, 8, 0);
	int rx = kit_reg(k, W), r = kit_reg(k, 0);
	char *px, want[W] = {0};

	kit_ins(k, OP_GLD, rx, 0)->global = x;
	kit_ins(k, OP_SCAT, rx, 2, val_reg((uint32_t)rx), kit_str(k, "+more"));
	kit_set(k, y, val_reg((uint32_t)rx));
	kit_ins(k, OP_SEQ, r, 2, val_reg((uint32_t)rx), kit_str(k, "q+more"));
	kit_set(k, eq, val_reg((uint32_t)r));
	CHECK(kit_compile(k));
	CHECK(k->code->needs_scratch);
	KIT_LOADED(k, kit_load(k));
	px = (char *)kit_text(k, x);
	memset(px, 'x', W - 3);
	kit_run(k, NULL, 0);
	memset(want, 'x', W - 3);
	memcpy(want + W - 3, "+m", 2);
	CHECK(!memcmp(kit_text(k, y), want, W));
	CHECK_EQ(kit_num(k, eq), 0);
	memset(px, 0, W);
	px[0] = 'q';
	kit_run(k, NULL, 0);
	CHECK_STR(kit_text(k, y), "q+more");
	CHECK_EQ(kit_num(k, eq), 1);
	/* the slot was given back each time */
	for (int i = 0; i < 20; i++)
		kit_run(k, NULL, 0);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts,
				       nest_skips)), 0);
	kit_free(k);
}

/* --- records ------------------------------------------------------------- */

struct seen {
	unsigned n;
	uint8_t last[1024] __attribute__((aligned(8)));
	size_t size;
};

static int on_record(void *ctx, void *data, size_t size)
{
	struct seen *s = ctx;

	s->n++;
	s->size = size;
	memcpy(s->last, data, size < sizeof(s->last) ? size : sizeof(s->last));
	return 0;
}

static void drain(struct kit *k, struct seen *s)
{
	struct ring_buffer *rb =
	    ring_buffer__new(k->fd[MAP_RING], on_record, s, NULL);

	if (!rb) {
		TEST_FAIL("no ring: %s", strerror(errno));
		return;
	}
	ring_buffer__consume(rb);
	ring_buffer__free(rb);
}

TEST(print_record)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct ir_fmt *f = arena_new_of(k->c->a, struct ir_fmt);
	int a = kit_reg(k, 0), s = kit_reg(k, 16);
	struct seen seen = {0};
	struct record *rec = (struct record *)seen.last;
	uint64_t ctx = 4711;
	int64_t num;

	f->nargs = 4;
	f->is_str[1] = f->is_str[3] = true;
	f->width[1] = 24;
	f->width[3] = 160;
	f->off[1] = 8;
	f->off[2] = 32;
	f->off[3] = 40;
	f->size = 200;
	vec_push(k->c->a, &k->ir->fmts, f);
	kit_ins(k, OP_ARG, a, 1, val_num(0));
	kit_ins(k, OP_SMOV, s, 1, kit_str(k, "execname"));
	kit_ins(k, OP_PRINT, -1, 4, val_reg((uint32_t)a),
		val_reg((uint32_t)s), val_num(-1),
		kit_str(k, "a literal"))->fmt = f;
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	kit_run(k, &ctx, 1);
	drain(k, &seen);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(seen.size, 8 + 200);
	CHECK_EQ(rec->kind, REC_PRINT);
	memcpy(&num, rec->payload, 8);
	CHECK_EQ(num, 4711);
	CHECK_STR((char *)rec->payload + 8, "execname");
	memcpy(&num, rec->payload + 32, 8);
	CHECK_EQ(num, -1);
	CHECK_STR((char *)rec->payload + 40, "a literal");
	/* fill the ring: what does not fit is counted */
	for (int i = 0; i < 20000; i++)
		kit_run(k, &ctx, 1);
	seen.n = 0;
	drain(k, &seen);
	CHECK(kit_count(k, offsetof(struct probe_counts,
				    ring_full)) > 0);
	CHECK_EQ(seen.n + kit_count(k, offsetof(struct probe_counts,
						ring_full)), 20000);
	kit_free(k);
}

TEST(resume_record)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	int a = kit_reg(k, 0), s = kit_reg(k, 16);
	struct seen seen = {0};
	struct record *rec = (struct record *)seen.last;
	struct record_ctx *rc = (struct record_ctx *)rec->payload;
	uint64_t ctx = 99;
	int64_t num;

	kit_ins(k, OP_ARG, a, 1, val_num(0));
	kit_ins(k, OP_SMOV, s, 1, kit_str(k, "live"));
	kit_ins(k, OP_RESUME, -1, 2, val_reg((uint32_t)a),
		val_reg((uint32_t)s))->num = 3;
	kit_start(k, kit_block(k));
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	kit_run(k, &ctx, 1);
	drain(k, &seen);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(rec->kind, REC_RESUME);
	CHECK_EQ(rec->id, 3);
	CHECK_EQ(rc->pid_tgid >> 32, getpid());
	memcpy(&num, rc->live, 8);
	CHECK_EQ(num, 99);
	CHECK_STR((char *)rc->live + 8, "live");
	kit_free(k);
}

/* An uncaught error: text, counters; the first one stops all handlers. */
TEST(raise)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct seen seen = {0};
	struct record *rec = (struct record *)seen.last;

	kit_ins(k, OP_RAISE, -1, 1, kit_str(k, "division by 0"));
	kit_start(k, kit_block(k));
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	kit_run(k, NULL, 0);
	kit_run(k, NULL, 0);
	drain(k, &seen);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(rec->kind, REC_ERROR);
	CHECK_STR((char *)rec->payload, "division by 0");
	CHECK_EQ(((struct control *)k->control)->errors, 1);
	CHECK_EQ(((struct control *)k->control)->stop, 1);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, stopped)),
		 1);
	kit_free(k);
}
