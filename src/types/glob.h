/* SPDX-License-Identifier: MIT */
/* Names with * and ?: of probe points, symbols, tracepoints, files. */
#ifndef TYPES_GLOB_H
#define TYPES_GLOB_H

#include <stdbool.h>

bool name_glob(const char *pattern, const char *name);

#endif
