/* SPDX-License-Identifier: MIT */
/*
 * Does anything still write a bank after the wait? A slow handler on every
 * system call of busy processes on all CPUs says so. Needs CAP_BPF.
 */
#include "test.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "store/grace.h"

enum { ROW = 64, CPUS = 64, ROUNDS = 100 };

struct world {
	int map, prog, link;
	uint8_t *mem; /* bank number, then CPUS rows of two banks */
	pid_t child[CPUS];
	int ncpus;
};

#define I(c, d, s, o, i)                                                       \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),       \
			    .off = (o), .imm = (i) })
#define MAP_VALUE(d, fd, o)                                                    \
	I(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_VALUE, 0, fd),          \
	I(0, 0, 0, 0, o)

/* Reads the bank, dawdles, then adds 1 to its cell of this CPU. */
static int load_slow(int map)
{
	const struct bpf_insn insns[] = {
		I(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_smp_processor_id),
		I(BPF_ALU64 | BPF_MOV | BPF_X, 7, 0, 0, 0),
		I(BPF_ALU64 | BPF_AND | BPF_K, 7, 0, 0, CPUS - 1),
		MAP_VALUE(6, map, 0),
		I(BPF_LDX | BPF_MEM | BPF_W, 8, 6, 0, 0),
		I(BPF_ALU64 | BPF_AND | BPF_K, 8, 0, 0, 1),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 9, 0, 0, 100),
		I(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns),
		I(BPF_ALU64 | BPF_SUB | BPF_K, 9, 0, 0, 1),
		I(BPF_JMP | BPF_JNE | BPF_K, 9, 0, -3, 0),
		I(BPF_ALU64 | BPF_MUL | BPF_K, 7, 0, 0, ROW),
		I(BPF_ALU64 | BPF_MUL | BPF_K, 8, 0, 0, 8),
		MAP_VALUE(1, map, ROW),
		I(BPF_ALU64 | BPF_ADD | BPF_X, 1, 7, 0, 0),
		I(BPF_ALU64 | BPF_ADD | BPF_X, 1, 8, 0, 0),
		I(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 0, 0),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 0, 0, 0, 1),
		I(BPF_STX | BPF_MEM | BPF_DW, 1, 0, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "slow",
			     "Dual MIT/GPL", insns,
			     sizeof(insns) / sizeof(*insns), NULL);
}

static void busy(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (;;)
		syscall(SYS_getppid);
}

static bool world_open(struct world *w)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	int i;

	memset(w, 0, sizeof(*w));
	w->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "grace_test", 4,
				ROW * (CPUS + 1), 1, &o);
	if (w->map < 0)
		return false;
	w->mem = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, w->map,
		      0);
	CHECK(w->mem != MAP_FAILED);
	w->prog = load_slow(w->map);
	CHECK(w->prog >= 0);
	w->link = bpf_raw_tracepoint_open("sys_enter", w->prog);
	CHECK(w->link >= 0);
	w->ncpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (i = 0; i < w->ncpus && i < CPUS; i++) {
		w->child[i] = fork();
		if (!w->child[i])
			busy(i);
	}
	return true;
}

static void world_close(struct world *w)
{
	int i;

	for (i = 0; i < w->ncpus && i < CPUS; i++) {
		kill(w->child[i], SIGKILL);
		waitpid(w->child[i], NULL, 0);
	}
	close(w->link);
	close(w->prog);
	munmap(w->mem, 8192);
	close(w->map);
}

static uint64_t sum(const struct world *w, uint32_t bank)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < CPUS; i++)
		n += __atomic_load_n((uint64_t *)(w->mem + ROW * (i + 1) +
						  8 * bank),
				     __ATOMIC_RELAXED);
	return n;
}

/* Rounds in which a bank changed after it was flipped away from. */
static int late_writes(struct world *w, struct grace *g)
{
	uint32_t bank;
	uint64_t before;
	int round, late = 0;

	for (round = 0; round < ROUNDS; round++) {
		bank = *(uint32_t *)w->mem & 1;
		__atomic_store_n((uint32_t *)w->mem, bank ^ 1,
				 __ATOMIC_SEQ_CST);
		if (g)
			CHECK_EQ(grace_wait(g), 0);
		before = sum(w, bank);
		usleep(500);
		late += sum(w, bank) != before;
	}
	return late;
}

TEST(nothing_writes_after_the_wait)
{
	struct world w;
	struct grace visits, kernel;
	int late = 0;

	/* A handler is not put aside for who reads after it. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("needs two CPUs");
	if (!world_open(&w))
		SKIP("needs CAP_BPF");
	grace_init(&visits);
	grace_init(&kernel);
	kernel.preemptible = true;
	/*
	 * Or this test proves nothing. On a busy machine the children seldom
	 * run at the same time.
	 */
	for (int i = 0; i < 100 && !late; i++)
		late = late_writes(&w, NULL);
	CHECK(late > 0);
	CHECK_EQ(late_writes(&w, &visits), 0);
	printf("# visits were %spossible here\n",
	       visits.can_visit ? "" : "not ");
	CHECK_EQ(late_writes(&w, &kernel), 0);
	grace_close(&visits);
	grace_close(&kernel);
	world_close(&w);
}
