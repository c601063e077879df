/* SPDX-License-Identifier: MIT */
#include "run/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/xalloc.h"

enum {
	/* Number of a source: inotify, standard input, then the files. */
	N_OPENED,
	N_INPUT,
	N_FILE,
	/* A file that is read and written was opened: a writer's text is there
	 * at once; when none comes for so long it is a reader. */
	WRITER_MS = 20,
	LINE_BYTES = 1 << 16,
	PIPE_BYTES = 1 << 12, /* what any pipe holds */
};

struct one_file {
	const char *name, *path;
	bool read, write;
	unsigned mode;
	uint32_t max; /* of the readers' texts */
	int fd, wd;
};

struct files {
	const char *dir;
	int lock; /* of dir: tells others that the session lives */
	struct one_file *v;
	unsigned n;
	int inotify;
	bool input, raw;	/* watched; the terminal's mode was changed */
	struct termios was;
	char *line;		/* of standard input so far */
	size_t nline;
	char *value;		/* $value */
	size_t nvalue, max;
};

/* --- making them ---------------------------------------------------------- */

static bool has_input(const struct session *s)
{
	for (unsigned i = 0; i < s->prog->probes.n; i++) {
		const struct probe *p = s->prog->probes.v[i];

		if (p->when == WHEN_CHAR || p->when == WHEN_LINE)
			return true;
	}
	return false;
}

static struct one_file *file_named(struct files *f, const char *name)
{
	for (unsigned i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].name, name))
			return &f->v[i];
	f->v[f->n] = (struct one_file){.name = name, .fd = -1, .wd = -1};
	return &f->v[f->n++];
}

/* Directories on the way to a file. */
static int make_dirs(struct session *s, const char *path)
{
	char *p = arena_printf(s->c->a, "%s", path);
	int rc = 0;

	for (char *at = strchr(p + 1, '/'); at && !rc;
	     at = strchr(at + 1, '/')) {
		*at = 0;
		if (mkdir(p, 0755) && errno != EEXIST)
			rc = -errno;
		*at = '/';
	}
	return rc;
}

/* A new pipe under the name; the one before stays with who has it open. */
static int file_make(struct files *f, struct one_file *o)
{
	unlink(o->path);
	if (mkfifo(o->path, 0600))
		return -errno;
	o->fd = open(o->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (o->fd < 0 || chmod(o->path, o->mode))
		return -errno;
	/* A text is written in one go. */
	if (o->read && o->max > PIPE_BYTES &&
	    fcntl(o->fd, F_SETPIPE_SZ, (int)o->max) < 0)
		return -errno;
	if (o->read)
		o->wd = inotify_add_watch(f->inotify, o->path, IN_OPEN);
	return o->read && o->wd < 0 ? -errno : 0;
}

/* Where the directories of sessions are: root's place, or the user's. */
static const char *sessions_dir(struct session *s)
{
	const char *run = "/run";

	if (geteuid())
		run = getenv("XDG_RUNTIME_DIR");
	return run ? arena_printf(s->c->a, "%s/tally", run) : NULL;
}

/* A directory that is locked while its session lives: the descriptor, or -1. */
static int lock_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Nothing but what sessions make: what others put there stays. */
static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)at;
	if (type == FTW_DP)
		rmdir(path);
	else if (S_ISFIFO(st->st_mode))
		unlink(path);
	return 0;
}

/*
 * Removes what sessions left that were killed (SIGKILL, no memory). The process
 * id alone does not say that one is gone: in a container with a /run of the
 * host's it is another's. The lock alone does not either: it is taken a moment
 * after the directory was made.
 */
static void remove_stale(struct session *s, const char *all)
{
	DIR *d = opendir(all);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *path = arena_printf(s->c->a, "%s/%s", all,
						e->d_name);
		char *end;
		long pid = strtol(e->d_name, &end, 10);
		int lock;

		if (*end || pid <= 0 || pid > INT32_MAX ||
		    !kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		lock = lock_dir(path);
		if (lock < 0)
			continue;
		nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		close(lock);
	}
	if (d)
		closedir(d);
}

static int make_files(struct session *s, struct files *f)
{
	int rc = 0;

	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (f->inotify < 0)
		return -errno;
	rc = make_dirs(s, arena_printf(s->c->a, "%s/", f->dir));
	if (!rc)
		f->lock = lock_dir(f->dir);
	for (unsigned i = 0; i < f->n && !rc; i++) {
		struct one_file *o = &f->v[i];

		o->path = arena_printf(s->c->a, "%s/%s", f->dir, o->name);
		rc = make_dirs(s, o->path);
		if (!rc)
			rc = file_make(f, o);
	}
	return rc;
}

static void collect(struct session *s, struct files *f)
{
	for (unsigned i = 0; i < s->prog->probes.n; i++) {
		const struct probe *p = s->prog->probes.v[i];
		struct one_file *o;

		if (p->when != WHEN_FILE || p->place != PLACE_HOST)
			continue;
		o = file_named(f, p->file.name);
		o->mode |= (p->file.write ? 0222 : 0444) & ~p->file.umask;
		o->read |= !p->file.write;
		o->write |= p->file.write;
		if (!p->file.write && p->file.max > o->max)
			o->max = p->file.max;
	}
}

int files_open(struct session *s)
{
	struct files *f = arena_new_of(s->c->a, struct files);
	const char *all;
	int rc;

	f->inotify = f->lock = -1;
	f->v = arena_array(s->c->a, struct one_file, s->prog->probes.n + 1);
	f->input = has_input(s);
	collect(s, f);
	/* Simulated events come from a file only. */
	if ((!f->n && !f->input) || s->o->events)
		return 0;
	s->files = f;
	if (!f->n)
		return 0;
	all = sessions_dir(s);
	if (all) {
		remove_stale(s, all);
		f->dir = arena_printf(s->c->a, "%s/%d", all, (int)getpid());
	}
	rc = f->dir ? make_files(s, f) : -ENOENT;
	if (!rc) {
		if (s->o->verbose)
			session_note(s, "procfs files are in %s", f->dir);
		return 0;
	}
	session_note(s, "ERROR: cannot make files for procfs probes in %s: %s",
		     f->dir ? f->dir : "$XDG_RUNTIME_DIR (which is not set)",
		     strerror(-rc));
	return EXIT_FAILED;
}

/* --- waiting -------------------------------------------------------------- */

static int watch(struct session *s, int fd, uint32_t source)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = source};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Keys as they are pressed, without being shown. */
static void terminal_raw(struct files *f)
{
	struct termios t;

	if (tcgetattr(0, &f->was))
		return;
	t = f->was;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	f->raw = !tcsetattr(0, TCSANOW, &t);
}

static int watch_input(struct session *s, uint32_t source)
{
	int rc;

	terminal_raw(s->files);
	rc = watch(s, 0, source);
	/* A plain file is always readable, and epoll will not have it. */
	if (rc == -EPERM)
		session_note(s, "WARNING: input probes read a terminal or a "
			     "pipe: put 'cat FILE |' in front");
	/* /dev/null, or closed: there is nothing to come. */
	return rc == -EPERM || rc == -EBADF ? 0 : rc;
}

int files_watch(struct session *s, uint32_t source)
{
	struct files *f = s->files;
	int rc = 0;

	if (!f)
		return 0;
	if (f->inotify >= 0)
		rc = watch(s, f->inotify, source + N_OPENED);
	for (unsigned i = 0; i < f->n && !rc; i++)
		if (f->v[i].write && !f->v[i].read)
			rc = watch(s, f->v[i].fd, source + N_FILE + i);
	return rc || !f->input ? rc : watch_input(s, source + N_INPUT);
}

/* --- handlers ------------------------------------------------------------- */

static void value_clear(struct files *f, size_t max)
{
	f->nvalue = 0;
	f->max = max;
}

void files_set_value(struct session *s, const char *text, size_t n,
		     bool append)
{
	struct files *f = s->files;

	if (!f)
		return;
	if (!append)
		f->nvalue = 0;
	if (n > f->max - f->nvalue)
		n = f->max - f->nvalue;
	f->value = xrealloc(f->value, f->nvalue + n + 1);
	memcpy(f->value + f->nvalue, text, n);
	f->nvalue += n;
}

const char *files_value(struct session *s, size_t *ret_n)
{
	*ret_n = s->files ? s->files->nvalue : 0;
	return *ret_n ? s->files->value : "";
}

/* name: NULL, or the file that was read or written. */
static void run_all(struct session *s, enum host_when when, const char *name,
		    bool write)
{
	for (unsigned i = 0; i < s->prog->probes.n && session_live(s); i++) {
		const struct probe *p = s->prog->probes.v[i];

		if (p->place != PLACE_HOST || p->when != when || p->elided)
			continue;
		if (name && (strcmp(p->file.name, name) ||
			     p->file.write != write))
			continue;
		if (!session_handle(s, p))
			session_fail(s);
	}
}

static void take_written(struct session *s, struct one_file *o)
{
	size_t max = (size_t)s->c->set.limit[LIMIT_MAXSTRINGLEN] - 1;
	char *text = xmalloc(max + 1);
	ssize_t n = read(o->fd, text, max);

	if (n > 0) {
		value_clear(s->files, max);
		files_set_value(s, text, (size_t)n, false);
		run_all(s, WHEN_FILE, o->name, true);
	}
	free(text);
}

/* Somebody has opened a file that can be read. */
static void serve(struct session *s, struct one_file *o)
{
	struct files *f = s->files;
	struct pollfd p = {.fd = o->fd, .events = POLLIN};
	int old, rc;

	if (o->write && poll(&p, 1, WRITER_MS) > 0) {
		take_written(s, o);
		return;
	}
	value_clear(f, o->max);
	run_all(s, WHEN_FILE, o->name, false);
	old = o->fd;
	rc = file_make(f, o);
	if (rc)
		session_note(s, "ERROR: cannot make %s anew: %s", o->path,
			     strerror(-rc));
	if (f->nvalue && write(old, f->value, f->nvalue) < 0)
		session_note(s, "WARNING: %s: %s", o->path, strerror(errno));
	close(old);
}

static void opened(struct session *s)
{
	union {
		struct inotify_event ev;
		char bytes[4096];
	} buf;
	struct files *f = s->files;
	ssize_t n = read(f->inotify, &buf, sizeof(buf));
	int served = -1;

	for (ssize_t at = 0; at < n && session_live(s);) {
		const struct inotify_event *ev =
			(const void *)(buf.bytes + at);

		at += (ssize_t)(sizeof(*ev) + ev->len);
		/* Two that opened the same pipe share what is in it. */
		if (!(ev->mask & IN_OPEN) || ev->wd == served)
			continue;
		served = ev->wd;
		for (unsigned i = 0; i < f->n; i++) {
			if (f->v[i].wd != ev->wd)
				continue;
			serve(s, &f->v[i]);
			break;
		}
	}
}

static void input_line(struct session *s)
{
	struct files *f = s->files;

	value_clear(f, LINE_BYTES);
	files_set_value(s, f->line, f->nline, false);
	f->nline = 0;
	run_all(s, WHEN_LINE, NULL, false);
}

/* A byte of standard input: to those who want bytes, and to the line. */
static void input_byte(struct session *s, char byte)
{
	struct files *f = s->files;

	value_clear(f, LINE_BYTES);
	files_set_value(s, &byte, 1, false);
	run_all(s, WHEN_CHAR, NULL, false);
	if (!f->line)
		f->line = xmalloc(LINE_BYTES);
	if (f->nline < LINE_BYTES)
		f->line[f->nline++] = byte;
	if (byte == '\n')
		input_line(s);
}

static void input(struct session *s)
{
	char buf[512];
	ssize_t n = read(0, buf, sizeof(buf));

	if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, 0, NULL);
	/* The last line need not have an end. */
	if (!n && s->files->nline)
		input_line(s);
	for (ssize_t i = 0; i < n && session_live(s); i++)
		input_byte(s, buf[i]);
}

void files_handle(struct session *s, unsigned n)
{
	if (!session_live(s))
		return;
	if (n == N_OPENED)
		opened(s);
	else if (n == N_INPUT)
		input(s);
	else if (n - N_FILE < s->files->n)
		take_written(s, &s->files->v[n - N_FILE]);
}

/* Directories up to the session's own, which the name of a file made; rmdir()
 * keeps those that are in use. */
static void remove_dirs(struct session *s, const char *path)
{
	char *p = arena_printf(s->c->a, "%s", path), *at;
	size_t stop = strlen(s->files->dir);

	while ((at = strrchr(p, '/')) && (size_t)(at - p) >= stop) {
		*at = 0;
		rmdir(p);
	}
}

void files_close(struct session *s)
{
	struct files *f = s->files;

	if (!f)
		return;
	for (unsigned i = 0; i < f->n; i++) {
		if (f->v[i].fd < 0)
			continue;
		close(f->v[i].fd);
		unlink(f->v[i].path);
	}
	for (unsigned i = 0; i < f->n; i++)
		if (f->v[i].path)
			remove_dirs(s, f->v[i].path);
	if (f->lock >= 0)
		close(f->lock);
	if (f->inotify >= 0)
		close(f->inotify);
	if (f->raw)
		tcsetattr(0, TCSANOW, &f->was);
	free(f->line);
	free(f->value);
	s->files = NULL;
}
