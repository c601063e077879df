/* SPDX-License-Identifier: MIT */
/* What the session needs of the kernel's maps beyond store.h. */
#ifndef STORE_KERN_H
#define STORE_KERN_H

struct store;

/*
 * Returns when every program that was running has ended (store/grace.h). 0 or a
 * negative errno. Sleepable programs are not waited for.
 */
int store_kern_grace(struct store *s);
/* Some program may be preempted (uprobes, fentry): waiting takes longer. */
void store_kern_preemptible(struct store *s);
/* From now on no program runs any more: drains need not wait. */
void store_kern_quiet(struct store *s);

#endif
