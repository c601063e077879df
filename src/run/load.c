/* SPDX-License-Identifier: MIT */
/* From instructions to a program in the kernel. */
#include <errno.h>
#include <ctype.h>
#include <pthread.h>
#include <sched.h>
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
		case RELOC_TURNS:
			break; /* job_try() knows */
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
		    const struct bpf_insn *insns, unsigned level, char *log,
		    uint32_t log_size)
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
		attr.log_level = level;
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
		/* Level 1 has every instruction that was checked, up to the
		 * complaint. */
		fd = try_load(p, lo, btf, btf_fd, insns, 1, log, size);
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

/* --- one program ---------------------------------------------------------- */

/*
 * A program on its way: what BPF_PROG_LOAD is given. once: see gen_btf();
 * kfuncs: with calls of kernel functions. turns: of RELOC_TURNS. fd: the
 * program, or a negative errno; UNTRIED at first.
 */
struct job {
	struct load_opts lo;
	struct code_btf *btf;
	struct bpf_insn *insns;
	int btf_fd, fd;
	bool once, kfuncs;
	unsigned turns;
};

enum { UNTRIED = -4096 }; /* no errno */

static void job_drop(struct job *j)
{
	if (j->btf_fd >= 0)
		close(j->btf_fd);
	free(j->insns);
	j->btf_fd = -1;
	j->insns = NULL;
}

static bool calls_global(const struct code *code)
{
	for (unsigned i = 0; i < code->subprogs.n; i++)
		if (code->subprogs.v[i].nparams)
			return true;
	return false;
}

/* By what is known of this kernel so far. 0, or the exit status. */
static int job_make(struct session *s, const struct kern_prog *p, bool kfuncs,
		    struct job *j)
{
	int rc;

	*j = (struct job){ .lo.prog_type = prog_type(p->probe->prog),
			   .btf_fd = -1, .fd = UNTRIED };
	kfuncs = kfuncs && has_reloc(p->code, RELOC_KFUNC);
	if (kfuncs && !s->preempts)
		s->preempts = preempt_here() ? 1 : -1;
	j->kfuncs = kfuncs && s->preempts > 0;
	/* before 5.12, global functions take no pointers to memory */
	j->once = !s->no_global[j->kfuncs] && !s->c->set.lacks.each;
	/* Type, attach type and BTF ids as the family needs them. */
	if (p->probe->family->load_opts) {
		rc = p->probe->family->load_opts(s->c, p->probe, &j->lo);
		if (rc) {
			session_note(s, "ERROR: cannot prepare probe %s: %s",
				     p->probe->pp, strerror(-rc));
			return EXIT_REFUSED;
		}
	}
	/* Line information of this program; NULL: none. */
	j->btf = gen_btf(s->c, s->g, p->code, j->once);
	j->btf_fd = load_btf(j->btf);
	j->insns = link_insns(s, p->code, j->kfuncs);
	return 0;
}

static int try_turns(const struct kern_prog *p, struct job *j, char *log,
		     uint32_t size)
{
	enum { STATS = 4 }; /* a level: the last line only */
	unsigned i;

	for (i = 0; i < p->code->relocs.n; i++)
		if (p->code->relocs.v[i].kind == RELOC_TURNS)
			j->insns[p->code->relocs.v[i].insn].imm =
				(int32_t)j->turns;
	log[0] = 0;
	return try_load(p, &j->lo, j->btf, j->btf_fd, j->insns, STATS, log,
			size);
}

/* How many instructions the kernel walked, by such a log; 0: it does not say.
 */
static unsigned long walked(const char *log)
{
	const char *at = strstr(log, "processed ");

	return at ? strtoul(at + 10, NULL, 10) : 0;
}

/*
 * A kernel without callbacks walks each round of each loop, a million
 * instructions in all. Rounds are added while that comes nowhere near: to find
 * out by being refused would take that million each time, a second or more.
 */
static void most_turns(const struct kern_prog *p, struct job *j)
{
	enum { LEAST = 16, STEP = 4, WALK_MAX = 1000000 };
	/*
	 * A line of it has the stack of each subprogram; a log that does not
	 * fit counts as a refusal.
	 */
	char log[4096];
	int more;

	j->turns = LEAST;
	j->fd = try_turns(p, j, log, sizeof(log));
	while (j->fd >= 0 && j->turns < TURNS_MOST && walked(log) &&
	       walked(log) < WALK_MAX / (2 * STEP)) {
		j->turns *= STEP;
		more = try_turns(p, j, log, sizeof(log));
		if (more < 0) {
			j->turns /= STEP;
			break;
		}
		close(j->fd);
		j->fd = more;
	}
}

/*
 * Without a log first: writing one costs more than checking a small program.
 * No other thread's data is touched.
 */
static void job_try(const struct kern_prog *p, struct job *j)
{
	if (has_reloc(p->code, RELOC_TURNS))
		most_turns(p, j);
	else
		j->fd = try_load(p, &j->lo, j->btf, j->btf_fd, j->insns, 0,
				 NULL, 0);
}

/* Once more, after something that is known of the kernel has changed. */
static int job_again(struct session *s, const struct kern_prog *p, bool kfuncs,
		     struct job *j)
{
	int rc;

	job_drop(j);
	rc = job_make(s, p, kfuncs, j);
	if (!rc)
		job_try(p, j);
	return rc;
}

/* The job was tried: what the kernel refuses is replaced, or explained. */
static int job_end(struct session *s, struct kern_prog *p, struct job *j)
{
	bool kfuncs = j->kfuncs;
	int rc = 0;

	/*
	 * From 6.10 to 6.14 no global function may be called with the scheduler
	 * held off; before 5.13 none is given memory. What was too much work
	 * (E2BIG) would be more.
	 */
	if (j->fd < 0 && j->fd != -E2BIG && j->once && calls_global(p->code)) {
		s->no_global[kfuncs] = true;
		rc = job_again(s, p, kfuncs, j);
		/* it was something else */
		if (j->fd < 0)
			s->no_global[kfuncs] = false;
	}
	if (has_reloc(p->code, RELOC_KFUNC))
		log_say(&s->c->log, LOG_RUN, 2, "%s: %s while it holds locks",
			p->probe->pp,
			!kfuncs ? "is not preempted on this kernel" :
			j->fd < 0 ? "may be preempted" : "is not preempted");
	/* There, but not for this kind of program. */
	if (!rc && j->fd < 0 && kfuncs)
		rc = job_again(s, p, false, j);
	/* Perhaps this kind of program may not load from tasks. */
	if (!rc && j->fd < 0 && s->comm_off > 0 &&
	    has_reloc(p->code, RELOC_COMM)) {
		s->comm_off = -1;
		rc = job_again(s, p, false, j);
	}
	if (rc)
		return rc;
	if (j->fd < 0)
		return refused(s, p, j->fd, &j->lo, j->btf, j->btf_fd,
			       j->insns);
	p->prog_fd = j->fd;
	if (j->turns)
		log_say(&s->c->log, LOG_RUN, 1,
			"%s: loops of up to %u rounds on this kernel",
			p->probe->pp, j->turns);
	say_cost(s, p);
	return 0;
}

/* --- all of them ---------------------------------------------------------- */

/*
 * Checking is all that costs time, and the kernel checks several programs at
 * once. Which one refuses must not depend on who is faster: programs are begun
 * in the order of the script, none after one that was refused, and what is said
 * of them is said in that order afterwards.
 */
struct crew {
	struct session *s;
	struct kern_prog *progs;
	struct job *jobs;
	unsigned n, next;
	bool stop;		/* one was refused */
	pthread_mutex_t lock;	/* of all this, and of the session */
};

enum {
	CREW_MAX = 8,		/* of threads; a server has more to do */
	CREW_WORTH = 8,		/* programs that pay for the threads */
};

static void *crew_work(void *arg)
{
	struct crew *c = arg;
	unsigned i;
	int rc;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && c->next < c->n) {
		i = c->next++;
		rc = job_make(c->s, &c->progs[i], true, &c->jobs[i]);
		if (!rc) {
			pthread_mutex_unlock(&c->lock);
			job_try(&c->progs[i], &c->jobs[i]);
			pthread_mutex_lock(&c->lock);
		}
		if (c->jobs[i].fd < 0)
			c->stop = true;
		else
			job_drop(&c->jobs[i]);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static unsigned cpus_usable(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 :
	       (unsigned)CPU_COUNT(&set);
}

/* Where no thread can be made this one does it all. */
static void crew_run(struct crew *c)
{
	unsigned n = cpus_usable(), i, made = 0;
	pthread_t thread[CREW_MAX];

	if (n > CREW_MAX)
		n = CREW_MAX;
	if (c->n - c->next < CREW_WORTH)
		n = 1;
	for (i = 1; i < n; i++)
		if (!pthread_create(&thread[made], NULL, crew_work, c))
			made++;
	crew_work(c);
	for (i = 0; i < made; i++)
		pthread_join(thread[i], NULL);
}

/* From c->next on; what was begun is ended. 0, or the exit status. */
static int load_some(struct crew *c)
{
	unsigned i = c->next;
	int rc = 0;

	c->stop = false;
	crew_run(c);
	for (; i < c->next; i++) {
		struct job *j = &c->jobs[i];

		/* kern_close() closes it, whatever becomes of the others */
		if (j->fd >= 0)
			c->progs[i].prog_fd = j->fd;
		/* what stopped job_make() has been said */
		if (!rc)
			rc = j->fd == UNTRIED ? EXIT_REFUSED :
			     job_end(c->s, &c->progs[i], j);
		job_drop(j);
	}
	return rc;
}

int load_progs(struct session *s, struct kern_prog *progs, unsigned n)
{
	struct crew c = { .s = s, .progs = progs, .n = n,
			  .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc = 0;

	c.jobs = xcalloc(n + 1, sizeof(*c.jobs));
	while (!rc && c.next < n)
		rc = load_some(&c);
	free(c.jobs);
	return rc;
}
