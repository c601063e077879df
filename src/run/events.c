/* SPDX-License-Identifier: MIT */
/* Reading simulated events. */
#include "run/events.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compile.h"
#include "base/slurp.h"

/* A file is kept whole while it is replayed; 1 GiB are ten million events. */
enum { EVENTS_MAX = 1 << 30 };

/* -1, for `return wrong(...)`. A message that is too long is cut. */
static int wrong(struct events *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int wrong(struct events *e, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (e->line)
		n = snprintf(e->error, sizeof(e->error), "%s:%u: ", e->file,
			     e->line);
	else
		n = snprintf(e->error, sizeof(e->error), "%s: ", e->file);
	if (n < 0 || n >= (int)sizeof(e->error))
		return -1;
	va_start(ap, fmt);
	vsnprintf(e->error + n, sizeof(e->error) - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

/* --- words --------------------------------------------------------------- */

/*
 * Decimal, 0x or 0 octal, with a sign; two's complement in 64 bits. *ret_end is
 * the first character behind it.
 */
static bool read_u64(const char *s, const char **ret_end, uint64_t *ret)
{
	bool minus = *s == '-';
	char *end;

	s += minus;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*ret = strtoull(s, &end, 0);
	if (minus)
		*ret = -*ret;
	*ret_end = end;
	return !errno;
}

static bool read_whole(const char *s, uint64_t *ret)
{
	const char *end;

	return read_u64(s, &end, ret) && !*end;
}

/*
 * 1500, 1.5s, 20ms, 3us; a leading + counts from `base`. Nanoseconds. Whole
 * numbers are read as such: a double has 53 bits, and times since 1970 in ns
 * need 61.
 */
static bool read_time(const char *s, int64_t base, int64_t *ret)
{
	bool relative = *s == '+';
	double scale = 1, v;
	int64_t n;
	char *end;

	s += relative;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	n = strtoll(s, &end, 10);
	if (errno)
		return false;
	if (*end) {
		v = strtod(s, &end);
		if (!strcmp(end, "s"))
			scale = 1e9;
		else if (!strcmp(end, "ms"))
			scale = 1e6;
		else if (!strcmp(end, "us"))
			scale = 1e3;
		else if (strcmp(end, "ns"))
			return false;
		v *= scale;
		/* Also false for a NaN. */
		if (!(v < 9e18))
			return false;
		n = (int64_t)(v + 0.5);
	}
	return !__builtin_add_overflow(relative ? base : 0, n, ret);
}

/*
 * Cuts the next word off *pos, NUL-terminating it in place. Quotes keep blanks
 * inside. NULL at the end of the line or at a comment.
 */
static char *next_word(char **pos)
{
	char *p = *pos, *word;
	bool quoted = false;

	p += strspn(p, " \t\r");
	word = p;
	if (!*p || *p == '#') {
		*pos = p;
		return NULL;
	}
	for (; *p && (quoted || !strchr(" \t\r", *p)); p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	if (*p)
		*p++ = 0;
	*pos = p;
	return word;
}

static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * "text" with \n \t \\ \" \0 \xHH, in place; the length, or -1. No escape is
 * longer than what it stands for, so it fits.
 */
static int64_t unquote(char *s)
{
	char *to = s, *from = s + 1;

	if (*s != '"')
		return -1;
	for (; *from && *from != '"'; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		switch (*++from) {
		case 'n':
			*to++ = '\n';
			break;
		case 't':
			*to++ = '\t';
			break;
		case '0':
			*to++ = '\0';
			break;
		case 'x':
			if (hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
				return -1;
			*to++ = (char)(hex_digit(from[1]) << 4 |
				       hex_digit(from[2]));
			from += 2;
			break;
		case '\0':
			return -1;
		default:
			*to++ = *from;
		}
	}
	if (*from != '"' || from[1])
		return -1;
	*to = 0;
	return to - s;
}

/* --- one line ------------------------------------------------------------ */

/* Names are cut at 15 bytes, as the kernel cuts them. */
static int who_text(struct events *e, char *dst, char *value)
{
	char plain[16] = { 0 };
	int64_t n;

	if (*value == '"') {
		n = unquote(value);
		if (n < 0)
			return wrong(e, "unfinished string");
	} else {
		n = (int64_t)strlen(value);
	}
	memcpy(plain, value, n > 15 ? 15 : (size_t)n);
	memcpy(dst, plain, sizeof(plain));
	return 0;
}

/* Words that set fields of struct vm_who, all of them uint32_t. */
static const struct who_row {
	const char *name;
	size_t offset;
} who_rows[] = {
	{ "pid", offsetof(struct vm_who, pid) },
	{ "tid", offsetof(struct vm_who, tid) },
	{ "ppid", offsetof(struct vm_who, ppid) },
	{ "pgrp", offsetof(struct vm_who, pgrp) },
	{ "sid", offsetof(struct vm_who, sid) },
	{ "uid", offsetof(struct vm_who, uid) },
	{ "euid", offsetof(struct vm_who, euid) },
	{ "gid", offsetof(struct vm_who, gid) },
	{ "egid", offsetof(struct vm_who, egid) },
	{ "cpu", offsetof(struct vm_who, cpu) },
};

static bool is_who(const char *name, size_t *ret_offset)
{
	unsigned i;

	for (i = 0; i < sizeof(who_rows) / sizeof(*who_rows); i++) {
		if (strcmp(who_rows[i].name, name))
			continue;
		*ret_offset = who_rows[i].offset;
		return true;
	}
	return false;
}

/* args=1,2,0x3 */
static int read_args(struct events *e, struct event *ev, const char *value)
{
	const char *end;

	for (;; value = end + 1) {
		if (ev->nargs == EVENT_ARGS)
			return wrong(e, "more than %d arguments", EVENT_ARGS);
		if (!read_u64(value, &end, &ev->arg[ev->nargs]) ||
		    (*end && *end != ','))
			return wrong(e, "args= takes numbers with commas "
				     "between");
		ev->nargs++;
		if (!*end)
			return 0;
	}
}

/* stack=0x1,0x2 */
static int read_stack(struct events *e, const char *name, const char *value,
		      const uint64_t **ret, unsigned *ret_n)
{
	uint64_t *v = arena_array(e->c->a, uint64_t, strlen(value) / 2 + 1);
	const char *end;
	unsigned n = 0;

	for (;; value = end + 1) {
		if (!read_u64(value, &end, &v[n++]) || (*end && *end != ','))
			return wrong(e, "%s= takes addresses with commas "
				     "between", name);
		if (!*end)
			break;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

/* @ADDR="text", @ADDR=00ff.., @ADDR:SIZE=NUMBER. The bytes replace the value in
 * the line. */
static int read_mem(struct events *e, struct event *ev, const char *name,
		    char *value)
{
	struct vm_event *vm = &ev->vm;
	uint64_t addr, size = 0, v;
	const char *end;
	int64_t n = 0;

	if (!read_u64(name + 1, &end, &addr) ||
	    (*end == ':' && !read_whole(end + 1, &size)) ||
	    (*end && *end != ':') || size > 8)
		return wrong(e, "'%s' is not @ADDRESS or @ADDRESS:SIZE", name);
	/* All pieces live in the event: no allocation a line. */
	if (vm->nmem == sizeof(vm->mem) / sizeof(*vm->mem))
		return wrong(e, "too many pieces of memory");
	/* A number's bytes; the low `size` of them are the memory. */
	if (size) {
		uint8_t *bytes = arena_alloc(e->c->a, 8);

		if (!read_whole(value, &v))
			return wrong(e, "'%s' is not a number", value);
		memcpy(bytes, &v, 8); /* little-endian hosts */
		vm->mem[vm->nmem].bytes = bytes;
		n = (int64_t)size;
	} else if (*value == '"') {
		n = unquote(value);
		if (n < 0)
			return wrong(e, "unfinished string");
		n++; /* its NUL belongs to it */
		vm->mem[vm->nmem].bytes = value;
	/*
	 * Pairs of digits become bytes in place: byte n is written where digit
	 * n was, which has been read.
	 */
	} else {
		for (; hex_digit(value[2 * n]) >= 0 &&
		     hex_digit(value[2 * n + 1]) >= 0; n++)
			value[n] = (char)(hex_digit(value[2 * n]) << 4 |
					  hex_digit(value[2 * n + 1]));
		if (!n || value[2 * n])
			return wrong(e, "memory is pairs of hex digits or a "
				     "\"text\"");
		vm->mem[vm->nmem].bytes = value;
	}
	vm->mem[vm->nmem].addr = addr;
	vm->mem[vm->nmem++].n = (size_t)n;
	return 0;
}

/* ctx+OFF:SIZE=VALUE */
static int read_at(struct events *e, struct event *ev, const char *name,
		   const char *value)
{
	uint64_t off, size = 8, v;
	const char *end;

	if (!read_u64(name + 4, &end, &off) ||
	    (*end == ':' && !read_whole(end + 1, &size)) ||
	    /* off + size must stay inside the context; size is at most 8. */
	    (*end && *end != ':') || size > 8 || off > EVENT_CTX - 8 ||
	    !read_whole(value, &v) || ev->nat == EVENT_ARGS)
		return wrong(e, "'%s' is not ctx+OFFSET:SIZE=NUMBER", name);
	ev->at[ev->nat].off = (uint32_t)off;
	ev->at[ev->nat].size = (uint32_t)size;
	ev->at[ev->nat++].value = v;
	return 0;
}

/* counter:NAME=NUMBER, what @perf reads */
static int read_counter(struct events *e, struct event *ev, const char *name,
			const char *value)
{
	struct vm_event *vm = &ev->vm;

	if (vm->ncounters == sizeof(vm->counter) / sizeof(*vm->counter))
		return wrong(e, "too many counters");
	vm->counter[vm->ncounters].name = name;
	if (!read_whole(value, &vm->counter[vm->ncounters++].value))
		return wrong(e, "counter:%s: '%s' is not a number", name,
			     value);
	return 0;
}

/* One word of the line, cut in two at the first "=". */
static int read_word(struct events *e, struct event *ev, char *word)
{
	char *value = strchr(word, '=');
	size_t offset;
	uint64_t v;

	if (!value)
		return wrong(e, "'%s' is not NAME=VALUE", word);
	*value++ = 0;
	if (!strcmp(word, "execname"))
		return who_text(e, ev->who.comm, value);
	if (!strcmp(word, "pexecname"))
		return who_text(e, ev->who.pcomm, value);
	if (!strcmp(word, "args"))
		return read_args(e, ev, value);
	if (!strcmp(word, "stack"))
		return read_stack(e, word, value, &ev->vm.stack,
				  &ev->vm.nstack);
	if (!strcmp(word, "ustack"))
		return read_stack(e, word, value, &ev->vm.ustack,
				  &ev->vm.nustack);
	if (*word == '@')
		return read_mem(e, ev, word, value);
	if (!strncmp(word, "ctx+", 4))
		return read_at(e, ev, word, value);
	if (!strncmp(word, "counter:", 8))
		return read_counter(e, ev, word + 8, value);
	if (!read_whole(value, &v))
		return wrong(e, "%s: '%s' is not a number", word, value);
	if (is_who(word, &offset)) {
		uint32_t n = (uint32_t)v;

		memcpy((char *)&ev->who + offset, &n, sizeof(n));
		return 0;
	}
	if (!strcmp(word, "user")) {
		ev->who.user_mode = v;
	} else if (!strcmp(word, "ret")) {
		ev->has_ret = true;
		ev->ret = v;
	} else if (!strcmp(word, "period")) {
		ev->period = v;
	} else if (!strcmp(word, "addr")) {
		ev->addr = v;
	/*
	 * Neither of ours: a register or a $argument; event_context() knows
	 * which.
	 */
	} else if (ev->nwords < EVENT_REGS) {
		ev->word[ev->nwords].name = word;
		ev->word[ev->nwords++].value = v;
	} else {
		return wrong(e, "more than %d words", EVENT_REGS);
	}
	return 0;
}

/*
 * Identities that follow from others when they are not given. As a process that
 * is a thread, a group and a session of its own.
 */
static void complete_who(struct vm_who *w)
{
	if (!w->pid)
		w->pid = w->tid;
	if (!w->tid)
		w->tid = w->pid;
	if (!w->pgrp)
		w->pgrp = w->pid;
	if (!w->sid)
		w->sid = w->pgrp;
	if (!w->euid)
		w->euid = w->uid;
	if (!w->egid)
		w->egid = w->gid;
}

/*
 * The next line, cut out of the text; NULL at the end. Cutting puts a NUL in
 * the place of the newline; there is always one byte behind the text (slurp).
 */
static char *next_line(struct events *e)
{
	char *line = e->text + e->pos, *end;

	if (e->pos >= e->n)
		return NULL;
	end = memchr(line, '\n', e->n - e->pos);
	if (!end)
		end = e->text + e->n;
	*end = 0;
	e->pos = (size_t)(end - e->text) + 1;
	e->line++;
	return line;
}

/*
 * start TIME, wall TIME: 1 when the line was one of them. 0: neither. -1:
 * wrong. Only in front of the first event, where events_open() reads them.
 */
static int read_setting(struct events *e, const char *word, char *pos)
{
	char *value;
	int64_t v;
	bool start = !strcmp(word, "start");

	if (!start && strcmp(word, "wall"))
		return 0;
	value = next_word(&pos);
	if (!value || !read_time(value, 0, &v) || next_word(&pos))
		return wrong(e, "%s takes one time", word);
	if (start)
		e->start_ns = e->last_ns = v;
	else
		e->wall_ns = v;
	return 1;
}

int events_next(struct events *e, struct event *ev)
{
	char *pos, *word, *line;
	int rc;

	/* Empty lines and comments in between do not count. */
	for (;;) {
		line = next_line(e);
		if (!line)
			return 0;
		pos = line;
		word = next_word(&pos);
		if (word)
			break;
	}
	memset(ev, 0, sizeof(*ev));
	if (!read_time(word, e->last_ns, &ev->time_ns))
		return wrong(e, "'%s' is not a time", word);
	/* Timers are run in between: going back would run them twice. */
	if (ev->time_ns < e->last_ns)
		return wrong(e, "time goes back");
	e->last_ns = ev->time_ns;
	ev->point = next_word(&pos);
	if (!ev->point)
		return wrong(e, "the probe point is missing");
	while ((word = next_word(&pos))) {
		rc = read_word(e, ev, word);
		if (rc)
			return rc;
	}
	complete_who(&ev->who);
	return 1;
}

int events_open(struct events *e, struct compile *c, const char *file)
{
	int fd, rc;

	*e = (struct events){ .c = c, .file = arena_strdup(c->a, file) };
	fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC)
			       : STDIN_FILENO;
	if (fd < 0)
		return -errno;
	rc = slurp(c->a, fd, EVENTS_MAX, &e->text, &e->n);
	if (fd != STDIN_FILENO)
		close(fd);
	if (rc == -EFBIG) {
		wrong(e, "this is longer than %d GiB, which is the most that a "
		      "file of events can have", EVENTS_MAX >> 30);
		return 1;
	}
	if (rc)
		return rc;
	/* A NUL would end a line early, in silence. */
	if (memchr(e->text, 0, e->n)) {
		wrong(e, "this is not a text file");
		return 1;
	}
	for (;;) {
		size_t before = e->pos;
		char *line = next_line(e), *pos = line, *word;

		word = line ? next_word(&pos) : NULL;
		rc = word ? read_setting(e, word, pos) : !!line;
		if (rc == 1)
			continue;
		if (line && !rc) {
			/* The first event is read again by events_next(): put
			 * back what was cut. */
			char *p, *end = e->text + e->pos - 1;

			for (p = line; p < end; p++)
				if (!*p)
					*p = ' ';
			if (e->pos <= e->n)
				*end = '\n';
			e->pos = before;
			e->line--;
		}
		return rc < 0;
	}
}
