/* SPDX-License-Identifier: MIT */
/*
 * kernel.data(ADDRESS or "variable"), process.data(...): the processor stops
 * after an instruction that wrote (or read) some bytes. Tags: 0 write, 1 rw.
 * The kernel's memory is watched on every CPU, a program's in each thread of
 * one process.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/perf.h"
#include "probe/target.h"
#include "probe/uprobe.h"
#include "types/ksyms.h"
#include "types/types.h"

/* What one debug register of the processor watches. */
enum { BYTES_MAX = 8 };

/* struct probe.data */
struct watch {
	uint64_t addr;
	unsigned bytes;
	bool is_rw;
	long pid; /* 0: the kernel's memory; -1: the target's */
};

/* What a point asks for. */
struct watch_spec {
	const struct literal *what; /* address or name */
	bool has_length;	    /* else: as large as the variable */
	int64_t bytes;		    /* .length()'s: any number */
	long pid;
};

static void read_spec(const struct match *m, struct watch_spec *ret)
{
	*ret = (struct watch_spec){0};
	for (unsigned i = 0; i < m->nparts; i++) {
		if (!strcmp(m->name[i], "data"))
			ret->what = m->arg[i];
		else if (!strcmp(m->name[i], "length")) {
			ret->has_length = true;
			ret->bytes = m->arg[i]->num;
		} else if (!strcmp(m->name[i], "process"))
			ret->pid = m->arg[i] ? (long)m->arg[i]->num : -1;
	}
}

/* --- where ---------------------------------------------------------------- */

/*
 * Both: the reason why not, or NULL with the address and the bytes (0: not
 * known).
 */
static const char *kernel_variable(struct compile *c, const char *name,
				   uint64_t *ret, uint64_t *ret_size)
{
	const struct ctype *type;
	bool percpu = false;
	int n = ksyms_variable(c, "", name, ret);
	uint64_t any;

	if (n < 0)
		return arena_printf(c->a, "cannot read /proc/kallsyms: %s",
				    strerror(-n));
	if (!n && ksyms_variable(c, "", "jiffies", &any) == 0)
		return "/proc/kallsyms has no variables: the kernel was built "
		       "without CONFIG_KALLSYMS_ALL; give the address";
	if (!n)
		return arena_printf(c->a, "the kernel has no variable %s",
				    name);
	if (n > 1)
		return arena_printf(c->a,
				    "%d variables are called %s, in several "
				    "files: give the address of one",
				    n, name);
	if (!*ret)
		return "/proc/kallsyms hides addresses from who is not root "
		       "(kernel.kptr_restrict)";
	type = types_variable(c, "", name, &percpu);
	*ret_size = type ? type->size : 0;
	if (percpu)
		return arena_printf(c->a,
				    "every CPU has a %s of its own: give the "
				    "address of one",
				    name);
	return NULL;
}

/*
 * A program that is still to be started by -c has its variables at known
 * addresses only when it was linked for them.
 */
static const char *program_variable(struct compile *c,
				    const struct elf_file *f, const char *name,
				    long pid, uint64_t *ret, uint64_t *ret_size)
{
	uint64_t bias = 0;

	if (!elf_variable(f, name, ret, ret_size))
		return arena_printf(c->a, "'%s' has no variable %s", f->path,
				    name);
	if (!elf_is_fixed(f) && pid <= 0)
		return arena_printf(c->a,
				    "where '%s' will be loaded is not known "
				    "before it runs: start it, and use -x PID",
				    f->path);
	if (!elf_is_fixed(f) && elf_bias(f, pid, &bias))
		return arena_printf(c->a, "process %ld does not run '%s'", pid,
				    f->path);
	*ret += bias;
	return NULL;
}

/* The most bytes that may be watched at an address: it must be aligned. */
static unsigned aligned_bytes(uint64_t addr)
{
	unsigned n = BYTES_MAX;

	while (addr % n)
		n /= 2;
	return n;
}

static const char *check_bytes(struct compile *c, uint64_t addr, int64_t n)
{
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return arena_printf(c->a,
				    "1, 2, 4 or 8 bytes can be watched, not "
				    "%" PRId64 ": write .length(8)",
				    n);
	if (addr % n)
		return arena_printf(c->a,
				    "0x%" PRIx64 " is no multiple of the "
				    "length %" PRId64
				    ", which the processor wants",
				    addr, n);
	return NULL;
}

/* pp() has the address as scripts write it, in hexadecimal. */
static const char *point_text(struct compile *c, const struct watch_spec *s,
			      const struct watch *w)
{
	const char *head = "kernel", *what, *length = "";

	if (s->pid)
		head = s->pid > 0 ? arena_printf(c->a, "process(%ld)", s->pid)
				  : "process";
	what = s->what->type == TY_LONG
		   ? arena_printf(c->a, "0x%" PRIx64, w->addr)
		   : arena_printf(c->a, "\"%s\"", s->what->str);
	if (s->has_length)
		length = arena_printf(c->a, ".length(%u)", w->bytes);
	return str_internz(c->str,
			   arena_printf(c->a, "%s.data(%s)%s.%s", head, what,
					length, w->is_rw ? "rw" : "write"));
}

/*
 * NULL, or why the variable or the address cannot be watched. f: the program
 * whose memory it is, or NULL.
 */
static const char *find_place(struct compile *c, const struct watch_spec *s,
			      const struct elf_file *f, struct watch *ret)
{
	uint64_t size = 0;
	const char *why = NULL;
	long pid = s->pid > 0 ? s->pid : c->set.target_pid;

	if (s->what->type == TY_LONG)
		ret->addr = (uint64_t)s->what->num;
	else if (!f)
		why = kernel_variable(c, s->what->str, &ret->addr, &size);
	else
		why = program_variable(c, f, s->what->str, pid, &ret->addr,
				       &size);
	if (why)
		return why;
	if (s->has_length)
		size = (uint64_t)s->bytes;
	else if (!size)
		size = aligned_bytes(ret->addr);
	ret->bytes = (unsigned)size;
	return check_bytes(c, ret->addr, (int64_t)size);
}

static int add_watch(struct compile *c, const struct match *m,
		     const struct elf_file *f, probe_list *out)
{
	struct watch *w = arena_new_of(c->a, struct watch);
	struct watch_spec s;
	const char *why;
	struct probe *p;

	read_spec(m, &s);
	w->pid = s.pid;
	w->is_rw = m->pattern->tag == 1;
	why = find_place(c, &s, f, w);
	if (why)
		return family_refuse(c, m, "%s", why);
	p = family_probe(c, m);
	p->data = w;
	p->place = PLACE_KERNEL;
	p->prog = PROG_PERF_EVENT;
	p->guard = GUARD_SELF;
	p->pp = point_text(c, &s, w);
	vec_push(c->a, out, p);
	return 0;
}

static int expand_program(const struct uprobe_file *f)
{
	return add_watch(f->c, f->m, f->elf, f->out);
}

/* The program is looked for even when an address is given: it must be there. */
static int expand_watch(struct compile *c, const struct match *m,
			probe_list *out)
{
	if (strcmp(m->name[0], "kernel"))
		return uprobe_expand(c, m, out, expand_program);
	return add_watch(c, m, NULL, out);
}

/* The place is all that is known of a breakpoint. */
static int target_watch(struct compile *c, struct probe *p, struct node *n,
			bool quiet)
{
	if (*n->u.target.name == '@')
		return probe_cast(c, p, n, quiet);
	return target_unknown(c, p, n, quiet);
}

/* --- attaching ------------------------------------------------------------ */

static const char *explain(struct compile *c, const struct watch *w, int err)
{
	switch (err) {
	case -ENOSPC:
		return "all debug registers are in use (a processor has four, "
		       "which debuggers use too)";
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
		return "this machine has no hardware breakpoints";
	case -EACCES:
	case -EPERM:
		return "not allowed to set hardware breakpoints: run as root, "
		       "or with CAP_PERFMON";
	case -EINVAL:
		return arena_printf(c->a,
				    "the kernel refuses a breakpoint at "
				    "0x%" PRIx64,
				    w->addr);
	case -ENOSYS:
		return "this kernel cannot keep a breakpoint to the threads "
		       "of one process (since Linux 5.13)";
	case -ESRCH:
		return "the process has ended";
	default:
		return arena_printf(c->a, "hardware breakpoint: %s",
				    strerror(-err));
	}
}

/* Was it inherit_thread that the kernel did not know? */
static bool takes_without(struct perf_event_attr attr, long tid)
{
	int fd;

	attr.inherit_thread = 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * A breakpoint belongs to a thread: one for each there is, and their later
 * ones inherit it. Threads that start while the list is read may be missed,
 * unless they are children of one that has it already.
 */
static int attach_threads(struct compile *c, struct perf_event_attr *attr,
			  long pid, int prog_fd, struct attach *ret)
{
	DIR *d = opendir(arena_printf(c->a, "/proc/%ld/task", pid));
	struct cpu_event on = {.cpu = CPU_ANY};
	struct dirent *e;
	int fd = d ? 0 : -ESRCH;

	attr->inherit = 1;
	attr->inherit_thread = 1; /* not processes that it forks */
	while (d && fd >= 0 && (e = readdir(d))) {
		long tid = strtol(e->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ESRCH) {
			fd = 0; /* has ended since the list was read */
			continue;
		}
		if (fd < 0)
			fd = -errno;
		if (fd == -EINVAL && takes_without(*attr, tid))
			fd = -ENOSYS;
		fd = family_start_event(fd, prog_fd);
		on.fd = fd;
		if (fd >= 0)
			vec_push(c->a, &ret->on, on);
	}
	if (d)
		closedir(d);
	if (fd >= 0 && !ret->on.n)
		fd = -ESRCH;
	while (fd < 0 && ret->on.n)
		close(ret->on.v[--ret->on.n].fd);
	return fd < 0 ? fd : 0;
}

static struct perf_event_attr attr_of(const struct watch *w)
{
	return (struct perf_event_attr){
	    .type = PERF_TYPE_BREAKPOINT,
	    .size = sizeof(struct perf_event_attr),
	    .bp_type = w->is_rw ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
	    .bp_addr = w->addr,
	    .bp_len = w->bytes,
	    .sample_period = 1,
	    /* what its own code does: starting it, the kernel clears memory */
	    .exclude_kernel = w->pid != 0,
	    .disabled = 1,
	};
}

static int attach_watch(struct compile *c, struct probe *p, int prog_fd,
			struct attach *ret, const char **ret_why)
{
	const struct watch *w = p->data;
	struct perf_event_attr attr = attr_of(w);
	unsigned cpu;
	int err;

	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	if (w->pid)
		err = attach_threads(c, &attr,
				     w->pid > 0 ? w->pid : c->set.target_pid,
				     prog_fd, ret);
	else
		err = perf_attach_cpus(c, &attr, prog_fd, ret, &cpu);
	if (err)
		*ret_why = explain(c, w, err);
	return err;
}

/* Of one event; 0 for none. */
static uint64_t due_event(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* The kernel counts hits that came while another program ran on that CPU. */
static uint64_t due_watch(const struct probe *p, const struct attach *at)
{
	uint64_t due = at->past;

	(void)p;
	for (unsigned i = 0; i < at->on.n; i++)
		due += due_event(at->on.v[i].fd);
	return due;
}

/* What belongs to threads goes with them from CPU to CPU. */
static int attach_cpu_watch(struct compile *c, struct probe *p, int prog_fd,
			    unsigned cpu, struct attach *at,
			    const char **ret_why)
{
	const struct watch *w = p->data;
	struct perf_event_attr attr = attr_of(w);
	int err;

	if (w->pid)
		return -ENODEV;
	at->past += due_event(perf_event_on(at, cpu));
	err = perf_attach_cpu(c, &attr, prog_fd, cpu, at);
	if (err)
		*ret_why = explain(c, w, err);
	return err;
}

static int load_opts_watch(struct compile *c, struct probe *p,
			   struct load_opts *ret)
{
	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_PERF_EVENT};
	return 0;
}

const struct family family_watch = {
    .name = "watch",
    .type = "hardware_data_breakpoint",
    .expand = expand_watch,
    .target = target_watch,
    .attach = attach_watch,
    .attach_cpu = attach_cpu_watch,
    .due = due_watch,
    .load_opts = load_opts_watch,
};
