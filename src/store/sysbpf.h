/* SPDX-License-Identifier: MIT */
/*
 * The bpf system call for maps and programs. libbpf's own functions first load
 * two programs to find out what old kernels can do (a quarter millisecond at
 * start); here nothing is tried that is not wanted.
 */
#ifndef STORE_SYSBPF_H
#define STORE_SYSBPF_H

#include <linux/bpf.h>
#include <stdint.h>

/* The call; its result or a negative errno. */
int sysbpf(enum bpf_cmd cmd, union bpf_attr *attr);
/* name: cut to 15 bytes, or NULL. */
void sysbpf_name(char dst[BPF_OBJ_NAME_LEN], const char *name);
/*
 * Makes a map; its descriptor or a negative errno. key, value: bytes of each.
 * inner_fd: of an array of maps, one map of the kind it will hold; else 0.
 */
int sysbpf_map(enum bpf_map_type type, const char *name, uint32_t key,
	       uint32_t value, uint32_t entries, uint32_t flags, int inner_fd);

#endif
