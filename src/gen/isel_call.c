/* SPDX-License-Identifier: MIT */
/* Built-in functions in the kernel: identity, clocks, the session, memory. */
#include "gen/isel.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

/*
 * r0 = helper(), then the upper or lower half of it.
 * bpf_get_current_pid_tgid(): tgid above, tid below; uid_gid: gid above.
 */
static void half_of(struct emit *e, int helper, bool upper)
{
	asm_call(e->as, helper);
	if (upper)
		asm_alui(e->as, BPF_RSH, R0, 32);
	else
		asm_mov32(e->as, R0, R0);
	emit_put(e, R0);
}

/* unit: nanoseconds in one of what is asked for. */
static void clock_of(struct emit *e, bool wall, int64_t unit)
{
	asm_call(e->as, KH_KTIME);
	if (wall) { /* the wall clock is start_wall_ns + the monotonic one */
		asm_value(e->as, R1, MAP_CONTROL, 0);
		asm_load(e->as, 8, R1, R1,
			 offsetof(struct control, start_wall_ns));
		asm_alu(e->as, BPF_ADD, R0, R1);
	}
	if (unit > 1)
		asm_alui(e->as, BPF_DIV, R0, (int32_t)unit);
	emit_put(e, R0);
}

/* r1, r2 = the two words of comm at r0, zeroes behind the NUL: kernels clear
 * that since 5.17 only, and what is left there makes one key into many. */
static void load_comm(struct emit *e)
{
	struct assembler *as = e->as;
	unsigned second = asm_label(as), done = asm_label(as);

	asm_load(as, 8, R1, R0, 0);
	asm_load(as, 8, R2, R0, 8);
	/* There is always a NUL, in the last byte at the latest. */
	asm_imm(as, R0, 0x00ffffffffffffff);
	asm_alu(as, BPF_AND, R2, R0);
	asm_imm(as, R3, 0x0101010101010101);
	asm_imm(as, R4, (int64_t)0x8080808080808080);
	for (int reg = R1; reg <= R2; reg++) {
		/* (w - 1..) & ~w & 80..: its lowest bit is the first NUL's */
		asm_mov(as, R5, reg);
		asm_mov(as, R0, reg);
		asm_alu(as, BPF_SUB, R5, R3);
		asm_alui(as, BPF_XOR, R0, -1);
		asm_alu(as, BPF_AND, R5, R0);
		asm_alu(as, BPF_AND, R5, R4);
		if (reg == R1)
			asm_jifi(as, BPF_JEQ, R5, 0, second);
		/* that bit alone, as 1 << 8 * n, minus 1: the bytes before */
		asm_mov(as, R0, R5);
		asm_neg(as, R0);
		asm_alu(as, BPF_AND, R5, R0);
		asm_alui(as, BPF_RSH, R5, 7);
		asm_alui(as, BPF_SUB, R5, 1);
		asm_alu(as, BPF_AND, reg, R5);
		if (reg == R1) { /* the second word is behind the NUL */
			/* not a constant, to the verifier */
			asm_alu(as, BPF_XOR, R2, R2);
			asm_jmp(as, done);
			asm_bind(as, second);
		}
	}
	asm_bind(as, done);
}

/*
 * From the task where the loader knows its place (run/comm.h), as the helper
 * takes 30 to 50 ns. comm is 16 bytes. Linux 6.1 leaves what is behind the
 * name's NUL as it was, and would make one key into many; later kernels clear
 * it.
 */
static void execname(struct emit *e)
{
	uint32_t w = emit_dst_width(e);
	unsigned ask = asm_label(e->as), done = asm_label(e->as);
	struct mem m;

	if (w >= 16) { /* a shorter result takes the helper, which cuts */
		asm_comm(e->as, R1);
		asm_jifi(e->as, BPF_JEQ, R1, 0, ask);
		asm_call(e->as, KH_TASK_BTF);
		asm_comm(e->as, R1);
		asm_alu(e->as, BPF_ADD, R0, R1);
		load_comm(e);
		m = emit_mem(e, e->ins->dst, R3);
		asm_store(e->as, 8, m.base, m.off, R1);
		asm_store(e->as, 8, m.base, m.off + 8, R2);
		m.off += 16;
		emit_zero_dst(e, m, w - 16);
		asm_jmp(e->as, done);
	}
	asm_bind(e->as, ask);
	emit_zero_dst(e, emit_mem(e, e->ins->dst, R1), w);
	emit_dst_addr(e, R1);
	asm_imm(e->as, R2, w < 16 ? w : 16);
	asm_call(e->as, KH_COMM);
	asm_bind(e->as, done);
}

static void from_control(struct emit *e, int off)
{
	int dst = emit_dst(e, R0);

	asm_value(e->as, R1, MAP_CONTROL, 0);
	asm_load(e->as, 8, dst, R1, off);
	emit_put(e, dst);
}

static void constant(struct emit *e, int64_t v)
{
	asm_imm(e->as, R0, v);
	emit_put(e, R0);
}

/*
 * Text to the host: warn(), log(). Does not wake the host: it looks several
 * times a second anyway.
 */
static void say(struct emit *e, uint16_t kind)
{
	const struct ir_val *v = &e->ins->args[0];
	uint32_t w = emit_width(e, v);
	unsigned full;

	isel_reserve(e, kind, emit_loc(e), w, &full);
	emit_save_ptr(e, R0);
	emit_put_string(e, (struct mem){R0, sizeof(struct record)}, v, w);
	emit_restore_ptr(e, R1);
	isel_submit(e, false);
	asm_bind(e->as, full);
}

/* Numbers about who runs; false: not one of them. */
static bool who(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_PID:
		e->g->reads_pid = true;
		half_of(e, KH_PID_TGID, true);
		return true;
	case BI_TID:
		e->g->reads_pid = true;
		half_of(e, KH_PID_TGID, false);
		return true;
	case BI_UID:
		half_of(e, KH_UID_GID, false);
		return true;
	case BI_GID:
		half_of(e, KH_UID_GID, true);
		return true;
	case BI_EXECNAME:
		execname(e);
		return true;
	case BI_CPU:
	case BI_CPUID:
		half_of(e, KH_CPU, false);
		return true;
	case BI_TASK_CURRENT: /* what cannot be followed: a number */
		asm_call(e->as, KH_TASK);
		emit_put(e, R0);
		return true;
	case BI_TARGET:
		e->g->reads_target = true;
		from_control(e, offsetof(struct control, target_pid));
		return true;
	case BI_STP_PID: /* tally's own */
		e->g->reads_target = true;
		constant(e, getpid());
		return true;
	default:
		return false;
	}
}

/* Ticks a second: the coarse clock advances once a tick. Made-up events have
 * one of 4 ms, as in the VM. */
static int64_t ticks(const struct emit *e)
{
	struct timespec ts;

	if (e->c->set.runtime == RUNTIME_VM ||
	    clock_getres(CLOCK_MONOTONIC_COARSE, &ts) || ts.tv_sec ||
	    !ts.tv_nsec)
		return 250;
	return (1000000000 + ts.tv_nsec / 2) / ts.tv_nsec;
}

/* Clocks; get_cycles() has no cycles here, as no helper gives them. */
static bool when(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_HZ:
		constant(e, ticks(e));
		return true;
	case BI_GETTIMEOFDAY_NS:
		clock_of(e, true, 1);
		return true;
	case BI_GETTIMEOFDAY_US:
		clock_of(e, true, 1000);
		return true;
	case BI_GETTIMEOFDAY_MS:
		clock_of(e, true, 1000000);
		return true;
	case BI_GETTIMEOFDAY_S:
		clock_of(e, true, 1000000000);
		return true;
	case BI_KTIME_GET_NS:
	case BI_LOCAL_CLOCK_NS:
	case BI_GET_CYCLES:
		clock_of(e, false, 1);
		return true;
	case BI_LOCAL_CLOCK_US:
		clock_of(e, false, 1000);
		return true;
	case BI_LOCAL_CLOCK_MS:
		clock_of(e, false, 1000000);
		return true;
	case BI_LOCAL_CLOCK_S:
		clock_of(e, false, 1000000000);
		return true;
	case BI_JIFFIES:
		asm_call(e->as, KH_JIFFIES);
		emit_put(e, R0);
		return true;
	default:
		return false;
	}
}

/* exit() and messages. */
static bool session(struct emit *e)
{
	switch (e->ins->builtin->id) {
	case BI_EXIT:
	case BI_ABORT:
		isel_exit(e);
		return true;
	case BI_WARN:
		say(e, REC_WARN);
		return true;
	case BI_LOG:
		say(e, REC_LOG);
		return true;
	default:
		return false;
	}
}

/*
 * What the kernel tells by walking from its task_struct; an event file says it
 * in so many words, and there is no task_struct behind it.
 */
static bool from_event(struct emit *e)
{
	if (e->c->set.runtime != RUNTIME_VM)
		return false;
	switch (e->ins->builtin->id) {
	case BI_PPID ... BI_SID:
	case BI_EUID:
	case BI_EGID:
	case BI_PEXECNAME:
	case BI_USER_MODE:
	case BI_PERF_READ:
		isel_host(e);
		return true;
	default:
		return false;
	}
}

void isel_builtin(struct emit *e)
{
	if (from_event(e))
		return;
	if (who(e) || when(e) || session(e) || isel_task(e) ||
	    isel_stack(e) || isel_perf(e)) {
		emit_ok(e);
		return;
	}
	isel_text(e);
}
