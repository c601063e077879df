/* SPDX-License-Identifier: MIT */
/*
 * Matching a written probe point against the table of patterns. A point is
 * compared component by component: by name (with * and ?) and by presence and
 * type of the argument. `**` stands for any number of components.
 */
#include "probe/probe.h"

#include <assert.h>
#include <string.h>

#include "front/foreign.h"
#include "probe/family.h"
#include "types/glob.h"

/*
 * As many as struct match has room for; checked by the assertion in
 * parts_read().
 */
enum { PARTS_MAX = 8 };

#define PATTERN(text, fam, tag, doc) extern const struct family family_##fam;
#include "probe/family.def"
#undef PATTERN

/*
 * family.def is read twice: for the families' declarations, and for the table.
 */
const struct pattern probe_patterns[] = {
#define PATTERN(text, fam, tag, doc) {text, &family_##fam, tag, doc},
#include "probe/family.def"
#undef PATTERN
};
const unsigned probe_npatterns =
    sizeof(probe_patterns) / sizeof(probe_patterns[0]);

bool probe_glob(const char *pattern, const char *name)
{
	return name_glob(pattern, name);
}

/* --- a pattern's text, taken apart --------------------------------------- */

/*
 * The texts are short constants; taking them apart at each match costs a few
 * microseconds per point and saves a table that must be kept in step.
 */
struct part {
	char name[24];
	enum type arg; /* TY_UNKNOWN: none */
};

struct parts {
	struct part v[PARTS_MAX];
	unsigned n;
};

/*
 * "timer.s(NUMBER)": after the bracket, N is a number, everything else a
 * string.
 */
static void parts_read(const char *text, struct parts *ret)
{
	ret->n = 0;
	while (*text) {
		size_t len = strcspn(text, ".(");
		struct part *p = &ret->v[ret->n++];

		assert(ret->n <= PARTS_MAX && len < sizeof(p->name));
		memcpy(p->name, text, len);
		p->name[len] = 0;
		p->arg = TY_UNKNOWN;
		text += len;
		if (*text == '(') {
			p->arg = text[1] == 'N' ? TY_LONG : TY_STRING;
			text = strchr(text, ')') + 1;
		}
		if (*text == '.')
			text++;
	}
}

/*
 * An argument must be there exactly when the pattern has one: timer.s and
 * timer.s(1) are different points.
 */
static bool part_matches(const struct part *p, const struct component *w)
{
	return w->arg.type == p->arg && probe_glob(w->name, p->name);
}

/* --- matching ------------------------------------------------------------- */

struct matcher {
	const struct point *pt;
	const struct parts *pat;
	unsigned to[PARTS_MAX]; /* written component behind each of pat's */
};

/*
 * The names of pattern components from `from` to `to`, joined by dots, against
 * a `**`, which stands for dots, too: t**ile is timer.profile.
 */
static bool joined_match(const struct matcher *m, const char *glob,
			 unsigned from, unsigned to)
{
	char text[PARTS_MAX * sizeof(m->pat->v[0].name)];
	size_t len = 0;

	for (unsigned j = from; j <= to; j++) {
		size_t n = strlen(m->pat->v[j].name);

		if (j > from)
			text[len++] = '.';
		memcpy(text + len, m->pat->v[j].name, n);
		len += n;
	}
	text[len] = 0;
	return probe_glob(glob, text);
}

/* From written component i and pattern component j on; `**` makes it try two
 * ways, and both indices only grow, so the depth is bounded by their sum. */
static bool match_from(struct matcher *m, unsigned i, unsigned j)
{
	const struct component *w;

	if (i == m->pt->parts.n)
		return j == m->pat->n;
	if (j == m->pat->n)
		return false;
	w = &m->pt->parts.v[i];
	if (!strstr(w->name, "**")) {
		m->to[j] = i;
		return part_matches(&m->pat->v[j], w) &&
		       match_from(m, i + 1, j + 1);
	}
	/*
	 * `**` takes as many components as it likes. The one that is written
	 * has one argument at most, and that is the last one's: what is not
	 * written has no value to give.
	 */
	for (unsigned to = j; to < m->pat->n; to++) {
		m->to[to] = i;
		if (m->pat->v[to].arg == w->arg.type &&
		    joined_match(m, w->name, j, to) &&
		    match_from(m, i + 1, to + 1))
			return true;
		if (m->pat->v[to].arg)
			break;
	}
	return false;
}

/*
 * Names are the pattern's own, never the wildcard: families and pp() see what
 * was meant.
 */
static void match_fill(struct compile *c, const struct matcher *mt,
		       const struct pattern *pattern, bool quiet,
		       struct match *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->point = mt->pt;
	ret->pattern = pattern;
	ret->nparts = ret->nargs = mt->pat->n;
	ret->quiet = quiet;
	for (unsigned j = 0; j < mt->pat->n; j++) {
		const struct component *w = &mt->pt->parts.v[mt->to[j]];

		ret->name[j] = str_internz(c->str, mt->pat->v[j].name);
		if (mt->pat->v[j].arg)
			ret->arg[j] = &w->arg;
	}
}

/* --- why a point matches nothing ------------------------------------------ */

/* How many leading components of pt some pattern shares. */
static unsigned common_prefix(const struct point *pt, const struct parts *pat)
{
	unsigned i;

	for (i = 0; i < pt->parts.n && i < pat->n; i++)
		if (!part_matches(&pat->v[i], &pt->parts.v[i]))
			break;
	return i;
}

static bool seen(const name_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], name))
			return true;
	return false;
}

static bool has_wildcard(const char *name)
{
	return strpbrk(name, "*?") != NULL;
}

/*
 * Component `at` of an alias (a dotted name), where the components before it
 * are those that are written; NULL otherwise.
 */
static const char *alias_part(struct compile *c, const struct point *pt,
			      unsigned at, const char *alias)
{
	for (unsigned i = 0;; i++) {
		size_t len = strcspn(alias, ".");

		if (i == at)
			return len ? str_intern(c->str, alias, len) : NULL;
		if (strlen(pt->parts.v[i].name) != len ||
		    memcmp(pt->parts.v[i].name, alias, len) || !alias[len])
			return NULL;
		alias += len + 1;
	}
}

/*
 * What may stand at component `at`, after the components before it. Names that
 * start with __ are for tally's own use and are never suggested.
 */
static void candidates(struct compile *c, const struct point *pt, unsigned at,
		       name_list *ret)
{
	for (unsigned i = 0; i < probe_npatterns; i++) {
		struct parts pat;
		const char *name;

		parts_read(probe_patterns[i].text, &pat);
		if (pat.n <= at || common_prefix(pt, &pat) < at)
			continue;
		name = str_internz(c->str, pat.v[at].name);
		if (strncmp(name, "__", 2) && !seen(ret, name))
			vec_push(c->a, ret, name);
	}
}

/* The written name is right and its argument is not: say which is wanted. */
static void help_argument(struct compile *c, struct diag *d,
			  const struct point *pt, unsigned at)
{
	const struct component *w = &pt->parts.v[at];
	bool none = false, num = false, str = false;

	for (unsigned i = 0; i < probe_npatterns; i++) {
		struct parts pat;

		parts_read(probe_patterns[i].text, &pat);
		if (pat.n <= at || common_prefix(pt, &pat) < at ||
		    strcmp(pat.v[at].name, w->name))
			continue;
		none |= pat.v[at].arg == TY_UNKNOWN;
		num |= pat.v[at].arg == TY_LONG;
		str |= pat.v[at].arg == TY_STRING;
	}
	if (!none && !num && !str)
		return;
	diag_help(c->diag, d, "write %s%s%s%s%s%s%s", none ? w->name : "",
		  none && (num || str) ? " or " : "", num ? w->name : "",
		  num ? "(NUMBER)" : "", num && str ? " or " : "",
		  str ? w->name : "", str ? "(\"...\")" : "");
}

static const char *names_text(struct compile *c, const name_list *l)
{
	enum { SHOWN_MAX = 32 }; /* of syscall there are 350 */
	const char *text = "";

	for (unsigned i = 0; i < l->n && i < SHOWN_MAX; i++)
		text = arena_printf(c->a, "%s%s%s", text, i ? ", " : "",
				    l->v[i]);
	if (l->n > SHOWN_MAX)
		text = arena_printf(c->a, "%s, ... %u in all", text, l->n);
	return text;
}

/* Families of the reference's library that are not here, and what to use. */
static const struct {
	const char *word, *instead;
} absent[] = {
    {"ipmib", "read /proc/net/snmp, for example by system(); or probe "
	      "tcp.receive, netfilter.ipv4.*, kernel.trace(\"kfree_skb\")"},
    {"tcpmib", "read /proc/net/snmp, for example by system(); or probe "
	       "kernel.trace(\"inet_sock_set_state\"), tcp.retransmit, "
	       "kernel.trace(\"tcp_send_reset\")"},
    {"linuxmib", "read /proc/net/netstat, for example by system(); or probe "
		 "kernel.trace(\"kfree_skb\") and the functions that count"},
    {"lsm", "nothing can be refused; kernel.function(\"security_NAME\") is "
	    "where the kernel asks its security modules"},
    {"sunrpc", "kernel.trace(\"rpc_*\") and kernel.trace(\"svc_*\") when the "
	       "module is loaded"},
    {"nfs", "kernel.trace(\"nfs_*\"), kernel.trace(\"nfs4_*\"), or "
	    "module(\"nfs\").function(\"NAME\")"},
    {"scsi", "kernel.trace(\"scsi_dispatch_cmd_*\"), or "
	     "kernel.trace(\"block_rq_*\")"},
    {"stap", "tally has no such marks; -v and -t say what it does"},
};

/* A word that no family here begins with but one of the reference's does. */
static bool help_absent(struct compile *c, struct diag *d,
			const struct component *w)
{
	for (unsigned i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (!strcmp(absent[i].word, w->name)) {
			diag_note(c->diag, d, &w->span,
				  "%s.* is not in the library: %s",
				  w->name, absent[i].instead);
			return true;
		}
	return false;
}

/*
 * The first component that no pattern and no alias has is the one to talk
 * about: the longest common prefix decides, since the user got that far.
 */
static void report_mismatch(struct compile *c, const struct point *pt,
			    const char *const *aliases, unsigned naliases)
{
	unsigned at = 0;
	name_list next = {0};
	struct near near = {0};
	const struct component *w;
	const char *part;
	struct diag *d = complain(c, PROBE_POINT, &pt->parts.v[0].span);

	for (unsigned i = 0; i < probe_npatterns; i++) {
		struct parts pat;
		unsigned n;

		parts_read(probe_patterns[i].text, &pat);
		n = common_prefix(pt, &pat);
		if (n > at)
			at = n;
	}
	/*
	 * An alias counts as common only while something follows: its last
	 * component is a point of its own.
	 */
	for (unsigned i = 0; i < naliases; i++)
		while (at < pt->parts.n &&
		       (part = alias_part(c, pt, at, aliases[i])) &&
		       !strcmp(part, pt->parts.v[at].name) &&
		       alias_part(c, pt, at + 1, aliases[i]))
			at++;
	candidates(c, pt, at, &next);
	for (unsigned i = 0; i < naliases; i++) {
		part = alias_part(c, pt, at, aliases[i]);
		/* those of the library's own are nobody's to name */
		if (part && strncmp(part, "__", 2) && !seen(&next, part))
			vec_push(c->a, &next, part);
	}
	if (at == pt->parts.n) {
		diag_note(c->diag, d, &pt->parts.v[at - 1].span,
			  "probe point truncated (follow: %s)",
			  names_text(c, &next));
		return;
	}
	w = &pt->parts.v[at];
	if (at == 0 && help_absent(c, d, w))
		return;
	if (has_wildcard(w->name)) {
		diag_note(c->diag, d, &w->span,
			  "probe point mismatch: didn't find any wildcard "
			  "matches");
		return;
	}
	if (!next.n) {
		diag_note(c->diag, d, &w->span, "invalid suffix for probe");
		return;
	}
	for (unsigned i = 0; i < next.n; i++)
		near_add(&near, w->name, next.v[i]);
	diag_note(c->diag, d, &w->span, "probe point mismatch (similar: %s)",
		  near_text(c, &near));
	if (!at && foreign_family(w->name))
		diag_help(c->diag, d, "here it is %s", foreign_family(w->name));
	help_argument(c, d, pt, at);
}

/*
 * The patterns match, but no tracepoint, symbol, ... is called so. The argument
 * in question is the last string.
 */
static void report_nothing(struct compile *c, const struct match *m)
{
	struct diag *d = complain(c, PROBE_POINT, &m->point->parts.v[0].span);
	const struct component *w = &vec_last(&m->point->parts);
	name_list near = {0};

	for (unsigned i = 0; i < m->point->parts.n; i++)
		if (m->point->parts.v[i].arg.type == TY_STRING)
			w = &m->point->parts.v[i];
	if (m->pattern->family->suggest)
		m->pattern->family->suggest(c, m, &near);
	if (near.n)
		diag_note(c->diag, d, &w->arg_span, "no match (similar: %s)",
			  names_text(c, &near));
	else
		diag_note(c->diag, d, &w->arg_span, "no match");
}

int probe_resolve(struct compile *c, const struct point *pt,
		  const char *const *aliases, unsigned naliases, bool quiet,
		  probe_list *out)
{
	unsigned first = out->n;
	struct match found = {0};

	assert(pt->parts.n);
	quiet |= pt->optional;
	/*
	 * Every pattern that matches is expanded: `timer.*` and `kernel.**`
	 * mean all of them.
	 */
	for (unsigned i = 0; i < probe_npatterns; i++) {
		struct parts pat;
		struct matcher mt = {.pt = pt, .pat = &pat};
		struct match m;

		parts_read(probe_patterns[i].text, &pat);
		if (!match_from(&mt, 0, 0))
			continue;
		match_fill(c, &mt, &probe_patterns[i], quiet, &m);
		/*
		 * The first one speaks for the others when none finds a probe.
		 */
		if (!found.pattern)
			found = m;
		if (m.pattern->family->expand(c, &m, out))
			return -1;
	}
	if (out->n == first && !quiet) {
		if (found.pattern)
			report_nothing(c, &found);
		else
			report_mismatch(c, pt, aliases, naliases);
		return -1;
	}
	return out->n - first;
}

/* Internal points, and those that are only named to be refused. */
static bool is_hidden(const struct pattern *p)
{
	return !strncmp(p->text, "__", 2) || p->family == &family_later;
}

void probe_types_print(FILE *f)
{
	for (unsigned i = 0; i < probe_npatterns; i++)
		if (!is_hidden(&probe_patterns[i]))
			fprintf(f, "%-42s %s\n", probe_patterns[i].text,
				probe_patterns[i].doc);
}
