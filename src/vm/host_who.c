/* SPDX-License-Identifier: MIT */
/* Built-ins about the handler's context: who, when, where. */
#include "vm/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Identities. The numbers of builtin.def's first group: whose process. */
static bool ids(const struct vm_who *w, enum builtin_id id, uint64_t *ret)
{
	switch (id) {
	case BI_PID:
		*ret = w->pid;
		return true;
	case BI_TID:
		*ret = w->tid;
		return true;
	case BI_PPID:
		*ret = w->ppid;
		return true;
	case BI_PGRP:
		*ret = w->pgrp;
		return true;
	case BI_SID:
		*ret = w->sid;
		return true;
	case BI_UID:
		*ret = w->uid;
		return true;
	case BI_EUID:
		*ret = w->euid;
		return true;
	case BI_GID:
		*ret = w->gid;
		return true;
	case BI_EGID:
		*ret = w->egid;
		return true;
	case BI_CPU:
	case BI_CPUID:
		*ret = w->cpu;
		return true;
	default:
		return false;
	}
}

/*
 * Clocks. All from one reading of the time, so that two built-ins in one
 * handler of a simulated event agree.
 */
static bool clocks(const struct vm *vm, const struct vm_who *w,
		   enum builtin_id id, uint64_t *ret)
{
	switch (id) {
	case BI_GETTIMEOFDAY_NS:
		*ret = (uint64_t)w->wall_ns;
		return true;
	case BI_GETTIMEOFDAY_US:
		*ret = (uint64_t)(w->wall_ns / 1000);
		return true;
	case BI_GETTIMEOFDAY_MS:
		*ret = (uint64_t)(w->wall_ns / 1000000);
		return true;
	case BI_GETTIMEOFDAY_S:
		*ret = (uint64_t)(w->wall_ns / 1000000000);
		return true;
	case BI_KTIME_GET_NS:
	case BI_LOCAL_CLOCK_NS:
	case BI_GET_CYCLES:
		*ret = (uint64_t)w->mono_ns;
		return true;
	case BI_LOCAL_CLOCK_US:
		*ret = (uint64_t)(w->mono_ns / 1000);
		return true;
	case BI_LOCAL_CLOCK_MS:
		*ret = (uint64_t)(w->mono_ns / 1000000);
		return true;
	case BI_LOCAL_CLOCK_S:
		*ret = (uint64_t)(w->mono_ns / 1000000000);
		return true;
	case BI_JIFFIES:
		/* Ticks since the machine started, counting from 0. */
		*ret = (uint64_t)(w->mono_ns / vm->tick_ns);
		return true;
	case BI_HZ:
		*ret = (uint64_t)((1000000000 + vm->tick_ns / 2) / vm->tick_ns);
		return true;
	default:
		return false;
	}
}

/* The quoted text behind word in a probe point: up to the quote, or to the
 * first of the stop bytes. */
static const char *quoted(const char *pp, const char *word, const char *stop,
			  size_t *ret_n)
{
	const char *s = pp ? strstr(pp, word) : NULL;
	const char *end;

	*ret_n = 0;
	if (!s)
		return "";
	s += strlen(word);
	if (*s++ != '"')
		return "";
	end = strchr(s, '"');
	if (end)
		*ret_n = strcspn(s, stop) < (size_t)(end - s)
			     ? strcspn(s, stop)
			     : (size_t)(end - s);
	return s;
}

/* The probe itself. */
static bool place(struct vm *vm, enum builtin_id id,
		  const struct builtin_call *b, uint64_t *ret)
{
	const struct probe *p = vm->probe;
	const char *s = "";
	struct vm_who w;
	size_t n;

	switch (id) {
	case BI_USER_MODE:
		vm_whoami(vm, &w);
		*ret = w.user_mode;
		return true;
	case BI_PP:
		s = p && p->pp ? p->pp : "";
		n = strlen(s);
		break;
	case BI_PN:
		s = p && p->pn ? p->pn : "";
		n = strlen(s);
		break;
	case BI_PROBE_TYPE:
		s = p && p->family && p->family->type ? p->family->type : "";
		n = strlen(s);
		break;
	case BI_PPFUNC:
	case BI_PROBEFUNC:
		s = quoted(p ? p->pp : NULL, "function(", "@\"", &n);
		if (!n)
			s = quoted(p ? p->pp : NULL, "statement(", "@\"", &n);
		break;
	case BI_PROBEMOD:
		s = quoted(p ? p->pp : NULL, "module(", "\"", &n);
		break;
	case BI_IS_RETURN:
		*ret = p && p->is_return;
		return true;
	/* The host has no registers of an event. */
	case BI_REGISTERS_VALID:
		*ret = 0;
		return true;
	default:
		return false;
	}
	*ret = bret_str(vm, b, s, n);
	return true;
}

/* The first bytes of /proc/PID/name; "" when there is no such process. */
static void read_proc(int64_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	*buf = 0;
	snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	close(fd);
}

static uint64_t proc_mem(int64_t pid, int64_t field)
{
	char buf[256], *at = buf;
	uint64_t v = 0;

	read_proc(pid, "statm", buf, sizeof(buf));
	for (int64_t i = 0; i <= field && *at; i++)
		v = strtoull(at, &at, 10);
	return v;
}

/* In 1/65536, as sysinfo(2) has it; the file in /proc has two digits only. */
static uint64_t loadavg(int64_t n)
{
	struct sysinfo info;

	if (n < 0 || n > 2 || sysinfo(&info))
		return 0;
	return info.loads[n];
}

/*
 * The node that a page is on when the host gets to it: the kernel tells by
 * move_pages(2) when it is not asked to move any. Kernels without NUMA have
 * one node, number 0, and not the call.
 */
static uint64_t addr_node(int64_t pid, int64_t addr)
{
	void *page = (void *)(uintptr_t)addr;
	int node = -1;

	if (syscall(SYS_move_pages, (int)pid, 1L, &page, NULL, &node, 0))
		return errno == ENOSYS ? 0 : (uint64_t)-1;
	return node < 0 ? (uint64_t)-1 : (uint64_t)node;
}

static uint64_t counter(const struct vm_event *e, const char *name)
{
	unsigned i;

	for (i = 0; e && i < e->ncounters; i++)
		if (!strcmp(e->counter[i].name, name))
			return e->counter[i].value;
	return 0;
}

bool builtin_who(struct vm *vm, enum builtin_id id,
		 const struct builtin_call *b, uint64_t *ret)
{
	struct vm_who w;
	char comm[32];
	size_t n;

	/* Some need no identity, which may take system calls to find. */
	switch (id) {
	case BI_PID2EXECNAME:
		read_proc(barg_num(vm, b, 0), "comm", comm, sizeof(comm));
		*ret = bret_str(vm, b, comm, strcspn(comm, "\n"));
		return true;
	case BI_PROC_MEM:
		*ret = proc_mem(barg_num(vm, b, 0), barg_num(vm, b, 1));
		return true;
	case BI_LOADAVG:
		*ret = loadavg(barg_num(vm, b, 0));
		return true;
	case BI_ADDR_NODE:
		*ret = addr_node(barg_num(vm, b, 0), barg_num(vm, b, 1));
		return true;
	case BI_TARGET_NAMESPACES:
		*ret = (uint64_t)vm->c->set.target_namespaces;
		return true;
	case BI_TASK_CURRENT:
		/* Ours, as that of the reference's own begin probes. */
		*ret = vm->hooks.task && !vm->event
			   ? vm->hooks.task(vm->hooks.ctx)
			   : 0;
		return true;
	case BI_TARGET:
		*ret = vm->hooks.target
			   ? (uint64_t)vm->hooks.target(vm->hooks.ctx)
			   : (uint64_t)vm->c->set.target_pid;
		return true;
	case BI_STP_PID:
		*ret = (uint64_t)getpid();
		return true;
	case BI_PERF_READ:
		*ret = counter(vm->event, barg_str(vm, b, 0, &n));
		return true;
	case BI_EXECNAME:
	case BI_PEXECNAME:
		vm_whoami(vm, &w);
		if (id == BI_EXECNAME)
			*ret = bret_str(vm, b, w.comm,
					strnlen(w.comm, sizeof(w.comm)));
		else
			*ret = bret_str(vm, b, w.pcomm,
					strnlen(w.pcomm, sizeof(w.pcomm)));
		return true;
	default:
		break;
	}
	/*
	 * The order of builtin.def: everything up to BI_HZ is a number about
	 * who or when.
	 */
	if (id > BI_HZ)
		return place(vm, id, b, ret);
	vm_whoami(vm, &w);
	return ids(&w, id, ret) || clocks(vm, &w, id, ret);
}
