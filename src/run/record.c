/* SPDX-License-Identifier: MIT */
/* What kernel handlers send: text to print, errors, work to go on with. */
#include "run/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/format.h"

/* A record that our own programs cannot have made. */
static void bug(struct session *s, const char *what)
{
	session_note(s, "ERROR: internal: %s in a record of the ring buffer",
		     what);
	s->status = EXIT_BUG;
	session_fail(s);
}

/*
 * %m and %M of a record: only a simulated event still has its memory. A kernel
 * handler has loaded the bytes itself, unless their number is only known when
 * it runs (ir/build_print.c).
 */
static int read_memory(void *ctx, uint64_t addr, void *dst, size_t n, int user)
{
	const struct session *s = ctx;

	return vm_event_memory(s->event, addr, dst, n) ? 0 : -EFAULT;
}

/* id: the format's number. The length was fixed when the program was made. */
static void take_print(struct session *s, const struct probe *p, uint32_t id,
		       const uint8_t *payload, size_t n)
{
	const struct ir_fmt *f;
	struct text t = { 0 };
	uint64_t bad;

	if (id >= s->g->ir->fmts.n) {
		bug(s, "a format that does not exist");
		return;
	}
	f = s->g->ir->fmts.v[id];
	if (n < f->size) {
		bug(s, "a short text");
		return;
	}
	if (text_record(&t, f, payload, read_memory, s, &bad)) {
		char msg[96];

		snprintf(msg, sizeof(msg), "ERROR: memory that printf was to "
			 "show is gone at %#llx in probe %s",
			 (unsigned long long)bad, p->pp);
		hooks_error(s, msg);
	} else if (t.n) {
		/*
		 * Nothing is written for an empty text, not even an empty piece
		 * of JSON.
		 */
		s->hooks.out(s, t.s, t.n);
	}
	text_free(&t);
}

/* An error of a kernel handler, which has counted it. Calls were inlined: the
 * place knows its callers. */
static void take_error(struct session *s, const struct probe *p, uint32_t loc,
		       const char *msg, int len)
{
	struct text t = { 0 };
	uint64_t n;

	text_addf(&t, "ERROR: %.*s", len, msg);
	vm_place_text(&t, s->g->ir, loc);
	text_addf(&t, " in probe %s", p->pp);
	/* Errors that were on their way when the session failed are counted,
	 * but only the first one is its reason. */
	if (s->state != STATE_FAILED)
		hooks_error_line(s, t.s);
	text_free(&t);
	/* Both machines count: the program's own count is in CONTROL. */
	n = s->errors +
	    __atomic_load_n(&((struct control *)s->store->control)->errors,
			    __ATOMIC_RELAXED);
	if (!s->c->set.suppress_errors &&
	    n > (uint64_t)s->c->set.limit[LIMIT_MAXERRORS])
		session_fail(s);
}

/*
 * The host half of a handler: the record has the values that live on, id says
 * where to go on (ir/split.h).
 */
static void take_resume(struct session *s, const struct probe *p, uint32_t id,
			const uint8_t *payload, size_t n)
{
	/* After an error no handler goes on, as none would have started. */
	if (s->state == STATE_FAILED)
		return;
	if (n < sizeof(struct record_ctx)) {
		bug(s, "a short continuation");
		return;
	}
	if (vm_resume(s->vm, p, id, (const struct record_ctx *)payload, n) >= 0)
		return;
	session_note(s, "ERROR: internal: probe %s: %s", p->pp,
		     vm_fault(s->vm));
	s->status = EXIT_BUG;
	session_fail(s);
}

/*
 * Everything is checked against what the compiler knows: the ring buffer is
 * memory that a bug could have written.
 */
void record_take(struct session *s, const struct record *r, size_t n)
{
	const struct probe *p;
	const char *text = (const char *)r->payload;
	int len;

	if (n < sizeof(*r) || r->probe >= s->prog->probes.n) {
		bug(s, "nonsense");
		return;
	}
	p = s->prog->probes.v[r->probe];
	n -= sizeof(*r);
	/* Texts end with a NUL, or with the record. */
	len = (int)strnlen(text, n);
	switch ((enum record_kind)r->kind) {
	case REC_PRINT:
		take_print(s, p, r->id, r->payload, n);
		return;
	case REC_RESUME:
		take_resume(s, p, r->id, r->payload, n);
		return;
	case REC_ERROR:
		take_error(s, p, r->id, text, len);
		return;
	case REC_EXIT:
		session_stop(s);
		return;
	/*
	 * Told in the record so that it is done in order, before more is read.
	 */
	case REC_DRAIN:
		store_drain_early(s->store);
		return;
	case REC_WARN: {
		char *copy = strndup(text, (size_t)len);

		hooks_warn(s, copy ? copy : "");
		free(copy);
		return;
	}
	/* log() prints at once, with a newline of its own. */
	case REC_LOG:
		s->hooks.out(s, text, (size_t)len);
		s->hooks.out(s, "\n", 1);
		return;
	}
	bug(s, "an unknown kind");
}
