/* SPDX-License-Identifier: MIT */
/* Growable arrays in an arena: VEC(int) v = {0}; vec_push(a, &v, 3); */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

/*
 * A struct without a tag: two VEC(T) of the same T are different types in C, so
 * one that crosses a function is given a typedef (name_vec).
 */
#define VEC(T)                                                                 \
	struct {                                                               \
		T *v;                                                          \
		unsigned n, cap;                                               \
	}

/*
 * Arguments are evaluated more than once, but for item. Growing moves the
 * elements: no pointer to one survives a push.
 */
#define vec_push(a, vec, item)                                                 \
	do {                                                                   \
		/* First of all: it may push to this vector itself. */         \
		__typeof__(*(vec)->v) item_ = (item);                          \
		if ((vec)->n == (vec)->cap) {                                  \
			unsigned cap_ = (vec)->cap ? (vec)->cap * 2 : 8;       \
			(vec)->v = arena_grow((a), (vec)->v,                   \
					      (vec)->n * sizeof(*(vec)->v),    \
					      cap_ * sizeof(*(vec)->v));       \
			(vec)->cap = cap_;                                     \
		}                                                              \
		(vec)->v[(vec)->n++] = item_;                                  \
	} while (0)

#define vec_last(vec) ((vec)->v[(vec)->n - 1]) /* n must not be 0 */

#endif
