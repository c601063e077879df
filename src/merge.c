/* SPDX-License-Identifier: MIT */
/* The command line of tally merge, and files to snapshots. */
#include "merge.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slurp.h"
#include "out/export.h"
#include "run/session.h"

/* No aggregate needs that much; a pipe that never ends would. */
enum { FILE_MAX = 1 << 30 };

/* The options of tally merge. */
struct merge {
	struct compile *c;
	const char *output;
	enum { AS_SNAPSHOT, AS_TEXT, AS_METRICS } form;
};

static int usage(void)
{
	fputs("Usage: tally merge [OPTIONS] SNAPSHOT...\n\n"
	      "Adds up snapshots (tally --snapshot FILE) of one script: the "
	      "result is what one\nrun over all samples would have given.\n\n"
	      "  -o FILE         write it to FILE instead of standard output\n"
	      "  --print         as text for people\n"
	      "  --openmetrics   as OpenMetrics text\n"
	      "  -h, --help      this text\n", stderr);
	return EXIT_USAGE;
}

static int read_file(struct merge *m, const char *path, char **ret,
		     size_t *ret_n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = slurp(m->c->a, fd, FILE_MAX, ret, ret_n);
	close(fd);
	return rc;
}

/* NULL: the message is out. */
static struct snapshot *read_one(struct merge *m, const char *path)
{
	struct snapshot *s;
	const char *why;
	char *text = NULL;
	size_t n = 0;
	int rc = read_file(m, path, &text, &n);

	if (rc == -EFBIG) {
		fprintf(stderr, "ERROR: cannot read '%s': it is longer than "
			"%d GiB, which is the most that a snapshot can have\n",
			path, FILE_MAX >> 30);
		return NULL;
	}
	if (rc) {
		fprintf(stderr, "ERROR: cannot read '%s': %s\n", path,
			strerror(-rc));
		return NULL;
	}
	/* It may have been read up to there only (slurp). */
	if (memchr(text, 0, n)) {
		fprintf(stderr, "ERROR: %s: this is not a text file\n", path);
		return NULL;
	}
	s = snapshot_read(m->c->a, text, n, &why);
	if (!s)
		fprintf(stderr, "ERROR: %s: %s\n", path, why);
	return s;
}

/* By machine, then by time. */
static int by_run(const void *a, const void *b)
{
	const struct snap_host *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	if (d)
		return d;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/*
 * The same run twice doubles its samples: overlapping patterns of files, or a
 * merged file beside one that is in it. Runs of event files have no time of
 * their own.
 */
static void warn_twice(struct compile *c, const struct snapshot *s)
{
	struct snap_host *h = arena_array(c->a, struct snap_host,
					  s->hosts.n + 1);
	unsigned i, n = 0, twice = 0;
	const struct snap_host *first = NULL;

	for (i = 0; i < s->hosts.n; i++)
		if (strcmp(s->hosts.v[i].kernel, "vm") != 0)
			h[n++] = s->hosts.v[i];
	qsort(h, n, sizeof(*h), by_run);
	for (i = 1; i < n; i++) {
		if (by_run(&h[i - 1], &h[i]))
			continue;
		if (!twice++)
			first = &h[i];
	}
	if (twice)
		fprintf(stderr, "WARNING: %u run%s among the files more than "
			"once: its samples are counted as often (host %s, "
			"started at %" PRIu64 " ns)\n", twice,
			twice == 1 ? " is" : "s are", first->name,
			first->start_ns);
}

/*
 * Into the first one: the order of the others does not matter (out/snapshot.h).
 */
static struct snapshot *merge_all(struct merge *m, char **paths, int n)
{
	struct snapshot *into = read_one(m, paths[0]), *next;
	const char *why;
	int i;

	for (i = 1; into && i < n; i++) {
		next = read_one(m, paths[i]);
		if (!next)
			return NULL;
		if (!snapshot_merge(m->c->a, into, next, &why)) {
			fprintf(stderr, "ERROR: cannot merge '%s' and '%s': "
				"%s\n", paths[0], paths[i], why);
			return NULL;
		}
	}
	return into;
}

/*
 * A file that could not be written whole is reported: its reader must not trust
 * it.
 */
static int write_result(const struct merge *m, const struct snapshot *s)
{
	const char *path = m->output ? m->output : "standard output";
	FILE *f = m->output ? fopen(m->output, "we") : stdout;
	int err = 0;

	if (!f) {
		fprintf(stderr, "ERROR: cannot write '%s': %s\n", path,
			strerror(errno));
		return EXIT_FAILED;
	}
	if (m->form == AS_TEXT)
		snapshot_print(s, f);
	else if (m->form == AS_METRICS)
		export_metrics(s, f);
	else
		snapshot_write(s, f);
	if (fflush(f) || ferror(f))
		err = errno ? errno : EIO;
	if (m->output && fclose(f) && !err)
		err = errno;
	if (!err)
		return EXIT_OK;
	fprintf(stderr, "ERROR: cannot write '%s': %s\n", path, strerror(err));
	return EXIT_FAILED;
}

int merge_main(struct compile *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "print", no_argument, NULL, 'p' },
		{ "openmetrics", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	char name[] = "tally merge"; /* begins getopt's messages */
	struct merge m = { .c = c };
	struct snapshot *s;
	int opt;

	argv[0] = name;
	while ((opt = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
		switch (opt) {
		case 'o':
			m.output = optarg;
			break;
		case 'p':
			m.form = AS_TEXT;
			break;
		case 'm':
			m.form = AS_METRICS;
			break;
		case 'h':
			usage();
			return EXIT_OK;
		default:
			return usage();
		}
	}
	if (optind == argc) {
		fputs("tally merge: which snapshots?\n", stderr);
		return usage();
	}
	s = merge_all(&m, argv + optind, argc - optind);
	if (!s)
		return EXIT_FAILED;
	warn_twice(c, s);
	return write_result(&m, s);
}
