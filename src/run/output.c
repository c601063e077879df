/* SPDX-License-Identifier: MIT */
/* Buffered output that notices a reader that went away, and rotates files. */
#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "out/export.h"
#include "run/session.h"

/* Path of file number n: as given, or with .n when files rotate; % sequences
 * of strftime are filled in, as the reference does with -S. ret has size bytes,
 * the last 12 of which are for the number. */
static void file_name(const struct output *o, unsigned n, char *ret,
		      size_t size)
{
	struct tm tm;
	time_t now = time(NULL);

	if (!o->rotate_bytes) {
		snprintf(ret, size, "%s", o->path);
		return;
	}
	localtime_r(&now, &tm);
	/*
	 * strftime() gives 0 for what does not fit: the name as written, then.
	 */
	if (!strchr(o->path, '%') || !strftime(ret, size - 12, o->path, &tm))
		snprintf(ret, size - 12, "%s", o->path);
	snprintf(ret + strlen(ret), 12, ".%u", n);
}

/* 0 or a negative errno; the old descriptor is the caller's. */
static int open_file(struct output *o)
{
	char name[4096];

	file_name(o, o->file_no, name, sizeof(name));
	/* Truncated: a file of this name is from an earlier run. */
	o->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	o->in_file = 0;
	return o->fd < 0 ? -errno : 0;
}

int output_open(struct output *o, const struct run_options *opt)
{
	o->path = opt->output;
	o->rotate_bytes = opt->rotate_bytes;
	o->rotate_files = opt->rotate_files;
	o->json = opt->format == FORMAT_JSON;
	o->buf = malloc(OUTPUT_BUFFER);
	if (!o->buf)
		return -ENOMEM;
	/* Without -o there is nothing to close or to rotate. */
	o->fd = STDOUT_FILENO;
	return o->path ? open_file(o) : 0;
}

/* All n bytes, or o->broken: after the first failure nothing more is tried. */
static void write_all(struct output *o, const char *s, size_t n)
{
	ssize_t k;

	while (n && !o->broken) {
		k = write(o->fd, s, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			o->broken = true;
			o->error = -errno;
			return;
		}
		/* A part may be written: pipes and full disks do that. */
		s += k;
		n -= (size_t)k;
		o->in_file += (uint64_t)k;
	}
}

/*
 * As it is, or as a line of JSON. In JSON one flush is one line: whoever reads
 * sees what was printed between two turns of the loop together.
 */
static void write_text(struct output *o, const char *s, size_t n)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f;

	if (!o->json || !n) {
		write_all(o, s, n);
		return;
	}
	f = open_memstream(&line, &len);
	if (!f) {
		o->broken = true;
		o->error = -ENOMEM;
		return;
	}
	export_text(s, n, f);
	fclose(f);
	write_all(o, line, len);
	free(line);
}

void output_raw(struct output *o, const char *s, size_t n)
{
	output_flush(o);
	write_all(o, s, n);
}

/* Rotation is only between flushes: a line is never in two files. */
void output_flush(struct output *o)
{
	size_t n = o->n;

	o->n = 0;
	write_text(o, o->buf, n);
	if (o->rotate_bytes && o->in_file >= o->rotate_bytes)
		output_rotate(o);
}

void output_write(struct output *o, const char *s, size_t n)
{
	if (o->n + n > OUTPUT_BUFFER)
		output_flush(o);
	/* Larger than the buffer: written at once. */
	if (n >= OUTPUT_BUFFER) {
		write_text(o, s, n);
		return;
	}
	memcpy(o->buf + o->n, s, n);
	o->n += n;
}

void output_rotate(struct output *o)
{
	char name[4096];
	int old = o->fd, rc;

	if (!o->path)
		return;
	/* By signal and without -S there is only one name to write to. */
	if (o->rotate_bytes)
		o->file_no++;
	rc = open_file(o);
	if (rc) {
		/* Better one long file than lost output. */
		o->fd = old;
		fprintf(stderr, "WARNING: cannot start the next output file: "
			"%s\n", strerror(-rc));
		o->rotate_bytes = 0;
		return;
	}
	close(old);
	/* Files are numbered from 0: keeping N, number k makes k - N go. */
	if (o->rotate_files && o->file_no >= o->rotate_files) {
		file_name(o, o->file_no - o->rotate_files, name, sizeof(name));
		unlink(name);
	}
}

/* stdout stays open: closing lines of others may follow. */
void output_close(struct output *o)
{
	if (o->path && o->fd >= 0)
		close(o->fd);
	free(o->buf);
	o->buf = NULL;
	o->fd = -1;
}
