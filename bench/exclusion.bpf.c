/* SPDX-License-Identifier: MIT */
/*
 * Ways for handlers to keep each other out, one per load: `set` is constant, so
 * the verifier removes the others. `task` makes a batch of events at each call
 * of EVENT_CALL; `irq` makes one on top of whatever it interrupts.
 *
 * Built with clang -O2 -target bpf -mcpu=v3; needs Linux 5.17 (bpf_loop).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "exclusion.h"

enum { GOT, GIVEN_UP };
enum { CHUNK = 16, LOOKS = 16, LOOP_MAX = 1 << 20 };

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct settings set = {0};
struct shared sh SEC(".bss");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct log_of_cpu);
} logs SEC(".maps");

#define LOOK(x) (*(volatile __u64 *)&(x))
#define TRY(me) __sync_val_compare_and_swap(&sh.lock, 0, (me))

/* Time to pass: multiplications that depend on each other. */
static long chunk(__u32 i, void *ctx)
{
	__u64 x = *(__u64 *)ctx;

	for (int k = 0; k < CHUNK; k++)
		asm volatile("%0 *= 5" : "+r"(x));
	*(__u64 *)ctx = x;
	return 0;
}

static __noinline int work(__u32 units)
{
	__u64 x = units | 1;

	if (units >= CHUNK)
		bpf_loop(units / CHUNK, chunk, &x, 0);
	units %= CHUNK;
	for (__u32 i = 0; i < CHUNK; i++) {
		if (i >= units)
			break;
		asm volatile("%0 *= 5" : "+r"(x));
	}
	return x & 1;
}

/* A global function: verified once, not once for each call. */
__noinline int spin(__u64 me)
{
	for (__u32 i = 0; i < set.spins; i++)
		if (!LOOK(sh.lock) && !TRY(me))
			return GOT;
	return GIVEN_UP;
}

struct wait {
	__u64 me, deadline, result;
};

/* LOOKS looks, then the clock. */
static long look(__u32 i, void *ctx)
{
	struct wait *w = ctx;
	__u64 me = w->me;

	for (int k = 0; k < LOOKS; k++) {
		__u64 owner = LOOK(sh.lock);

		if (owner == me && set.scheme == OWNER)
			return 1;
		if (!owner && !TRY(me)) {
			w->result = GOT;
			return 1;
		}
	}
	return bpf_ktime_get_ns() >= w->deadline;
}

static __noinline int wait(__u64 me)
{
	struct wait w = {me, bpf_ktime_get_ns() + set.patience, GIVEN_UP};

	bpf_loop(LOOP_MAX, look, &w, 0);
	return w.result;
}

static __always_inline int acquire(void)
{
	__u64 me, old;

	switch (set.scheme) {
	case ADD_READ:
		__sync_fetch_and_add(&sh.lock, 1);
		return LOOK(sh.lock) == 1 ? GOT : GIVEN_UP;
	case ADD_FETCH:
		return __sync_fetch_and_add(&sh.lock, 1) ? GIVEN_UP : GOT;
	case SPIN:
		if (!TRY(1))
			return GOT;
		return set.spins ? spin(1) : GIVEN_UP;
	case OWNER:
	case NO_OWNER:
		me = bpf_get_smp_processor_id() + 1;
		old = TRY(me);
		if (!old)
			return GOT;
		if (old == me && set.scheme == OWNER)
			return GIVEN_UP;
		return wait(me);
	}
	return GOT;
}

/* The 2018 schemes take their 1 back whether they ran or not. */
static __always_inline void release(int got)
{
	switch (set.scheme) {
	case ADD_READ:
	case ADD_FETCH:
		__sync_fetch_and_add(&sh.lock, -1);
		break;
	case SPIN:
	case OWNER:
	case NO_OWNER:
		if (got == GOT)
			__sync_lock_test_and_set(&sh.lock, 0);
		break;
	}
}

/* Reads first and writes last: an update meanwhile is lost. */
static __always_inline void section(void)
{
	__u64 count = LOOK(sh.count);

	if (sh.section)
		work(sh.section);
	LOOK(sh.count) = count + 1;
}

static __always_inline void note(struct row *r, __u32 cpu, __u64 from, int got)
{
	struct log_of_cpu *l = bpf_map_lookup_elem(&logs, &cpu);
	__u64 n = r->logged;

	if (!l || n >= LOG_MAX)
		return;
	l->a[n].from = from;
	l->a[n].to = bpf_ktime_get_ns() | (got == GOT ? RAN : 0);
	r->logged = n + 1;
}

static __always_inline struct row *my_row(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return &sh.row[*cpu & (ROWS - 1)];
}

/* Between half and one and a half of the mean, so that CPUs do not fall into
 * step. */
static __always_inline void pause(struct row *r)
{
	__u64 x = r->random * 6364136223846793005ull + 1442695040888963407ull;

	r->random = x;
	work(sh.pause / 2 + ((__u64)sh.pause * (x >> 56) >> 8));
}

static long event(__u32 i, void *ctx)
{
	__u32 cpu;
	struct row *r = my_row(&cpu);
	__u64 from = 0;
	int got;

	if (sh.pause)
		pause(r);
	if (set.log)
		from = bpf_ktime_get_ns();
	got = acquire();
	if (got == GOT) {
		section();
		r->runs++;
	} else {
		r->skips++;
	}
	release(got);
	r->events++;
	if (set.log)
		note(r, cpu, from, got);
	return 0;
}

SEC("raw_tp/sys_enter")
int task(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] == EVENT_CALL)
		bpf_loop(sh.batch, event, (void *)0, 0);
	return 0;
}

SEC("perf_event")
int irq(void *ctx)
{
	__u32 cpu;
	struct row *r = my_row(&cpu);
	__u64 from = bpf_ktime_get_ns(), took;
	int got = acquire();

	took = bpf_ktime_get_ns() - from;
	if (got == GOT) {
		section();
		r->irq_runs++;
	} else {
		r->irq_skips++;
	}
	release(got);
	r->irq_events++;
	r->irq_wait += took;
	if (took > r->irq_wait_max)
		r->irq_wait_max = took;
	return 0;
}
