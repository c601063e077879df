/* SPDX-License-Identifier: MIT */
/* The context of a simulated event: what the kernel would hand to a program of
 * the probe's kind. */
#include "run/events.h"

#include <stdio.h>
#include <string.h>

#include "base/compile.h"
#include "probe/probe.h"

/*
 * Registers by the names of the kernel's pt_regs, and where the calling
 * convention has arguments and the result. By the offsets of struct pt_regs,
 * which is ABI.
 */
static const struct reg_row {
	const char *name;
	uint32_t off;
} reg_rows[] = {
#if defined(__x86_64__)
	{ "r15", 0 }, { "r14", 8 }, { "r13", 16 }, { "r12", 24 },
	{ "bp", 32 }, { "bx", 40 }, { "r11", 48 }, { "r10", 56 },
	{ "r9", 64 }, { "r8", 72 }, { "ax", 80 }, { "cx", 88 }, { "dx", 96 },
	{ "si", 104 }, { "di", 112 }, { "orig_ax", 120 }, { "ip", 128 },
	{ "cs", 136 }, { "flags", 144 }, { "sp", 152 }, { "ss", 160 },
#elif defined(__aarch64__)
	{ "x0", 0 }, { "x1", 8 }, { "x2", 16 }, { "x3", 24 }, { "x4", 32 },
	{ "x5", 40 }, { "x6", 48 }, { "x7", 56 }, { "x8", 64 }, { "x29", 232 },
	{ "x30", 240 }, { "sp", 248 }, { "pc", 256 }, { "pstate", 264 },
#endif
};

#if defined(__x86_64__)
static const uint32_t arg_off[] = { 112, 104, 96, 88, 72, 64 };
enum { RET_OFF = 80, SP_OFF = 152, REGS_SIZE = 168 };
#else
static const uint32_t arg_off[] = { 0, 8, 16, 24, 32, 40, 48, 56 };
enum { RET_OFF = 0, SP_OFF = 248, REGS_SIZE = 272 };
#endif
enum { NARG_REGS = sizeof(arg_off) / sizeof(*arg_off) };

static void put(uint8_t *ctx, uint32_t off, uint64_t v, uint32_t size)
{
	memcpy(ctx + off, &v, size); /* little-endian hosts */
}

/* 0, for `return bad(...)`; the message names the probe. */
static size_t bad(struct events *e, const char *what, const char *name,
		  const struct probe *p)
{
	snprintf(e->error, sizeof(e->error), "%s:%u: %s '%s' of %s", e->file,
		 e->line, what, name, p->pp);
	return 0;
}

/*
 * Argument words of raw tracepoints, fentry and fexit. The context is an array
 * of 64-bit words, the result after the last argument. Named arguments
 * ($next=5) are looked up in the probe's parameters.
 */
static size_t words_context(struct events *e, const struct event *ev,
			    struct probe *p, uint8_t *ctx)
{
	ctx_names names = { 0 };
	unsigned i, j, k;

	for (i = 0; i < ev->nargs; i++)
		put(ctx, 8 * i, ev->arg[i], 8);
	if (ev->has_ret)
		put(ctx, 8 * ev->nargs, ev->ret, 8);
	if (ev->nwords && p->family->names)
		p->family->names(e->c, p, &names);
	for (i = 0; i < ev->nwords; i++) {
		const char *want = ev->word[i].name;

		/*
		 * k counts parameters only: what else has a name is in no word.
		 */
		for (j = k = 0; j < names.n; j++) {
			if (!names.v[j].is_param)
				continue;
			if (!strcmp(names.v[j].name, want))
				break;
			k++;
		}
		if (j == names.n)
			return bad(e, "there is no", want, p);
		put(ctx, 8 * k, ev->word[i].value, 8);
	}
	return EVENT_ARGS * 8;
}

static bool put_reg(uint8_t *ctx, const char *name, uint64_t v)
{
	unsigned i;

	for (i = 0; i < sizeof(reg_rows) / sizeof(*reg_rows); i++) {
		if (strcmp(reg_rows[i].name, name))
			continue;
		put(ctx, reg_rows[i].off, v, 8);
		return true;
	}
	return false;
}

/* pt_regs of kprobes and uprobes, and what perf events have before theirs. */
static size_t regs_context(struct events *e, const struct event *ev,
			   struct probe *p, uint8_t *ctx)
{
	unsigned i;

	if (ev->nargs > NARG_REGS)
		return bad(e, "too many args=", "registers", p);
	for (i = 0; i < ev->nargs; i++)
		put(ctx, arg_off[i], ev->arg[i], 8);
	if (ev->has_ret)
		put(ctx, RET_OFF, ev->ret, 8);
	for (i = 0; i < ev->nwords; i++)
		if (!put_reg(ctx, ev->word[i].name, ev->word[i].value))
			return bad(e, "there is no register",
				   ev->word[i].name, p);
	if (p->prog != PROG_PERF_EVENT)
		return REGS_SIZE;
	/* struct bpf_perf_event_data: registers, then period and address. */
	put(ctx, REGS_SIZE, ev->period, 8);
	put(ctx, REGS_SIZE + 8, ev->addr, 8);
	return REGS_SIZE + 16;
}

size_t event_context(struct events *e, const struct event *ev,
		     struct probe *p, uint8_t *ctx)
{
	size_t size = EVENT_CTX;
	unsigned i;

	/* What an event does not say is 0. */
	memset(ctx, 0, EVENT_CTX);
	switch (p->prog) {
	case PROG_RAW_TP:
	case PROG_TP_BTF:
	case PROG_FENTRY:
	case PROG_FEXIT:
		size = words_context(e, ev, p, ctx);
		break;
	case PROG_KPROBE:
		/* A return has taken its address off the stack: as 0 at the
		 * entry, so that @entry finds its call. */
		if (p->is_return)
			put(ctx, SP_OFF, 8, 8);
		size = regs_context(e, ev, p, ctx);
		break;
	case PROG_PERF_EVENT:
		size = regs_context(e, ev, p, ctx);
		break;
	/*
	 * The record of a tracepoint has a layout of its own: given by ctx+OFF
	 * only.
	 */
	case PROG_TRACEPOINT:
	case PROG_NONE:
		break;
	}
	for (i = 0; size && i < ev->nat; i++)
		put(ctx, ev->at[i].off, ev->at[i].value, ev->at[i].size);
	return size;
}
