/* SPDX-License-Identifier: MIT */
/*
 * What threads have counted of perf counters: sema/counter.c has the idea.
 *
 * An account (struct perf_account, ir/plan.h) holds for each counter a word,
 * `base`. While the thread runs, base plus the CPU's count is its own count;
 * while it does not, base alone. Programs of tracepoints, which nothing comes
 * between, keep it so. The handler that reads can be put aside at any point,
 * which changes base: it reads base, the CPU's count, base again, and tries
 * once more if that has changed. (If it has not, nobody else can have counted
 * in between: base changes by what others count.)
 */
#include "gen/isel.h"

#include <stddef.h>
#include <string.h>

enum {
	EVENT_VALUE = 24, /* struct bpf_perf_event_value: count, two times */
	TRIES = 6,	  /* of reading without being put aside */
	NEW = PERF_ACCOUNT_NEW,
	GAP = PERF_ACCOUNT_GAP,
};

static unsigned ncounters(const struct emit *e)
{
	return e->g->ir->prog->counters.n;
}

static int base_off(unsigned i)
{
	return (int)(offsetof(struct perf_account, base) + 8 * i);
}

static uint32_t account_size(const struct emit *e)
{
	return (uint32_t)base_off(ncounters(e));
}

/* Counts something that the ledger tells. Clobbers r0, r1. */
static void note(struct emit *e, int off)
{
	asm_value(e->as, R1, MAP_CONTROL, (uint32_t)off);
	asm_imm(e->as, R0, 1);
	asm_atomic(e->as, BPF_ADD, R1, 0, R0);
}

static void note_gap(struct emit *e)
{
	note(e, offsetof(struct control, perf_gaps));
}

/* key = the current thread. */
static void own_key(struct emit *e, uint32_t key)
{
	struct mem m;

	asm_call(e->as, KH_PID_TGID);
	asm_mov32(e->as, R0, R0);
	m = emit_tmp_mem(e, key, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
}

/* key = the operand. */
static void given_key(struct emit *e, uint32_t key)
{
	struct mem m = emit_tmp_mem(e, key, R1);

	asm_store(e->as, 8, m.base, m.off, emit_use(e, &e->ins->args[0], R2));
}

/* r0 = helper(accounts, key); for an update r3 and r4 are set already. */
static void with_account(struct emit *e, uint32_t key, int helper)
{
	asm_map(e->as, R1, e->plan->accounts_map);
	emit_tmp_addr(e, R2, key);
	asm_call(e->as, helper);
}

/* cpu = this CPU's number. */
static void own_cpu(struct emit *e, uint32_t cpu)
{
	struct mem m;

	asm_call(e->as, KH_CPU);
	asm_mov32(e->as, R0, R0);
	m = emit_tmp_mem(e, cpu, R1);
	asm_store(e->as, 8, m.base, m.off, R0);
}

/* The CPU's count of counter i to `to`, which has EVENT_VALUE bytes. */
static void read_one(struct emit *e, unsigned i, uint32_t cpu, uint32_t to,
		     unsigned fail)
{
	struct mem m = emit_tmp_mem(e, cpu, R2);

	asm_load(e->as, 8, R2, m.base, m.off);
	emit_add(e, R2, (int32_t)(i * e->plan->ncpus));
	asm_map(e->as, R1, e->plan->perf_map);
	emit_tmp_addr(e, R3, to);
	asm_imm(e->as, R4, EVENT_VALUE);
	asm_call(e->as, KH_PERF_READ);
	asm_jifi32(e->as, BPF_JNE, R0, 0, fail);
}

/* Bytes for the counts of all: the two times behind the last, too. */
static uint32_t counts_size(const struct emit *e)
{
	return 8 * ncounters(e) + EVENT_VALUE - 8;
}

/* counts[i] = the CPU's count of counter i. In ascending order, since each
 * reading also writes the two words behind its own. */
static void read_all(struct emit *e, uint32_t cpu, uint32_t counts,
		     unsigned fail)
{
	for (unsigned i = 0; i < ncounters(e); i++)
		read_one(e, i, cpu, counts + 8 * i, fail);
}

/* r2 = counts[i] */
static void load_count(struct emit *e, uint32_t counts, unsigned i)
{
	struct mem m = emit_tmp_mem(e, counts + 8 * i, R2);

	asm_load(e->as, 8, R2, m.base, m.off);
}

/* r2 = cpu + 1: the state of an account whose thread runs here. */
static void running_state(struct emit *e, uint32_t cpu)
{
	struct mem m = emit_tmp_mem(e, cpu, R2);

	asm_load(e->as, 8, R2, m.base, m.off);
	asm_alui(e->as, BPF_ADD, R2, 1);
}

/* --- switches ------------------------------------------------------------- */

/* base += or -= the counts, in the account at r1. Clobbers r2, r3. */
static void apply(struct emit *e, uint32_t counts, int op)
{
	for (unsigned i = 0; i < ncounters(e); i++) {
		load_count(e, counts, i);
		asm_load(e->as, 8, R3, R1, base_off(i));
		asm_alu(e->as, op, R3, R2);
		asm_store(e->as, 8, R1, base_off(i), R3);
	}
}

/* The current thread stops to run. */
static void out(struct emit *e, uint32_t key, uint32_t cpu, uint32_t counts)
{
	struct assembler *as = e->as;
	unsigned done = asm_label(as), gap = asm_label(as);
	unsigned idle = asm_label(as);

	own_key(e, key);
	with_account(e, key, KH_MAP_LOOKUP);
	asm_jifi(as, BPF_JEQ, R0, 0, done);
	emit_save_ptr(e, R0);
	asm_load(as, 8, R1, R0, offsetof(struct perf_account, state));
	asm_jifi(as, BPF_JEQ, R1, NEW, done);
	running_state(e, cpu);
	asm_jif(as, BPF_JNE, R1, R2, gap);
	read_all(e, cpu, counts, gap);
	emit_restore_ptr(e, R1);
	apply(e, counts, BPF_ADD);
	asm_jmp(as, idle);
	asm_bind(as, gap);
	note_gap(e);
	emit_restore_ptr(e, R1);
	asm_bind(as, idle);
	asm_storei(as, 8, R1, offsetof(struct perf_account, state), 0);
	asm_bind(as, done);
}

/* The operand's thread begins to run. */
static void in(struct emit *e, uint32_t key, uint32_t cpu, uint32_t counts)
{
	struct assembler *as = e->as;
	unsigned done = asm_label(as), gap = asm_label(as);
	unsigned old = asm_label(as);

	given_key(e, key);
	with_account(e, key, KH_MAP_LOOKUP);
	asm_jifi(as, BPF_JEQ, R0, 0, done);
	emit_save_ptr(e, R0);
	read_all(e, cpu, counts, gap);
	emit_restore_ptr(e, R1);
	/*
	 * New: a reader was put aside before it had begun. It begins here, and
	 * what it may have written by then is void. Any other state is that of
	 * a thread whose end of running nobody has seen: it begins again.
	 */
	asm_load(as, 8, R2, R1, offsetof(struct perf_account, state));
	asm_jifi(as, BPF_JEQ, R2, 0, old);
	for (unsigned i = 0; i < ncounters(e); i++)
		asm_storei(as, 8, R1, base_off(i), 0);
	asm_jifi(as, BPF_JEQ, R2, NEW, old);
	note_gap(e);
	emit_restore_ptr(e, R1);
	asm_bind(as, old);
	apply(e, counts, BPF_SUB);
	running_state(e, cpu);
	asm_store(as, 8, R1, offsetof(struct perf_account, state), R2);
	asm_jmp(as, done);
	/* It runs uncounted: told when it stops. */
	asm_bind(as, gap);
	emit_restore_ptr(e, R1);
	asm_load(as, 8, R2, R1, offsetof(struct perf_account, state));
	asm_jifi(as, BPF_JEQ, R2, NEW, done);
	asm_storei(as, 8, R1, offsetof(struct perf_account, state), GAP);
	asm_bind(as, done);
}

static void thread_switch(struct emit *e)
{
	uint32_t key = emit_tmp(e, 8), cpu = emit_tmp(e, 8);
	uint32_t counts = emit_tmp(e, counts_size(e));

	own_cpu(e, cpu);
	out(e, key, cpu, counts);
	in(e, key, cpu, counts);
}

/* --- beginnings and ends -------------------------------------------------- */

/* An account, on which the last one of that thread is lost. r3 = it. No room:
 * the thread gets one when it reads, if there is room then. */
static void put_account(struct emit *e, uint32_t key, uint32_t account)
{
	unsigned done = asm_label(e->as);

	emit_tmp_addr(e, R3, account);
	asm_imm(e->as, R4, BPF_ANY);
	with_account(e, key, KH_MAP_UPDATE);
	asm_jifi32(e->as, BPF_JEQ, R0, 0, done);
	note(e, offsetof(struct control, perf_late));
	asm_bind(e->as, done);
}

/* A thread that was made, and has not run yet. */
static void child(struct emit *e)
{
	uint32_t key = emit_tmp(e, 8), account = emit_tmp(e, account_size(e));
	struct mem m;

	given_key(e, key);
	m = emit_tmp_mem(e, account, R1);
	asm_storei(e->as, 8, m.base, m.off, 0);
	for (unsigned i = 0; i < ncounters(e); i++)
		asm_storei(e->as, 8, m.base, m.off + base_off(i),
			   e->g->ir->prog->counters.v[i]->counter_from);
	put_account(e, key, account);
}

/* The current thread, in a tracepoint: nothing comes between. */
static void start(struct emit *e)
{
	struct assembler *as = e->as;
	uint32_t key = emit_tmp(e, 8), cpu = emit_tmp(e, 8);
	uint32_t counts = emit_tmp(e, counts_size(e));
	uint32_t account = emit_tmp(e, account_size(e));
	unsigned put = asm_label(as);
	struct mem m;

	own_key(e, key);
	own_cpu(e, cpu);
	m = emit_tmp_mem(e, account, R1);
	asm_storei(as, 8, m.base, m.off, GAP);
	for (unsigned i = 0; i < ncounters(e); i++)
		asm_storei(as, 8, m.base, m.off + base_off(i), 0);
	read_all(e, cpu, counts, put);
	emit_tmp_addr(e, R1, account);
	apply(e, counts, BPF_SUB);
	running_state(e, cpu);
	asm_store(as, 8, R1, offsetof(struct perf_account, state), R2);
	asm_bind(as, put);
	put_account(e, key, account);
}

static void drop(struct emit *e)
{
	uint32_t key = emit_tmp(e, 8);

	given_key(e, key);
	with_account(e, key, KH_MAP_DELETE);
}

/* --- reading -------------------------------------------------------------- */

/* The counter whose name the operand is: sema has found it by the same. */
static unsigned counter_number(const struct emit *e)
{
	const char *name = e->ins->args[0].str;
	unsigned i;

	for (i = 0; i + 1 < ncounters(e); i++)
		if (!strcmp(e->g->ir->prog->counters.v[i]->counter, name))
			break;
	return i;
}

/*
 * Saves a pointer to the thread's account, made if it has none. It is new then
 * until somebody begins it. No room: fails, or goes to full.
 */
static void find_account(struct emit *e, uint32_t key, uint32_t account,
			 unsigned full)
{
	struct assembler *as = e->as;
	unsigned found = asm_label(as);
	struct mem m;

	own_key(e, key);
	with_account(e, key, KH_MAP_LOOKUP);
	asm_jifi(as, BPF_JNE, R0, 0, found);
	m = emit_tmp_mem(e, account, R1);
	asm_storei(as, 8, m.base, m.off, NEW);
	for (unsigned i = 0; i < ncounters(e); i++)
		asm_storei(as, 8, m.base, m.off + base_off(i), 0);
	emit_tmp_addr(e, R3, account);
	asm_imm(as, R4, BPF_NOEXIST);
	with_account(e, key, KH_MAP_UPDATE);
	with_account(e, key, KH_MAP_LOOKUP);
	asm_jifi(as, BPF_JNE, R0, 0, found);
	asm_jmp(as, e->ins->target[1] ? emit_block(e, e->ins->target[1])
				      : full);
	asm_bind(as, found);
	emit_save_ptr(e, R0);
}

/*
 * A new account begins here: its base is the count of now. The handler may be
 * put aside between any two of these; then the switch begins the account, by
 * which base is no longer 0 (or the counts were and are 0, and it does not
 * matter) nor the state new.
 */
static void begin(struct emit *e, uint32_t cpu, uint32_t counts, unsigned fail)
{
	struct assembler *as = e->as;

	read_all(e, cpu, counts, fail);
	emit_restore_ptr(e, R1);
	for (unsigned i = 0; i < ncounters(e); i++) {
		load_count(e, counts, i);
		asm_neg(as, R2);
		asm_imm(as, R0, 0);
		emit_swap(e, R1, base_off(i), R2, R3);
	}
	running_state(e, cpu);
	asm_imm(as, R0, NEW);
	emit_swap(e, R1, offsetof(struct perf_account, state), R2, R3);
}

/*
 * r0 = base + count of the counter, and to got. Past its end r0 is as good as
 * it could be had.
 */
static void sum_up(struct emit *e, uint32_t cpu, uint32_t counts,
		   unsigned fail, unsigned got)
{
	struct assembler *as = e->as;
	unsigned n = counter_number(e);
	uint32_t base = emit_tmp(e, 8);
	struct mem m;

	for (int i = 0; i < TRIES; i++) {
		emit_restore_ptr(e, R1);
		asm_load(as, 8, R2, R1, base_off(n));
		m = emit_tmp_mem(e, base, R3);
		asm_store(as, 8, m.base, m.off, R2);
		read_one(e, n, cpu, counts, fail);
		emit_restore_ptr(e, R1);
		asm_load(as, 8, R2, R1, base_off(n));
		m = emit_tmp_mem(e, base, R3);
		asm_load(as, 8, R3, m.base, m.off);
		m = emit_tmp_mem(e, counts, R0);
		asm_load(as, 8, R0, m.base, m.off);
		asm_alu(as, BPF_ADD, R0, R2);
		asm_jif(as, BPF_JEQ, R2, R3, got);
	}
}

static void thread_count(struct emit *e)
{
	struct assembler *as = e->as;
	uint32_t key = emit_tmp(e, 8), cpu = emit_tmp(e, 8);
	uint32_t counts = emit_tmp(e, counts_size(e));
	uint32_t account = emit_tmp(e, account_size(e));
	unsigned gap = asm_label(as), got = asm_label(as);
	unsigned runs = asm_label(as), zero = asm_label(as);
	unsigned doubtful = asm_label(as);

	find_account(e, key, account, zero);
	own_cpu(e, cpu);
	emit_restore_ptr(e, R1);
	asm_load(as, 8, R0, R1, offsetof(struct perf_account, state));
	asm_jifi(as, BPF_JNE, R0, NEW, runs);
	begin(e, cpu, counts, gap);
	asm_bind(as, zero);
	asm_imm(as, R0, 0);
	asm_jmp(as, got);
	asm_bind(as, runs);
	running_state(e, cpu);
	asm_jif(as, BPF_JNE, R0, R2, gap);
	sum_up(e, cpu, counts, gap, got);
	asm_jmp(as, doubtful);
	/* This CPU does not count: what was counted before it ran here. */
	asm_bind(as, gap);
	emit_restore_ptr(e, R1);
	asm_load(as, 8, R0, R1, base_off(counter_number(e)));
	asm_bind(as, doubtful);
	asm_mov(as, R3, R0);
	note_gap(e);
	asm_mov(as, R0, R3);
	asm_bind(as, got);
	emit_put(e, R0);
	emit_ok(e);
}

bool isel_perf(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_PERF_READ:
		thread_count(e);
		return true;
	case BI_PERF_SWITCH:
		thread_switch(e);
		return true;
	case BI_PERF_START:
		start(e);
		return true;
	case BI_PERF_CHILD:
		child(e);
		return true;
	case BI_PERF_DROP:
		drop(e);
		return true;
	default:
		return false;
	}
}
