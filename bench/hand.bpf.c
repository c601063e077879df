/* SPDX-License-Identifier: MIT */
/*
 * What a C programmer would write by hand for the same updates that tally
 * compiles from a script: the yardstick of bench/event. One program per kind of
 * aggregate, scalar and keyed, all on raw_tp/sys_enter. The value is the system
 * call's number (argument 1), as in the scripts of bench/cases.
 *
 * Built with clang -O2 -target bpf -mcpu=v3.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

typedef unsigned long long u64;
typedef unsigned int u32;
typedef long long s64;

#define ROWS 256
#define BIAS (1ull << 63)

struct cell {
	u64 count, sum, sum_hi, min, max, sq0, sq1, sq2;
	u64 hist[128];
} __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cell[ROWS]);
} rows SEC(".maps");

/* 3712 buckets a half: 64 a octave. */
#define HALF 3712
struct grid {
	u64 count, min, max, pad;
	u64 grid[2 * HALF];
} __attribute__((aligned(64)));
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64[4000]);
} grids SEC(".maps");

#define KEYED(NAME, KEY)                                                       \
	struct {                                                               \
		__uint(type, BPF_MAP_TYPE_PERCPU_HASH);                        \
		__uint(max_entries, 2048);                                     \
		__type(key, KEY);                                              \
		__type(value, u64[4]);                                         \
	} NAME SEC(".maps")
struct comm_key {
	char comm[16];
};
struct pair_key {
	u64 pid;
	char comm[16];
};
KEYED(by_pid, u64);
KEYED(by_comm, struct comm_key);
KEYED(by_pair, struct pair_key);

static const unsigned char log2_tab[64] = {
	0,  47, 1,  56, 48, 27, 2,  60, 57, 49, 41, 37, 28, 16, 3,  61,
	54, 58, 35, 52, 50, 42, 21, 44, 38, 32, 29, 23, 17, 11, 4,  62,
	46, 55, 26, 59, 40, 36, 15, 53, 34, 51, 20, 43, 31, 22, 10, 45,
	25, 39, 14, 33, 19, 30, 9,  24, 13, 18, 8,  12, 7,  6,  5,  63
};

static __always_inline u32 log2_of(u64 v)
{
	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	return log2_tab[(v * 0x03f79d71b4cb0a89ull) >> 58];
}

static __always_inline struct cell *row(void)
{
	u32 zero = 0;
	struct cell *all = bpf_map_lookup_elem(&rows, &zero);

	if (!all)
		return 0;
	return &all[bpf_get_smp_processor_id() & (ROWS - 1)];
}

static __always_inline u64 value(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[1];
}

SEC("raw_tp/sys_enter")
int empty(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

SEC("raw_tp/sys_enter")
int count(struct bpf_raw_tracepoint_args *ctx)
{
	struct cell *c = row();

	if (c)
		c->count++;
	return 0;
}

static __always_inline void stats_of(struct cell *c, u64 v)
{
	u64 b = v ^ BIAS;

	c->count++;
	c->sum += v;
	c->sum_hi += ((s64)v >> 63) + (c->sum < v);
	if (~b > c->min)
		c->min = ~b;
	if (b > c->max)
		c->max = b;
}

SEC("raw_tp/sys_enter")
int stats(struct bpf_raw_tracepoint_args *ctx)
{
	struct cell *c = row();

	if (c)
		stats_of(c, value(ctx));
	return 0;
}

SEC("raw_tp/sys_enter")
int variance(struct bpf_raw_tracepoint_args *ctx)
{
	struct cell *c = row();
	u64 v = value(ctx), a, lo, hi = 0;

	if (!c)
		return 0;
	stats_of(c, v);
	a = (s64)v < 0 ? -v : v;
	if (a >> 32) {
		u64 l = (u32)a, h = a >> 32, m = l * h;

		lo = l * l + (m << 33);
		hi = h * h + (m >> 31) + (lo < (m << 33));
	} else {
		lo = a * a;
	}
	c->sq0 += lo;
	hi += c->sq0 < lo;
	c->sq1 += hi;
	c->sq2 += c->sq1 < hi;
	return 0;
}

SEC("raw_tp/sys_enter")
int hist_log(struct bpf_raw_tracepoint_args *ctx)
{
	struct cell *c = row();
	u64 v = value(ctx);
	u32 i;

	if (!c)
		return 0;
	c->count++;
	if ((s64)v > 0)
		i = 65 + log2_of(v);
	else
		i = v ? 63 - log2_of(-v) : 64;
	c->hist[i & 127]++;
	return 0;
}

SEC("raw_tp/sys_enter")
int quantile(struct bpf_raw_tracepoint_args *ctx)
{
	u64 v = value(ctx), u = (s64)v < 0 ? ~v : v, b = v ^ BIAS, *g;
	u32 neg = (s64)v < 0, shift = 0, i;

	g = bpf_map_lookup_elem(&grids, &neg);
	if (!g)
		return 0;
	g[0]++;
	if (~b > g[1])
		g[1] = ~b;
	if (b > g[2])
		g[2] = b;
	if (u >> 7)
		shift = log2_of(u) - 6;
	i = shift * 64 + (u32)(u >> (shift & 63));
	if (i < HALF)
		g[4 + i]++;
	return 0;
}

#define ADD(MAP, KEY)                                                          \
	do {                                                                   \
		static const u64 zero[4];                                      \
		u64 *n = bpf_map_lookup_elem(&MAP, KEY);                       \
		if (!n) {                                                      \
			bpf_map_update_elem(&MAP, KEY, zero, BPF_NOEXIST);     \
			n = bpf_map_lookup_elem(&MAP, KEY);                    \
			if (!n)                                                \
				return 0;                                      \
		}                                                              \
		n[0]++;                                                        \
	} while (0)

SEC("raw_tp/sys_enter")
int count_pid(struct bpf_raw_tracepoint_args *ctx)
{
	u64 key = bpf_get_current_pid_tgid() >> 32;

	ADD(by_pid, &key);
	return 0;
}

SEC("raw_tp/sys_enter")
int count_id(struct bpf_raw_tracepoint_args *ctx)
{
	u64 key = value(ctx);

	ADD(by_pid, &key);
	return 0;
}

SEC("raw_tp/sys_enter")
int count_comm(struct bpf_raw_tracepoint_args *ctx)
{
	struct comm_key key;

	bpf_get_current_comm(&key, sizeof(key));
	ADD(by_comm, &key);
	return 0;
}

SEC("raw_tp/sys_enter")
int count_pair(struct bpf_raw_tracepoint_args *ctx)
{
	struct pair_key key;

	key.pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	ADD(by_pair, &key);
	return 0;
}
