/* SPDX-License-Identifier: MIT */
/*
 * The types of the kernel, from BTF. Nothing is opened before the first call
 * that needs it (7 ms and 6 MB), and then once until types_close().
 */
#ifndef TYPES_TYPES_H
#define TYPES_TYPES_H

#include "base/compile.h"
#include "types/ctype.h"

/*
 * "struct task_struct", "task_struct", "enum pid_type", "pid_t", "int"; a
 * trailing "*" makes a pointer. The kernel's own types, not those of modules.
 * NULL: not there, or no BTF.
 */
const struct ctype *types_find(struct compile *c, const char *name);
/*
 * Gives the files' memory back. Types that were found stay good, what is asked
 * later opens the files again. Accepts never opened.
 */
void types_close(struct compile *c);
/*
 * A place for what a probe family keeps from one probe to the next in one
 * compilation (a list read once, whatever the number of probes); NULL at first.
 */
void **types_keep(struct compile *c, const char *key);
/* Why there are no kernel types, or NULL when there are. */
const char *types_missing(struct compile *c);
/*
 * Arguments of a tracepoint, as members of a CT_FUNC without the internal first
 * one. Modules are searched when the kernel has none of the name. NULL: no such
 * tracepoint, or no BTF.
 */
const struct ctype *types_tracepoint(struct compile *c, const char *name);
/*
 * Names of tracepoints (btf_trace_NAME) that match a glob, sorted. 0, or
 * -ENOENT: no BTF.
 */
int types_tracepoints(struct compile *c, const char *glob, name_vec *ret);
/* Prototype (CT_FUNC) of a function of a module ("": the kernel), or NULL. */
const struct ctype *types_function(struct compile *c, const char *module,
				   const char *name);
/*
 * Type of a variable of a module ("": the kernel); *ret_percpu: each CPU has
 * its own. NULL: BTF does not know it; most kernels describe only those.
 */
const struct ctype *types_variable(struct compile *c, const char *module,
				   const char *name, bool *ret_percpu);
/* types_find() among a module's own types first. */
const struct ctype *types_find_in(struct compile *c, const char *module,
				  const char *name);
/* BTF id of a function, for BPF_PROG_LOAD; 0: there is none. */
uint32_t types_function_id(struct compile *c, const char *name);
/* Value of an enumerator of any enum. false: there is none, or no BTF. */
bool types_constant(struct compile *c, const char *name, int64_t *ret);
/*
 * Byte offset of a member chain "real_parent.tgid", "signal.pids[2]" reached
 * from a struct: one entry per pointer that has to be followed, the last one is
 * the value's own; *ret_size: its bytes (negative: signed). Returns the number
 * of entries, or -ENOENT.
 */
enum { CHAIN_MAX = 8 };
int types_chain(struct compile *c, const char *type, const char *chain,
		uint32_t ret_off[CHAIN_MAX], int *ret_size);

#endif
