/* SPDX-License-Identifier: MIT */
/* The interpreter, instruction by instruction, on hand-assembled programs. */
#include "test.h"

#include <stdlib.h>

#include "base/settings.h"
#include "insn.h"
#include "vm/vm.h"

#define ST(size, d, o, i) INSN(BPF_ST | BPF_MEM | (size), d, 0, o, i)
#define STX(size, d, o, s) INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define LDX(size, d, s, o) INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define LDSX(size, d, s, o) INSN(BPF_LDX | MODE_MEMSX | (size), d, s, o, 0)
#define ATOM(size, op, d, o, s) INSN(BPF_STX | BPF_ATOMIC | (size), d, s, o, op)

static struct compile compile;
static struct vm *machine;
static uint64_t ctx[8];

static struct vm *get_vm(void)
{
	if (!machine) {
		settings_init(&compile.set);
		machine = vm_new(&compile, NULL, NULL, NULL);
	}
	return machine;
}

/* r0 of the program; ~0 and a failed check when the machine refused it. */
static uint64_t run(const struct bpf_insn *insns, uint32_t n)
{
	uint64_t r0 = 0;

	if (vm_run_insns(get_vm(), insns, n, ctx, sizeof(ctx), &r0)) {
		TEST_FAIL("fault: %s", vm_fault(get_vm()));
		return ~0ull;
	}
	return r0;
}

#define RUN(...)                                                               \
	({                                                                     \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                \
		run(insns_, sizeof(insns_) / sizeof(insns_[0]));               \
	})
#define FAULTS(...)                                                            \
	do {                                                                   \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                \
		uint64_t r0_;                                                  \
		CHECK(vm_run_insns(get_vm(), insns_,                           \
				   sizeof(insns_) / sizeof(insns_[0]), ctx,    \
				   sizeof(ctx), &r0_) == -1);                  \
		CHECK(vm_fault(get_vm())[0]);                                  \
	} while (0)

/* a op b in the four forms of an ALU operation. */
static uint64_t alu(unsigned class, unsigned op, int kind, uint64_t a,
		    uint64_t b)
{
	return RUN(LDDW(0, a), LDDW(1, b),
		   INSN(class | op | BPF_X, 0, 1, kind, 0), EXIT);
}

static uint64_t alui(unsigned class, unsigned op, uint64_t a, int32_t b)
{
	return RUN(LDDW(0, a), INSN(class | op | BPF_K, 0, 0, 0, b), EXIT);
}

static const uint64_t values[] = {
    0,           1,
    2,           3,
    7,           31,
    32,          33,
    63,          64,
    65,          255,
    4096,        0x7fffffff,
    0x80000000,  0xffffffff,
    0x100000000, 0x123456789abcdef0,
    INT64_MAX,   (uint64_t)INT64_MIN,
    ~0ull,       ~0ull - 6,
};
enum { NVALUES = sizeof(values) / sizeof(values[0]) };

static uint64_t expected(unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	default:
		return (uint64_t)((int64_t)a >> (b & 63));
	}
}

static uint32_t expected32(unsigned op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	case BPF_ARSH:
		return (uint32_t)((int32_t)a >> (b & 31));
	default:
		return (uint32_t)expected(op, a, b);
	}
}

TEST(alu_all_operations_and_forms)
{
	static const unsigned ops[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV,
				       BPF_MOD, BPF_OR,  BPF_AND, BPF_XOR,
				       BPF_LSH, BPF_RSH, BPF_ARSH};

	for (unsigned o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
		for (int i = 0; i < NVALUES; i++)
			for (int j = 0; j < NVALUES; j++) {
				uint64_t a = values[i], b = values[j];
				int32_t k = (int32_t)b;

				CHECK_EQ(alu(BPF_ALU64, ops[o], 0, a, b),
					 expected(ops[o], a, b));
				CHECK_EQ(alu(BPF_ALU, ops[o], 0, a, b),
					 expected32(ops[o], (uint32_t)a,
						    (uint32_t)b));
				CHECK_EQ(
				    alui(BPF_ALU64, ops[o], a, k),
				    expected(ops[o], a, (uint64_t)(int64_t)k));
				CHECK_EQ(alui(BPF_ALU, ops[o], a, k),
					 expected32(ops[o], (uint32_t)a,
						    (uint32_t)k));
			}
}

TEST(signed_division_does_not_trap)
{
	CHECK_EQ(alu(BPF_ALU64, BPF_DIV, 1, -7, 2), -3);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOD, 1, -7, 2), -1);
	CHECK_EQ(alu(BPF_ALU64, BPF_DIV, 1, INT64_MIN, -1), INT64_MIN);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOD, 1, INT64_MIN, -1), 0);
	CHECK_EQ(alu(BPF_ALU64, BPF_DIV, 1, 5, 0), 0);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOD, 1, 5, 0), 5);
	CHECK_EQ(alu(BPF_ALU, BPF_DIV, 1, (uint32_t)-7, 2), (uint32_t)-3);
	CHECK_EQ(alu(BPF_ALU, BPF_DIV, 1, 0x80000000, 0xffffffff), 0x80000000);
	CHECK_EQ(alu(BPF_ALU, BPF_MOD, 1, 0x80000000, 0xffffffff), 0);
}

TEST(moves_extend_and_cut)
{
	CHECK_EQ(alui(BPF_ALU64, BPF_MOV, 0, -1), -1);
	CHECK_EQ(alui(BPF_ALU, BPF_MOV, 0, -1), 0xffffffff);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOV, 8, 0, 0x80), -128);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOV, 16, 0, 0x18000), -32768);
	CHECK_EQ(alu(BPF_ALU64, BPF_MOV, 32, 0, 0x80000000), INT32_MIN);
	CHECK_EQ(alu(BPF_ALU, BPF_MOV, 8, 0, 0x80), 0xffffff80);
	CHECK_EQ(RUN(LDDW(0, 5), INSN(BPF_ALU64 | BPF_NEG, 0, 0, 0, 0), EXIT),
		 -5);
	CHECK_EQ(RUN(LDDW(0, 5), INSN(BPF_ALU | BPF_NEG, 0, 0, 0, 0), EXIT),
		 0xfffffffb);
}

TEST(byte_swaps)
{
	const uint64_t v = 0x0102030405060708;

#define SWAP(code, bits) RUN(LDDW(0, v), INSN(code, 0, 0, 0, bits), EXIT)
	CHECK_EQ(SWAP(BPF_ALU | BPF_END | BPF_TO_BE, 16), 0x0807);
	CHECK_EQ(SWAP(BPF_ALU | BPF_END | BPF_TO_BE, 32), 0x08070605);
	CHECK_EQ(SWAP(BPF_ALU | BPF_END | BPF_TO_BE, 64), 0x0807060504030201);
	CHECK_EQ(SWAP(BPF_ALU | BPF_END | BPF_TO_LE, 16), 0x0708);
	CHECK_EQ(SWAP(BPF_ALU | BPF_END | BPF_TO_LE, 32), 0x05060708);
	CHECK_EQ(SWAP(BPF_ALU64 | BPF_END, 32), 0x08070605);
}

TEST(loads_and_stores_of_each_size)
{
	ctx[0] = 0xf1f2f3f4f5f6f7f8;
	CHECK_EQ(RUN(LDX(BPF_B, 0, 1, 0), EXIT), 0xf8);
	CHECK_EQ(RUN(LDX(BPF_H, 0, 1, 1), EXIT), 0xf6f7);
	CHECK_EQ(RUN(LDX(BPF_W, 0, 1, 1), EXIT), 0xf4f5f6f7);
	CHECK_EQ(RUN(LDX(BPF_DW, 0, 1, 0), EXIT), 0xf1f2f3f4f5f6f7f8);
	CHECK_EQ(RUN(LDSX(BPF_B, 0, 1, 0), EXIT), -8);
	CHECK_EQ(RUN(LDSX(BPF_H, 0, 1, 0), EXIT), (int16_t)0xf7f8);
	CHECK_EQ(RUN(LDSX(BPF_W, 0, 1, 0), EXIT), (int32_t)0xf5f6f7f8);
	CHECK_EQ(RUN(ST(BPF_DW, 10, -8, -1), ST(BPF_B, 10, -8, 0x11),
		     ST(BPF_H, 10, -6, 0x2233), ST(BPF_W, 10, -4, 0x44556677),
		     LDX(BPF_DW, 0, 10, -8), EXIT),
		 0x445566772233ff11);
	CHECK_EQ(RUN(LDDW(2, 0x1122334455667788), ST(BPF_DW, 10, -16, 0),
		     STX(BPF_B, 10, -16, 2), STX(BPF_H, 10, -14, 2),
		     STX(BPF_W, 10, -12, 2), LDX(BPF_DW, 0, 10, -16), EXIT),
		 0x5566778877880088);
	CHECK_EQ(RUN(LDDW(2, 0x1122334455667788), STX(BPF_DW, 10, -8, 2),
		     LDX(BPF_DW, 0, 10, -8), EXIT),
		 0x1122334455667788);
}

TEST(atomics)
{
	static const struct {
		int op;
		uint64_t result, old;
	} t[] = {
	    {BPF_ADD, 0xf0 + 0x3c, 0},
	    {BPF_AND, 0xf0 & 0x3c, 0},
	    {BPF_OR, 0xf0 | 0x3c, 0},
	    {BPF_XOR, 0xf0 ^ 0x3c, 0},
	    {BPF_ADD | BPF_FETCH, 0xf0 + 0x3c, 0xf0},
	    {BPF_AND | BPF_FETCH, 0xf0 & 0x3c, 0xf0},
	    {BPF_OR | BPF_FETCH, 0xf0 | 0x3c, 0xf0},
	    {BPF_XOR | BPF_FETCH, 0xf0 ^ 0x3c, 0xf0},
	    {BPF_XCHG, 0x3c, 0xf0},
	};

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (int w = 0; w < 2; w++) {
			unsigned size = w ? BPF_W : BPF_DW;
			bool fetch = t[i].op & BPF_FETCH;

			ctx[0] = 0xf0;
			CHECK_EQ(RUN(MOV(2, 0x3c), ATOM(size, t[i].op, 1, 0, 2),
				     MOVX(0, 2), EXIT),
				 fetch ? t[i].old : 0x3c);
			CHECK_EQ(ctx[0], t[i].result);
		}
}

TEST(compare_and_exchange)
{
	ctx[0] = 5;
	CHECK_EQ(
	    RUN(MOV(0, 5), MOV(2, 9), ATOM(BPF_DW, BPF_CMPXCHG, 1, 0, 2), EXIT),
	    5);
	CHECK_EQ(ctx[0], 9);
	CHECK_EQ(
	    RUN(MOV(0, 5), MOV(2, 7), ATOM(BPF_DW, BPF_CMPXCHG, 1, 0, 2), EXIT),
	    9);
	CHECK_EQ(ctx[0], 9);
	/* 32 bits: r0 gets the old word, zero-extended */
	ctx[0] = 0xaaaaaaaa80000000;
	CHECK_EQ(RUN(LDDW(0, 0xffffffff80000000), MOV(2, 1),
		     ATOM(BPF_W, BPF_CMPXCHG, 1, 0, 2), EXIT),
		 0x80000000);
	CHECK_EQ(ctx[0], 0xaaaaaaaa00000001);
}

static bool taken(unsigned op, bool wide, uint64_t a, uint64_t b)
{
	int64_t sa = wide ? (int64_t)a : (int32_t)a;
	int64_t sb = wide ? (int64_t)b : (int32_t)b;

	if (!wide) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSET:
		return a & b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	default:
		return sa <= sb;
	}
}

TEST(jumps_all_conditions_and_forms)
{
	static const unsigned ops[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,
				       BPF_JLT,  BPF_JLE,  BPF_JSET, BPF_JSGT,
				       BPF_JSGE, BPF_JSLT, BPF_JSLE};

	for (unsigned o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
		for (int i = 0; i < NVALUES; i++)
			for (int j = 0; j < NVALUES * 4; j++) {
				uint64_t a = values[i], b = values[j / 4];
				bool wide = j & 1, imm = j & 2;
				unsigned class = wide ? BPF_JMP : BPF_JMP32;
				unsigned src = imm ? BPF_K : BPF_X;

				if (imm)
					b = (uint64_t)(int64_t)(int32_t)b;
				CHECK_EQ(RUN(MOV(0, 0), LDDW(2, a), LDDW(3, b),
					     INSN(class | ops[o] | src, 2,
						  imm ? 0 : 3, 1, (int32_t)b),
					     EXIT, MOV(0, 1), EXIT),
					 taken(ops[o], wide, a, b));
			}
}

TEST(jump_always_and_loops)
{
	CHECK_EQ(RUN(INSN(BPF_JMP | BPF_JA, 0, 0, 1, 0), EXIT, MOV(0, 7), EXIT),
		 7);
	CHECK_EQ(RUN(INSN(CODE_JA32, 0, 0, 0, 1), EXIT, MOV(0, 8), EXIT), 8);
	/* the sum of 1 to 100 */
	CHECK_EQ(RUN(MOV(0, 0), MOV(2, 100),
		     INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 2, 0, 0),
		     INSN(BPF_ALU64 | BPF_SUB | BPF_K, 2, 0, 0, 1),
		     INSN(BPF_JMP | BPF_JNE | BPF_K, 2, 0, -3, 0), EXIT),
		 5050);
}

TEST(calls_keep_r6_to_r9_and_have_their_own_frame)
{
	CHECK_EQ(RUN(MOV(6, 1), MOV(7, 2), MOV(8, 3), MOV(9, 4),
		     ST(BPF_DW, 10, -8, 50),
		     INSN(CODE_CALL, 0, BPF_PSEUDO_CALL, 0, 6),
		     INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 6, 0, 0),
		     INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 9, 0, 0),
		     LDX(BPF_DW, 1, 10, -8),
		     INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 1, 0, 0), EXIT, EXIT,
		     /* the function: spoils what it may */
		     MOV(6, 100), MOV(9, 100), ST(BPF_DW, 10, -8, 7),
		     LDX(BPF_DW, 0, 10, -8), EXIT),
		 7 + 1 + 4 + 50);
}

TEST(a_callee_may_use_its_callers_memory)
{
	CHECK_EQ(RUN(ST(BPF_DW, 10, -8, 5), MOVX(1, 10),
		     INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -8),
		     INSN(CODE_CALL, 0, BPF_PSEUDO_CALL, 0, 2),
		     LDX(BPF_DW, 0, 10, -8), EXIT, ST(BPF_DW, 1, 0, 6), EXIT),
		 6);
}

TEST(memory_is_checked)
{
	FAULTS(LDDW(1, 0), LDX(BPF_DW, 0, 1, 0), EXIT);
	FAULTS(LDX(BPF_DW, 0, 1, 57), EXIT); /* over the end */
	FAULTS(LDX(BPF_B, 0, 1, 64), EXIT);
	FAULTS(LDX(BPF_B, 0, 1, -1), EXIT);
	FAULTS(LDX(BPF_B, 0, 10, 0), EXIT); /* above the stack */
	FAULTS(ST(BPF_B, 10, -513, 0), EXIT);
	FAULTS(LDDW(1, ~0ull - 3), LDX(BPF_DW, 0, 1, 0), EXIT);
	FAULTS(LDDW(1, ~0ull - 3), ST(BPF_DW, 1, 0, 0), EXIT);
	/* atomics want alignment */
	FAULTS(MOV(2, 1), ATOM(BPF_DW, BPF_ADD, 1, 4, 2), EXIT);
	CHECK_EQ(RUN(LDX(BPF_DW, 0, 1, 56), MOV(0, 3), EXIT), 3);
	CHECK_EQ(RUN(ST(BPF_B, 10, -512, 0), MOV(0, 3), EXIT), 3);
}

TEST(wrong_instructions_are_refused)
{
	FAULTS(MOV(0, 0)); /* runs off the end */
	FAULTS(INSN(BPF_JMP | BPF_JA, 0, 0, 5, 0), EXIT);
	FAULTS(INSN(BPF_JMP | BPF_JA, 0, 0, -2, 0), EXIT);
	/* into the second half of a load */
	FAULTS(INSN(BPF_JMP | BPF_JA, 0, 0, 1, 0), LDDW(0, 1), EXIT);
	FAULTS(INSN(CODE_LDDW, 0, 0, 0, 0)); /* has no second half */
	FAULTS(MOV(11, 0), EXIT);
	FAULTS(MOV(10, 0), EXIT);
	FAULTS(LDX(BPF_DW, 10, 1, 0), EXIT);
	FAULTS(INSN(0xff, 0, 0, 0, 0), EXIT);
	FAULTS(INSN(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0), EXIT);
	FAULTS(ATOM(BPF_DW, 0x77, 1, 0, 2), EXIT);
	FAULTS(CALL(1), EXIT); /* bare programs have no helpers */
	FAULTS(CALL(HOST_ACT), EXIT);
	FAULTS(CALL(HOST_END), EXIT);
	FAULTS(CALL(-1), EXIT);
}

TEST(budget_ends_a_loop)
{
	vm_set_budget(get_vm(), 1000);
	FAULTS(INSN(BPF_JMP | BPF_JA, 0, 0, -1, 0), EXIT);
	CHECK(strstr(vm_fault(get_vm()), "budget"));
	vm_set_budget(get_vm(), 0);
}

TEST(endless_recursion_is_a_fault)
{
	FAULTS(INSN(CODE_CALL, 0, BPF_PSEUDO_CALL, 0, -1), EXIT);
	CHECK(strstr(vm_fault(get_vm()), "too deep"));
}

TEST(steps_are_counted)
{
	uint64_t before = vm_steps(get_vm());

	RUN(MOV(0, 1), MOV(0, 2), EXIT);
	CHECK_EQ(vm_steps(get_vm()) - before, 3);
	vm_free(machine);
	machine = NULL;
}
