/* SPDX-License-Identifier: MIT */
/* Reading what kernel handlers sent. */
#include <errno.h>

#include <bpf/libbpf.h>

#include "run/kern.h"
#include "run/state.h"

enum {
	/* Records taken in one go: then signals and timers have a turn, however
	 * fast the handlers send. */
	RING_TURN = 20000,
};

/*
 * One record; libbpf calls it with the consumer's position behind it already.
 */
static int take(void *ctx, void *data, size_t n)
{
	const struct record *r = data;
	struct session *s = ctx;

	record_take(s, r, n);
	/* Emptying the maps takes milliseconds, and a small map may be half
	 * full again by then: that is a turn by itself. */
	if (r->kind == REC_DRAIN)
		return -EAGAIN;
	/* A negative result stops the reading after this record. */
	return ++s->kern->taken < RING_TURN ? 0 : -EAGAIN;
}

/* No ring buffer was made when no program sends records. */
int ring_open(struct session *s)
{
	struct kern *k = s->kern;
	int fd = s->store->map_fd[MAP_RING];

	k->ring_fd = -1;
	if (fd < 0)
		return 0;
	k->ring = ring_buffer__new(fd, take, s, NULL);
	if (!k->ring)
		return -errno;
	k->ring_fd = ring_buffer__epoll_fd(k->ring);
	return 0;
}

/* Without waiting. The buffer is read until it is empty or a turn is over. */
bool ring_poll(struct session *s)
{
	if (!s->kern->ring)
		return false;
	s->kern->taken = 0;
	return ring_buffer__consume(s->kern->ring) == -EAGAIN;
}

void ring_close(struct session *s)
{
	ring_buffer__free(s->kern->ring);
	s->kern->ring = NULL;
	s->kern->ring_fd = -1;
}
