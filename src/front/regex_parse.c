/* SPDX-License-Identifier: MIT */
/* Pattern text to tree. Positions and texts of mistakes are the reference's. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "front/regex_impl.h"

/* Reads one pattern; the first mistake ends it. */
struct rx_parser {
	struct arena *a;
	const char *start, *s, *end;
	unsigned ngroups, nest; /* with group 0; open parentheses */
	unsigned pos; /* of the mistake */
	const char *msg;
};

static struct rx_node *parse_alt(struct rx_parser *p);

static bool at_end(const struct rx_parser *p)
{
	return p->s == p->end;
}

/* Offset of the next byte. */
static unsigned where(const struct rx_parser *p)
{
	return (unsigned)(p->s - p->start);
}

/* Always NULL, for the caller to return. */
static struct rx_node *wrong(struct rx_parser *p, unsigned pos, const char *msg)
{
	if (!p->msg) {
		p->pos = pos;
		p->msg = msg;
	}
	return NULL;
}

/* The pattern ended too early: the place is its last byte. */
static struct rx_node *cut(struct rx_parser *p, const char *msg)
{
	return wrong(p, p->end > p->start ? where(p) - 1 : 0, msg);
}

static struct rx_node *node(struct rx_parser *p, enum rx_kind kind)
{
	struct rx_node *n = arena_new_of(p->a, struct rx_node);

	n->kind = kind;
	return n;
}

/* --- bracket expressions ------------------------------------------------- */

/* The names of POSIX, and short ones that the reference has. */
static const struct rx_class {
	const char *name;
	int (*is)(int);
} classes[] = {
    {"alpha", isalpha},   {"alnum", isalnum}, {"blank", isblank},
    {"cntrl", iscntrl},   {"d", isdigit},     {"digit", isdigit},
    {"xdigit", isxdigit}, {"graph", isgraph}, {"l", islower},
    {"lower", islower},   {"print", isprint}, {"punct", ispunct},
    {"s", isspace},       {"space", isspace}, {"u", isupper},
    {"upper", isupper},
};

/* At "[:". Adds its bytes to *set; false: reported. */
static bool parse_class(struct rx_parser *p, struct byte_set *set)
{
	const char *name = p->s + 2, *end = name;
	size_t len;

	while (end < p->end && *end != ':' && *end != ']')
		end++;
	if (p->end - end < 2 || end[0] != ':' || end[1] != ']') {
		p->s = p->end;
		cut(p, "unclosed character class");
		return false;
	}
	len = (size_t)(end - name);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strlen(classes[i].name) != len ||
		    memcmp(classes[i].name, name, len))
			continue;
		/* ASCII only, whatever the locale. 0 is no byte of a string. */
		for (int b = 1; b < 128; b++) {
			if (classes[i].is(b))
				set_add(set, (unsigned)b);
		}
		p->s = end + 2;
		return true;
	}
	wrong(p, where(p),
	      arena_printf(p->a, "unknown character class '%.*s'",
			   (int)(len < 64 ? len : 64), name));
	return false;
}

/* One byte within brackets; a backslash quotes. */
static bool class_byte(struct rx_parser *p, unsigned char *ret)
{
	if (!at_end(p) && *p->s == '\\')
		p->s++;
	if (at_end(p)) {
		cut(p, "unclosed character class");
		return false;
	}
	*ret = (unsigned char)*p->s++;
	return true;
}

/* a, or a-z */
static bool parse_range(struct rx_parser *p, struct byte_set *set)
{
	unsigned char lo, hi;

	if (!class_byte(p, &lo))
		return false;
	hi = lo;
	/* A - before ] is itself. */
	if (p->end - p->s >= 2 && p->s[0] == '-' && p->s[1] != ']') {
		p->s++;
		if (!class_byte(p, &hi))
			return false;
	}
	if (lo > hi) {
		wrong(p, where(p),
		      arena_printf(p->a, "Inverted character range %c-%c", lo,
				   hi));
		return false;
	}
	for (unsigned b = lo; b <= hi; b++)
		set_add(set, b);
	return true;
}

/* Behind '['. */
static struct rx_node *parse_set(struct rx_parser *p)
{
	struct rx_node *n = node(p, RX_SET);
	bool negate = !at_end(p) && *p->s == '^', first = true;

	if (negate)
		p->s++;
	for (;; first = false) {
		if (at_end(p))
			return cut(p, "unclosed character class");
		/* ] as the first is itself: []a]. */
		if (*p->s == ']' && !first)
			break;
		if (p->end - p->s >= 2 && p->s[0] == '[' && p->s[1] == ':') {
			if (!parse_class(p, &n->set))
				return NULL;
		} else if (!parse_range(p, &n->set)) {
			return NULL;
		}
	}
	p->s++;
	/* Also byte 0 becomes part of [^a]; it never comes. */
	for (int i = 0; negate && i < 4; i++)
		n->set.bits[i] = ~n->set.bits[i];
	return n;
}

/* --- atoms and closures -------------------------------------------------- */

/* (...) is a group, (?:...) only groups. */
static struct rx_node *parse_group(struct rx_parser *p)
{
	struct rx_node *n = NULL, *inner;

	p->s++;
	if (++p->nest > REGEX_NEST_MAX)
		return wrong(p, where(p), "nested too deep");
	if (p->end - p->s >= 2 && p->s[0] == '?') {
		if (p->s[1] != ':')
			return wrong(
			    p, where(p) + 1,
			    arena_printf(p->a, "unexpected '(?%c'", p->s[1]));
		p->s += 2;
	} else {
		if (p->ngroups == REGEX_GROUPS_MAX)
			return wrong(p, where(p), "too many groups");
		n = node(p, RX_GROUP);
		n->group = p->ngroups++;
	}
	inner = parse_alt(p);
	if (!inner)
		return NULL;
	if (at_end(p))
		return cut(p, "expected ), found end of regex");
	p->s++;
	p->nest--;
	if (!n)
		return inner;
	vec_push(p->a, &n->parts, inner);
	return n;
}

static struct rx_node *byte_node(struct rx_parser *p, unsigned char b)
{
	struct rx_node *n = node(p, RX_SET);

	set_add(&n->set, b);
	return n;
}

static struct rx_node *parse_atom(struct rx_parser *p)
{
	struct rx_node *n;
	char ch = *p->s;

	switch (ch) {
	case '(':
		return parse_group(p);
	case '*':
	case '+':
	case '?':
	case '{':
		return wrong(p, where(p),
			     arena_printf(p->a, "unexpected '%c'", ch));
	case '[':
		p->s++;
		return parse_set(p);
	case '.':
		/* Any byte, newline included. */
		p->s++;
		n = node(p, RX_SET);
		memset(&n->set, 0xff, sizeof(n->set));
		return n;
	case '^':
		p->s++;
		return node(p, RX_BOL);
	case '$':
		p->s++;
		return node(p, RX_EOL);
	case '\\':
		p->s++;
		if (at_end(p))
			return wrong(p, where(p), "unexpected end of regex");
		break;
	default:
		break;
	}
	/* Behind a backslash: the byte itself; there are no classes like \d. */
	return byte_node(p, (unsigned char)*p->s++);
}

/* Digits; -1 when there are none or too large a number. */
static int parse_count(struct rx_parser *p, const char *what)
{
	const char *digits = p->s;
	unsigned long n = 0;

	while (!at_end(p) && isdigit((unsigned char)*p->s)) {
		/* Saturated: the message shows how large it got. */
		if (n < 1000000000)
			n = n * 10 + (unsigned long)(*p->s - '0');
		p->s++;
	}
	if (p->s == digits) {
		wrong(p, where(p) + !at_end(p), what);
		return -1;
	}
	if (n > REGEX_REPEAT_MAX) {
		wrong(p, where(p) + 1,
		      arena_printf(p->a, "%lu is too large", n));
		return -1;
	}
	return (int)n;
}

/* Behind '{': n} n,} n,m} A missing m means without limit. */
static bool parse_counts(struct rx_parser *p, int *min, int *max)
{
	*min = *max = parse_count(p, "expected number");
	if (*min < 0)
		return false;
	if (!at_end(p) && *p->s == ',') {
		p->s++;
		*max = REGEX_FOREVER;
		if (at_end(p) || *p->s != '}') {
			*max = parse_count(p, "expected '}' or number");
			if (*max < 0)
				return false;
		}
	}
	if (at_end(p)) {
		wrong(p, where(p), "unexpected end of regex");
		return false;
	}
	if (*p->s != '}') {
		wrong(p, where(p), "expected ',' or '}'");
		return false;
	}
	p->s++;
	if (*max != REGEX_FOREVER && *max < *min) {
		wrong(p, where(p),
		      arena_printf(p->a, "Inverted repetition {%d,%d}", *min,
				   *max));
		return false;
	}
	return true;
}

static struct rx_node *repeat(struct rx_parser *p, struct rx_node *inner,
			      int min, int max)
{
	struct rx_node *n;
	bool simple = min <= 1 && (max == REGEX_FOREVER || max == 1);

	/* a**: closures upon closures are one closure. */
	if (simple && inner->kind == RX_REP && inner->min <= 1 &&
	    (inner->max == REGEX_FOREVER || inner->max == 1)) {
		if (min < inner->min)
			inner->min = min;
		if (max == REGEX_FOREVER)
			inner->max = max;
		return inner;
	}
	n = node(p, RX_REP);
	n->min = min;
	n->max = max;
	vec_push(p->a, &n->parts, inner);
	return n;
}

/* An atom with its closures; several in a row apply to one another. */
static struct rx_node *parse_piece(struct rx_parser *p)
{
	struct rx_node *n = parse_atom(p);
	unsigned closures = 0;
	int min, max;

	while (n && !at_end(p) && strchr("*+?{", *p->s) && *p->s) {
		char ch = *p->s;

		/* ^* would match the empty string for ever. */
		if (n->kind == RX_BOL || n->kind == RX_EOL)
			return wrong(p, where(p),
				     arena_printf(p->a,
						  "postfix closure '%c' applied"
						  " to anchoring operator",
						  ch));
		p->s++;
		min = ch == '+';
		max = ch == '?' ? 1 : REGEX_FOREVER;
		if (ch == '{' && !parse_counts(p, &min, &max))
			return NULL;
		if (ch == '{' && ++closures > REGEX_NEST_MAX)
			return wrong(p, where(p), "nested too deep");
		n = repeat(p, n, min, max);
	}
	return n;
}

/* Up to | or ). */
static struct rx_node *parse_cat(struct rx_parser *p)
{
	struct rx_node *n = node(p, RX_CAT), *piece;

	while (!at_end(p) && *p->s != '|' && *p->s != ')') {
		piece = parse_piece(p);
		if (!piece)
			return NULL;
		vec_push(p->a, &n->parts, piece);
	}
	return n;
}

/* One alternative needs no node of its own. */
static struct rx_node *parse_alt(struct rx_parser *p)
{
	struct rx_node *n = node(p, RX_ALT), *cat;

	for (;;) {
		cat = parse_cat(p);
		if (!cat)
			return NULL;
		vec_push(p->a, &n->parts, cat);
		if (at_end(p) || *p->s != '|')
			return n->parts.n == 1 ? cat : n;
		p->s++;
	}
}

struct rx_node *rx_parse(struct arena *a, const char *s, size_t n,
			 unsigned *ret_ngroups, unsigned *ret_pos,
			 const char **ret_msg)
{
	struct rx_parser p = {
	    .a = a, .start = s, .s = s, .end = s + n, .ngroups = 1};
	struct rx_node *root = parse_alt(&p);

	/* Only a ')' stops the outermost level early. */
	if (root && !at_end(&p))
		root = wrong(&p, where(&p), "unbalanced ')'");
	*ret_ngroups = p.ngroups;
	*ret_pos = p.pos;
	*ret_msg = p.msg;
	return root;
}
