/* SPDX-License-Identifier: MIT */
/* Numbers, compiled and run in the kernel, against C. */
#include "test.h"

#include "gen_kit.h"

static const int64_t values[] = {
	0, 1, -1, 2, -2, 3, 7, -7, 10, 63, 64, 65, 127, 128, 1000, -1000,
	INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, UINT32_MAX,
	(int64_t)UINT32_MAX + 1, 1ll << 40, -(1ll << 40), INT64_MAX,
	INT64_MIN, INT64_MAX - 1, INT64_MIN + 1,
};
enum { NVALUES = sizeof(values) / sizeof(*values) };

static int64_t model(enum ir_op op, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case OP_ADD:
		return (int64_t)(ua + ub);
	case OP_SUB:
		return (int64_t)(ua - ub);
	case OP_MUL:
		return (int64_t)(ua * ub);
	case OP_DIV:
		return b == -1 ? (int64_t)-ua : a / b;
	case OP_MOD:
		return b == -1 ? 0 : a % b;
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_SHL:
		return (int64_t)(ua << (b & 63));
	case OP_SHR:
		return a >> (b & 63);
	case OP_USHR:
		return (int64_t)(ua >> (b & 63));
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return a < b;
	case OP_LE:
		return a <= b;
	case OP_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static const enum ir_op binary[] = {
	OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_AND, OP_OR, OP_XOR, OP_SHL,
	OP_SHR, OP_USHR, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,
};
enum { NBINARY = sizeof(binary) / sizeof(*binary) };

/* Operands from the context, so that nothing is constant to the verifier. */
TEST(binary_registers)
{
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *g[NBINARY];
	int a = kit_reg(k, 0), b = kit_reg(k, 0);

	for (unsigned i = 0; i < NBINARY; i++)
		g[i] = kit_global(k, op_info(binary[i])->text, TY_LONG, 8, 0);
	kit_ins(k, OP_ARG, a, 1, val_num(0));
	kit_ins(k, OP_ARG, b, 1, val_num(1));
	for (unsigned i = 0; i < NBINARY; i++) {
		int r = kit_reg(k, 0);

		kit_ins(k, binary[i], r, 2, val_reg((uint32_t)a),
			val_reg((uint32_t)b));
		kit_set(k, g[i], val_reg((uint32_t)r));
	}
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	for (unsigned x = 0; x < NVALUES * NVALUES; x++) {
		uint64_t ctx[2] = {(uint64_t)values[x / NVALUES],
				   (uint64_t)values[x % NVALUES]};

		CHECK_EQ(kit_run(k, ctx, 2), 0);
		for (unsigned i = 0; i < NBINARY; i++) {
			if ((binary[i] == OP_DIV || binary[i] == OP_MOD) &&
			    !ctx[1])
				continue;
			if (kit_num(k, g[i]) !=
			    model(binary[i], (int64_t)ctx[0], (int64_t)ctx[1]))
				TEST_FAIL("%s %lld %lld is %lld",
					  op_info(binary[i])->text,
					  (long long)ctx[0], (long long)ctx[1],
					  (long long)kit_num(k, g[i]));
		}
	}
	kit_free(k);
}

/* The second operand as an immediate; the result over its own operand. */
TEST(binary_immediates)
{
	for (unsigned v = 0; v < NVALUES; v++) {
		struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
		struct var *g[NBINARY];
	
		for (unsigned i = 0; i < NBINARY; i++)
			g[i] = kit_global(k, op_info(binary[i])->text, TY_LONG,
					  8, 0);
		for (unsigned i = 0; i < NBINARY; i++) {
			int r = kit_reg(k, 0);

			if ((binary[i] == OP_DIV || binary[i] == OP_MOD) &&
			    !values[v])
				continue;
			kit_ins(k, OP_ARG, r, 1, val_num(0));
			kit_ins(k, binary[i], r, 2, val_reg((uint32_t)r),
				val_num(values[v]));
			kit_set(k, g[i], val_reg((uint32_t)r));
		}
		CHECK(kit_compile(k));
		KIT_LOADED(k, kit_load(k));
		for (unsigned x = 0; x < NVALUES; x++) {
			uint64_t ctx = (uint64_t)values[x];

			kit_run(k, &ctx, 1);
			for (unsigned i = 0; i < NBINARY; i++) {
				if ((binary[i] == OP_DIV ||
				     binary[i] == OP_MOD) && !values[v])
					continue;
				if (kit_num(k, g[i]) !=
				    model(binary[i], values[x], values[v]))
					TEST_FAIL("%s %lld imm %lld is %lld",
						  op_info(binary[i])->text,
						  (long long)values[x],
						  (long long)values[v],
						  (long long)kit_num(k, g[i]));
			}
		}
		kit_free(k);
	}
}

TEST(unary_and_narrow)
{
	static const int sizes[] = {1, 2, 4, 8, -1, -2, -4, -8};
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *ext[8], *neg, *not, *inv, *bits, *sbits;
	int a = kit_reg(k, 0), r = kit_reg(k, 0);
	struct ir_val ra = val_reg((uint32_t)a), rr = val_reg((uint32_t)r);

	for (unsigned i = 0; i < 8; i++)
		ext[i] = kit_global(k, "ext", TY_LONG, 8, 0);
	neg = kit_global(k, "neg", TY_LONG, 8, 0);
	not = kit_global(k, "not", TY_LONG, 8, 0);
	inv = kit_global(k, "inv", TY_LONG, 8, 0);
	bits = kit_global(k, "bits", TY_LONG, 8, 0);
	sbits = kit_global(k, "sbits", TY_LONG, 8, 0);
	kit_ins(k, OP_ARG, a, 1, val_num(0));
	for (unsigned i = 0; i < 8; i++) {
		kit_ins(k, OP_EXT, r, 2, ra, val_num(sizes[i]));
		kit_set(k, ext[i], rr);
	}
	kit_ins(k, OP_NEG, r, 1, ra);
	kit_set(k, neg, rr);
	kit_ins(k, OP_NOT, r, 1, ra);
	kit_set(k, not, rr);
	kit_ins(k, OP_INV, r, 1, ra);
	kit_set(k, inv, rr);
	kit_ins(k, OP_BITS, r, 3, ra, val_num(5), val_num(7));
	kit_set(k, bits, rr);
	kit_ins(k, OP_BITS, r, 3, ra, val_num(60), val_num(-4));
	kit_set(k, sbits, rr);
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	for (unsigned x = 0; x < NVALUES; x++) {
		int64_t v = values[x];
		uint64_t ctx = (uint64_t)v;

		kit_run(k, &ctx, 1);
		CHECK_EQ(kit_num(k, ext[0]), (uint8_t)v);
		CHECK_EQ(kit_num(k, ext[1]), (uint16_t)v);
		CHECK_EQ(kit_num(k, ext[2]), (uint32_t)v);
		CHECK_EQ(kit_num(k, ext[3]), v);
		CHECK_EQ(kit_num(k, ext[4]), (int8_t)v);
		CHECK_EQ(kit_num(k, ext[5]), (int16_t)v);
		CHECK_EQ(kit_num(k, ext[6]), (int32_t)v);
		CHECK_EQ(kit_num(k, ext[7]), v);
		CHECK_EQ(kit_num(k, neg), (int64_t)-ctx);
		CHECK_EQ(kit_num(k, not), !v);
		CHECK_EQ(kit_num(k, inv), ~v);
		CHECK_EQ(kit_num(k, bits), ctx >> 5 & 127);
		CHECK_EQ(kit_num(k, sbits), v >> 60);
	}
	kit_free(k);
}

/* More values alive at once than there are registers. */
TEST(spills)
{
	enum { N = 24 };
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *g = kit_global(k, "g", TY_LONG, 8, 0);
	int r[N], sum = kit_reg(k, 0);
	uint64_t ctx = 5;

	for (int i = 0; i < N; i++) {
		r[i] = kit_reg(k, 0);
		kit_ins(k, OP_ARG, r[i], 1, val_num(0));
		kit_ins(k, OP_MUL, r[i], 2, val_reg((uint32_t)r[i]),
			val_num(i + 1));
	}
	kit_ins(k, OP_CONST, sum, 1, val_num(0));
	for (int i = 0; i < N; i++)
		kit_ins(k, OP_ADD, sum, 2, val_reg((uint32_t)sum),
			val_reg((uint32_t)r[i]));
	kit_set(k, g, val_reg((uint32_t)sum));
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	CHECK_EQ(kit_run(k, &ctx, 1), 0);
	CHECK_EQ(kit_num(k, g), 5 * N * (N + 1) / 2);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, hits)), 1);
	kit_free(k);
}

/* Branches, and atomic changes of globals. */
TEST(branches_and_globals)
{
	static const enum ir_op br[] = {OP_BREQ, OP_BRNE, OP_BRLT,
					OP_BRLE, OP_BRGT, OP_BRGE};
	static const enum ir_op cmp[] = {OP_EQ, OP_NE, OP_LT,
					 OP_LE, OP_GT, OP_GE};
	struct kit *k = kit_new(PLACE_KERNEL, GUARD_SELF);
	struct var *g[6], *n = kit_global(k, "n", TY_LONG, 8, 0), *old;
	int a = kit_reg(k, 0), b = kit_reg(k, 0), o = kit_reg(k, 0);
	struct ir_val ra = val_reg((uint32_t)a), rb = val_reg((uint32_t)b);
	int64_t runs = 0, sum = 0, prev = 0;

	old = kit_global(k, "old", TY_LONG, 8, 0);
	for (unsigned i = 0; i < 6; i++)
		g[i] = kit_global(k, "g", TY_LONG, 8, 0);
	kit_ins(k, OP_ARG, a, 1, val_num(0));
	kit_ins(k, OP_ARG, b, 1, val_num(1));
	for (unsigned i = 0; i < 6; i++) {
		struct ir_block *yes = kit_block(k), *no = kit_block(k);
		struct ir_block *end = kit_block(k);
		struct ir_ins *in = kit_ins(k, br[i], -1, 2, ra, rb);

		in->target[0] = yes;
		in->target[1] = no;
		kit_start(k, i & 1 ? yes : no);
		kit_set(k, g[i], val_num(i & 1));
		kit_ins(k, OP_JMP, -1, 0)->target[0] = end;
		kit_start(k, i & 1 ? no : yes);
		kit_set(k, g[i], val_num(!(i & 1)));
		kit_ins(k, OP_JMP, -1, 0)->target[0] = end;
		kit_start(k, end);
	}
	kit_ins(k, OP_GADD, -1, 1, val_num(3))->global = n;
	kit_ins(k, OP_GADD, -1, 1, ra)->global = n;
	kit_ins(k, OP_GXADD, o, 1, rb)->global = n;
	kit_set(k, old, val_reg((uint32_t)o));
	CHECK(kit_compile(k));
	KIT_LOADED(k, kit_load(k));
	for (unsigned x = 0; x < NVALUES * NVALUES; x++) {
		uint64_t ctx[2] = {(uint64_t)values[x / NVALUES],
				   (uint64_t)values[x % NVALUES]};

		kit_run(k, ctx, 2);
		runs++;
		for (unsigned i = 0; i < 6; i++)
			CHECK_EQ(kit_num(k, g[i]),
				 model(cmp[i], (int64_t)ctx[0],
				       (int64_t)ctx[1]));
		prev = (int64_t)((uint64_t)sum + 3 + ctx[0]);
		sum = (int64_t)((uint64_t)prev + ctx[1]);
		CHECK_EQ(kit_num(k, old), prev);
		CHECK_EQ(kit_num(k, n), sum);
	}
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, hits)), runs);
	/* the stop word */
	uint64_t ctx[2] = {1, 1};

	((struct control *)k->control)->stop = 1;
	kit_run(k, ctx, 2);
	CHECK_EQ(kit_num(k, n), sum);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, stopped)),
		 1);
	CHECK_EQ(kit_count(k, offsetof(struct probe_counts, hits)),
		 runs);
	kit_free(k);
}
