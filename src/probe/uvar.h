/* SPDX-License-Identifier: MIT */
/* $variables of user programs, from their debug information. */
#ifndef PROBE_UVAR_H
#define PROBE_UVAR_H

#include "probe/uprobe.h"

/*
 * family.target of probes on functions and statements of programs. A return
 * probe knows its result only: everything else is gone behind the call.
 */
int uvar_target(struct compile *c, struct probe *p, struct node *n, bool quiet);
/* family.names of them. */
void uvar_names(struct compile *c, struct probe *p, ctx_names *out);
/* Probes for a place by source file, line or address (probe/source.c). */
int source_expand(struct compile *c, const struct match *m, probe_list *out);
struct uprobe_file;
/*
 * Of the functions that match, what debug information knows beside the symbols
 * (have, in order of address): inlined copies, if the point wants them, and
 * functions whose symbol has another name (C++). Nothing without it.
 */
void source_add_functions(const struct uprobe_file *f, const char *name,
			  const elf_funcs *have);
/*
 * @cast(v, "type"[, "PROGRAM"]) and @var("name[@unit]"[, "PROGRAM"]) where a
 * program's own types are meant. Returns 1 when they are not (no program is
 * named, and the probe's own, if it has one, has no such type): the kernel's
 * may be. p may be NULL or of any family.
 */
int uvar_cast(struct compile *c, struct probe *p, struct node *n, bool quiet);

#endif
