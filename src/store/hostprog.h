/* SPDX-License-Identifier: MIT */
/*
 * Small programs of the host's own. They do in the kernel what system calls
 * cannot (change a part of an element, read kernel memory) or only slowly, on
 * request and not on events (BPF_PROG_TEST_RUN). Each is loaded when it is
 * first wanted, as most scripts want none.
 */
#ifndef STORE_HOSTPROG_H
#define STORE_HOSTPROG_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes: not asked for yet. Negative: refused, with this errno, for good:
 * what a kernel cannot do now it cannot do later. */
struct hostprog {
	int fd;
};

struct hostprog_code {
	const char *name; /* shown by bpftool; cut to 15 bytes */
	/*
	 * SYSCALL (Linux 5.14): its context can be read and written, and comes
	 * back; it may sleep. RAW_TRACEPOINT (5.10): no context; it stays on
	 * its CPU.
	 */
	enum bpf_prog_type type;
	const struct bpf_insn *insns; /* store/insn.h */
	uint32_t n;
	/* Where the callback begins that it hands to a helper; 0: none. Takes
	 * any arguments, as far as the kernel asks. */
	uint32_t callback;
};

static inline bool hostprog_asked(const struct hostprog *p)
{
	return p->fd != 0;
}

/* 0 or a negative errno. Not if hostprog_asked(). */
int hostprog_load(struct hostprog *p, const struct hostprog_code *code);

/*
 * What the program returns (it must not be negative), or a negative errno: the
 * one that loading gave, too. ctx: size bytes for SYSCALL, in and out; else
 * NULL, 0.
 */
int hostprog_run(const struct hostprog *p, void *ctx, uint32_t size);
void hostprog_close(struct hostprog *p);

/*
 * An array map of one element, mapped here: programs and this process read and
 * write the same words.
 */
struct mapped {
	int fd;	       /* -1: the caller has taken it */
	uint8_t *at;   /* NULL: not open */
	size_t length; /* of the mapping, whole pages */
};

/* size: bytes of the element. 0 or a negative errno, with *m all zeroes. */
int mapped_open(struct mapped *m, const char *name, uint32_t size);
/* Accepts what was never opened, if it is all zeroes. */
void mapped_close(struct mapped *m);

#endif
