/* SPDX-License-Identifier: MIT */
/* Cells fed by kernel code against cells fed by stat/cell.c, word for word. */
#include "test.h"

#include "gen_kit.h"

#include "stat/cell.h"

#define BIT(op) (1u << STAT_##op)

static const int64_t samples[] = {
	0, 1, -1, 2, 3, 4, 7, 8, 63, 64, 100, 127, 128, 129, 255, 256, 1000,
	4095, 65535, 1 << 20, (1ll << 32) - 1, 1ll << 32, (1ll << 32) + 1,
	1ll << 40, 1ll << 62, INT64_MAX, INT64_MIN, INT64_MIN + 1, -2, -3, -4,
	-100, -128, -129, -65536, -(1ll << 33), INT32_MIN, INT32_MAX,
	INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 12345678901234,
	-12345678901234, 5000000000, 4999999999,
};
enum { NSAMPLES = sizeof(samples) / sizeof(*samples) };

static void set_spec(struct var *v, uint32_t ops, enum hist_kind hist,
		     int64_t lo, int64_t hi, int64_t step)
{
	v->agg.ops = ops;
	v->agg.hist = hist;
	v->agg.lo = lo;
	v->agg.hi = hi;
	v->agg.step = step;
}

/* n samples from a fixed sequence that reaches all magnitudes. */
static int64_t sample(unsigned i)
{
	uint64_t x = i * 0x9e3779b97f4a7c15ull;

	if (i < NSAMPLES)
		return samples[i];
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 32;
	return (int64_t)x >> (i % 64);
}

static void sum_rows(struct kit *k, const struct var *g, unsigned bank,
		     uint64_t *ret)
{
	const struct plan_global *pg = &k->plan->globals[g->index];

	for (unsigned r = 0; r < k->plan->nrows; r++)
		cell_merge(&pg->cell, ret,
			   (uint64_t *)(k->rows + r * k->plan->row_size +
					k->plan->bank_off +
					bank * k->plan->bank_size +
					pg->slot[0]));
}

static int scalar(uint32_t ops, enum hist_kind hist, int64_t lo, int64_t hi,
		  int64_t step, enum guard guard)
{
	struct kit *k = kit_new(PLACE_KERNEL, guard);
	struct var *s = kit_global(k, "s", TY_STATS, 0, 0);
	int a = kit_reg(k, 0), loaded;
	const struct plan_global *pg;
	uint64_t *want, *got;

	set_spec(s, ops, hist, lo, hi, step);
	kit_ins(k, OP_ARG, a, 1, val_num(0));
	kit_ins(k, OP_SADD, -1, 1, val_reg((uint32_t)a))->global = s;
	CHECK(kit_compile(k));
	loaded = kit_load(k);
	if (loaded == 1) {
		kit_free(k);
		return 1;
	}
	CHECK_EQ(loaded, 0);
	if (loaded) {
		kit_free(k);
		return 0;
	}
	pg = &k->plan->globals[0];
	want = calloc(1, pg->cell.size);
	got = calloc(1, pg->cell.size);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t ctx = (uint64_t)sample(i);

		/* both banks */
		((struct control *)k->control)->bank = i & 1;
		CHECK_EQ(kit_run(k, &ctx, 1), 0);
		cell_add(&pg->cell, want, (int64_t)ctx);
	}
	sum_rows(k, s, 0, got);
	CHECK_EQ(got[0], 1500);
	sum_rows(k, s, 1, got);
	for (uint32_t w = 0; w < pg->cell.size / 8; w++)
		if (want[w] != got[w])
			TEST_FAIL("ops %x word %u: %llx, not %llx", ops, w,
				  (unsigned long long)got[w],
				  (unsigned long long)want[w]);
	free(want);
	free(got);
	kit_free(k);
	return 0;
}

static int both(uint32_t ops, enum hist_kind hist, int64_t lo, int64_t hi,
		int64_t step)
{
	if (scalar(ops, hist, lo, hi, step, GUARD_SELF))
		return 1;
	return scalar(ops, hist, lo, hi, step, GUARD_PREEMPTIBLE);
}

#define SCALAR(name, ...)                                                      \
	TEST(name)                                                             \
	{                                                                      \
		if (both(__VA_ARGS__))                                         \
			SKIP("bpf() is refused");                              \
	}

SCALAR(count, BIT(COUNT), HIST_NONE, 0, 0, 0)
SCALAR(sum, BIT(COUNT) | BIT(SUM), HIST_NONE, 0, 0, 0)
SCALAR(extremes, BIT(MIN) | BIT(MAX), HIST_NONE, 0, 0, 0)
SCALAR(variance, BIT(VARIANCE), HIST_NONE, 0, 0, 0)
SCALAR(hist_log, BIT(COUNT), HIST_LOG, 0, 0, 0)
SCALAR(hist_linear, BIT(SUM), HIST_LINEAR, 0, 100, 10)
SCALAR(hist_linear_shift, BIT(SUM), HIST_LINEAR, -64, 64, 8)
SCALAR(hist_linear_one, BIT(SUM), HIST_LINEAR, 5, 50, 1)
SCALAR(hist_linear_big, BIT(SUM), HIST_LINEAR, -5000000000, 5000000000,
       1000000000)
SCALAR(quantile, BIT(QUANTILE), HIST_NONE, 0, 0, 0)
SCALAR(distinct, BIT(DISTINCT), HIST_NONE, 0, 0, 0)
SCALAR(everything, 0xfff, HIST_LOG, 0, 0, 0)

/* A constant sample: the main job. */
TEST(constant_sample)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *s = kit_global(k, "s", TY_STATS, 0, 0);

	set_spec(s, BIT(COUNT), HIST_NONE, 0, 0, 0);
	kit_ins(k, OP_SADD, -1, 1, val_num(1))->global = s;
	CHECK(kit_compile(k));
	/* what a C programmer writes: row, stop word and bank, hits, cell */
	CHECK(k->code->ninsns <= 36);
	KIT_LOADED(k, kit_load(k));
	kit_free(k);
}

/* --- arrays -------------------------------------------------------------- */

struct keyed {
	struct kit *k;
	struct var *s;
	const struct plan_global *pg;
	enum map_kind kind;
};

static int keyed_new(struct keyed *t, uint32_t ops, enum hist_kind hist,
		     int64_t size, enum guard guard)
{
	int a, b, loaded;

	t->k = kit_new(PLACE_KERNEL, guard);
	t->s = kit_global(t->k, "s", TY_STATS, 0, 2);
	t->s->size = size;
	set_spec(t->s, ops, hist, 0, 0, 0);
	a = kit_reg(t->k, 0);
	b = kit_reg(t->k, 0);
	kit_ins(t->k, OP_ARG, a, 1, val_num(0));
	kit_ins(t->k, OP_ARG, b, 1, val_num(1));
	kit_ins(t->k, OP_SADD, -1, 3, val_reg((uint32_t)a), val_num(77),
		val_reg((uint32_t)b))->global = t->s;
	CHECK(kit_compile(t->k));
	t->pg = &t->k->plan->globals[0];
	t->kind = t->k->plan->maps.v[t->pg->map].inner;
	loaded = kit_load(t->k);
	CHECK(loaded >= 0);
	return loaded;
}

/* Adds the key's hot entries of all rows; false: none. */
static bool hot_cell(struct keyed *t, unsigned bank, const uint64_t *key,
		     uint64_t *ret)
{
	const struct plan *p = t->k->plan;
	bool found = false;

	for (unsigned r = 0; t->pg->hot_ways && r < p->nrows; r++)
		for (unsigned w = 0; w < t->pg->hot_ways; w++) {
			const uint8_t *e = t->k->rows + r * p->row_size +
					   p->bank_off + bank * p->bank_size +
					   t->pg->hot[0] + w * t->pg->hot_size;

			if (!*(const uint64_t *)e ||
			    memcmp(e + t->pg->part.size, key, 16))
				continue;
			cell_merge(&t->pg->cell, ret, (const uint64_t *)e);
			found = true;
		}
	return found;
}

/* Sum over CPUs, banks and hot entries of the cell of a key; false: not there.
 */
static bool keyed_cell(struct keyed *t, uint64_t key, uint64_t *ret)
{
	uint32_t size = t->pg->cell.size;
	unsigned n = t->kind == PM_PERCPU_HASH ? t->k->plan->ncpus : 1;
	uint8_t *buf = calloc(n, size);
	uint64_t kk[2] = {key, 77};
	bool found = false;

	for (int b = 0; b < 2; b++) {
		found |= t->pg->hot && hot_cell(t, (unsigned)b, kk, ret);
		if (bpf_map_lookup_elem(t->k->inner[t->pg->map][b], kk, buf))
			continue;
		found = true;
		for (unsigned c = 0; c < n; c++)
			cell_merge(&t->pg->cell, ret,
				   (uint64_t *)(buf + c * size));
	}
	free(buf);
	return found;
}

/* 50 keys are more than there are hot entries, in an order without a period,
 * with runs of one key in it. */
enum { KEYS = 50 };

static int keyed_run(uint32_t ops, enum hist_kind hist, enum guard guard)
{
	struct keyed t;
	uint64_t *want[KEYS], *got;
	int loaded = keyed_new(&t, ops, hist, 0, guard);
	bool hot;

	if (loaded) {
		kit_free(t.k);
		return loaded;
	}
	hot = hist == HIST_NONE && guard == GUARD_SELF;
	CHECK_EQ(t.pg->hot_ways > 0, hot);
	for (int i = 0; i < KEYS; i++)
		want[i] = calloc(1, t.pg->cell.size);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t key = (uint64_t)sample(i / 3 + 999) % KEYS;
		uint64_t ctx[2] = {key, (uint64_t)sample(i)};

		((struct control *)t.k->control)->bank = i / 1000 & 1;
		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
		cell_add(&t.pg->cell, want[key], (int64_t)ctx[1]);
	}
	for (int i = 0; i < KEYS; i++) {
		got = calloc(1, t.pg->cell.size);
		CHECK(keyed_cell(&t, (uint64_t)i, got));
		CHECK(!memcmp(got, want[i], t.pg->cell.size));
		free(got);
		free(want[i]);
	}
	CHECK_EQ(kit_count(t.k, offsetof(struct probe_counts, map_full)), 0);
	kit_free(t.k);
	return 0;
}

/* An update of a key that has a hot entry touches no map. */
TEST(hot_key)
{
	struct keyed t;
	int loaded = keyed_new(&t, BIT(COUNT), HIST_NONE, 0, GUARD_SELF);
	uint64_t ctx[2] = {0, 1}, key[2] = {0, 77}, next[2];

	if (loaded) {
		kit_free(t.k);
		if (loaded == 1)
			SKIP("bpf() is refused");
		return;
	}
	for (int i = 0; i < 100; i++)
		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
	CHECK(bpf_map_get_next_key(t.k->inner[t.pg->map][0], NULL, next));
	((struct control *)t.k->control)->bank = 1;
	for (int i = 0; i < 10; i++)
		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
	CHECK(bpf_map_get_next_key(t.k->inner[t.pg->map][1], NULL, next));
	for (unsigned b = 0; b < 2; b++) {
		uint64_t got[8] = {0};

		CHECK(hot_cell(&t, b, key, got));
		CHECK_EQ(got[0], b ? 10 : 100);
	}
	kit_free(t.k);
}

TEST(keyed_percpu)
{
	if (keyed_run(BIT(VARIANCE) | BIT(MIN) | BIT(MAX), HIST_NONE,
		      GUARD_SELF))
		SKIP("bpf() is refused");
}

TEST(keyed_preemptible)
{
	if (keyed_run(BIT(VARIANCE) | BIT(MIN) | BIT(MAX), HIST_NONE,
		      GUARD_PREEMPTIBLE))
		SKIP("bpf() is refused");
}

TEST(keyed_shared_hash)
{
	if (keyed_run(BIT(VARIANCE) | BIT(MAX), HIST_LOG, GUARD_SELF))
		SKIP("bpf() is refused");
}

static int map_keys(struct keyed *t)
{
	uint64_t key[2];
	int fd = t->k->inner[t->pg->map][0], n = 0;

	for (int rc = bpf_map_get_next_key(fd, NULL, key); !rc; n++)
		rc = bpf_map_get_next_key(fd, key, key);
	return n;
}

/* A full array: rows and "other" add up to all samples. */
TEST(keyed_full)
{
	struct keyed t;
	int loaded = keyed_new(&t, BIT(SUM), HIST_NONE, 10, GUARD_SELF);
	uint64_t total = 0, sum = 0, full;

	if (loaded) {
		kit_free(t.k);
		if (loaded == 1)
			SKIP("bpf() is refused");
		return;
	}
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ctx[2] = {i % 50, i};

		CHECK_EQ(kit_run(t.k, ctx, 2), 0);
	}
	for (unsigned i = 0; i < 50; i++) {
		uint64_t got[8] = {0};

		keyed_cell(&t, i, got);
		total += got[0];
		sum += got[1];
	}
	full = kit_count(t.k, offsetof(struct probe_counts, map_full));
	CHECK(full > 0);
	CHECK_EQ(total, 1000 - full);
	CHECK_EQ(map_keys(&t), 10);
	for (unsigned r = 0; r < t.k->plan->nrows; r++) {
		const uint64_t *c = (uint64_t *)
		    (t.k->rows + r * t.k->plan->row_size +
		     t.k->plan->bank_off + t.pg->other_off);

		total += c[0];
		sum += c[1];
	}
	CHECK_EQ(total, 1000);
	CHECK_EQ(sum, 999 * 1000 / 2);
	kit_free(t.k);
}
