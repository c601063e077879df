/* SPDX-License-Identifier: MIT */
/*
 * Hash maps for the compiler: from bytes or from 64-bit numbers to pointers.
 * Iteration is by insertion order (map_at), so that nothing that depends on a
 * map's order changes from run to run.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct map;

/* The map and copies of its keys live in a; it is never freed alone. */
struct map *map_new(struct arena *a);
/* Keys are copied. Setting a key again replaces its value, keeps its place. */
void map_set(struct map *m, const char *key, void *value);
void *map_get(const struct map *m, const char *key); /* NULL: not there */
/* Tells a value of NULL from none. */
bool map_has(const struct map *m, const char *key);
void map_set_num(struct map *m, uint64_t key, void *value);
void *map_get_num(const struct map *m, uint64_t key);
/* Any bytes as the key (number keys are their 8 bytes). */
void map_set_bytes(struct map *m, const void *key, size_t n, void *value);
void *map_get_bytes(const struct map *m, const void *key, size_t n);
unsigned map_count(const struct map *m);
/*
 * i-th entry in insertion order, 0 <= i < map_count(). *ret_key (unless ret_key
 * is NULL) is the map's own copy: the bytes and a NUL.
 */
void *map_at(const struct map *m, unsigned i, const char **ret_key);

#endif
