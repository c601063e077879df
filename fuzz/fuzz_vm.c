/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as instructions, in the machine, with all helpers of
 * the host or (first byte odd) of the kernel. Whatever a program does, it ends
 * and touches only what it was given; nothing may crash.
 */
#include "../tests/unit/vm_kit.h"

enum { MAX_INSNS = 1024, BUDGET = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void drop_out(void *ctx, const char *s, size_t n)
{
}

static void drop_warn(void *ctx, const char *s)
{
}

/* A program being put together. */
struct program_text {
	struct bpf_insn v[MAX_INSNS];
	size_t n;
};

static void put(struct program_text *t, struct bpf_insn i)
{
	if (t->n < MAX_INSNS - 16)
		t->v[t->n++] = i;
}

static void put_lddw(struct program_text *t, unsigned reg, uint64_t v)
{
	const struct bpf_insn two[] = {LDDW(reg, v)};

	if (t->n >= MAX_INSNS - 17)
		return;
	put(t, two[0]);
	put(t, two[1]);
}

/* An argument that may be what a helper wants: a small number, an address in
 * the frame, a map, an area, a result kept in r6. */
static void put_arg(struct kit *k, struct program_text *t, unsigned reg,
		    uint8_t how)
{
	switch (how & 7) {
	case 0:
	case 1:
		put(t, MOV(reg, how >> 3));
		break;
	case 2:
	case 3:
		put(t, MOVX(reg, 10));
		put(t, INSN(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0,
			    -8 * (how >> 3) - 8));
		break;
	case 4:
		put_lddw(t, reg, 0x4d41500000000000ull | (how >> 3) % 7);
		break;
	case 5:
		put(t, MOVX(reg, 6));
		break;
	case 6:
		put_lddw(t, reg,
			 (uint64_t)(uintptr_t)k->store->control +
			     (how >> 3) * 8);
		break;
	default:
		put(t, MOV(reg, (int8_t)how));
		break;
	}
}

/* A call with arguments from the bytes: d[0] the helper, d[1] to d[5]. */
static void put_call(struct kit *k, struct program_text *t, const uint8_t *d,
		     bool kernel)
{
	static const int kernel_ids[] = {1,   2,   3,   5,   7,   8,   14,
					 15,  16,  35,  112, 113, 114, 115,
					 118, 130, 131, 132, 133, 181, 195};
	int id = kernel ? kernel_ids[d[0] % 21]
			: HOST_FIRST + d[0] % (HOST_END - HOST_FIRST);

	/* Most helpers begin with a global's or a map's number. */
	if (kernel)
		put_lddw(t, 1, 0x4d41500000000000ull | (d[1] % 7 + 1));
	else
		put(t, MOV(1, d[1] % (id == HOST_BUILTIN ? BI_MAX : 6)));
	if (d[1] & 0x80)
		put_arg(k, t, 1, d[1]);
	for (unsigned i = 2; i <= 5; i++)
		put_arg(k, t, i, d[i]);
	put(t, CALL(id));
	if (d[6] & 1)
		put(t, MOVX(6, 0));
	if (d[6] & 2)
		put(t, INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0,
			    (int16_t)(-8 * (d[6] >> 2) - 8), 0));
}

/* Any other instruction; its jumps are aimed when all are there. */
static void put_other(struct program_text *t, struct bpf_insn x)
{
	static const uint8_t codes[] = {
	    0x07, 0x0f, 0x17, 0x1f, 0x27, 0x37, 0x3f, 0x47, 0x57, 0x5f, 0x67,
	    0x77, 0x87, 0x97, 0xa7, 0xaf, 0xb7, 0xb7, 0xbf, 0xbf, 0xc7, 0x04,
	    0x0c, 0x34, 0x94, 0xb4, 0x61, 0x69, 0x71, 0x79, 0x79, 0x62, 0x6a,
	    0x72, 0x7a, 0x7a, 0x63, 0x6b, 0x73, 0x7b, 0x7b, 0xdb, 0xc3, 0x05,
	    0x15, 0x1d, 0x25, 0x2d, 0x35, 0x45, 0x55, 0x65, 0xa5, 0xc5, 0x56,
	};
	static const int atomics[] = {BPF_ADD, BPF_OR | BPF_FETCH, BPF_XCHG,
				      BPF_CMPXCHG};
	unsigned class;

	x.code = codes[x.code % sizeof(codes)];
	class = BPF_CLASS(x.code);
	x.dst_reg = class == BPF_ST || class == BPF_STX ? 10 : x.dst_reg % 10;
	x.src_reg %= class == BPF_STX ? 10 : 11;
	if (class == BPF_ALU || class == BPF_ALU64)
		x.off = 0;
	else if (class != BPF_JMP && class != BPF_JMP32)
		x.off = (int16_t)(-8 - (x.off & 0x1f8) % 504);
	if (class == BPF_STX && BPF_MODE(x.code) == BPF_ATOMIC)
		x.imm = atomics[x.imm & 3];
	put(t, x);
}

/* Jumps land on instructions, mostly ahead. */
static void aim_jumps(struct program_text *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct bpf_insn *x = &t->v[i];
		unsigned class = BPF_CLASS(x->code);
		size_t to;

		if ((class != BPF_JMP && class != BPF_JMP32) ||
		    x->code == CODE_CALL || x->code == CODE_EXIT)
			continue;
		to = x->imm & 7 ? i + 1 + (uint16_t)x->off % (t->n - i)
				: (uint16_t)x->off % t->n;
		while (to < t->n - 1 && !t->v[to].code)
			to++;
		if (to >= t->n)
			to = t->n - 1;
		x->off = (int16_t)(to - i - 1);
	}
}

/*
 * Random bytes nearly always have an instruction that does not exist, and are
 * refused before they run. This makes a program of them that runs: each 8 bytes
 * are a call with plausible arguments, or an instruction that exists.
 */
static void compose(struct kit *k, struct program_text *t, const uint8_t *data,
		    size_t n, bool kernel)
{
	/* A frame that is all zero: keys and strings that end. */
	for (int i = 1; i <= 64; i++)
		put(t, INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, (int16_t)(-8 * i),
			    0));
	for (unsigned r = 6; r <= 9; r++)
		put(t, MOV(r, 0));
	for (; n >= 8; data += 8, n -= 8) {
		struct bpf_insn x;

		memcpy(&x, data, 8);
		if (data[7] & 1)
			put_call(k, t, data, kernel);
		else
			put_other(t, x);
	}
	t->v[t->n++] = EXIT;
	aim_jumps(t);
}

static void run(struct kit *k, struct bpf_insn *insns, size_t n, bool kernel)
{
	static const char text[] = "a string in the event's memory";
	uint64_t ctx[16] = {1, 2, 3};
	struct ir_func fn = {
	    .name = "fuzz", .kind = IR_PROBE, .probe = &k->probe};
	struct code code = {
	    .fn = &fn, .insns = insns, .ninsns = (uint32_t)n, .frame = 512};
	struct vm_event e = {.ctx = ctx,
			     .ctx_size = sizeof(ctx),
			     .mem = {{0xffff888000001000, text, sizeof(text)}},
			     .nmem = 1};
	uint64_t r0;

	vm_set_budget(k->vm, BUDGET);
	if (!kernel) {
		vm_run_insns(k->vm, insns, (uint32_t)n, ctx, sizeof(ctx), &r0);
		return;
	}
	vm_run_kernel(k->vm, &code, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct vm_hooks hooks = {.out = drop_out, .warn = drop_warn};
	struct program_text t = {.n = 0};
	bool kernel = n && data[0] & 1;
	struct kit *k;

	if (n < 1 + sizeof(t.v[0]))
		return 0;
	k = kit_new(&hooks);
	/* Waiting for a lock is not what is tested here. */
	k->c.set.limit[LIMIT_MAXTRYLOCK] = 0;
	if (data[0] & 2) {
		compose(k, &t, data + 1, n - 1, kernel);
	} else {
		t.n = (n - 1) / sizeof(t.v[0]);
		if (t.n > MAX_INSNS)
			t.n = MAX_INSNS;
		memcpy(t.v, data + 1, t.n * sizeof(t.v[0]));
	}
	run(k, t.v, t.n, kernel);
	kit_free(k);
	return 0;
}
