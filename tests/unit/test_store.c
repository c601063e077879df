/* SPDX-License-Identifier: MIT */
/* The memory store: arrays, capacity, order, banks and settled totals; and the
 * array helpers that the VM offers on top of it. */
#include "vm_kit.h"

#include <errno.h>
#include <sys/prctl.h>

#include "stat/extract.h"
#include "store/htab.h"
#include "store/live.h"
#include "store/settled.h"
#include "test.h"

/* --- the table --------------------------------------------------------------
 */

TEST(htab_against_a_plain_model)
{
	enum { KEYS = 500, STEPS = 200000 };
	static int64_t value[KEYS];
	static bool there[KEYS];
	struct htab *h = htab_new(8, 8, KEYS / 2);
	uint64_t x = 1;
	unsigned count = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t k;
		uint8_t *at;
		bool is_new;

		x = x * 6364136223846793005u + 1442695040888963407u;
		k = x >> 33 & 0x1ff;
		if (k >= KEYS)
			continue;
		at = htab_find(h, &k);
		CHECK((at != NULL) == there[k]);
		if (x >> 60 < 6) {
			CHECK_EQ(htab_del(h, &k), there[k]);
			count -= there[k];
			there[k] = false;
			continue;
		}
		at = htab_add(h, &k, &is_new);
		if (!at) {
			CHECK(!there[k] && count == KEYS / 2);
			continue;
		}
		CHECK_EQ(is_new, !there[k]);
		if (is_new)
			count++;
		else
			CHECK(!memcmp(at, &value[k], 8));
		there[k] = true;
		value[k] = (int64_t)x;
		memcpy(at, &value[k], 8);
		CHECK_EQ(htab_count(h), count);
	}
	htab_clear(h);
	CHECK_EQ(htab_count(h), 0);
	CHECK_EQ(htab_first(h), HTAB_NONE);
	htab_free(h);
}

/* Resident pages of this process. */
static long pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident;
}

/*
 * Quantile grids of 59 KB, of which a key's samples touch few pages. Where the
 * kernel gives large pages unasked, it would be its choice that is measured.
 */
TEST(large_values_take_the_pages_that_are_touched)
{
	enum { KEYS = 1000, VALUE = 60000 };
	struct htab *h = htab_new(8, VALUE, KEYS);
	long before = pages();
	bool is_new;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);

	for (uint64_t k = 0; k < KEYS; k++)
		htab_add(h, &k, &is_new)[VALUE - 1] = 1;
	/* Two a value, and the table's own; all of them would be 15 each. */
	CHECK(pages() - before < 4 * KEYS);
	for (uint64_t k = 0; k < KEYS; k += 2)
		CHECK(htab_del(h, &k));
	for (uint64_t k = 0; k < KEYS; k++)
		CHECK_EQ(htab_add(h, &k, &is_new)[VALUE - 1], k % 2);
	htab_free(h);
}

TEST(htab_keeps_the_order_of_insertion)
{
	struct htab *h = htab_new(8, 0, 100);
	static const uint64_t in[] = {5, 1, 9, 3}, left[] = {5, 9, 3, 1};
	uint64_t one = 1;
	uint32_t e;
	bool is_new;
	int i = 0;

	for (int k = 0; k < 4; k++)
		htab_add(h, &in[k], &is_new);
	htab_add(h, &in[0], &is_new);
	htab_del(h, &one);
	htab_add(h, &one, &is_new);
	for (e = htab_first(h); e != HTAB_NONE; e = htab_next(h, e))
		CHECK(!memcmp(htab_key(h, e), &left[i++], 8));
	CHECK_EQ(i, 4);
	htab_free(h);
}

/* --- plain arrays -----------------------------------------------------------
 */

static int set_a(struct kit *k, int64_t n, const char *s, int64_t v)
{
	struct kit_key2 key = kit_key2(n, s);

	return store_set(k->store, KIT_A, &key, &v);
}

static int64_t get_a(struct kit *k, int64_t n, const char *s)
{
	struct kit_key2 key = kit_key2(n, s);
	int64_t v = -1;

	return store_get(k->store, KIT_A, &key, &v) ? -1000 : v;
}

TEST(plain_array)
{
	struct kit *k = kit_new(NULL);
	struct kit_key2 key = kit_key2(2, "y");
	int64_t old;

	CHECK_EQ(get_a(k, 1, "x"), -1000);
	CHECK_EQ(set_a(k, 1, "x", 10), 0);
	CHECK_EQ(get_a(k, 1, "x"), 10);
	CHECK_EQ(get_a(k, 1, "y"), -1000);
	CHECK_EQ(store_add(k->store, KIT_A, &key, 5, &old), 0);
	CHECK_EQ(old, 0);
	CHECK_EQ(store_add(k->store, KIT_A, &key, INT64_MAX, &old), 0);
	CHECK_EQ(old, 5);
	CHECK_EQ(get_a(k, 2, "y"), INT64_MIN + 4); /* wraps */
	CHECK_EQ(set_a(k, 3, "", 0), 0);
	CHECK_EQ(set_a(k, 4, "", 0), 0);
	CHECK_EQ(set_a(k, 5, "", 0), -E2BIG);
	CHECK_EQ(set_a(k, 4, "", 7), 0);
	CHECK_EQ(store_del(k->store, KIT_A, &key), 0);
	CHECK_EQ(store_del(k->store, KIT_A, &key), -ENOENT);
	CHECK_EQ(set_a(k, 5, "", 0), 0);
	CHECK_EQ(store_clear(k->store, KIT_A), 0);
	CHECK_EQ(get_a(k, 1, "x"), -1000);
	kit_free(k);
}

TEST(snapshot_is_in_order_of_creation)
{
	struct kit *k = kit_new(NULL);
	static const int64_t want[] = {9, 2, 5};
	uint8_t *elems;
	int64_t n;

	set_a(k, 9, "", 1);
	set_a(k, 2, "", 2);
	set_a(k, 5, "", 3);
	set_a(k, 9, "", 4); /* keeps its place */
	n = store_snapshot(k->store, KIT_A, &elems);
	CHECK_EQ(n, 3);
	for (int i = 0; i < 3; i++)
		CHECK(!memcmp(elems + i * 32, &want[i], 8));
	free(elems);
	kit_free(k);
}

static int set_h(struct kit *k, const char *key, const char *v)
{
	struct kit_key1 kk = kit_key1(key);
	char value[32] = {0};

	memcpy(value, v, strlen(v));
	return store_set(k->store, KIT_H, &kk, value);
}

TEST(wrapping_array_drops_the_oldest)
{
	struct kit *k = kit_new(NULL);
	struct kit_key1 gone = kit_key1("3"), kept = kit_key1("1");
	char v[32];

	set_h(k, "3", "three");
	set_h(k, "1", "one");
	set_h(k, "2", "two");
	set_h(k, "3", "again"); /* does not become younger */
	CHECK_EQ(set_h(k, "4", "four"), 0);
	CHECK_EQ(store_get(k->store, KIT_H, &gone, v), -ENOENT);
	CHECK_EQ(store_get(k->store, KIT_H, &kept, v), 0);
	CHECK_STR(v, "one");
	kit_free(k);
}

TEST(globals_get_their_initial_values)
{
	struct kit *k = kit_new(NULL);
	int64_t v;

	memcpy(&v, k->store->control + k->globals[KIT_N].off, 8);
	CHECK_EQ(v, 42);
	CHECK(((struct control *)k->store->control)->start_wall_ns);
	kit_free(k);
}

/* --- aggregates -------------------------------------------------------------
 */

static int64_t stat_of(struct kit *k, unsigned g, const void *key,
		       enum stat_op op)
{
	int64_t v = 0;

	if (stat_extract(&k->globals[g].cell, store_agg_cell(k->store, g, key),
			 op, 0, &v, NULL))
		return -1000;
	return v;
}

TEST(drain_moves_each_sample_once)
{
	struct kit *k = kit_new(NULL);
	struct control *control = (struct control *)k->store->control;
	const struct cell *l = &k->globals[KIT_S].cell;

	cell_add(l, kit_cell(k, 0, 0, false), 5);
	cell_add(l, kit_cell(k, 1, 0, false), 7);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_COUNT), 0);
	store_drain(k->store);
	CHECK_EQ(control->bank, 1);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_COUNT), 2);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_SUM), 12);
	/* programs now write bank 1; bank 0 is empty */
	cell_add(l, kit_cell(k, 0, 1, false), -1);
	store_drain(k->store);
	store_drain(k->store);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_COUNT), 3);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_MIN), -1);
	store_agg_add(k->store, KIT_S, NULL, 100); /* the host's own */
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_MAX), 100);
	store_agg_del(k->store, KIT_S, NULL);
	CHECK(!store_agg_cell(k->store, KIT_S, NULL));
	kit_free(k);
}

TEST(live_aggregates_are_copied_not_moved)
{
	struct kit *k = kit_new(NULL);
	const struct cell *l = &k->globals[KIT_S].cell;

	k->globals[KIT_S].live = true;
	k->globals[KIT_S].deletes_off = k->globals[KIT_N].off;
	k->store->live[KIT_S] = live_new(&k->globals[KIT_S], 0);
	cell_add(l, kit_cell(k, 0, 0, false), 5);
	cell_add(l, kit_cell(k, 1, 0, false), 7);
	store_agg_add(k->store, KIT_S, NULL, 100);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_COUNT), 1);
	for (int i = 0; i < 3; i++) {
		store_drain(k->store);
		CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_COUNT), 3);
		CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_SUM), 112);
	}
	/* What a program adds is seen once its bank rests. */
	cell_add(l, kit_cell(k, 0, 1, false), 1000);
	store_drain(k->store);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_SUM), 1112);
	/* A program deletes, then adds: old copies are worth nothing. */
	memset(kit_cell(k, 0, 0, false), 0, l->size);
	memset(kit_cell(k, 1, 0, false), 0, l->size);
	memset(kit_cell(k, 0, 1, false), 0, l->size);
	/* counted before and after */
	*(uint64_t *)(k->store->control + k->globals[KIT_S].deletes_off) += 2;
	cell_add(l, kit_cell(k, 1, 1, false), 3);
	store_drain(k->store);
	CHECK_EQ(stat_of(k, KIT_S, NULL, STAT_SUM), 103);
	store_agg_del(k->store, KIT_S, NULL);
	store_drain(k->store);
	CHECK(!store_agg_cell(k->store, KIT_S, NULL));
	kit_free(k);
}

/* The sum that the host sees; -1: no such element. */
static int64_t shown(const struct plan_global *g, struct live *l,
		     struct settled *view, const void *key)
{
	int64_t v = -1;

	live_show(l, view);
	if (settled_cell(view, key))
		stat_extract(&g->cell, settled_cell(view, key), STAT_SUM, 0,
			     &v, NULL);
	return v;
}

/* An element goes between the copies of its banks: half of it is no result. */
TEST(copies_that_a_deletion_tore)
{
	struct kit *k = kit_new(NULL);
	const struct plan_global *g = &k->globals[KIT_K];
	struct live *l = live_new(g, 4), *s = live_new(&k->globals[KIT_S], 0);
	struct settled *view = settled_new(g, 4);
	struct kit_key1 key = kit_key1("k");
	uint64_t banks[2][64] = {{0}}, host[64] = {0};

	cell_add(&g->cell, banks[0], 3);
	cell_add(&g->cell, banks[1], 40);
	cell_add(&g->cell, host, 500);
	live_begin(l, 0, 0);
	live_copy(l, &key, (uint8_t *)banks, 1, sizeof(banks[0]));
	live_copy_host(l, &key, host);
	CHECK(!live_torn(l, 0));
	CHECK_EQ(shown(g, l, view, &key), 503);
	live_begin(l, 1, 0);
	/* a program deletes it here, so it is in no map that is read now */
	CHECK_EQ(shown(g, l, view, &key), 3);
	CHECK(live_torn(l, 1));
	live_begin(l, 1, 1);
	CHECK_EQ(shown(g, l, view, &key), -1);
	/* this copy took elements as a whole, whatever goes now */
	CHECK(!live_torn(l, 2));
	/* at the next drain it is known that something went */
	live_begin(l, 0, 2);
	live_copy(l, &key, (uint8_t *)banks, 1, sizeof(banks[0]));
	live_copy_host(l, &key, host);
	CHECK_EQ(shown(g, l, view, &key), 543);
	/* a scalar is zeroed cell by cell */
	live_begin(s, 0, 1);
	CHECK(live_torn(s, 1));
	CHECK(live_torn(s, 2));
	live_begin(s, 0, 2);
	CHECK(!live_torn(s, 2));
	live_free(l);
	live_free(s);
	settled_free(view);
	kit_free(k);
}

/* What a kernel program does on its CPU: look up, create, look up, add. */
static void feed_k(struct kit *k, unsigned cpu, const char *name, int64_t v)
{
	const struct cell *l = &k->globals[KIT_K].cell;
	unsigned bank = ((struct control *)k->store->control)->bank;
	unsigned map = STORE_BANK(KIT_MAP_K, bank);
	struct kit_key1 key = kit_key1(name);
	uint64_t zero[64] = {0};
	uint64_t *at;

	at = store_mem_lookup(k->store, map, &key, cpu);
	if (!at) {
		store_mem_update(k->store, map, &key, zero, BPF_NOEXIST, cpu);
		at = store_mem_lookup(k->store, map, &key, cpu);
	}
	cell_add(l, at ? at : kit_cell(k, cpu, bank, true), v);
}

TEST(keyed_cells_settle)
{
	struct kit *k = kit_new(NULL);
	struct kit_key1 b = kit_key1("b"), a = kit_key1("a");
	const uint8_t **keys;

	feed_k(k, 0, "b", 1);
	feed_k(k, 1, "b", 2);
	feed_k(k, 1, "a", 3);
	store_drain(k->store);
	feed_k(k, 0, "b", 10);
	store_drain(k->store);
	CHECK_EQ(stat_of(k, KIT_K, &b, STAT_SUM), 13);
	CHECK_EQ(stat_of(k, KIT_K, &b, STAT_COUNT), 3);
	CHECK_EQ(stat_of(k, KIT_K, &a, STAT_SUM), 3);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 2);
	CHECK_STR((const char *)keys[0], "b");
	CHECK_EQ(store_agg_del(k->store, KIT_K, &b), 0);
	CHECK_EQ(store_agg_del(k->store, KIT_K, &b), -ENOENT);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 1);
	store_agg_clear(k->store, KIT_K);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 0);
	kit_free(k);
}

TEST(no_sample_is_lost_when_full)
{
	struct kit *k = kit_new(NULL);
	char name[2] = "a";
	const uint8_t **keys;
	unsigned n, i;
	int64_t sum = 0, v;

	for (i = 0; i < 6; i++) {
		name[0] = (char)('a' + i);
		feed_k(k, i & 1, name, 1 << i);
	}
	store_drain(k->store);
	for (i = 0; i < 6; i++) {
		struct kit_key1 key;

		name[0] = (char)('z' - i);
		key = kit_key1(name);
		CHECK_EQ(store_agg_add(k->store, KIT_K, &key, 1 << (6 + i)),
			 -E2BIG);
	}
	n = store_agg_keys(k->store, KIT_K, &keys);
	CHECK_EQ(n, 4);
	for (i = 0; i < n; i++)
		sum += stat_of(k, KIT_K, keys[i], STAT_SUM);
	CHECK(store_agg_other(k->store, KIT_K));
	stat_extract(&k->globals[KIT_K].cell, store_agg_other(k->store, KIT_K),
		     STAT_SUM, 0, &v, NULL);
	CHECK_EQ(sum + v, (1 << 12) - 1);
	CHECK_EQ(k->store->other_events[KIT_K], 8);
	kit_free(k);
}

TEST(new_keys_of_a_kernel_map_come_in_key_order)
{
	struct kit *k = kit_new(NULL);
	struct {
		struct kit_key1 key;
		uint64_t cell[8];
	} e[3] = {{kit_key1("z"), {1, 5}},
		  {kit_key1("m"), {1, 6}},
		  {kit_key1("a"), {1, 7}}};
	uint32_t size = k->globals[KIT_K].cell.size;
	struct store_batch b;
	const uint8_t **keys;

	store_batch_init(&b, k->store, KIT_K, 3);
	for (int i = 0; i < 3; i++)
		memcpy(b.elems + b.n++ * b.stride, &e[i], 16 + size);
	store_agg_add(k->store, KIT_K, &e[0].key, 1);
	store_merge_batch(k->store, KIT_K, &b);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 3);
	CHECK_STR((const char *)keys[0], "z");
	CHECK_STR((const char *)keys[1], "a");
	CHECK_STR((const char *)keys[2], "m");
	kit_free(k);
}

/* A hot entry of probe 0 as a program leaves it: n samples, all of them v. */
static void set_hot(struct kit *k, unsigned cpu, unsigned way, const char *key,
		    unsigned n, int64_t v)
{
	const struct plan_global *g = &k->globals[KIT_K];
	unsigned bank = ((struct control *)k->store->control)->bank;
	struct kit_key1 made = kit_key1(key);
	uint8_t *entry = (uint8_t *)kit_cell(k, cpu, bank, false) + g->hot[0] +
			 way * g->hot_size;

	while (n--)
		cell_add(&g->part, (uint64_t *)entry, v);
	memcpy(entry + g->part.size, &made, sizeof(made));
}

/* Entries of both banks and all CPUs are drained once, those of one key added
 * up; what finds no room is in "other" and in the probe's count. */
TEST(hot_entries_are_drained)
{
	struct kit *k = kit_new(NULL);
	struct kit_key1 a = kit_key1("a"), b = kit_key1("b");
	const uint8_t **keys;
	struct cell *l = &k->globals[KIT_K].cell;

	store_agg_add(k->store, KIT_K, &b, 1);
	set_hot(k, 0, 0, "b", 2, 10);
	set_hot(k, 0, 1, "a", 3, 100);
	set_hot(k, 1, 0, "a", 4, 1000);
	CHECK_EQ(store_drain(k->store), 0);
	set_hot(k, 1, 1, "a", 1, 5);
	CHECK_EQ(store_drain(k->store), 0);
	CHECK_EQ(store_drain(k->store), 0);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 2);
	CHECK_STR((const char *)keys[0], "b");
	CHECK_EQ(stat_of(k, KIT_K, &a, STAT_COUNT), 8);
	CHECK_EQ(stat_of(k, KIT_K, &a, STAT_SUM), 4305);
	CHECK_EQ(stat_of(k, KIT_K, &b, STAT_SUM), 21);
	CHECK_EQ(k->store->late_full[0], 0);
	set_hot(k, 0, 0, "c", 1, 1);
	set_hot(k, 0, 1, "d", 1, 1);
	set_hot(k, 1, 0, "e", 6, 1);
	set_hot(k, 1, 1, "f", 7, 1);
	CHECK_EQ(store_drain(k->store), 0);
	CHECK_EQ(store_agg_keys(k->store, KIT_K, &keys), 4);
	CHECK_EQ(k->store->late_full[0], 13);
	CHECK_EQ(k->store->other_events[KIT_K], 13);
	CHECK(store_agg_other(k->store, KIT_K));
	if (store_agg_other(k->store, KIT_K))
		CHECK_EQ(store_agg_other(k->store, KIT_K)[l->off[CF_COUNT] / 8],
			 13);
	kit_free(k);
}

/* --- iteration, through the helpers -----------------------------------------
 */

/* Runs "for each element: put key n (a number) into ctx", returns how many.
 * key: the slice or 0. */
static unsigned iterate(struct kit *k, unsigned iter, unsigned key_n,
			const void *key, int64_t limit, uint64_t *ret,
			unsigned max)
{
	struct {
		uint64_t out[130];
		uint8_t key[32];
	} mem = {0};
	const struct bpf_insn code[] = {
	    MOVX(7, 1),
	    MOV(8, 0),
	    MOV(1, (int)iter),
	    MOVX(2, 7),
	    INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, sizeof(mem.out)),
	    LDDW(3, limit),
	    CALL(HOST_ITER_NEW),
	    MOVX(6, 0),
	    /* 9 */ MOVX(1, 6),
	    CALL(HOST_ITER_NEXT),
	    /* 2: no element, only one that the slice leaves out */
	    INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 11, 1),
	    MOVX(1, 6),
	    MOV(2, (int)key_n),
	    MOVX(3, 7),
	    CALL(HOST_ITER_KEY),
	    MOVX(9, 7),
	    MOVX(1, 8),
	    INSN(BPF_ALU64 | BPF_LSH | BPF_K, 1, 0, 0, 3),
	    INSN(BPF_ALU64 | BPF_ADD | BPF_X, 9, 1, 0, 0),
	    INSN(BPF_STX | BPF_MEM | BPF_DW, 9, 0, 0, 0),
	    INSN(BPF_ALU64 | BPF_ADD | BPF_K, 8, 0, 0, 1),
	    INSN(BPF_JMP | BPF_JLT | BPF_K, 8, 0, -14, (int)max),
	    /* 23 */ MOVX(1, 6),
	    CALL(HOST_ITER_END),
	    MOVX(0, 8),
	    EXIT,
	};
	uint64_t n = 0;

	if (key)
		memcpy(mem.key, key, 24);
	if (vm_run_insns(k->vm, code, sizeof(code) / sizeof(code[0]), &mem,
			 sizeof(mem), &n))
		TEST_FAIL("fault: %s", vm_fault(k->vm));
	memcpy(ret, mem.out, n * 8);
	return (unsigned)n;
}

TEST(foreach_sorted_by_key_leaves_the_array_alone)
{
	struct kit *k = kit_new(NULL);
	uint64_t got[8];

	set_a(k, 30, "", 1);
	set_a(k, -5, "", 2);
	set_a(k, 7, "", 3);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(iterate(k, 0, 0, NULL, 0, got, 8), 3);
		CHECK_EQ(got[0], -5);
		CHECK_EQ(got[1], 7);
		CHECK_EQ(got[2], 30);
	}
	kit_free(k);
}

TEST(foreach_limit_counts_before_the_slice)
{
	struct kit *k = kit_new(NULL);
	struct kit_key2 key = kit_key2(0, "x");
	uint64_t got[8];

	set_a(k, 1, "x", 0);
	set_a(k, 2, "y", 0);
	set_a(k, 3, "x", 0);
	CHECK_EQ(iterate(k, 3, 0, &key, 100, got, 8), 2);
	CHECK_EQ(got[1], 3);
	CHECK_EQ(iterate(k, 3, 0, &key, 2, got, 8), 1);
	CHECK_EQ(got[0], 1);
	CHECK_EQ(iterate(k, 3, 0, &key, 0, got, 8), 0);
	CHECK_EQ(iterate(k, 3, 0, &key, -1, got, 8), 0);
	kit_free(k);
}

TEST(foreach_over_buckets_visits_all)
{
	struct kit *k = kit_new(NULL);
	uint64_t got[130];

	CHECK_EQ(iterate(k, 2, 0, NULL, 0, got, 129), 128);
	CHECK_EQ(got[127], 127);
	kit_free(k);
}
