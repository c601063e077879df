/* SPDX-License-Identifier: MIT */
/* Rules that need the types. */
#include "sema/sema.h"

void check_program(struct sema *s)
{
}
