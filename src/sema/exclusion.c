/* SPDX-License-Identifier: MIT */
#include "sema/exclusion.h"

void exclusion_analyse(struct compile *c, struct program *p)
{
}

void exclusion_print(const struct program *p, FILE *f)
{
}
