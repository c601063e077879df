/* SPDX-License-Identifier: MIT */
/* Copies of banks that are not emptied. */
#include "store/live.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "stat/cell.h"
#include "store/settled.h"

/* l->copy[0] + l->copy[1] + l->host + l->apart is what the host sees. */
struct live {
	const struct plan_global *g;
	struct settled *copy[2]; /* of each bank, from when it last rested */
	struct settled *host;	 /* of the elements' own cells of the host */
	/* samples of the host that are in no element that programs see */
	struct settled *apart;
	uint64_t deletes; /* count of deletions by programs at the last copy */
	unsigned bank; /* that is being copied */
	bool stale;    /* the other copy was thrown away: take what is there */
};

struct live *live_new(const struct plan_global *g, uint32_t size)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->g = g;
	l->copy[0] = settled_new(g, size);
	l->copy[1] = settled_new(g, size);
	l->host = settled_new(g, size);
	l->apart = settled_new(g, size);
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	settled_free(l->copy[0]);
	settled_free(l->copy[1]);
	settled_free(l->host);
	settled_free(l->apart);
	free(l);
}

void live_limit(struct live *l, uint32_t size)
{
	settled_limit(l->copy[0], size);
	settled_limit(l->copy[1], size);
	settled_limit(l->host, size);
	settled_limit(l->apart, size);
}

/*
 * After a deletion by a program the copy of the other bank, made earlier, may
 * have samples from before it. Then both banks are read as they are now; cells
 * of the bank in use may be in the middle of an update, which costs at most the
 * samples of that instant.
 */
void live_begin(struct live *l, unsigned bank, uint64_t deletes)
{
	l->bank = bank;
	l->stale = deletes != l->deletes;
	l->deletes = deletes;
	settled_clear(l->copy[bank]);
	if (l->stale)
		settled_clear(l->copy[!bank]);
	/* Only the host writes these: they are right whenever it reads them. */
	settled_clear(l->host);
}

/*
 * Of an element the copy may have one bank from before a deletion and not the
 * other; a scalar may be half zeroed. Elements go as a whole, and a copy that
 * is made again takes them as a whole; a scalar is zeroed cell by cell under a
 * lock, so the count is odd in the middle of it.
 */
bool live_torn(const struct live *l, uint64_t deletes)
{
	if (l->g->key.n)
		return deletes != l->deletes && !l->stale;
	return deletes != l->deletes || (deletes & 1);
}

/* Called for each key. All shards (or programs' cells) of a bank add up. */
void live_copy(struct live *l, const void *key, const uint8_t *cells,
	       unsigned n, size_t size)
{
	unsigned bank, i;

	for (bank = 0; bank < 2; bank++)
		for (i = 0; i < n && (l->stale || bank == l->bank); i++)
			settled_merge(l->copy[bank], key,
				      (const uint64_t *)(cells + bank * size +
							 i * l->g->cell.size));
}

void live_copy_other(struct live *l, const uint8_t *cells, size_t size)
{
	unsigned bank;

	for (bank = 0; bank < 2; bank++)
		if (l->stale || bank == l->bank)
			settled_merge_other(l->copy[bank],
				(const uint64_t *)(cells + bank * size));
}

void live_copy_host(struct live *l, const void *key, const uint64_t *cell)
{
	settled_merge(l->host, key, cell);
}

void live_add(struct live *l, const void *key, int64_t v)
{
	settled_add(l->host, key, v);
}

const uint64_t *live_host(const struct live *l, const void *key)
{
	return settled_cell(l->host, key);
}

void live_add_apart(struct live *l, const void *key, int64_t v)
{
	if (key)
		settled_add(l->apart, key, v);
	else
		settled_add_other(l->apart, v);
}

void live_add_cell(struct live *l, int64_t v)
{
	/*
	 * Into the copy of bank 0: as soon as that bank rests it is copied
	 * anew, from the cell that has the sample too.
	 */
	settled_add(l->copy[0], NULL, v);
}

/* Programs' own cells are zeroed by the caller. */
void live_del(struct live *l, const void *key)
{
	unsigned i;
	struct settled *t[4] = {
		l->copy[0], l->copy[1], l->host, l->apart,
	};

	for (i = 0; i < 4; i++) {
		if (key)
			settled_del(t[i], key);
		else
			settled_clear(t[i]);
	}
}

/* Anew each time: a sum of sums would count a sample once a drain. */
void live_show(struct live *l, struct settled *ret)
{
	settled_clear(ret);
	settled_merge_all(ret, l->copy[0]);
	settled_merge_all(ret, l->copy[1]);
	settled_merge_all(ret, l->host);
	settled_merge_all(ret, l->apart);
}
