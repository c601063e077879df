/* SPDX-License-Identifier: MIT */
/*
 * exclusion OBJECT ROUNDS MS [PART ...]: measures the schemes of
 * exclusion.bpf.c. Schemes take turns at each point; a line per measurement,
 * tabs between, times in ns. CPUS threads, one pinned to each CPU, with
 * real-time priority in bursts of MS ms, so that the machine's other work
 * neither takes part nor starves.
 *
 *     clock   SECTION UNITS
 *     cost    ROUND SCHEME NS            an event, one CPU, nobody else
 *     load    ROUND SCHEME SECTION GAP CPUS EVENTS RUNS LOST MIN MAX NS
 *     cancel  ROUND SCHEME SECTION GAP CPUS EVENTS SKIPS ALONE
 *     nested  ROUND SCHEME SECTION IRQS SKIPS WAIT MAXWAIT LOST
 *
 * MIN and MAX are runs of the luckiest and the unluckiest CPU; LOST are updates
 * of the guarded counter; ALONE are skips during which no other CPU had an
 * attempt under way that ran: both gave up for each other.
 *
 * exclusion hammer BURSTS MS: only the calls, for another tracer to take;
 * prints how many there were and how long that took, in ns of all CPUs
 * together.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "exclusion.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum {
	BATCH_MAX = 64,
	BATCH_NS = 200000,
	PATIENCE_NS = 1000000, /* MAXTRYLOCK * TRYLOCKDELAY of tally */
	IRQ_NS = 30000,
	BURSTS = 2,
	GAP_NONE = 0,
	GAP_CALL = 1, /* one event per system call */
};

static const struct variant {
	const char *name;
	enum scheme scheme;
	unsigned spins;
} variants[] = {
    {"none", NO_LOCK, 0},        {"add-read", ADD_READ, 0},
    {"add-fetch", ADD_FETCH, 0}, {"try", SPIN, 0},
    {"spin-10", SPIN, 10},       {"spin-100", SPIN, 100},
    {"spin-1000", SPIN, 1000},   {"spin-4000", SPIN, 4000},
    {"no-owner", NO_OWNER, 0},   {"owner", OWNER, 0},
};
enum { VARIANTS = COUNT(variants) };

static const unsigned sections[] = {20, 200, 2000, 20000};
static const unsigned gaps[] = {GAP_NONE, GAP_CALL, 2000, 20000};

struct loaded {
	struct bpf_object *object;
	struct bpf_program *task, *irq;
	struct shared *sh;
	struct log_of_cpu *logs;
};

struct bench {
	const char *path;
	unsigned ncpus, rounds, ms;
	int cpu[ROWS];
	struct loaded plain[VARIANTS], logging[VARIANTS];
	unsigned units[COUNT(sections) + COUNT(gaps)]; /* sections, gaps */
};

struct burst {
	struct shared *sh;
	unsigned n;
	uint64_t ns;
	atomic_uint ready, stop;
};

struct hammer {
	struct burst *burst;
	int cpu;
	uint64_t from, to, calls;
	pthread_t thread;
};

static void die(const char *what)
{
	fprintf(stderr, "exclusion: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void real_time(int priority)
{
	struct sched_param p = {.sched_priority = priority};

	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("real-time priority");
}

static void *hammer(void *arg)
{
	struct hammer *h = arg;
	struct burst *b = h->burst;
	unsigned every = b->sh->batch > 1 ? 1 : 16;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(h->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("pin");
	real_time(1);
	atomic_fetch_add(&b->ready, 1);
	while (atomic_load(&b->ready) < b->n)
		;
	h->from = now();
	/* The first to be done ends it for all: none is left alone. */
	while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
		syscall(EVENT_CALL);
		if (++h->calls % every == 0 && now() - h->from > b->ns)
			atomic_store(&b->stop, 1);
	}
	h->to = now();
	return NULL;
}

/* While no handler of it is attached that could be at work. */
static void reset(struct loaded *l)
{
	l->sh->lock = l->sh->count = 0;
	memset(l->sh->row, 0, sizeof(l->sh->row));
}

/* Hammers from the last n CPUs for about ns; returns how long it was, and adds
 * the calls made. */
static uint64_t burst(struct bench *be, struct loaded *l, unsigned n,
		      uint64_t ns, uint64_t *calls)
{
	struct burst b = {.sh = l->sh, .n = n, .ns = ns};
	struct hammer h[ROWS];
	uint64_t from = UINT64_MAX, to = 0;

	for (unsigned i = 0; i < n; i++) {
		h[i] = (struct hammer){.burst = &b};
		h[i].cpu = be->cpu[be->ncpus - n + i];
		l->sh->row[h[i].cpu].random += now() + i;
		if (pthread_create(&h[i].thread, NULL, hammer, &h[i]))
			die("thread");
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(h[i].thread, NULL);
		from = h[i].from < from ? h[i].from : from;
		to = h[i].to > to ? h[i].to : to;
		if (calls)
			*calls += h[i].calls;
	}
	/* The others' turn. */
	usleep((useconds_t)(ns / 1000));
	return to - from;
}

static struct row sum_of(const struct shared *sh)
{
	struct row t = {0};

	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *r = &sh->row[i];

		t.events += r->events;
		t.runs += r->runs;
		t.skips += r->skips;
		t.irq_events += r->irq_events;
		t.irq_runs += r->irq_runs;
		t.irq_skips += r->irq_skips;
		t.irq_wait += r->irq_wait;
		if (r->irq_wait_max > t.irq_wait_max)
			t.irq_wait_max = r->irq_wait_max;
	}
	return t;
}

/* Best of some: what takes time from it is not it. */
static double event_ns(struct bench *be, struct loaded *l, unsigned units)
{
	double best = 1e18;

	l->sh->section = units;
	l->sh->pause = 0;
	l->sh->batch = units > 1024 ? 4 : BATCH_MAX;
	for (int i = 0; i < 5; i++) {
		double ns, t;

		reset(l);
		ns = (double)burst(be, l, 1, 1000000, NULL);
		t = ns / (double)sum_of(l->sh).events;

		best = t < best ? t : best;
	}
	return best;
}

static struct bpf_link *attach(struct loaded *l)
{
	struct bpf_link *link = bpf_program__attach(l->task);

	if (!link)
		die("attach");
	return link;
}

/* Units of work that last so many ns: by halving. */
static unsigned calibrate(struct bench *be, struct loaded *l, double want)
{
	double base = event_ns(be, l, 0);
	unsigned low = 0, high = 4;

	while (event_ns(be, l, high) - base < want && high < 1u << 20)
		high *= 2;
	for (int i = 0; i < 6; i++) {
		unsigned mid = (low + high) / 2;

		if (event_ns(be, l, mid) - base < want)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static void set_clock(struct bench *be)
{
	struct bpf_link *link = attach(&be->plain[0]);

	for (unsigned i = 0; i < COUNT(sections); i++) {
		be->units[i] = calibrate(be, &be->plain[0], sections[i]);
		printf("clock\t%u\t%u\n", sections[i], be->units[i]);
	}
	for (unsigned i = 0; i < COUNT(gaps); i++)
		for (unsigned j = 0; j < COUNT(sections); j++)
			if (gaps[i] == sections[j])
				be->units[COUNT(sections) + i] = be->units[j];
	bpf_link__destroy(link);
}

static void set_point(struct bench *be, struct shared *sh, unsigned section,
		      unsigned gap)
{
	unsigned ns = sections[section], batch;

	if (gaps[gap] > GAP_CALL)
		ns += gaps[gap];
	batch = BATCH_NS / ns;
	if (batch < 1 || gaps[gap] == GAP_CALL)
		batch = 1;
	if (batch > BATCH_MAX)
		batch = BATCH_MAX;
	sh->section = be->units[section];
	sh->pause = be->units[COUNT(sections) + gap];
	sh->batch = batch;
}

static void part_cost(struct bench *be, unsigned round)
{
	for (int again = 0; again < 5; again++)
		for (unsigned v = 0; v < VARIANTS; v++) {
			struct bpf_link *link = attach(&be->plain[v]);

			printf("cost\t%u\t%s\t%.3f\n", round * 5 + again,
			       variants[v].name,
			       event_ns(be, &be->plain[v], 0));
			bpf_link__destroy(link);
		}
}

static void load_point(struct bench *be, unsigned round, unsigned v,
		       unsigned section, unsigned gap)
{
	struct loaded *l = &be->plain[v];
	struct bpf_link *link;
	uint64_t ns, min = UINT64_MAX, max = 0;
	struct row t;

	reset(l);
	link = attach(l);
	set_point(be, l->sh, section, gap);
	ns = burst(be, l, be->ncpus, be->ms * 1000000ull, NULL);
	bpf_link__destroy(link);
	t = sum_of(l->sh);
	for (unsigned i = 0; i < be->ncpus; i++) {
		uint64_t runs = l->sh->row[be->cpu[i]].runs;

		min = runs < min ? runs : min;
		max = runs > max ? runs : max;
	}
	printf("load\t%u\t%s\t%u\t%u\t%u\t%llu\t%llu\t%lld\t%llu\t%llu\t%llu\n",
	       round, variants[v].name, sections[section], gaps[gap], be->ncpus,
	       t.events, t.runs, (long long)(t.runs - l->sh->count),
	       (unsigned long long)min, (unsigned long long)max,
	       (unsigned long long)ns);
}

/* Does an attempt of this CPU that ran overlap [from, to]? *at moves on. */
static bool ran_during(const struct log_of_cpu *l, uint64_t n, uint64_t *at,
		       uint64_t from, uint64_t to)
{
	while (*at < n && (l->a[*at].to & ~RAN) < from)
		++*at;
	for (uint64_t i = *at; i < n && l->a[i].from <= to; i++)
		if (l->a[i].to & RAN)
			return true;
	return false;
}

struct verdict {
	uint64_t events, skips, alone;
};

/* Looks at the time that the logs of all CPUs cover. */
static void judge(struct bench *be, struct loaded *l, struct verdict *v)
{
	uint64_t from = 0, to = UINT64_MAX;

	for (unsigned i = 0; i < be->ncpus; i++) {
		const struct attempt *a = l->logs[be->cpu[i]].a;
		uint64_t n = l->sh->row[be->cpu[i]].logged;
		uint64_t last = n ? a[n - 1].to & ~RAN : 0;

		from = n && a[0].from > from ? a[0].from : from;
		to = last < to ? last : to;
	}
	for (unsigned i = 0; i < be->ncpus; i++) {
		const struct attempt *a = l->logs[be->cpu[i]].a;
		uint64_t n = l->sh->row[be->cpu[i]].logged, at[ROWS] = {0};

		for (; n; n--, a++) {
			bool ran = a->to & RAN;

			if (a->from < from || (a->to & ~RAN) > to)
				continue;
			v->events++;
			v->skips += !ran;
			for (unsigned j = 0; j < be->ncpus && !ran; j++) {
				int c = be->cpu[j];

				ran = j != i &&
				      ran_during(&l->logs[c],
						 l->sh->row[c].logged, &at[j],
						 a->from, a->to);
			}
			v->alone += !ran;
		}
	}
}

static void cancel_point(struct bench *be, unsigned round, unsigned v,
			 unsigned section, unsigned gap)
{
	struct loaded *l = &be->logging[v];
	struct bpf_link *link = attach(l);
	struct verdict sum = {0};

	set_point(be, l->sh, section, gap);
	for (int i = 0; i < BURSTS; i++) {
		reset(l);
		burst(be, l, be->ncpus, be->ms * 1000000ull, NULL);
		judge(be, l, &sum);
	}
	bpf_link__destroy(link);
	printf("cancel\t%u\t%s\t%u\t%u\t%u\t%llu\t%llu\t%llu\n", round,
	       variants[v].name, sections[section], gaps[gap], be->ncpus,
	       (unsigned long long)sum.events, (unsigned long long)sum.skips,
	       (unsigned long long)sum.alone);
}

static int cpu_clock(int cpu)
{
	struct perf_event_attr a = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(a),
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = IRQ_NS,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf event");
	return fd;
}

/* One CPU: an interrupt meets the handler below it and nobody else. */
static void nested_point(struct bench *be, unsigned round, unsigned v,
			 unsigned section)
{
	struct loaded *l = &be->plain[v];
	struct bpf_link *task, *irq;
	struct row t;

	reset(l);
	task = attach(l);
	set_point(be, l->sh, section, 1);
	/* Uneven, or the clock falls into step with the handler. */
	l->sh->pause = l->sh->section;
	irq = bpf_program__attach_perf_event(l->irq,
					     cpu_clock(be->cpu[be->ncpus - 1]));
	if (!irq)
		die("attach to perf event");
	burst(be, l, 1, be->ms * 3000000ull, NULL);
	bpf_link__destroy(irq);
	bpf_link__destroy(task);
	t = sum_of(l->sh);
	printf("nested\t%u\t%s\t%u\t%llu\t%llu\t%.0f\t%llu\t%lld\n", round,
	       variants[v].name, sections[section], t.irq_events, t.irq_skips,
	       (double)t.irq_wait / (double)(t.irq_events ? t.irq_events : 1),
	       t.irq_wait_max, (long long)(t.runs + t.irq_runs - l->sh->count));
}

static struct bpf_map *map_of(struct bpf_object *o, const char *end)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, o)
	{
		const char *name = bpf_map__name(m);
		size_t n = strlen(name), k = strlen(end);

		if (n >= k && strcmp(name + n - k, end) == 0)
			return m;
	}
	errno = ENOENT;
	die(end);
	return NULL;
}

static void *mapping(const struct bpf_map *m, size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, bpf_map__fd(m), 0);

	if (at == MAP_FAILED)
		die("map memory");
	return at;
}

static void load(struct bench *be, struct loaded *l, const struct variant *v,
		 bool log)
{
	struct settings set = {.scheme = v->scheme,
			       .spins = v->spins,
			       .log = log,
			       .patience = PATIENCE_NS};
	unsigned cpus = (unsigned)be->cpu[be->ncpus - 1] + 1;
	struct bpf_map *logs;

	l->object = bpf_object__open_file(be->path, NULL);
	if (!l->object)
		die(be->path);
	if (bpf_map__set_initial_value(map_of(l->object, ".rodata"), &set,
				       sizeof(set)))
		die("settings");
	logs = map_of(l->object, "logs");
	if (log)
		bpf_map__set_max_entries(logs, cpus);
	if (bpf_object__load(l->object))
		die("load");
	l->task = bpf_object__find_program_by_name(l->object, "task");
	l->irq = bpf_object__find_program_by_name(l->object, "irq");
	l->sh = mapping(map_of(l->object, ".bss"), sizeof(*l->sh),
			PROT_READ | PROT_WRITE);
	if (log)
		l->logs = mapping(logs, cpus * sizeof(*l->logs), PROT_READ);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static void run_points(struct bench *be, unsigned round, bool cancel)
{
	for (unsigned s = 0; s < COUNT(sections); s++)
		for (unsigned g = 0; g < COUNT(gaps); g++)
			for (unsigned v = 0; v < VARIANTS; v++)
				(cancel ? cancel_point : load_point)(be, round,
								     v, s, g);
}

static void run_nested(struct bench *be, unsigned round)
{
	for (unsigned s = 0; s < 3; s++)
		for (unsigned v = 0; v < VARIANTS; v++)
			nested_point(be, round, v, s);
}

/* For a tracer that is not ours: every call is an event. */
static void only_hammer(struct bench *be, unsigned bursts, unsigned ms)
{
	static struct shared sh = {.batch = 1};
	struct loaded none = {.sh = &sh};
	uint64_t ns = 0, calls = 0;

	for (unsigned i = 0; i < bursts; i++)
		ns += burst(be, &none, be->ncpus, ms * 1000000ull, &calls);
	printf("hammer\t%llu\t%llu\n", (unsigned long long)calls,
	       (unsigned long long)ns);
}

static bool wanted(int argc, char **argv, const char *part)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], part) == 0)
			return true;
	return argc <= 4;
}

int main(int argc, char **argv)
{
	static struct bench be;
	cpu_set_t all;

	if (argc < 4) {
		fprintf(stderr,
			"usage: exclusion OBJECT ROUNDS MS [PART ...]\n");
		return 2;
	}
	be.path = argv[1];
	be.rounds = (unsigned)strtoul(argv[2], NULL, 10);
	be.ms = (unsigned)strtoul(argv[3], NULL, 10);
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < ROWS; i++)
		if (CPU_ISSET(i, &all))
			be.cpu[be.ncpus++] = i;
	libbpf_set_print(quiet);
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Above the hammers: it must be able to start the last of them. */
	real_time(2);
	if (strcmp(be.path, "hammer") == 0) {
		only_hammer(&be, be.rounds, be.ms);
		return 0;
	}
	for (unsigned v = 0; v < VARIANTS; v++) {
		load(&be, &be.plain[v], &variants[v], false);
		if (wanted(argc, argv, "cancel"))
			load(&be, &be.logging[v], &variants[v], true);
	}
	set_clock(&be);
	for (unsigned round = 0; round < be.rounds; round++) {
		if (wanted(argc, argv, "cost"))
			part_cost(&be, round);
		if (wanted(argc, argv, "load"))
			run_points(&be, round, false);
		if (wanted(argc, argv, "cancel"))
			run_points(&be, round, true);
		if (wanted(argc, argv, "nested"))
			run_nested(&be, round);
	}
	return 0;
}
