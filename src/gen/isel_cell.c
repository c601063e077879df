/* SPDX-License-Identifier: MIT */
/*
 * Feeding a cell (stat/cell.h): the same as cell_add(), as eBPF. Words that
 * only this program writes on this CPU are loaded, changed and stored; others
 * are changed by atomics, whose fetched old value tells the carry.
 *
 * Registers: base in at.base; the sample in `v`; r0, r2, r3, r4 temporary.
 */
#include "gen/isel.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "stat/grid.h"

enum { TRIES = 32 /* of a compare-and-exchange before it is counted */ };

/* State of making the code for one cell. */
struct feed {
	struct emit *e;
	struct assembler *as;
	struct cell_at at;
	int v; /* register with the sample */
};

/* Fields that need more than r0 to r2 make a cell heavy (gen/emit.h). */
bool cell_is_light(const struct cell *l)
{
	return !l->has[CF_MIN] && !l->has[CF_MAX] && !l->has[CF_SQ] &&
	       !l->has[CF_HIST] && !l->has[CF_GRID] && !l->has[CF_HLL];
}

static int off_of(const struct feed *f, enum cell_field c, int word)
{
	return (int)(f->at.off + f->at.cell->off[c]) + word * 8;
}

/* word += 1 or, negative, -= 1; clobbers reg. */
static void step(struct feed *f, int base, int off, int by, int reg)
{
	if (f->at.atomic) {
		asm_imm(f->as, reg, by);
		asm_atomic(f->as, BPF_ADD, base, off, reg);
		return;
	}
	asm_load(f->as, 8, reg, base, off);
	asm_alui(f->as, BPF_ADD, reg, by);
	asm_store(f->as, 8, base, off, reg);
}

/* word += src; dst = the new value, so that dst < src tells a carry. */
static void add(struct feed *f, int off, int dst, int src)
{
	if (f->at.atomic) {
		asm_mov(f->as, dst, src);
		asm_atomic(f->as, BPF_ADD | BPF_FETCH, f->at.base, off, dst);
		asm_alu(f->as, BPF_ADD, dst, src);
		return;
	}
	asm_load(f->as, 8, dst, f->at.base, off);
	asm_alu(f->as, BPF_ADD, dst, src);
	asm_store(f->as, 8, f->at.base, off, dst);
}

/*
 * 128-bit sum. The high word changes only when the low one overflows upward
 * (sample >= 0 and a carry) or downward (sample < 0 and none).
 */
static void feed_sum(struct feed *f)
{
	unsigned below = asm_label(f->as), done = asm_label(f->as);

	add(f, off_of(f, CF_SUM, 0), R2, f->v);
	if (f->at.cell->has[CF_SUM_HI]) {
		asm_jifi(f->as, BPF_JSLT, f->v, 0, below);
		asm_jif(f->as, BPF_JGE, R2, f->v, done);
		step(f, f->at.base, off_of(f, CF_SUM_HI, 0), 1, R2);
		asm_jmp(f->as, done);
		asm_bind(f->as, below);
		asm_jif(f->as, BPF_JLT, R2, f->v, done);
		step(f, f->at.base, off_of(f, CF_SUM_HI, 0), -1, R2);
	}
	asm_bind(f->as, done);
}

/*
 * Raises the word to r2 (unsigned). r0, r4 temporary. A lost race is tried
 * again, as often as TRIES says; more is counted, so that the report can tell.
 */
static void raise_word(struct feed *f, int off)
{
	unsigned done = asm_label(f->as), again = asm_label(f->as);

	asm_load(f->as, 8, R0, f->at.base, off);
	if (!f->at.atomic) {
		asm_jif(f->as, BPF_JGE, R0, R2, done);
		asm_store(f->as, 8, f->at.base, off, R2);
		asm_bind(f->as, done);
		return;
	}
	asm_imm(f->as, R4, TRIES);
	asm_bind(f->as, again);
	asm_jif(f->as, BPF_JGE, R0, R2, done);
	/* r0 becomes what was there: unchanged when the exchange worked */
	asm_mov(f->as, R3, R0);
	asm_atomic(f->as, BPF_CMPXCHG, f->at.base, off, R2);
	asm_jif(f->as, BPF_JEQ, R0, R3, done);
	asm_alui(f->as, BPF_SUB, R4, 1);
	asm_jifi(f->as, BPF_JNE, R4, 0, again);
	emit_count(f->e, offsetof(struct probe_counts, unplaced), R0, R3);
	asm_bind(f->as, done);
}

/*
 * The minimum is kept as the maximum of the inverse: both start at 0, which is
 * below all (stat/cell.h).
 */
static void feed_extremes(struct feed *f)
{
	const struct cell *l = f->at.cell;

	if (!l->has[CF_MIN] && !l->has[CF_MAX])
		return;
	asm_imm(f->as, R2, INT64_MIN);
	asm_alu(f->as, BPF_XOR, R2, f->v);
	if (l->has[CF_MAX])
		raise_word(f, off_of(f, CF_MAX, 0));
	if (l->has[CF_MIN]) {
		asm_alui(f->as, BPF_XOR, R2, -1);
		raise_word(f, off_of(f, CF_MIN, 0));
	}
}

/* dst = |v|, s = -1 or 0: its sign. */
static void absolute(struct feed *f, int dst, int s)
{
	asm_mov(f->as, s, f->v);
	asm_alui(f->as, BPF_ARSH, s, 63);
	asm_mov(f->as, dst, f->v);
	asm_alu(f->as, BPF_XOR, dst, s);
	asm_alu(f->as, BPF_SUB, dst, s);
}

/*
 * 192-bit sum of squares. |v| < 2^32: one multiplication. Else with
 * |v| = h 2^32 + l the square is h^2 2^64 + h l 2^33 + l^2, low word to r2,
 * high word to r3.
 */
static void feed_squares(struct feed *f)
{
	struct assembler *as = f->as;
	unsigned wide = asm_label(as), sum = asm_label(as);
	unsigned no_carry = asm_label(as), done = asm_label(as);

	absolute(f, R2, R3);
	asm_mov(as, R0, R2);
	asm_alui(as, BPF_RSH, R0, 32);
	asm_jifi(as, BPF_JNE, R0, 0, wide);
	asm_alu(as, BPF_MUL, R2, R2);
	asm_imm(as, R3, 0);
	asm_jmp(as, sum);
	asm_bind(as, wide);
	asm_mov32(as, R4, R2);
	asm_mov(as, R3, R0);
	asm_mov(as, R2, R3);
	asm_alu(as, BPF_MUL, R2, R4);	/* h l */
	asm_alu(as, BPF_MUL, R3, R3);	/* h^2 */
	asm_alu(as, BPF_MUL, R4, R4);	/* l^2 */
	asm_mov(as, R0, R2);
	asm_alui(as, BPF_RSH, R0, 31);
	asm_alu(as, BPF_ADD, R3, R0);
	asm_alui(as, BPF_LSH, R2, 33);
	asm_alu(as, BPF_ADD, R2, R4);
	asm_jif(as, BPF_JGE, R2, R4, sum);
	asm_alui(as, BPF_ADD, R3, 1);
	asm_bind(as, sum);
	add(f, off_of(f, CF_SQ, 0), R0, R2);
	asm_jif(as, BPF_JGE, R0, R2, no_carry);
	asm_alui(as, BPF_ADD, R3, 1);
	asm_bind(as, no_carry);
	asm_jifi(as, BPF_JEQ, R3, 0, done);
	add(f, off_of(f, CF_SQ, 1), R0, R3);
	asm_jif(as, BPF_JGE, R0, R3, done);
	step(f, f->at.base, off_of(f, CF_SQ, 2), 1, R0);
	asm_bind(as, done);
}

/* --- buckets ------------------------------------------------------------- */

/*
 * A sequence of 64 bits in which each group of six is there once: Leiserson,
 * Prokop, Randall, Using de Bruijn Sequences to Index a 1 in a Computer Word
 * (1998).
 */
static const int64_t de_bruijn = 0x03f79d71b4cb0a89;

/*
 * reg = number of significant bits of reg, 0 to 64: all bits below the highest
 * are set, then one multiplication leaves in the top 7 bits what a table turns
 * into the number. The six top bits of the classic sequence tell 64 cases
 * apart; the seventh tells 0 from 1. r0 is clobbered.
 */
static void count_bits(struct feed *f, int reg)
{
	uint8_t table[128] = {0};
	struct assembler *as = f->as;

	for (int n = 1; n <= 64; n++) {
		uint64_t smeared = n == 64 ? UINT64_MAX : (1ull << n) - 1;

		/* constants for all n, at the time of compilation */
		table[(smeared * (uint64_t)de_bruijn) >> 57] = (uint8_t)n;
	}
	for (int k = 1; k < 64; k *= 2) {
		asm_mov(as, R0, reg);
		asm_alui(as, BPF_RSH, R0, k);
		asm_alu(as, BPF_OR, reg, R0);
	}
	asm_imm(as, R0, de_bruijn);
	asm_alu(as, BPF_MUL, reg, R0);
	asm_alui(as, BPF_RSH, reg, 57);
	asm_value(as, R0, MAP_RODATA,
		  plan_rodata(f->e->c, f->e->plan, table, sizeof(table)));
	asm_alu(as, BPF_ADD, R0, reg);
	asm_load(as, 1, reg, R0, 0);
}

/* Counts in bucket reg (its bounds are known) of an array of words. */
static void bump(struct feed *f, enum cell_field c, int reg)
{
	int off = off_of(f, c, 0);

	asm_alui(f->as, BPF_LSH, reg, 3);
	asm_alu(f->as, BPF_ADD, reg, f->at.base);
	if (off > INT16_MAX) {
		emit_add(f->e, reg, off);
		off = 0;
	}
	step(f, reg, off, 1, R0);
}

/* Bucket of v: its sign times the number of its bits, around HIST_LOG_ZERO. */
static void feed_log(struct feed *f)
{
	absolute(f, R2, R3);
	count_bits(f, R2);
	asm_alu(f->as, BPF_XOR, R2, R3);
	asm_alu(f->as, BPF_SUB, R2, R3);
	asm_alui(f->as, BPF_ADD, R2, HIST_LOG_ZERO);
	asm_alui(f->as, BPF_AND, R2, HIST_LOG_BUCKETS - 1);
	bump(f, CF_HIST, R2);
}

/* r2 = unsigned r2 / step. A shift or an immediate where they do. */
static void divide_by(struct feed *f, int64_t by)
{
	if ((by & (by - 1)) == 0) {
		if (by > 1)
			asm_alui(f->as, BPF_RSH, R2, __builtin_ctzll(
						       (uint64_t)by));
	} else if (by <= INT32_MAX) {
		asm_alui(f->as, BPF_DIV, R2, (int32_t)by);
	} else {
		asm_imm(f->as, R0, by);
		asm_alu(f->as, BPF_DIV, R2, R0);
	}
}

/* Bucket 0 is below lo, the last but one counts from hi on; see stat/cell.h. */
static void feed_linear(struct feed *f)
{
	const struct cell *l = f->at.cell;
	/* the bucket for all that is higher */
	int32_t most = (int32_t)l->nbuckets - 2;
	unsigned below = asm_label(f->as), inside = asm_label(f->as);
	unsigned done = asm_label(f->as);

	asm_mov(f->as, R2, f->v);
	asm_imm(f->as, R0, l->lo);
	asm_jif(f->as, BPF_JSLT, R2, R0, below);
	asm_alu(f->as, BPF_SUB, R2, R0);
	divide_by(f, l->step);
	asm_jifi(f->as, BPF_JLE, R2, most, inside);
	asm_imm(f->as, R2, most);
	asm_bind(f->as, inside);
	asm_alui(f->as, BPF_ADD, R2, 1);
	asm_jmp(f->as, done);
	asm_bind(f->as, below);
	asm_imm(f->as, R2, 0);
	asm_bind(f->as, done);
	bump(f, CF_HIST, R2);
}

/* r2 = the grid's bucket: half(u) = shift * 64 + (u >> shift), shift = max(0,
 * bits - 7); r3 is the sign. See stat/grid.h. r0, r4 temporary. */
static void grid_number(struct feed *f)
{
	struct assembler *as = f->as;
	unsigned positive = asm_label(as);

	asm_mov(as, R3, f->v);
	asm_alui(as, BPF_ARSH, R3, 63);
	asm_mov(as, R2, f->v);
	asm_alu(as, BPF_XOR, R2, R3);
	asm_mov(as, R4, R2);
	count_bits(f, R4);
	asm_alui(as, BPF_SUB, R4, GRID_SUB_BITS + 1);
	asm_jifi(as, BPF_JSGE, R4, 0, positive);
	asm_imm(as, R4, 0);
	asm_bind(as, positive);
	asm_alui(as, BPF_AND, R4, 63);
	asm_alu(as, BPF_RSH, R2, R4);
	asm_alui(as, BPF_LSH, R4, GRID_SUB_BITS);
	asm_alu(as, BPF_ADD, R2, R4);
	asm_alu(as, BPF_XOR, R2, R3);
	asm_alui(as, BPF_ADD, R2, GRID_HALF);
}

void cell_emit_grid_number(struct emit *e, const struct ir_val *v)
{
	struct feed f = {.e = e, .as = e->as};

	f.v = emit_use(e, v, R1);
	grid_number(&f);
}

static void feed_grid(struct feed *f)
{
	struct assembler *as = f->as;
	unsigned skip = asm_label(as);

	grid_number(f);
	/* never: for the verifier */
	asm_jifi(as, BPF_JGE, R2, GRID_BUCKETS, skip);
	bump(f, CF_GRID, R2);
	asm_bind(as, skip);
}

/*
 * reg ^= reg >> k, then reg *= by. r0 is clobbered. The steps of splitmix64
 * (Steele, Lea, Flood, OOPSLA 2014).
 */
static void mix(struct feed *f, int reg, int k, int64_t by)
{
	asm_mov(f->as, R0, reg);
	asm_alui(f->as, BPF_RSH, R0, k);
	asm_alu(f->as, BPF_XOR, reg, R0);
	if (!by)
		return;
	asm_imm(f->as, R0, by);
	asm_alu(f->as, BPF_MUL, reg, R0);
}

/* A byte of a word is raised: r3 = address of the word, r2 = the rank in the
 * byte's place, r4 = the byte's shift. r5, the base, is not needed any more. */
static void raise_byte(struct feed *f)
{
	struct assembler *as = f->as;
	unsigned done = asm_label(as);

	for (int i = 0; i < 8; i++) {
		/* bits of the byte that is there */
		asm_load(as, 8, R0, R3, 0);
		asm_mov(as, R1, R0);
		asm_alu(as, BPF_RSH, R1, R4);
		asm_alui(as, BPF_AND, R1, 255);
		asm_jif(as, BPF_JGE, R1, R2, done);
		/* new word = old + (rank - byte) << shift: no borrow */
		asm_neg(as, R1);
		asm_alu(as, BPF_ADD, R1, R2);
		asm_alu(as, BPF_LSH, R1, R4);
		asm_alu(as, BPF_ADD, R1, R0);
		if (!f->at.atomic) {
			asm_store(as, 8, R3, 0, R1);
			break;
		}
		asm_mov(as, R5, R0);
		asm_atomic(as, BPF_CMPXCHG, R3, 0, R1);
		asm_jif(as, BPF_JEQ, R0, R5, done);
	}
	if (f->at.atomic)
		emit_count(f->e, offsetof(struct probe_counts, unplaced), R0,
			   R1);
	asm_bind(as, done);
}

/*
 * HyperLogLog: the last field fed, so the sample's register is free. The hash's
 * lower bits choose a register, the rank is that of the first one above them
 * (Flajolet and others, AofA 2007).
 */
static void feed_hll(struct feed *f)
{
	struct assembler *as = f->as;

	asm_imm(as, R0, (int64_t)0x9e3779b97f4a7c15);
	asm_mov(as, R2, f->v);
	asm_alu(as, BPF_ADD, R2, R0);
	mix(f, R2, 30, (int64_t)0xbf58476d1ce4e5b9);
	mix(f, R2, 27, (int64_t)0x94d049bb133111eb);
	mix(f, R2, 31, 0);
	asm_mov(as, R3, R2);
	/* bits of the register's number are not counted */
	asm_alui(as, BPF_OR, R2, HLL_REGS - 1);
	count_bits(f, R2);
	asm_neg(as, R2);
	asm_alui(as, BPF_ADD, R2, 65);
	asm_mov(as, R4, R3);
	asm_alui(as, BPF_AND, R4, 7);
	asm_alui(as, BPF_LSH, R4, 3);
	asm_alui(as, BPF_AND, R3, (HLL_REGS - 1) & ~7);
	asm_alu(as, BPF_ADD, R3, f->at.base);
	emit_add(f->e, R3, off_of(f, CF_HLL, 0));
	raise_byte(f);
}

/* Does it need additions alone? */
static bool adds_only(const struct cell *l)
{
	return !l->has[CF_SUM_HI] && !l->has[CF_MIN] && !l->has[CF_MAX] &&
	       !l->has[CF_SQ] && !l->has[CF_HLL];
}

/* In the order of the registers they need: the last may lose the sample. */
void cell_emit(struct emit *e, struct cell_at at, const struct ir_val *v)
{
	struct feed f = {.e = e, .as = e->as, .at = at};
	const struct cell *l = at.cell;
	if (at.atomic && e->c->set.lacks.fetch && !adds_only(l))
		emit_lacking(e, "feeding an aggregate that a handler reads",
			     "5.12");
	/* a cell of counts alone needs no sample */
	bool value = l->has[CF_SUM] || !cell_is_light(l);

	if (value)
		f.v = emit_use(e, v, R1);
	step(&f, at.base, off_of(&f, CF_COUNT, 0), 1, R2);
	if (l->has[CF_SUM])
		feed_sum(&f);
	feed_extremes(&f);
	if (l->has[CF_SQ])
		feed_squares(&f);
	if (l->has[CF_HIST]) {
		if (l->hist_log)
			feed_log(&f);
		else
			feed_linear(&f);
	}
	if (l->has[CF_GRID])
		feed_grid(&f);
	if (l->has[CF_HLL])
		feed_hll(&f);
}

/* --- adding a cell to another --------------------------------------------- */

/* reg = a word of the cell at r1. */
static void from(struct feed *f, enum cell_field c, int word, int reg)
{
	asm_load(f->as, 8, reg, R1, (int)f->at.cell->off[c] + word * 8);
}

/* 128 bits, as two words and the carry between them. */
static void merge_sum(struct feed *f)
{
	unsigned high = asm_label(f->as), done = asm_label(f->as);

	from(f, CF_SUM, 0, R3);
	add(f, off_of(f, CF_SUM, 0), R2, R3);
	from(f, CF_SUM_HI, 0, R4);
	asm_jif(f->as, BPF_JGE, R2, R3, high);
	asm_alui(f->as, BPF_ADD, R4, 1);
	asm_bind(f->as, high);
	asm_jifi(f->as, BPF_JEQ, R4, 0, done);
	add(f, off_of(f, CF_SUM_HI, 0), R2, R4);
	asm_bind(f->as, done);
}

/* 192 bits; r0 counts the carries into the third word. */
static void merge_squares(struct feed *f)
{
	struct assembler *as = f->as;
	unsigned second = asm_label(as), third = asm_label(as);
	unsigned done = asm_label(as);

	asm_imm(as, R0, 0);
	from(f, CF_SQ, 0, R3);
	add(f, off_of(f, CF_SQ, 0), R2, R3);
	from(f, CF_SQ, 1, R4);
	asm_jif(as, BPF_JGE, R2, R3, second);
	asm_alui(as, BPF_ADD, R4, 1);
	asm_jifi(as, BPF_JNE, R4, 0, second);
	asm_imm(as, R0, 1); /* 2^64 - 1 and the carry: 0 and one more */
	asm_bind(as, second);
	asm_jifi(as, BPF_JEQ, R4, 0, third);
	add(f, off_of(f, CF_SQ, 1), R2, R4);
	asm_jif(as, BPF_JGE, R2, R4, third);
	asm_alui(as, BPF_ADD, R0, 1);
	asm_bind(as, third);
	from(f, CF_SQ, 2, R3);
	asm_alu(as, BPF_ADD, R3, R0);
	asm_jifi(as, BPF_JEQ, R3, 0, done);
	add(f, off_of(f, CF_SQ, 2), R2, R3);
	asm_bind(as, done);
}

/* See isel.h. Minima and maxima are raised, all else is added. */
void cell_emit_merge(struct emit *e, struct cell_at at)
{
	struct feed f = {.e = e, .as = e->as, .at = at};
	const struct cell *l = at.cell;

	assert(!l->has[CF_HIST] && !l->has[CF_GRID] && !l->has[CF_HLL]);
	from(&f, CF_COUNT, 0, R3);
	if (at.atomic) /* no carry, so the old value is not asked for */
		asm_atomic(f.as, BPF_ADD, at.base, off_of(&f, CF_COUNT, 0), R3);
	else
		add(&f, off_of(&f, CF_COUNT, 0), R2, R3);
	if (l->has[CF_SUM])
		merge_sum(&f);
	for (enum cell_field c = CF_MIN; c <= CF_MAX; c++) {
		if (!l->has[c])
			continue;
		from(&f, c, 0, R2);
		raise_word(&f, off_of(&f, c, 0));
	}
	if (l->has[CF_SQ])
		merge_squares(&f);
}
