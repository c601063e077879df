/* SPDX-License-Identifier: MIT */
/*
 * What this kernel can do, found by trying it, never by its version. Each
 * question is asked when the answer is needed.
 */
#ifndef RUN_FEATURE_H
#define RUN_FEATURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/compile.h"

enum feature {
#define FEATURE(id, name, without) FEATURE_##id,
#include "run/feature.def"
#undef FEATURE
	FEATURE_MAX
};

/* FORBIDDEN: it may be there, but not for this process: root would see more. */
enum feature_answer { FEATURE_NO, FEATURE_YES, FEATURE_FORBIDDEN };

/* What handlers have to be made without on this kernel: adds to *l. Tries two
 * small programs, of which the kernels of today take both. */
void feature_lacks(struct lacks *l);
/* --info. Returns the exit status. */
int feature_info(FILE *f);

#endif
