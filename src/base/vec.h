/* SPDX-License-Identifier: MIT */
/* Growable arrays in an arena: VEC(int) v = {0}; vec_push(a, &v, 3); */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#define VEC(T)                                                                 \
	struct {                                                               \
		T *v;                                                          \
		unsigned n, cap;                                               \
	}

#define vec_push(a, vec, item)                                                 \
	do {                                                                   \
		if ((vec)->n == (vec)->cap) {                                  \
			unsigned cap_ = (vec)->cap ? (vec)->cap * 2 : 8;       \
			(vec)->v = arena_grow((a), (vec)->v,                   \
					      (vec)->n * sizeof(*(vec)->v),    \
					      cap_ * sizeof(*(vec)->v));       \
			(vec)->cap = cap_;                                     \
		}                                                              \
		/* item may speak of n: it is the new one's place. */          \
		(vec)->v[(vec)->n] = (item);                                   \
		(vec)->n++;                                                    \
	} while (0)

#define vec_last(vec) ((vec)->v[(vec)->n - 1])

#endif
