/* SPDX-License-Identifier: MIT */
/*
 * Hot entries: a[k] <<< v for the keys that this program met last on this CPU.
 * Each key has one place among the program's entries in the row's active bank,
 * by a hash of it. Is it there, its cell is fed by plain loads and stores and
 * no map is touched. Otherwise the cell that is there is added to the map's
 * element of its own key (or to "other"), and the place is taken over.
 *
 * So a sample reaches the map later than it was taken, but within its bank: the
 * bank's number was read once, in the prologue, and a drain waits for all
 * programs that have read the old one before it reads entries and map.
 *
 * An empty entry is all zeroes. It passes for one of the key that is all
 * zeroes, without samples, which is what it is.
 *
 * r5 is the entry's address, saved in the frame while helpers are called.
 */
#include "gen/isel.h"

struct hot {
	struct emit *e; /* of the global: key, cells, entries */
	const struct plan_global *g;
	/* Operands make a key of other widths: it is laid out here first. */
	bool laid;
	uint32_t key; /* temporary with the key, when it is laid */
};

static const struct plan_global *global(const struct emit *e)
{
	return &e->plan->globals[e->ins->global->index];
}

/* plan.c decides which programs get entries, by what they cost and save. */
bool hot_has(const struct emit *e)
{
	const struct plan_global *g = global(e);

	return g->hot_ways && g->hot[e->f->probe->index] != UINT32_MAX;
}

/* --- the words of the key ------------------------------------------------- */

/* The column that byte `at` of the key is in. */
static unsigned column(const struct plan_key *k, uint32_t at)
{
	unsigned i = 0;

	while (i + 1 < k->n && at >= k->off[i + 1])
		i++;
	return i;
}

/* Are there bytes in an operand that the key has no room for? */
static bool is_cut(struct emit *e)
{
	const struct plan_key *k = &global(e)->key;

	for (unsigned i = 0; i < k->n; i++)
		if (k->is_str[i] &&
		    emit_width(e, &e->ins->args[i]) > k->width[i])
			return true;
	return false;
}

/* Is the word the same each time? Then its part of the hash is a constant. */
static bool is_known(const struct hot *h, uint32_t at, int64_t *ret)
{
	const struct plan_key *k = &h->g->key;
	unsigned i = column(k, at);
	const struct ir_val *v = &h->e->ins->args[i];
	uint32_t from = at - k->off[i];

	*ret = 0;
	if (h->laid || (v->kind == VAL_REG &&
			(!k->is_str[i] || from < emit_width(h->e, v))))
		return false;
	if (v->kind == VAL_NUM)
		*ret = v->num;
	if (v->kind != VAL_STR)
		/*
		 * behind a string that is shorter than the key's column: zero
		 */
		return true;
	*ret = emit_literal_word(v->str, from);
	return true;
}

/*
 * A register with the word: an operand's own, or tmp. (r0 is the hash
 * meanwhile)
 */
static int word(const struct hot *h, uint32_t at, int tmp)
{
	const struct plan_key *k = &h->g->key;
	unsigned i = column(k, at);
	const struct ir_val *v = &h->e->ins->args[i];
	int64_t known;
	struct mem m;

	if (is_known(h, at, &known)) {
		asm_imm(h->e->as, tmp, known);
		return tmp;
	}
	if (!h->laid && !k->is_str[i])
		return emit_use(h->e, v, tmp);
	if (h->laid) {
		m = emit_tmp_mem(h->e, h->key, tmp);
		m.off += (int)at;
	} else {
		m = emit_mem(h->e, v->reg, tmp);
		m.off += (int)(at - k->off[i]);
	}
	asm_load(h->e->as, 8, tmp, m.base, m.off);
	return tmp;
}

/* --- the entry ------------------------------------------------------------ */

/*
 * Odd, and 64 bits of them: of products' sums the upper bits are mixed well.
 * The multiplier is 2^64 divided by the golden ratio (Knuth, The Art of
 * Computer Programming 3, 6.4).
 */
static uint64_t factor(uint32_t at)
{
	return 0x9e3779b97f4a7c15u * (2 * (at / 8) + 1);
}

/* r0 = sum of words times factors, without what is known: *ret_known. False:
 * all is. */
static bool hash(const struct hot *h, uint64_t *ret_known)
{
	struct assembler *as = h->e->as;
	bool any = false;
	int64_t w;

	*ret_known = 0;
	for (uint32_t at = 0; at < h->g->key.size; at += 8) {
		if (is_known(h, at, &w)) {
			*ret_known += (uint64_t)w * factor(at);
			continue;
		}
		asm_imm(as, R2, (int64_t)factor(at));
		asm_alu(as, BPF_MUL, R2, word(h, at, R1));
		if (any)
			asm_alu(as, BPF_ADD, R0, R2);
		else
			asm_mov(as, R0, R2);
		any = true;
	}
	return any;
}

/*
 * r5 = the entry in which the key has its place. The upper bits of the hash
 * choose, as they depend on all bits of the key.
 */
static void find_entry(const struct hot *h)
{
	struct emit *e = h->e;
	const struct plan_global *g = h->g;
	unsigned bits = (unsigned)__builtin_ctz(g->hot_ways);
	uint32_t off = e->plan->bank_off + g->hot[e->f->probe->index];
	uint64_t known = 0;
	bool any = bits && hash(h, &known);

	asm_mov(e->as, R5, emit_pseudo(e, PS_BANK, R5));
	if (bits && !any)
		off += (uint32_t)(known >> (64 - bits)) * g->hot_size;
	emit_add(e, R5, (int32_t)off);
	if (!any)
		return;
	if (known) {
		asm_imm(e->as, R1, (int64_t)known);
		asm_alu(e->as, BPF_ADD, R0, R1);
	}
	asm_alui(e->as, BPF_RSH, R0, (int32_t)(64 - bits));
	/* 64 - bits leaves as many; for the verifier's sake */
	asm_alui(e->as, BPF_AND, R0, (int32_t)g->hot_ways - 1);
	asm_alui(e->as, BPF_MUL, R0, (int32_t)g->hot_size);
	asm_alu(e->as, BPF_ADD, R5, R0);
}

/*
 * Goes to `miss` when another key is there. part: a cell of this program,
 * before the key.
 */
static void compare(const struct hot *h, unsigned miss)
{
	struct assembler *as = h->e->as;
	int off = (int)h->g->part.size;
	int64_t w;

	for (uint32_t at = 0; at < h->g->key.size; at += 8) {
		asm_load(as, 8, R0, R5, off + (int)at);
		if (is_known(h, at, &w) && w >= INT32_MIN && w <= INT32_MAX)
			asm_jifi(as, BPF_JNE, R0, (int32_t)w, miss);
		else
			asm_jif(as, BPF_JNE, R0, word(h, at, R1), miss);
	}
}

/*
 * The entry becomes the key's, without samples. The miss was counted in the
 * map, so nothing is lost.
 */
static void take_over(const struct hot *h)
{
	struct assembler *as = h->e->as;
	int off = (int)h->g->part.size;
	int64_t w;

	emit_zero(h->e, (struct mem){R5, 0}, h->g->part.size);
	for (uint32_t at = 0; at < h->g->key.size; at += 8) {
		if (is_known(h, at, &w) && w >= INT32_MIN && w <= INT32_MAX)
			asm_storei(as, 8, R5, off + (int)at, (int32_t)w);
		else
			asm_store(as, 8, R5, off + (int)at, word(h, at, R1));
	}
}

/* The usual path comes first and has no jump but those of compare(). */
void isel_hot(struct emit *e)
{
	const struct plan_global *g = global(e);
	struct hot h = {.e = e, .g = g, .laid = is_cut(e)};
	uint32_t t = emit_tmp(e, 8), shard = g->shards > 1 ? emit_tmp(e, 8) : 0;
	unsigned feed = asm_label(e->as), miss = asm_label(e->as);
	unsigned fresh = asm_label(e->as), other = asm_label(e->as);
	unsigned done = asm_label(e->as);
	struct key_at old = {.saved = true, .off = g->part.size};
	struct cell_at at = {.cell = &g->part, .base = R5};

	if (h.laid)
		h.key = isel_key(e, 0, 0);
	find_entry(&h);
	compare(&h, miss);
	asm_bind(e->as, feed);
	cell_emit(e, at, &e->ins->args[e->ins->nargs - 1]);
	if (e->ins->target[0])
		asm_jmp(e->as, emit_block(e, e->ins->target[0]));
	else
		asm_jmp(e->as, done);

	asm_bind(e->as, miss);
	emit_save_ptr(e, R5);
	/* an entry that was never fed, or was drained since */
	asm_load(e->as, 8, R0, R5, (int)g->part.off[CF_COUNT]);
	asm_jifi(e->as, BPF_JEQ, R0, 0, fresh);
	/* the element of the old key has a cell for each shard */
	if (g->shards > 1)
		agg_note_shard(e, shard);
	agg_find_or_make(e, g->map, old, t, other);
	agg_pick_cell(e, shard);
	emit_restore_ptr(e, R1);
	at.atomic = g->atomic; /* in the map others write, too */
	cell_emit_merge(e, at);
	asm_bind(e->as, fresh);
	emit_restore_ptr(e, R5);
	take_over(&h);
	asm_jmp(e->as, feed);

	/* no room in the map: to "other", counted as map_full */
	asm_bind(e->as, other);
	agg_other_cell(e, true);
	emit_restore_ptr(e, R1);
	cell_emit_merge(e, at);
	asm_jmp(e->as, fresh);
	asm_bind(e->as, done);
}
