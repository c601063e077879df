/* SPDX-License-Identifier: MIT */
/* A recursive-descent JSON reader with a depth limit. */
#include "base/jread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

enum { DEPTH_MAX = 64 };

/* Where the reader is; the first mistake found stands. */
struct reader {
	struct arena *a;
	const char *p, *end, *start; /* text from start to end, read up to p */
	const char *why; /* the first reason why not; NULL: none yet */
	int depth; /* of brackets open here */
};

static struct jval *value(struct reader *r);

static void *fail(struct reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return NULL;
}

static void blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' ||
				 *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	blanks(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static struct jval *fresh(struct reader *r, enum jkind k)
{
	struct jval *v = arena_new_of(r->a, struct jval);

	v->kind = k;
	return v;
}

/*
 * Four hex digits at p to a number; -1: they are none. The caller has seen to
 * it that there are four characters.
 */
static int hex4(const char *p)
{
	int v = 0, i;

	for (i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9' ? c - '0' :
			c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			c >= 'A' && c <= 'F' ? c - 'A' + 10 :
					       -1;

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/*
 * tally's writer gives each byte that is not UTF-8 as \u00XX, so code points up
 * to 255 come back as that one byte; others as UTF-8. Surrogate pairs are not
 * joined: the writer never makes them.
 */
static char *put_code(char *q, int c)
{
	if (c < 0x100) {
		*q++ = (char)c;
	} else if (c < 0x800) {
		*q++ = (char)(0xc0 | c >> 6);
		*q++ = (char)(0x80 | (c & 0x3f));
	} else {
		*q++ = (char)(0xe0 | c >> 12);
		*q++ = (char)(0x80 | (c >> 6 & 0x3f));
		*q++ = (char)(0x80 | (c & 0x3f));
	}
	return q;
}

/*
 * Behind the backslash. Adds what it means at *q; false: there is no such one.
 */
static bool escape(struct reader *r, char **q)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	int code;

	if (r->p == r->end)
		return false;
	if (*r->p == 'u') {
		if (r->end - r->p < 5 || (code = hex4(r->p + 1)) < 0)
			return false;
		r->p += 5;
		*q = put_code(*q, code);
		return true;
	}
	/* strchr() would find the NUL at the end of `from`. */
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return false;
	*(*q)++ = to[at - from];
	r->p++;
	return true;
}

/*
 * At the opening quote. Two walks: where it ends gives the most that it can
 * hold, as no escape is shorter than what it stands for.
 */
static struct jval *string(struct reader *r)
{
	const char *from = ++r->p, *end = from;
	struct jval *v;
	char *q;

	while (end < r->end && *end != '"')
		end += *end == '\\' ? 2 : 1;
	if (end >= r->end)
		return fail(r, "a string does not end");
	v = fresh(r, J_STRING);
	q = arena_alloc(r->a, (size_t)(end - from) + 1);
	v->s = q;
	while (r->p < end) {
		if ((unsigned char)*r->p < 0x20)
			return fail(r, "a control character in a string");
		if (*r->p != '\\') {
			*q++ = *r->p++;
			continue;
		}
		r->p++;
		if (!escape(r, &q))
			return fail(r, "a bad escape in a string");
	}
	r->p = end + 1;
	v->n = (size_t)(q - v->s);
	return v;
}

/*
 * Kept as text: a double would lose the low bits of 64-bit sums, and snapshots
 * must come back to the last bit. Whoever asks for its value checks its form.
 */
static struct jval *number(struct reader *r)
{
	const char *from = r->p;
	struct jval *v;

	while (r->p < r->end && *r->p && strchr("+-.eE0123456789", *r->p))
		r->p++;
	if (r->p == from)
		return fail(r, "a value is missing");
	v = fresh(r, J_NUMBER);
	v->n = (size_t)(r->p - from);
	v->s = arena_strndup(r->a, from, v->n);
	return v;
}

/*
 * At the opening bracket. Arrays and objects differ in the names only. Depth is
 * counted by the caller, so this recursion ends.
 */
static struct jval *list(struct reader *r, bool object)
{
	VEC(struct jval *) vals = { 0 };
	VEC(const char *) keys = { 0 };
	const char close = object ? '}' : ']';
	struct jval *v = fresh(r, object ? J_OBJECT : J_ARRAY), *one;

	r->p++;
	if (take(r, close))
		return v;
	do {
		if (object) {
			blanks(r);
			if (r->p == r->end || *r->p != '"')
				return fail(r, "a member's name is missing");
			one = string(r);
			if (!one)
				return NULL;
			vec_push(r->a, &keys, one->s);
			if (!take(r, ':'))
				return fail(r, "':' is missing");
		}
		one = value(r);
		if (!one)
			return NULL;
		vec_push(r->a, &vals, one);
	} while (take(r, ','));
	if (!take(r, close))
		return fail(r, object ? "'}' is missing" : "']' is missing");
	v->v = vals.v;
	v->n = vals.n;
	v->keys = keys.v;
	return v;
}

/* true, false or null, which is expected because of its first letter. */
static struct jval *word(struct reader *r, const char *text, enum jkind k,
			 bool is)
{
	size_t n = strlen(text);
	struct jval *v;

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0)
		return fail(r, "an unknown word");
	r->p += n;
	v = fresh(r, k);
	v->is = is;
	return v;
}

static struct jval *value(struct reader *r)
{
	struct jval *v;

	blanks(r);
	if (r->p == r->end)
		return fail(r, "the text ends early");
	switch (*r->p) {
	case '{':
	case '[':
		if (++r->depth > DEPTH_MAX)
			return fail(r, "nested too deep");
		v = list(r, *r->p == '{');
		r->depth--;
		return v;
	case '"':
		return string(r);
	case 't':
		return word(r, "true", J_BOOL, true);
	case 'f':
		return word(r, "false", J_BOOL, false);
	case 'n':
		return word(r, "null", J_NULL, false);
	default:
		return number(r);
	}
}

struct jval *jread(struct arena *a, const char *text, size_t n,
		   unsigned *ret_line, const char **ret_why)
{
	struct reader r = { .a = a, .p = text, .end = text + n, .start = text };
	struct jval *v = value(&r);
	const char *q;

	blanks(&r);
	if (v && r.p != r.end)
		v = fail(&r, "text after the end");
	if (!v) {
		*ret_line = 1;
		/* The line is counted only now, when somebody is to read it. */
		for (q = text; q < r.p && q < r.end; q++)
			*ret_line += *q == '\n';
		*ret_why = r.why;
	}
	return v;
}

/* Linear: tally's own objects have at most a dozen members. */
const struct jval *jget(const struct jval *o, const char *key)
{
	size_t i;

	if (!o || o->kind != J_OBJECT)
		return NULL;
	for (i = 0; i < o->n; i++)
		if (strcmp(o->keys[i], key) == 0)
			return o->v[i];
	return NULL;
}

/*
 * Digits and minus signs only: strtoll() alone would take blanks, "+1" and
 * "0x1", and stop at a NUL inside a string.
 */
static bool is_number_text(const struct jval *v)
{
	return v && (v->kind == J_NUMBER || v->kind == J_STRING) && v->n &&
	       strlen(v->s) == v->n && strspn(v->s, "-0123456789") == v->n;
}

bool jint(const struct jval *v, int64_t *ret)
{
	char *end;
	long long n;

	if (!is_number_text(v))
		return false;
	errno = 0;
	n = strtoll(v->s, &end, 10);
	if (errno || *end)
		return false;
	*ret = n;
	return true;
}

bool juint(const struct jval *v, uint64_t *ret)
{
	char *end;
	unsigned long long n;

	if (!is_number_text(v) || v->s[0] == '-')
		return false;
	errno = 0;
	n = strtoull(v->s, &end, 10);
	if (errno || *end)
		return false;
	*ret = n;
	return true;
}

const char *jstr(const struct jval *v)
{
	return v && v->kind == J_STRING ? v->s : NULL;
}
