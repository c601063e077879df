/* SPDX-License-Identifier: MIT */
/*
 * event [-b] [-k KEYS | -r] ROUNDS NAME=COMMAND ...: what each tracer adds to a
 * system call.
 *
 * In each round every command in turn is started, given time to attach a BPF
 * program, and a loop of getppid() pinned to one CPU is timed twice: plain
 * (wall time over the same loop without tracer) and with BPF statistics on
 * (run_time_ns / run_cnt of the program that ran most). Prints one line each:
 *     NAME ROUND WALL_ADDED_NS RUN_NS CPU0_WALL_ADDED_NS
 * A tracer that opens its perf event on CPU 0 alone slows events there more
 * than elsewhere: the loop is timed on the last CPU and on CPU 0.
 * The commands take turns so that a machine whose speed drifts is fair to all.
 *
 * -k: not getppid() but KEYS system calls that do not exist, in turn, numbered
 * from 1000: an array keyed by the number gets so many keys, each of them after
 * all others. -r: prctl(PR_SET_NAME), for tracers of task_rename: a tracepoint
 * that costs no more than itself, where one at the entry of system calls sends
 * each of them through a longer way, which both contestants pay in full.
 * -b: for a busy machine: short loops with real-time priority, of
 * which the fastest counts.
 */
#include <bpf/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CALLS = 100000, CHUNKS = 7,	 /* a loop; medians of so many */
	BURST = 4096, BURSTS = 150,	 /* -b; 1 ms each, 8 between pauses */
	PROGS = 64, PATIENCE_MS = 15000, FIRST_KEY = 1000,
};

struct loop {
	int keys; /* 1: getppid() */
	bool rename;
	bool best;
	double plain[2]; /* -b: without tracer, on the last CPU and on 0 */
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void call(const struct loop *l, int n)
{
	int i, key = 0;

	for (i = 0; i < n && l->rename; i++)
		prctl(PR_SET_NAME, "event");
	for (i = 0; i < n && !l->rename; i++) {
		syscall(l->keys == 1 ? SYS_getppid : FIRST_KEY + key);
		if (++key == l->keys)
			key = 0;
	}
}

static double best_ns(const struct loop *l)
{
	struct sched_param first = { .sched_priority = 50 }, usual = { 0 };
	double best = 1e9;
	int i;

	for (i = 0; i < BURSTS; i++) {
		double start, t;

		if (i % 8 == 0)
			sched_setscheduler(0, SCHED_FIFO, &first);
		start = now_ns();
		call(l, BURST);
		t = (now_ns() - start) / BURST;
		best = t < best ? t : best;
		if (i % 8 == 7) {
			sched_setscheduler(0, SCHED_OTHER, &usual);
			usleep(3000);
		}
	}
	sched_setscheduler(0, SCHED_OTHER, &usual);
	return best;
}

/* Median over chunks of the time of one call. */
static double loop_ns(const struct loop *l)
{
	double t[CHUNKS];
	int i;

	if (l->best)
		return best_ns(l);
	for (i = 0; i < CHUNKS; i++) {
		double start = now_ns();

		call(l, CALLS);
		t[i] = (now_ns() - start) / CALLS;
	}
	qsort(t, CHUNKS, sizeof(*t), by_value);
	return t[CHUNKS / 2];
}

static uint32_t last_prog(void)
{
	uint32_t id = 0, next;

	while (!bpf_prog_get_next_id(id, &next))
		id = next;
	return id;
}

struct prog {
	uint32_t id;
	uint64_t time, count;
};

/* Counters of the programs younger than `after`. */
static int read_progs(uint32_t after, struct prog *ret)
{
	int n = 0;

	while (n < PROGS && !bpf_prog_get_next_id(after, &after)) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(after);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
			ret[n].id = info.id;
			ret[n].time = info.run_time_ns;
			ret[n++].count = info.run_cnt;
		}
		close(fd);
	}
	return n;
}

/* Nanoseconds a run of the program that ran most, between two readings. */
static double run_ns(const struct loop *l, uint32_t after)
{
	struct prog a[PROGS], b[PROGS];
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), na, nb, i, j;
	uint64_t most = 0;
	double ret = 0;

	na = read_progs(after, a);
	loop_ns(l);
	nb = read_progs(after, b);
	for (i = 0; i < nb; i++) {
		uint64_t count = b[i].count, time = b[i].time;

		for (j = 0; j < na; j++)
			if (a[j].id == b[i].id) {
				count -= a[j].count;
				time -= a[j].time;
			}
		if (count > most) {
			most = count;
			ret = (double)time / (double)count;
		}
	}
	close(stats);
	return ret;
}

/* Waits until the tracer's program runs: 0, or -1 when it never does. */
static int wait_attached(const struct loop *l, uint32_t after)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), i, j;

	for (i = 0; i < PATIENCE_MS / 5; i++) {
		struct prog p[PROGS];
		int n = read_progs(after, p);

		for (j = 0; j < n; j++)
			if (p[j].count > 100) {
				close(stats);
				usleep(100000);
				return 0;
			}
		call(l, 200);
		usleep(5000);
	}
	close(stats);
	return -1;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int last_cpu(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

static double loop_on(const struct loop *l, int cpu)
{
	double t;

	pin(cpu);
	t = loop_ns(l);
	pin(last_cpu());
	return t;
}

static void measure(const struct loop *l, const char *name, const char *command,
		    int round)
{
	double plain = l->best ? l->plain[0] : loop_ns(l);
	double plain0 = l->best ? l->plain[1] : loop_on(l, 0), wall, wall0;
	uint32_t after = last_prog();
	pid_t pid = fork();

	if (pid == 0) {
		cpu_set_t all;

		/* The tracer itself may use any CPU but the loop's. */
		CPU_ZERO(&all);
		CPU_SET(0, &all);
		sched_setaffinity(0, sizeof(all), &all);
		setpgid(0, 0);
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (wait_attached(l, after)) {
		fprintf(stderr, "%s: no program ran\n", name);
	} else {
		wall = loop_ns(l);
		wall0 = loop_on(l, 0);
		printf("%s %d %.1f %.1f %.1f\n", name, round, wall - plain,
		       run_ns(l, after), wall0 - plain0);
		fflush(stdout);
	}
	kill(-pid, SIGINT);
	usleep(300000);
	kill(-pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct loop l = { .keys = 1 };
	int rounds, r, i, opt;

	while ((opt = getopt(argc, argv, "bk:r")) != -1) {
		if (opt == 'b')
			l.best = true;
		else if (opt == 'r')
			l.rename = true;
		else if (opt == 'k')
			l.keys = (int)strtol(optarg, NULL, 10);
	}
	rounds = optind < argc ? (int)strtol(argv[optind], NULL, 10) : 0;
	if (rounds < 1 || l.keys < 1 || optind + 1 >= argc) {
		fprintf(stderr, "usage: event [-b] [-k KEYS | -r] ROUNDS "
			"NAME=COMMAND ...\n");
		return 2;
	}
	pin(last_cpu());
	l.plain[0] = l.plain[1] = 1e9;
	for (r = 0; l.best && r < 2 * rounds + 4; r++)
		for (i = 0; i < 2; i++) {
			double t = loop_on(&l, i ? 0 : last_cpu());

			if (t < l.plain[i])
				l.plain[i] = t;
		}
	for (r = 0; r < rounds; r++)
		for (i = optind + 1; i < argc; i++) {
			char *eq = strchr(argv[i], '=');

			if (!eq)
				continue;
			*eq = 0;
			measure(&l, argv[i], eq + 1, r);
			*eq = '=';
		}
	return 0;
}
