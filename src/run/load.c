/* SPDX-License-Identifier: MIT */
/* From instructions to a program in the kernel. */
#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "run/comm.h"
#include "run/kern.h"
#include "run/preempt.h"
#include "run/state.h"
#include "store/sysbpf.h"
#include "types/types.h"

/* The complaint is at the end of a log, so it must be there to its end. */
enum { LOG_SIZE = 1 << 20, LOG_SIZE_MAX = 16 << 20 };

enum { PSEUDO_KFUNC_CALL = 2 }; /* newer than some headers */

/*
 * A call of a function of the kernel, or nothing where there is none. Where the
 * kernel has no such function the call stays the no-op that gen made of it.
 */
static void link_kfunc(struct session *s, struct bpf_insn *insn, uint32_t which)
{
	static const char *const name[] = {
		[KF_PREEMPT_DISABLE] = "bpf_preempt_disable",
		[KF_PREEMPT_ENABLE] = "bpf_preempt_enable",
	};
	uint32_t id = types_function_id(s->c, name[which]);

	if (id)
		*insn = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
					   .src_reg = PSEUDO_KFUNC_CALL,
					   .imm = (int32_t)id };
}

/* The kernel is asked once a session, and only if a handler wants to know. */
static int32_t comm_off(struct session *s)
{
	if (!s->comm_off) {
		s->comm_off = (int)comm_find();
		if (!s->comm_off)
			s->comm_off = -1;
		log_say(&s->c->log, LOG_RUN, 2, "execname() is %s",
			s->comm_off > 0 ? "loaded from the task"
					: "asked of the kernel");
	}
	return s->comm_off > 0 ? s->comm_off : 0;
}

/*
 * Puts map descriptors and distances of subprograms into a copy. Descriptors
 * are only known now: gen's code is the same for every run.
 */
static struct bpf_insn *link_insns(struct session *s, const struct code *code,
				   bool with_kfuncs)
{
	struct bpf_insn *insns, *insn;
	const struct reloc *r;
	unsigned i;

	insns = xcalloc(code->ninsns, sizeof(*insns));
	memcpy(insns, code->insns, code->ninsns * sizeof(*insns));
	for (i = 0; i < code->relocs.n; i++) {
		r = &code->relocs.v[i];
		insn = &insns[r->insn];
		switch (r->kind) {
		case RELOC_MAP:
			insn->src_reg = BPF_PSEUDO_MAP_FD;
			insn->imm = s->store->map_fd[r->map];
			break;
		/* The address of a byte inside the map's only element. */
		case RELOC_VALUE:
			insn->src_reg = BPF_PSEUDO_MAP_VALUE;
			insn->imm = s->store->map_fd[r->map];
			insn[1].imm = (int32_t)r->off;
			break;
		case RELOC_FUNC:
			/* The assembler has put the distance there. */
			break;
		case RELOC_KFUNC:
			if (with_kfuncs)
				link_kfunc(s, insn, r->func);
			break;
		case RELOC_COMM:
			insn->imm = comm_off(s);
			break;
		}
	}
	return insns;
}

static bool has_reloc(const struct code *code, enum reloc_kind kind)
{
	unsigned i;

	for (i = 0; i < code->relocs.n; i++)
		if (code->relocs.v[i].kind == kind)
			return true;
	return false;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/*
 * What bpftool shows: the last word of the probe point. "sys_enter" of
 * kernel.trace("sys_enter"). The kernel takes 15 bytes.
 */
static void prog_name(const struct probe *p, char ret[16])
{
	const char *s = p->pp, *word = s;
	unsigned n = 0;

	for (; *s; s++)
		if (isalpha((unsigned char)*s) &&
		    (s == p->pp || (!isalnum((unsigned char)s[-1]) &&
				    s[-1] != '_')))
			word = s;
	while (n < 15 && (isalnum((unsigned char)*word) || *word == '_'))
		ret[n++] = *word++;
	if (!n)
		ret[n++] = 'p';
	ret[n] = 0;
}

/* The program's type when the family has nothing to add. */
static uint32_t prog_type(enum prog_kind kind)
{
	switch (kind) {
	case PROG_RAW_TP:
		return BPF_PROG_TYPE_RAW_TRACEPOINT;
	case PROG_TP_BTF:
	case PROG_FENTRY:
	case PROG_FEXIT:
		return BPF_PROG_TYPE_TRACING;
	case PROG_TRACEPOINT:
		return BPF_PROG_TYPE_TRACEPOINT;
	case PROG_KPROBE:
		return BPF_PROG_TYPE_KPROBE;
	case PROG_PERF_EVENT:
		return BPF_PROG_TYPE_PERF_EVENT;
	case PROG_NONE:
		break;
	}
	return BPF_PROG_TYPE_UNSPEC;
}

/* One try; log may be NULL. The descriptor or a negative errno. */
static int try_load(const struct kern_prog *p, const struct load_opts *lo,
		    const struct code_btf *btf, int btf_fd,
		    const struct bpf_insn *insns, char *log, uint32_t log_size)
{
	union bpf_attr attr;
	char name[16];

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = lo->prog_type;
	attr.expected_attach_type = lo->expected_attach_type;
	attr.attach_btf_id = lo->attach_btf_id;
	attr.prog_flags = lo->sleepable ? BPF_F_SLEEPABLE : 0;
	attr.insns = pointer(insns);
	/*
	 * Kernel helpers that read memory ask for a license compatible with the
	 * GPL.
	 */
	attr.insn_cnt = p->code->ninsns;
	attr.license = pointer("Dual MIT/GPL");
	if (log) {
		/*
		 * Level 1 has every instruction that was checked, up to the
		 * complaint.
		 */
		attr.log_level = 1;
		attr.log_buf = pointer(log);
		attr.log_size = log_size;
	}
	/*
	 * Function and line information: names and script lines in bpftool, and
	 * in the verifier's log.
	 */
	if (btf_fd >= 0) {
		attr.prog_btf_fd = (uint32_t)btf_fd;
		attr.func_info = pointer(btf->func_info);
		attr.func_info_cnt = btf->nfuncs;
		attr.func_info_rec_size = sizeof(struct bpf_func_info);
		attr.line_info = pointer(btf->line_info);
		attr.line_info_cnt = btf->nlines;
		attr.line_info_rec_size = sizeof(struct bpf_line_info);
	}
	prog_name(p->probe, name);
	sysbpf_name(attr.prog_name, name);
	return sysbpf(BPF_PROG_LOAD, &attr);
}

/* -1 when the kernel takes no BTF: programs load without it. */
static int load_btf(const struct code_btf *btf)
{
	union bpf_attr attr;

	if (!btf)
		return -1;
	memset(&attr, 0, sizeof(attr));
	attr.btf = pointer(btf->btf);
	attr.btf_size = btf->btf_size;
	return sysbpf(BPF_BTF_LOAD, &attr);
}

/* Loads again with a log, to explain. The log grows until it is all there. */
static int refused(struct session *s, struct kern_prog *p, int err,
		   const struct load_opts *lo, const struct code_btf *btf,
		   int btf_fd, const struct bpf_insn *insns)
{
	uint32_t size;
	char *log;
	int fd, rc;

	if (err == -EPERM) {
		privilege_explain(s, "load programs into the kernel");
		return EXIT_REFUSED;
	}
	/* Too many instructions, or too many to check: no need to wait for the
	 * kernel to find that out again, the place would mean little. */
	if (err == -E2BIG)
		return reject_explain(s, p, err, "BPF program is too large");
	for (size = LOG_SIZE;; size *= 4) {
		log = xcalloc(1, size);
		/* ENOSPC: the log did not fit. */
		fd = try_load(p, lo, btf, btf_fd, insns, log, size);
		if (fd != -ENOSPC || size >= LOG_SIZE_MAX)
			break;
		free(log);
	}
	if (fd >= 0) {
		/* It only failed the first time: memory, most likely. */
		p->prog_fd = fd;
		rc = 0;
	} else {
		rc = reject_explain(s, p, err, log);
	}
	free(log);
	return rc;
}

/* What a program costs at start: the verifier walks paths, not instructions. */
static void say_cost(struct session *s, const struct kern_prog *p)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	if (!log_on(&s->c->log, LOG_RUN, 2))
		return;
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)p->prog_fd;
	attr.info.info = pointer(&info);
	attr.info.info_len = sizeof(info);
	if (!sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		log_say(&s->c->log, LOG_RUN, 2,
			"%s: %u instructions, %u walked by the verifier",
			p->probe->pp, p->code->ninsns, info.verified_insns);
}

int load_prog(struct session *s, struct kern_prog *p)
{
	struct load_opts lo = { .prog_type = prog_type(p->probe->prog) };
	struct code_btf *btf;
	struct bpf_insn *insns;
	bool kfuncs = has_reloc(p->code, RELOC_KFUNC);
	int rc, btf_fd;

	if (kfuncs && !s->preempts)
		s->preempts = preempt_here() ? 1 : -1;
	kfuncs = kfuncs && s->preempts > 0;
	/* Type, attach type and BTF ids as the family needs them. */
	if (p->probe->family->load_opts) {
		rc = p->probe->family->load_opts(s->c, p->probe, &lo);
		if (rc) {
			session_note(s, "ERROR: cannot prepare probe %s: %s",
				     p->probe->pp, strerror(-rc));
			return EXIT_REFUSED;
		}
	}
	/* Line information of this program; NULL: none. */
	btf = gen_btf(s->c, s->g, p->code);
	btf_fd = load_btf(btf);
	insns = link_insns(s, p->code, kfuncs);
	/*
	 * Without a log first: writing one costs more than checking a small
	 * program.
	 */
	rc = try_load(p, &lo, btf, btf_fd, insns, NULL, 0);
	if (has_reloc(p->code, RELOC_KFUNC))
		log_say(&s->c->log, LOG_RUN, 2, "%s: %s while it holds locks",
			p->probe->pp,
			!kfuncs ? "is not preempted on this kernel" :
			rc < 0 ? "may be preempted" : "is not preempted");
	if (rc < 0 && kfuncs) {
		/* There, but not for this kind of program. */
		free(insns);
		insns = link_insns(s, p->code, false);
		rc = try_load(p, &lo, btf, btf_fd, insns, NULL, 0);
	}
	if (rc < 0 && s->comm_off > 0 && has_reloc(p->code, RELOC_COMM)) {
		/* Perhaps this kind of program may not load from tasks. */
		free(insns);
		s->comm_off = -1;
		insns = link_insns(s, p->code, false);
		rc = try_load(p, &lo, btf, btf_fd, insns, NULL, 0);
	}
	if (rc >= 0) {
		p->prog_fd = rc;
		rc = 0;
		say_cost(s, p);
	} else {
		rc = refused(s, p, rc, &lo, btf, btf_fd, insns);
	}
	if (btf_fd >= 0)
		close(btf_fd);
	free(insns);
	return rc;
}
