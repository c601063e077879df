/* SPDX-License-Identifier: MIT */
/* The layout of messages: docs/errors.md shows it. */
#include "base/diag.h"

#include <string.h>

#include "base/diag_list.h"
#include "base/utf8.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	INDENT = 4,
	/* Of a longer source line only this much around the caret is shown. */
	LINE_SHOWN = 120,
	/*
	 * A macro may expand itself through others; the chain is shown this
	 * deep.
	 */
	MACROS_SHOWN = 16,
};

/* Colors of the reference's SYSTEMTAP_COLORS default. */
#define C_ERROR "01;31"
#define C_WARNING "00;33"
#define C_SOURCE "00;34"
#define C_STRONG "01"

/*
 * Where to, and whether with escape sequences: what every put_ function needs.
 */
struct printer {
	FILE *f;
	bool color;
};

static void paint(const struct printer *p, const char *sgr)
{
	if (p->color)
		fprintf(p->f, "\033[%sm", sgr);
}

static void unpaint(const struct printer *p)
{
	if (p->color)
		fputs("\033[m\033[K", p->f);
}

/* Scripts hold anything: a terminal gets no control bytes from them. Returns
 * the number of bytes of s used. */
static size_t put_char(FILE *f, const char *s, size_t n)
{
	size_t len = utf8_len(s, n);
	unsigned char c = (unsigned char)*s;

	if (!len || (c < 0x20 && c != '\t') || c == 0x7f) {
		fputc('?', f);
		return 1;
	}
	fwrite(s, 1, len, f);
	return len;
}

/* A message may have lines of its own. */
static void put_text(FILE *f, const char *s)
{
	size_t n = strlen(s);

	while (n) {
		size_t used = 1;

		if (*s == '\n')
			fputc('\n', f);
		else
			used = put_char(f, s, n);
		s += used;
		n -= used;
	}
}

static void put_place(const struct printer *p, const struct span *at)
{
	if (!at->src || !at->line)
		return;
	paint(p, C_STRONG);
	fprintf(p->f, "%s:%u:%u:", at->src->name, at->line, at->col);
	unpaint(p);
	fputc(' ', p->f);
}

/*
 * The source line and a caret below its column. The blanks before the caret
 * repeat the line's tabs, so that it stands right at every tab width.
 */
static void put_line(const struct printer *p, const struct span *at)
{
	size_t len, col = at->col ? at->col - 1 : 0, from = 0, to, i;
	const char *s;

	if (!at->src || !at->line)
		return;
	s = source_line(at->src, at->line, &len);
	if (col > len)
		col = len;
	if (col > LINE_SHOWN / 2 && len > LINE_SHOWN)
		from = col - LINE_SHOWN / 2;
	/* Not into the middle of a character. */
	while (from && from < len && ((unsigned char)s[from] & 0xc0) == 0x80)
		from--;
	to = len - from > LINE_SHOWN ? from + LINE_SHOWN : len;
	fprintf(p->f, "%*s", INDENT, "");
	paint(p, C_SOURCE);
	if (from)
		fputs("...", p->f);
	for (i = from; i < to;)
		i += put_char(p->f, s + i, len - i);
	if (to < len)
		fputs("...", p->f);
	unpaint(p);
	/*
	 * The columns under the line: one blank for each character shown.
	 * Characters are counted, not bytes, or the caret of a line with an
	 * umlaut stood too far right. (Wide characters of East Asia take two
	 * columns; they put the caret to the left of its place.)
	 */
	fprintf(p->f, "\n%*s", INDENT + (from ? 3 : 0), "");
	for (i = from; i < col;) {
		size_t n = utf8_len(s + i, len - i);

		fputc(s[i] == '\t' ? '\t' : ' ', p->f);
		i += n ? n : 1;
	}
	paint(p, C_STRONG);
	fputc('^', p->f);
	unpaint(p);
	fputc('\n', p->f);
}

static void put_macros(const struct printer *p, const struct span *at)
{
	const struct span *m = at->macro;

	for (int n = 0; m && n < MACROS_SHOWN; m = m->macro, n++) {
		put_place(p, m);
		fputs("note: in expansion of macro '", p->f);
		put_text(p->f, m->text ? m->text : "?");
		fputs("'\n", p->f);
		put_line(p, m);
	}
}

static void put_extra(const struct printer *p, const struct diag_extra *e)
{
	put_place(p, &e->at);
	fputs(e->is_help ? "help: " : "note: ", p->f);
	put_text(p->f, e->text);
	fputc('\n', p->f);
	put_line(p, &e->at);
	put_macros(p, &e->at);
}

static void put_diag(const struct printer *p, const struct diag *m)
{
	static const char *const word[DIAG_CLASSES] = {
	    [DIAG_PARSE] = "parse error",
	    [DIAG_SEMANTIC] = "semantic error",
	    [DIAG_WARNING] = "WARNING",
	    [DIAG_SYSTEM] = "error",
	};

	put_place(p, &m->at);
	paint(p, m->class == DIAG_WARNING ? C_WARNING : C_ERROR);
	fprintf(p->f, "%s:", word[m->class]);
	unpaint(p);
	fputc(' ', p->f);
	put_text(p->f, m->text);
	fputc('\n', p->f);
	put_line(p, &m->at);
	put_macros(p, &m->at);
	for (unsigned i = 0; i < m->extra.n; i++)
		put_extra(p, &m->extra.v[i]);
}

/* By place; what has none comes last; then in the order of complaint. */
static int by_place(const void *pa, const void *pb)
{
	const struct diag *a = *(struct diag *const *)pa;
	const struct diag *b = *(struct diag *const *)pb;

	if (!a->at.src != !b->at.src)
		return a->at.src ? -1 : 1;
	if (a->at.src && a->at.src->id != b->at.src->id)
		return a->at.src->id < b->at.src->id ? -1 : 1;
	if (a->at.line != b->at.line)
		return a->at.line < b->at.line ? -1 : 1;
	if (a->at.col != b->at.col)
		return a->at.col < b->at.col ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Errors and warnings are cut and folded apart: a crowd of warnings must not
 * hide the error. */
struct shown {
	unsigned printed, similar, cut;
};

static void put_shown(FILE *f, const struct shown *t, const char *what)
{
	if (t->similar)
		fprintf(f, "Number of similar %s messages suppressed: %u.\n",
			what, t->similar);
	if (t->cut)
		fprintf(f, "Number of further %s messages not shown: %u.\n",
			what, t->cut);
	if (t->similar || t->cut)
		fputs("Rerun with -v to see them.\n", f);
}

void diags_print(struct diags *d, FILE *f, const struct diag_style *style)
{
	struct printer p = {.f = f, .color = style->color};
	/*
	 * Only those added since the last call: main prints after each pass,
	 * and a message must not come twice.
	 */
	unsigned n = d->list.n - d->printed;
	struct shown errors = {0}, warnings = {0};
	struct diag **sorted;

	if (!n)
		return;
	/*
	 * Sorted by place and not by pass: the reader goes through the script
	 * once.
	 */
	sorted = xmalloc(n * sizeof(*sorted));
	memcpy(sorted, d->list.v + d->printed, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_place);
	for (unsigned i = 0; i < n; i++) {
		bool warning = sorted[i]->class == DIAG_WARNING;
		struct shown *t = warning ? &warnings : &errors;

		if (warning && style->no_warnings)
			continue;
		/* A warning comes again for each probe of a wildcard: once is
		 * what the script has to say about it. */
		if (sorted[i]->repeats && !style->all) {
			t->similar += !warning;
		} else if (t->printed == DIAG_SHOWN && !style->all) {
			t->cut++;
		} else {
			t->printed++;
			put_diag(&p, sorted[i]);
		}
	}
	put_shown(f, &errors, "error");
	put_shown(f, &warnings, "warning");
	free(sorted);
	d->printed = d->list.n;
}
