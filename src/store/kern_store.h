/* SPDX-License-Identifier: MIT */
/* What the files of the kernel's store share. Others see store.h and kern.h. */
#ifndef STORE_KERN_STORE_H
#define STORE_KERN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/grace.h"
#include "store/hostprog.h"
#include "store/kern_add.h"
#include "store/kern_cell.h"
#include "store/kern_copy.h"
#include "store/store.h"

/* An array as it was at an instant. */
struct frozen {
	bool on;
	int64_t n;	    /* elements in its kern_copy */
	struct htab *table; /* of them; NULL: nobody asked for one yet */
};

/* What a global needs in time; all zeroes: nothing yet. */
struct kern_global {
	struct kern_add add;
	struct kern_copy copy;
	struct frozen frozen;
	struct kern_cell *cell; /* of a live array of aggregates */
};

struct kern_store {
	struct store s;
	int (*bank_fd)[2]; /* PM_BANKS: the two inner maps, by plan map */
	struct mapped control, rows;
	struct grace grace;
	struct kern_global *global; /* by global */
	bool quiet; /* no program runs any more: drains do not wait */
};

static inline struct kern_store *kern_of(struct store *s)
{
	return (struct kern_store *)s;
}

/* Plain arrays (kern_array.c), as in struct store_ops. */
int kern_array_get(struct store *s, unsigned g, const void *key, void *value);
int kern_array_set(struct store *s, unsigned g, const void *key,
		   const void *value);
int kern_array_add(struct store *s, unsigned g, const void *key, int64_t delta,
		   int64_t *ret_old);
int kern_array_del(struct store *s, unsigned g, const void *key);
int64_t kern_array_snapshot(struct store *s, unsigned g, uint8_t **ret);
int kern_array_ready(struct store *s, unsigned g);
int kern_array_freeze(struct store *s, unsigned g);
void kern_array_thaw(struct store *s);
int kern_array_clear(struct store *s, unsigned g);

/* Aggregates (kern_agg.c), likewise. */
int kern_agg_drain(struct store *s);
int kern_agg_live_del(struct store *s, unsigned g, const void *key);
int kern_agg_live_add(struct store *s, unsigned g, const void *key,
		      const uint64_t *was, int64_t v);

#endif
