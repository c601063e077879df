/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as instructions, in the machine, with all helpers of
 * the host or (first byte odd) of the kernel. Whatever a program does, it ends
 * and touches only what it was given; nothing may crash.
 */
#include "../tests/unit/vm_kit.h"

enum { MAX_INSNS = 512, BUDGET = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void drop_out(void *ctx, const char *s, size_t n)
{
}

static void drop_warn(void *ctx, const char *s)
{
}

/*
 * Nearly every run of random bytes has an instruction that does not exist, and
 * is refused before it runs: this makes each one an instruction that does.
 */
static void repair(struct bpf_insn *insns, size_t n)
{
	static const uint8_t codes[] = {
		0x07, 0x0f, 0x17, 0x1f, 0x27, 0x37, 0x3f, 0x47, 0x57, 0x5f,
		0x67, 0x77, 0x87, 0x97, 0xa7, 0xaf, 0xb7, 0xb7, 0xbf, 0xbf,
		0xc7, 0x04, 0x0c, 0x34, 0x94, 0xb4, 0xdc, 0x61, 0x69, 0x71,
		0x79, 0x79, 0x62, 0x6a, 0x72, 0x7a, 0x7a, 0x63, 0x6b, 0x73,
		0x7b, 0x7b, 0xdb, 0xc3, 0x05, 0x15, 0x1d, 0x25, 0x2d, 0x35,
		0x45, 0x55, 0x65, 0xa5, 0xc5, 0x56, 0x85, 0x85, 0x85, 0x85,
		0x95, 0x18, 0x18, 0x18,
	};
	static const int atomics[] = { BPF_ADD, BPF_OR | BPF_FETCH, BPF_XCHG,
				       BPF_CMPXCHG };

	for (size_t i = 0; i < n; i++) {
		struct bpf_insn *x = &insns[i];

		x->code = codes[x->code % sizeof(codes)];
		x->dst_reg %= 10;
		x->src_reg %= 11;
		if (BPF_CLASS(x->code) == BPF_JMP ||
		    BPF_CLASS(x->code) == BPF_JMP32)
			x->off = (int16_t)((uint16_t)x->off % n - i - 1);
		else if (BPF_CLASS(x->code) == BPF_ALU64 ||
			 BPF_CLASS(x->code) == BPF_ALU)
			x->off = 0;
		else if (x->off > 64 || x->off < -512)
			x->off = (int16_t)-(x->off & 0x1f8);
		if (x->code == 0xdc)
			x->imm = 32;
		if (x->code == 0xdb || x->code == 0xc3) {
			x->imm = atomics[x->imm & 3];
			x->src_reg %= 10;
		}
		if (x->code == CODE_CALL) {
			x->src_reg &= 1;
			if (x->src_reg)
				x->imm = (int)((uint32_t)x->imm % n - i - 1);
		}
		if (x->code == CODE_EXIT)
			x->src_reg = 0;
		if (x->code == CODE_LDDW && i + 1 < n) {
			x->src_reg = 0;
			x[1] = INSN(0, 0, 0, 0, x[1].imm);
			i++;
		} else if (x->code == CODE_LDDW) {
			*x = MOV(0, 0);
		}
	}
}

/* Random immediates seldom are a helper's number: the byte above the number
 * says which table to take it from. */
static void aim_calls(struct bpf_insn *insns, size_t n, bool kernel)
{
	for (size_t i = 0; i < n; i++) {
		if (insns[i].code != CODE_CALL || insns[i].src_reg)
			continue;
		insns[i].imm = kernel ? insns[i].imm & 0xff :
					HOST_FIRST + (insns[i].imm & 0x1f);
	}
}

/* The address of an area or map, as relocations would have given it. */
static void aim_loads(struct kit *k, struct bpf_insn *insns, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t v;

		if (insns[i].code != CODE_LDDW || insns[i].src_reg)
			continue;
		switch (insns[i].imm & 7) {
		case 0:
			v = (uint64_t)(uintptr_t)k->store->control;
			break;
		case 1:
			v = (uint64_t)(uintptr_t)k->store->rows;
			break;
		case 2:
		case 3:
			/* the machine's mark of a map */
			v = 0x4d41500000000000ull |
			    (uint32_t)insns[i + 1].imm % 7;
			break;
		case 4:
			v = 0x464e430000000000ull |
			    (uint32_t)insns[i + 1].imm % n;
			break;
		default:
			continue;
		}
		insns[i].imm = (int32_t)(uint32_t)v;
		insns[i + 1].imm = (int32_t)(v >> 32);
	}
}

static void run(struct kit *k, struct bpf_insn *insns, size_t n, bool kernel)
{
	static const char text[] = "a string in the event's memory";
	uint64_t ctx[16] = { 1, 2, 3 };
	struct ir_func fn = { .name = "fuzz", .kind = IR_PROBE,
			      .probe = &k->probe };
	struct code code = { .fn = &fn, .insns = insns, .ninsns = (uint32_t)n,
			     .frame = 512 };
	struct vm_event e = { .ctx = ctx, .ctx_size = sizeof(ctx),
			      .mem = { { 0xffff888000001000, text,
					 sizeof(text) } },
			      .nmem = 1 };
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
	const struct vm_hooks hooks = { .out = drop_out, .warn = drop_warn };
	struct bpf_insn insns[MAX_INSNS];
	bool kernel = n && data[0] & 1;
	size_t count;
	struct kit *k;

	if (n < 1 + sizeof(insns[0]))
		return 0;
	count = (n - 1) / sizeof(insns[0]);
	if (count > MAX_INSNS - 1)
		count = MAX_INSNS - 1;
	memcpy(insns, data + 1, count * sizeof(insns[0]));
	insns[count++] = EXIT;
	k = kit_new(&hooks);
	/* Waiting for a lock is not what is tested here. */
	k->c.set.limit[LIMIT_MAXTRYLOCK] = 0;
	if (data[0] & 2)
		repair(insns, count - 1);
	aim_calls(insns, count, kernel);
	aim_loads(k, insns, count);
	run(k, insns, count, kernel);
	kit_free(k);
	return 0;
}
