/* SPDX-License-Identifier: MIT */
/*
 * Two ways: a uprobe_multi link (6.6; twenty of them detach in 50 ms) or, for
 * older kernels, a perf event of the uprobe PMU (100 ms each). What the kernel
 * can do is asked of it by attaching to nothing, never guessed from a version.
 */
#include "probe/family.h"
#include "probe/uprobe.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/insn.h"
#include "store/sysbpf.h"

/* Headers older than the kernel do not have these. */
enum { ATTACH_UPROBE_MULTI = 48, MULTI_RETURN = 1 };

/*
 * The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi; the
 * kernel fills the rest with zeros.
 */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid;
	uint32_t pad;
};

/*
 * One place per link: the program knows by it which probe was hit, and one
 * probe can be detached alone. semaphore 0: none; pid 0: all processes. The
 * link, or a negative errno.
 */
static int multi_link(int prog_fd, const char *path, uint64_t offset,
		      uint64_t semaphore, uint32_t flags, uint32_t pid)
{
	struct multi_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.prog_fd = prog_fd;
	a.attach_type = ATTACH_UPROBE_MULTI;
	a.path = (uintptr_t)path;
	a.offsets = (uintptr_t)&offset;
	if (semaphore)
		a.ref_ctr_offsets = (uintptr_t)&semaphore;
	a.cnt = 1;
	a.multi_flags = flags;
	a.pid = pid;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
	return fd < 0 ? -errno : fd;
}

/* A program that returns 0: the questions below need one to attach. */
static int load_nothing(void)
{
	const struct bpf_insn insns[] = {MOV_IMM(0, 0), EXIT};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_KPROBE;
	a.expected_attach_type = ATTACH_UPROBE_MULTI;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = 2;
	a.license = (uintptr_t) "Dual MIT/GPL";
	return sysbpf(BPF_PROG_LOAD, &a);
}

/*
 * "/" is no file: a kernel that knows uprobe_multi says so (EBADF), one that
 * does not finds the request invalid. Pid -1 is checked first by the kernels
 * that filter by process; the earlier ones filtered by thread, which is wrong
 * for a program with threads.
 */
static bool multi_works(bool with_pid)
{
	int prog = load_nothing(), err;

	if (prog < 0)
		return false;
	err = multi_link(prog, "/", 0, 0, 0, with_pid ? (uint32_t)-1 : 0);
	if (err >= 0)
		close(err);
	close(prog);
	return err == (with_pid ? -EINVAL : -EBADF);
}

/*
 * Called before attaching: the program's attach type must be the one of the way
 * that will be used, and is fixed when it is loaded.
 */
int uprobe_load_opts(struct compile *c, struct probe *p, struct load_opts *ret)
{
	struct uprobe *u = p->data;

	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_KPROBE};
	if (!u->how->known)
		u->how->multi =
		    /* an old kernel would filter by thread */
		    multi_works(false) && (!u->pid || multi_works(true));
	u->how->known = true;
	if (u->how->multi)
		ret->expected_attach_type = ATTACH_UPROBE_MULTI;
	return 0;
}

/* --- the older way -------------------------------------------------------- */

#define PMU "/sys/bus/event_source/devices/uprobe/"

/*
 * A pid limits the event to that process: the kernel filters uprobes by address
 * space, so threads need no attr.inherit.
 */
static int perf_link(const struct uprobe *u, long pid, int prog_fd)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1};
	/* shift: where sysfs has no word on it */
	unsigned type, bit = 0, shift = 32;
	int err;

	err = family_sysfs(PMU "type", "%u", &type);
	if (err)
		return err;
	attr.type = type;
	attr.uprobe_path = (uintptr_t)u->path;
	attr.probe_offset = u->offset;
	if (u->is_return) {
		err = family_sysfs(PMU "format/retprobe", "config:%u", &bit);
		if (err)
			return err;
		attr.config |= UINT64_C(1) << bit;
	}
	if (u->semaphore) {
		err = family_sysfs(PMU "format/ref_ctr_offset", "config:%u",
				   &shift);
		if (err)
			return err;
		attr.config |= u->semaphore << shift;
	}
	return family_start_event(family_open_event(&attr, pid), prog_fd);
}

/* --- both ----------------------------------------------------------------- */

/*
 * errno as the two ways give it: they share the code that looks at the file and
 * the instruction (kernel/events/uprobes.c).
 */
static const char *explain(struct compile *c, const struct uprobe *u, long pid,
			   int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "not allowed to attach to user programs: run as root, "
		       "or with CAP_BPF and CAP_PERFMON";
	case -ESRCH:
		return arena_printf(c->a, "process %ld has ended", pid);
	case -ENOENT:
		if (access(u->path, F_OK))
			return arena_printf(c->a, "%s is gone", u->path);
		return "the kernel has no uprobes (CONFIG_UPROBE_EVENTS)";
	case -EINVAL:
		return arena_printf(c->a,
				    "the kernel cannot probe %s at file offset "
				    "0x%llx (the file is not on a file system "
				    "that can be mapped, or has changed)",
				    u->path, (unsigned long long)u->offset);
	case -EOPNOTSUPP:
		return arena_printf(c->a,
				    "the instruction at file offset 0x%llx of "
				    "%s cannot be probed",
				    (unsigned long long)u->offset, u->path);
	case -EMFILE:
		return "too many open files: raise `ulimit -n` (one or two are "
		       "needed for each probe)";
	default:
		return arena_printf(c->a, "%s at file offset 0x%llx: %s",
				    u->path, (unsigned long long)u->offset,
				    strerror(-err));
	}
}

int uprobe_attach(struct compile *c, struct probe *p, int prog_fd,
		  struct attach *ret, const char **ret_why)
{
	const struct uprobe *u = p->data;
	/* -1: the process of -c exists by now */
	long pid = u->pid < 0 ? c->set.target_pid : u->pid;
	int fd;

	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	if (u->how->multi)
		fd = multi_link(prog_fd, u->path, u->offset, u->semaphore,
				u->is_return ? MULTI_RETURN : 0, pid);
	else
		fd = perf_link(u, pid, prog_fd);
	if (fd < 0) {
		*ret_why = explain(c, u, pid, fd);
		return fd;
	}
	ret->link_fd = fd;
	return 0;
}
