/* SPDX-License-Identifier: MIT */
/*
 * read KEYS: reads a per-CPU hash of that many keys, cells of 40 bytes, by
 * get_next_key and lookup, and as the store does. Prints both in ms, the best
 * of five each, taking turns.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/kern_map.h"

enum { CELL = 40, ROUNDS = 5 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fill(unsigned n, unsigned cpus)
{
	unsigned char *v = calloc(cpus, CELL);
	int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH, "read", 8, CELL, n,
				NULL);
	unsigned long long k;

	for (k = 0; fd >= 0 && v && k < n; k++)
		if (bpf_map_update_elem(fd, &k, v, BPF_ANY))
			return -1;
	free(v);
	return fd;
}

static size_t one_by_one(int fd, unsigned cpus)
{
	unsigned char *v = calloc(cpus, CELL);
	unsigned long long k, next;
	void *at = NULL;
	size_t n = 0;

	while (v && !bpf_map_get_next_key(fd, at, &next)) {
		if (!bpf_map_lookup_elem(fd, &next, v))
			n++;
		k = next;
		at = &k;
	}
	free(v);
	return n;
}

static size_t as_the_store(int fd, unsigned cpus)
{
	struct kern_rows rows;
	size_t n = 0;

	if (!kern_map_read(fd, 8, (size_t)CELL * cpus, &rows))
		n = rows.n;
	kern_rows_free(&rows);
	return n;
}

int main(int argc, char **argv)
{
	unsigned n = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	unsigned cpus = (unsigned)libbpf_num_possible_cpus(), i;
	double best[2] = { 1e9, 1e9 }, t;
	int fd = n ? fill(n, cpus) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: read KEYS (as root)\n");
		return 2;
	}
	for (i = 0; i < 2 * ROUNDS; i++) {
		t = now_ms();
		if ((i % 2 ? as_the_store : one_by_one)(fd, cpus) != n)
			return 1;
		t = now_ms() - t;
		if (t < best[i % 2])
			best[i % 2] = t;
	}
	printf("%u %.3f %.3f\n", n, best[0], best[1]);
	return 0;
}
