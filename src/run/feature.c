/* SPDX-License-Identifier: MIT */
/* Trying what the kernel can do. */
#include "run/feature.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "run/session.h"
#include "store/hostprog.h"
#include "store/insn.h"

/* What the kernel's answer to a call means; closes what it opened. */
static enum feature_answer answer(int fd)
{
	if (fd >= 0) {
		close(fd);
		return FEATURE_YES;
	}
	/* EACCES is the verifier's answer, not one about privilege. */
	return fd == -EPERM ? FEATURE_FORBIDDEN : FEATURE_NO;
}

/* No log and no second try: only whether it works counts. */
static int load(enum bpf_prog_type type, enum bpf_attach_type at,
		const struct bpf_insn *insns, size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = at);

	return bpf_prog_load(type, "tally_try", "Dual MIT/GPL", insns, n, &o);
}

static int load_empty(enum bpf_prog_type type, enum bpf_attach_type at)
{
	const struct bpf_insn insns[] = { MOV_IMM(0, 0), EXIT };

	return load(type, at, insns, 2);
}

/* Loading alone does not tell: older kernels know the type but not the call. */
static enum feature_answer try_raw_tp(void)
{
	int fd = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0), link;
	enum feature_answer a;

	if (fd < 0)
		return answer(fd);
	link = bpf_raw_tracepoint_open("sys_enter", fd);
	a = answer(link);
	close(fd);
	return a;
}

static enum feature_answer try_mmap(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	return answer(bpf_map_create(BPF_MAP_TYPE_ARRAY, "tally_try", 4, 8, 1,
				     &o));
}

/* An empty map answers -ENOENT where reading in batches exists. */
static enum feature_answer try_batch(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "tally_try", 4, 8, 4, NULL);
	uint32_t cursor = 0, n = 4, keys[4];
	uint64_t values[4];
	int rc;

	if (fd < 0)
		return answer(fd);
	rc = bpf_map_lookup_batch(fd, NULL, &cursor, keys, values, &n, NULL);
	close(fd);
	return !rc || rc == -ENOENT ? FEATURE_YES : FEATURE_NO;
}

/*
 * cmpxchg came with the fetching atomics (Linux 5.12), so it stands for them.
 * It needs r0 (expected) and a word on the stack.
 */
static enum feature_answer try_fetch_atomic(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 0),
		MOV_IMM(0, 0),
		MOV_IMM(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 1, -8, BPF_CMPXCHG),
		MOV_IMM(0, 0),
		EXIT,
	};

	return answer(load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, insns, 6));
}

/*
 * With a callback, which does nothing: bpf_loop() once, or a walk over a map
 * of one element.
 */
static enum feature_answer try_callback(bool loop)
{
	int map = loop ? -1 : bpf_map_create(BPF_MAP_TYPE_ARRAY, "tally_try", 4,
					     8, 1, NULL);
	const struct bpf_insn v[] = {
		/* both ways of the first argument take two instructions */
		LOAD_64(1, loop ? 0 : BPF_PSEUDO_MAP_FD, loop ? 1 : map, 0),
		LOAD_64(2, BPF_PSEUDO_FUNC, 6, 0),
		MOV_IMM(3, 0), MOV_IMM(4, 0),
		CALL(loop ? BPF_FUNC_loop : BPF_FUNC_for_each_map_elem),
		MOV_IMM(0, 0), EXIT,
		MOV_IMM(0, 0), EXIT,
	};
	const struct hostprog_code code = {
		.name = "tally_try", .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = v, .n = sizeof(v) / sizeof(*v),
		.callback = sizeof(v) / sizeof(*v) - 2,
	};
	struct hostprog p = { 0 };
	int rc = hostprog_load(&p, &code);

	hostprog_close(&p);
	if (map >= 0)
		close(map);
	return !rc ? FEATURE_YES
	       : rc == -EPERM ? FEATURE_FORBIDDEN : FEATURE_NO;
}

/* vfs_read: a function that every kernel has, and that BTF describes. */
static enum feature_answer try_btf_prog(enum bpf_attach_type at)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = at);
	const struct bpf_insn insns[] = { MOV_IMM(0, 0), EXIT };
	int id = libbpf_find_vmlinux_btf_id("vfs_read", at);

	if (id < 0)
		return FEATURE_NO;
	o.attach_btf_id = (uint32_t)id;
	return answer(bpf_prog_load(BPF_PROG_TYPE_TRACING, "tally_try",
				    "Dual MIT/GPL", insns, 2, &o));
}

/* The part of union bpf_attr that links have; newer than some headers. */
struct link_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint32_t flags, cnt;
			uint64_t syms, addrs, cookies;
		} kprobe;
		struct {
			uint64_t path, offsets, ref_ctrs, cookies;
			uint32_t cnt, flags, pid;
		} uprobe;
	} u;
};

enum { ATTACH_UPROBE_MULTI = 48 };

/* Attaching to a place that does not exist: where the kind of link is known
 * that is the complaint. A lack of privilege is told before that (EPERM), so it
 * is not mistaken for a yes. */
static enum feature_answer try_multi(int at)
{
	struct link_attr attr = { .attach_type = (uint32_t)at };
	const char *sym = "tally_has_no_such_function";
	const char *path = "/tally/has/no/such/file";
	uint64_t offset = 16;
	int fd = load_empty(BPF_PROG_TYPE_KPROBE,
			    (enum bpf_attach_type)at), link, err;

	if (fd < 0)
		return answer(fd);
	attr.prog_fd = (uint32_t)fd;
	if (at == BPF_TRACE_KPROBE_MULTI) {
		attr.u.kprobe.cnt = 1;
		attr.u.kprobe.syms = (uint64_t)(uintptr_t)&sym;
	} else {
		attr.u.uprobe.cnt = 1;
		attr.u.uprobe.path = (uint64_t)(uintptr_t)path;
		attr.u.uprobe.offsets = (uint64_t)(uintptr_t)&offset;
	}
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	err = errno;
	close(fd);
	if (link >= 0)
		return answer(link);
	return err == EPERM ? FEATURE_FORBIDDEN
	       : err == ENOENT || err == ESRCH ? FEATURE_YES : FEATURE_NO;
}

static enum feature_answer try_file(const char *path)
{
	return !access(path, R_OK) ? FEATURE_YES
	       : errno == EACCES ? FEATURE_FORBIDDEN : FEATURE_NO;
}

/*
 * Nothing is remembered: --info asks each question once, and so does a session.
 */
static enum feature_answer feature_try(enum feature f)
{
	switch (f) {
	case FEATURE_LOAD:
		return answer(load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0));
	case FEATURE_RAW_TP:
		return try_raw_tp();
	case FEATURE_BTF:
		return try_file("/sys/kernel/btf/vmlinux");
	case FEATURE_MMAP:
		return try_mmap();
	case FEATURE_RINGBUF:
		return answer(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tally_try",
					     0, 0, 4096, NULL));
	case FEATURE_BATCH:
		return try_batch();
	case FEATURE_LOOP:
		return try_callback(true);
	case FEATURE_EACH:
		return try_callback(false);
	case FEATURE_FETCH_ATOMIC:
		return try_fetch_atomic();
	case FEATURE_FENTRY:
		return try_btf_prog(BPF_TRACE_FENTRY);
	case FEATURE_KPROBE_MULTI:
		return try_multi(BPF_TRACE_KPROBE_MULTI);
	case FEATURE_UPROBE_MULTI:
		return try_multi(ATTACH_UPROBE_MULTI);
	case FEATURE_TRACEFS:
		return !access("/sys/kernel/tracing/events", R_OK) ||
		       !access("/sys/kernel/debug/tracing/events", R_OK)
		       ? FEATURE_YES : FEATURE_NO;
	/* Only while this descriptor is open; it is closed at once. */
	case FEATURE_STATS: {
		int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

		return answer(fd);
	}
	case FEATURE_MAX:
		break;
	}
	return FEATURE_NO;
}

/* FORBIDDEN is no lack: then nothing is loaded at all, and that is said. */
void feature_lacks(struct lacks *l)
{
	if (!l->loop)
		l->loop = feature_try(FEATURE_LOOP) == FEATURE_NO;
	if (!l->fetch)
		l->fetch = feature_try(FEATURE_FETCH_ATOMIC) == FEATURE_NO;
	if (l->loop && !l->each)
		l->each = feature_try(FEATURE_EACH) == FEATURE_NO;
}

/* Sorted as feature.def is: what everything needs comes first. */
int feature_info(FILE *f)
{
	static const struct {
		const char *name, *without;
	} rows[] = {
#define FEATURE(id, name, without) { name, without },
#include "run/feature.def"
#undef FEATURE
	};
	static const char *const said[] = {
		[FEATURE_NO] = "no", [FEATURE_YES] = "yes",
		[FEATURE_FORBIDDEN] = "not allowed",
	};
	enum feature_answer a;
	struct utsname u;
	unsigned i;

	libbpf_set_print(NULL);
	if (!uname(&u))
		fprintf(f, "%s %s %s\n", u.sysname, u.release, u.machine);
	fprintf(f, "tally %s, libbpf %s, %d possible CPUs\n", TALLY_VERSION,
		libbpf_version_string(), libbpf_num_possible_cpus());
	for (i = 0; i < FEATURE_MAX; i++) {
		a = feature_try(i);
		fprintf(f, "%-52s %s\n", rows[i].name, said[a]);
		if (a != FEATURE_YES)
			fprintf(f, "    without it: %s\n", rows[i].without);
	}
	return EXIT_OK;
}
