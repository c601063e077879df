/* SPDX-License-Identifier: MIT */
/* Operations that kernel handlers cannot do yet: a message on their line. */
#include "gen/isel.h"

void isel_match(struct emit *e)
{
	emit_unsupported(e, "a regular expression in a kernel probe");
}
void isel_sprint(struct emit *e)
{
	emit_unsupported(e, "sprintf() in a kernel probe");
}
void isel_text(struct emit *e)
{
	emit_unsupported(e, e->ins->builtin->name);
}
