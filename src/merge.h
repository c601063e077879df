/* SPDX-License-Identifier: MIT */
/* tally merge: adds up the snapshots of several runs. docs/snapshot.md. */
#ifndef MERGE_H
#define MERGE_H

#include "base/compile.h"

/* argv[0] is "merge". Returns the exit status. */
int merge_main(struct compile *c, int argc, char **argv);

#endif
