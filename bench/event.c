/* SPDX-License-Identifier: MIT */
/*
 * event ROUNDS NAME=COMMAND ...: what each tracer adds to a system call.
 *
 * In each round every command in turn is started, given time to attach a BPF
 * program, and a loop of getppid() pinned to one CPU is timed twice: plain
 * (wall time over the same loop without tracer) and with BPF statistics on
 * (run_time_ns / run_cnt of the program that ran most). Prints one line each:
 *     NAME ROUND WALL_ADDED_NS RUN_NS CPU0_WALL_ADDED_NS
 * A tracer that opens its perf event on CPU 0 alone slows events there more
 * than elsewhere: the loop is timed on the last CPU and on CPU 0.
 * The commands take turns so that a machine whose speed drifts is fair to all.
 */
#include <bpf/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 100000, CHUNKS = 7, PROGS = 64, PATIENCE_MS = 15000 };

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

/* Median over chunks of the time of one call. */
static double loop_ns(void)
{
	double t[CHUNKS];
	int i, j;

	for (i = 0; i < CHUNKS; i++) {
		double start = now_ns();

		for (j = 0; j < CALLS; j++)
			syscall(SYS_getppid);
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
static double run_ns(uint32_t after)
{
	struct prog a[PROGS], b[PROGS];
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), na, nb, i, j;
	uint64_t most = 0;
	double ret = 0;

	na = read_progs(after, a);
	loop_ns();
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
static int wait_attached(uint32_t after)
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
		for (j = 0; j < 200; j++)
			syscall(SYS_getppid);
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

static double loop_on(int cpu)
{
	double t;

	pin(cpu);
	t = loop_ns();
	pin(last_cpu());
	return t;
}

static void measure(const char *name, const char *command, int round)
{
	double plain = loop_ns(), plain0 = loop_on(0), wall, wall0;
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
	if (wait_attached(after)) {
		fprintf(stderr, "%s: no program ran\n", name);
	} else {
		wall = loop_ns();
		wall0 = loop_on(0);
		printf("%s %d %.1f %.1f %.1f\n", name, round, wall - plain,
		       run_ns(after), wall0 - plain0);
		fflush(stdout);
	}
	kill(-pid, SIGINT);
	usleep(300000);
	kill(-pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0, r, i;
	if (rounds < 1 || argc < 3) {
		fprintf(stderr, "usage: event ROUNDS NAME=COMMAND ...\n");
		return 2;
	}
	pin(last_cpu());
	for (r = 0; r < rounds; r++)
		for (i = 2; i < argc; i++) {
			char *eq = strchr(argv[i], '=');

			if (!eq)
				continue;
			*eq = 0;
			measure(argv[i], eq + 1, r);
			*eq = '=';
		}
	return 0;
}
