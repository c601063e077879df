/* SPDX-License-Identifier: MIT */
/* What the control group of this process allows. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

/* Bytes of memory before the kernel kills; UINT64_MAX: no limit is known. */
uint64_t cgroup_memory(void);

#endif
