/* SPDX-License-Identifier: MIT */
#include "run/hotplug.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cpus.h"
#include "run/kern.h"
#include "run/state.h"

/*
 * The kernel tells of a CPU by a uevent when all of it is up, and some time
 * later its events count (1.5 to 5 ms in an emulated guest under load). Looking
 * at the list of CPUs each 10 to 100 ms would miss more, and all of a CPU that
 * goes and comes between two looks. Uevents reach
 * the network namespaces that belong to the first user namespace: those of
 * containers that root runs, too. In others, and without netlink, nothing is
 * heard: so the list is looked at as well, which costs 10 us, each second.
 */
#define CAME "online@/devices/system/cpu/cpu"

enum { LOOK_NS = 1000000000 };

struct hotplug {
	int fd; /* uevents; -1: not to be had */
	struct cpus known; /* online, with events opened if need be */
	struct cpus seen;  /* online at the last look */
	int64_t start_ns, looked_ns;
	bool stopped; /* opens no more */
};

/*
 * Wakes us for CPUs only: other devices come by the dozen, with each container.
 * Loads are big-endian.
 */
static void filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f6e6c69 /* onli */, 0,
			 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 22),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x2f637075 /* /cpu */, 0,
			 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 26),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x2f637075, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog prog = {
		.len = sizeof(code) / sizeof(*code), .filter = code,
	};

	/* Without it all come, and those of others are passed over. */
	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int open_uevents(void)
{
	const struct sockaddr_nl kernel = {
		.nl_family = AF_NETLINK, .nl_groups = 1,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -1;
	filter(fd);
	if (!bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)))
		return fd;
	close(fd);
	return -1;
}

void hotplug_open(struct session *s)
{
	struct kern *k = s->kern;
	bool samples = s->g->plan->perf_map != UINT32_MAX;
	unsigned i;

	for (i = 0; i < k->nprogs; i++)
		samples |= k->progs[i].probe->family->attach_cpu != NULL;
	if (!samples)
		return;
	k->hotplug = arena_new_of(s->c->a, struct hotplug);
	k->hotplug->fd = open_uevents();
}

void hotplug_close(struct session *s)
{
	struct hotplug *h = s->kern->hotplug;

	if (h && h->fd >= 0)
		close(h->fd);
	s->kern->hotplug = NULL;
}

int hotplug_fd(const struct session *s)
{
	return s->kern && s->kern->hotplug ? s->kern->hotplug->fd : -1;
}

/* --- opening -------------------------------------------------------------- */

static void note(struct session *s, struct kern_prog *p, unsigned cpu,
		 const char *why)
{
	struct late_cpu l = {
		.cpu = cpu, .why = why,
		.at_ns = session_now(s) - s->kern->hotplug->start_ns,
	};

	p->nlate++;
	/* The ledger shows the first of them. */
	if (p->late.n < LATE_SHOWN)
		vec_push(s->c->a, &p->late, l);
	log_say(&s->c->log, LOG_RUN, 1, "CPU %u came online: %s %s%s%s", cpu,
		p->probe->pp, why ? "is not counted there" : "is counted there",
		why ? ": " : "", why ? why : "");
}

static void came(struct session *s, unsigned cpu)
{
	struct hotplug *h = s->kern->hotplug;
	unsigned i;

	if (!h->stopped)
		counters_came(s, cpu);
	for (i = 0; i < s->kern->nprogs; i++) {
		struct kern_prog *p = &s->kern->progs[i];
		const char *why = NULL;
		int rc;

		if (!p->attached || !p->probe->family->attach_cpu)
			continue;
		if (h->stopped) {
			note(s, p, cpu, "it came near the end");
			continue;
		}
		rc = p->probe->family->attach_cpu(s->c, p->probe, p->prog_fd,
						  cpu, &p->at, &why);
		/* -ENODEV: it has gone again, and its coming will be told. */
		if (rc != -ENODEV)
			note(s, p, cpu, rc ? why : NULL);
	}
}

/* --- noticing ------------------------------------------------------------- */

/*
 * CPUs that came unheard, or all. What was not there at the last look is left
 * to its message, which may be on its way: a second opening would miss events.
 */
static void look(struct session *s, bool all)
{
	struct hotplug *h = s->kern->hotplug;
	struct cpus online;
	unsigned i, end;

	h->looked_ns = session_now(s);
	if (!cpus_read("online", &online))
		return;
	for (i = 0; i < CPUS_MAX / 64; i++)
		h->known.bits[i] &= online.bits[i];
	end = cpus_end(&online);
	for (i = 0; i < end; i++) {
		bool unheard = !cpus_has(&h->known, i) &&
			       (h->stopped || cpus_has(&h->seen, i));

		if (!cpus_has(&online, i) || !(all || unheard))
			continue;
		cpus_add(&h->known, i);
		came(s, i);
	}
	h->seen = online;
}

enum message { MSG_NONE, MSG_CAME, MSG_OTHER, MSG_LOST };

static enum message receive(struct hotplug *h, unsigned *ret_cpu)
{
	char msg[4096];
	ssize_t n = recv(h->fd, msg, sizeof(msg) - 1, 0);

	if (n < 0)
		return errno == ENOBUFS ? MSG_LOST : MSG_NONE;
	msg[n] = 0;
	if (strncmp(msg, CAME, sizeof(CAME) - 1))
		return MSG_OTHER;
	*ret_cpu = (unsigned)strtoul(msg + sizeof(CAME) - 1, NULL, 10);
	return MSG_CAME;
}

static void take(struct session *s)
{
	struct hotplug *h = s->kern->hotplug;
	enum message m;
	unsigned cpu;

	while (h->fd >= 0 && (m = receive(h, &cpu)) != MSG_NONE) {
		if (m == MSG_CAME) {
			cpus_add(&h->known, cpu);
			came(s, cpu);
		} else if (m == MSG_LOST) {
			/* The socket was full: any CPU may have come. */
			look(s, true);
		}
	}
}

void hotplug_start(struct session *s)
{
	struct hotplug *h = s->kern->hotplug;
	unsigned cpu;

	if (!h)
		return;
	while (h->fd >= 0 && receive(h, &cpu) != MSG_NONE)
		;
	h->start_ns = h->looked_ns = session_now(s);
	cpus_read("online", &h->known);
	h->seen = h->known;
}

void hotplug_turn(struct session *s, bool told)
{
	struct hotplug *h = s->kern ? s->kern->hotplug : NULL;

	if (h && told)
		take(s);
	if (h && session_now(s) - h->looked_ns >= LOOK_NS)
		look(s, false);
}

void hotplug_stop(struct session *s)
{
	struct hotplug *h = s->kern->hotplug;

	if (!h)
		return;
	h->stopped = true;
	take(s);
	look(s, false);
}
