/* SPDX-License-Identifier: MIT */
/*
 * Digits of a number, for sprintf: a subprogram of the handler for each base
 * that it prints in. The loop is most of what a number costs the kernel's
 * verifier, which walks it to its limit: as a global function once, not once
 * for each number (gen/btf.c).
 */
#include "gen/isel.h"

static const struct {
	int base, most; /* the most digits that 64 bits have */
} kinds[] = {
	[DIGITS_DECIMAL] = {10, 20},
	[DIGITS_HEX] = {16, 16},
	[DIGITS_UPPER] = {16, 16},
	[DIGITS_OCTAL] = {8, 22},
};

/*
 * Offset in RODATA of all pairs of digits. A power of two of them, so that a
 * mask tells the verifier that a pair is inside.
 */
static uint32_t pair_table(struct emit *e, enum digits_kind k)
{
	const char *digit = k == DIGITS_UPPER ? "0123456789ABCDEF" :
						"0123456789abcdef";
	int base = kinds[k].base, n = base == 10 ? 128 : base * base;
	char *t = arena_alloc(e->c->a, 2 * (size_t)n);

	for (int i = 0; i < base * base; i++) {
		t[2 * i] = digit[i / base];
		t[2 * i + 1] = digit[i % base];
	}
	return plan_rodata(e->c, e->plan, t, 2 * (uint32_t)n);
}

/*
 * r2 = 2 * (r1 % base^2), r1 /= base^2, r4 = that remainder as two characters.
 * Unsigned. The remainder is made of the quotient: % would be a second
 * division.
 */
static void two_digits(struct assembler *as, int base, uint32_t table)
{
	asm_mov(as, R2, R1);
	if (base == 10) {
		asm_alui(as, BPF_DIV, R1, 100);
		asm_mov(as, R4, R1);
		asm_alui(as, BPF_MUL, R4, 100);
		asm_alu(as, BPF_SUB, R2, R4);
		asm_alui(as, BPF_AND, R2, 127);
	} else {
		asm_alui(as, BPF_AND, R2, base * base - 1);
		asm_alui(as, BPF_RSH, R1, base == 16 ? 8 : 6);
	}
	asm_alui(as, BPF_LSH, R2, 1);
	asm_value(as, R4, MAP_RODATA, table);
	asm_alu(as, BPF_ADD, R4, R2);
	asm_load(as, 2, R4, R4, 0);
}

/*
 * digits(r1 = memory of DIGITS_SIZE zeros, r2 = number): they go to before
 * DIGITS_END; how many they are. From the last to the first, two at a time, as
 * division gives them. The verifier walks the loop to its limit, so there are
 * no branches in it but the end of the number, and what leaves it is the same
 * after any turn: r5 counts up from an unknown number, r0 for the verifier
 * alone.
 */
void isel_digits(struct emit *e, enum digits_kind k)
{
	struct assembler *as = e->as;
	int base = kinds[k].base;
	uint32_t table = pair_table(e, k);
	unsigned done = asm_label(as), loop = asm_label(as);
	unsigned next = asm_label(as), memory = asm_label(as);

	/* never 0: to the verifier a pointer to a global function may be */
	asm_jifi(as, BPF_JNE, R1, 0, memory);
	asm_imm(as, R0, 0);
	asm_exit(as);
	asm_bind(as, memory);
	asm_mov(as, R3, R1);
	asm_mov(as, R1, R2);
	asm_imm(as, R0, 0);
	emit_unknown_zero(e, R5);
	emit_add(e, R3, DIGITS_END);
	asm_bind(as, loop);
	two_digits(as, base, table);
	asm_alui(as, BPF_ADD, R3, -2);
	asm_alui(as, BPF_ADD, R0, 2);
	asm_alui(as, BPF_ADD, R5, 2);
	asm_store(as, 2, R3, 0, R4);
	asm_jifi(as, BPF_JNE, R1, 0, next);
	asm_jmp(as, done);
	asm_bind(as, next);
	/* never more: for the verifier */
	asm_jifi(as, BPF_JLT, R0, kinds[k].most, loop);
	asm_bind(as, done);
	/* without the first one if it is 0: 1 for a pair below the base */
	asm_alui(as, BPF_SUB, R2, 2 * base);
	asm_alui(as, BPF_RSH, R2, 63);
	asm_alu(as, BPF_SUB, R5, R2);
	asm_mov(as, R0, R5);
	asm_exit(as);
}
