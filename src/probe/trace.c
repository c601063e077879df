/* SPDX-License-Identifier: MIT */
/*
 * kernel.trace("name"): tracepoints, attached raw. A plain name is not looked
 * up before it is attached: that keeps a script without arguments free of
 * tracefs and of the kernel's types.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/pretty.h"
#include "probe/target.h"
#include "types/glob.h"
#include "types/tracefs.h"
#include "types/types.h"

/* struct probe.data */
struct trace {
	const char *name; /* without the system */
	bool looked;	  /* args has been looked for */
	/* a function type whose members are the arguments; NULL: unknown */
	const struct ctype *args;
};

/* system is only for pp(): the kernel finds tracepoints by name alone. */
static struct probe *trace_probe(struct compile *c, const struct match *m,
				 const char *system, const char *name)
{
	struct probe *p = family_probe(c, m);
	struct trace *t = arena_new_of(c->a, struct trace);

	t->name = name;
	p->data = t;
	p->place = PLACE_KERNEL;
	p->prog = PROG_RAW_TP;
	p->guard = GUARD_SELF;
	p->pp = str_internz(
	    c->str, arena_printf(c->a, "kernel.trace(\"%s%s%s\")", system,
				 *system ? ":" : "", name));
	return p;
}

/* "a:b" into "a" and "b"; the system is "" when there is none. */
static const char *split_name(struct compile *c, const char *arg,
			      const char **ret_system)
{
	const char *colon = strchr(arg, ':');

	*ret_system = "";
	if (!colon)
		return arg;
	*ret_system = str_intern(c->str, arg, colon - arg);
	return str_internz(c->str, colon + 1);
}

static int expand_trace(struct compile *c, const struct match *m,
			probe_list *out)
{
	const char *arg = m->arg[1]->str, *system, *name;
	trace_events ev = {0};
	bool wild = name_is_glob(arg);
	int err;

	name = split_name(c, arg, &system);
	if (!*name)
		return 0;
	/* An optional one has to be looked up: it may be missing. */
	if (!wild && !m->point->optional && !m->point->sufficient) {
		vec_push(c->a, out, trace_probe(c, m, system, name));
		return 0;
	}
	err = tracefs_events(c, &ev);
	/*
	 * tracefs is missing: attaching will tell whether the tracepoint
	 * exists.
	 */
	if (err && !wild) {
		vec_push(c->a, out, trace_probe(c, m, system, name));
		return 0;
	}
	if (err == -EACCES || err == -EPERM)
		return family_refuse(
		    c, m,
		    "cannot list tracepoints: /sys/kernel/tracing is only for "
		    "root; run tally as root or name one tracepoint in full");
	if (err)
		return family_refuse(
		    c, m,
		    "cannot list tracepoints: %s; mount tracefs (mount -t "
		    "tracefs none /sys/kernel/tracing) or name one tracepoint "
		    "in full",
		    err == -ENOENT ? "tracefs is not mounted" : strerror(-err));
	for (unsigned i = 0; i < ev.n; i++) {
		const struct trace_event *e = &ev.v[i];

		/* Events of single calls are made from raw_syscalls; they
		 * are not tracepoints. */
		if (!strcmp(e->system, "syscalls"))
			continue;
		if (*system && !probe_glob(system, e->system))
			continue;
		if (!probe_glob(name, e->name))
			continue;
		vec_push(c->a, out,
			 trace_probe(c, m, *system ? e->system : "", e->name));
	}
	return 0;
}

/*
 * With tracefs or BTF unreadable there are no suggestions, which is no error.
 */
static void near_events(struct compile *c, const char *name, struct near *ret)
{
	trace_events ev = {0};
	name_vec names = {0};

	/* BTF knows tracepoints that are no events; take it if it is there. */
	if (!types_tracepoints(c, "*", &names)) {
		for (unsigned i = 0; i < names.n; i++)
			near_add(ret, name, names.v[i]);
		return;
	}

	if (tracefs_events(c, &ev))
		return;
	for (unsigned i = 0; i < ev.n; i++)
		if (strcmp(ev.v[i].system, "syscalls"))
			near_add(ret, name, ev.v[i].name);
}

static void suggest_trace(struct compile *c, const struct match *m,
			  name_list *out)
{
	const char *system;
	struct near near = {0};

	near_events(c, split_name(c, m->arg[1]->str, &system), &near);
	near_list(c, &near, out);
}

/* --- target variables ----------------------------------------------------- */

static const struct ctype *trace_args(struct compile *c, struct probe *p)
{
	struct trace *t = p->data;

	if (!t->looked)
		t->args = types_tracepoint(c, t->name);
	t->looked = true;
	return t->args;
}

/*
 * Each argument is a word of 64 bits in the context, of which the kernel has
 * filled as many bytes as the type has.
 */
static struct access arg_access(const struct ctype *args, unsigned i)
{
	struct access a = {.base = ACC_ARG, .arg = i};

	target_narrow(&a, args->members.v[i].type);
	return a;
}

/* Every argument, in the order of the tracepoint's declaration. */
static int all_args(struct compile *c, const struct ctype *args,
		    struct node *n)
{
	struct pretty pr;

	pretty_start(&pr, c, &n->span);
	for (unsigned i = 0; i < args->members.n; i++) {
		struct access a = arg_access(args, i);

		if (i)
			pretty_text(&pr, " ");
		pretty_item(&pr, args->members.v[i].name, &a,
			    args->members.v[i].type, pretty_depth(n));
	}
	pretty_finish(&pr, n);
	return 0;
}

/*
 * -1. Either no types at all, or a name that no tracepoint has: BTF has all of
 * the running kernel.
 */
static int no_args(struct compile *c, const struct trace *t, struct node *n)
{
	struct near near = {0};

	if (types_missing(c)) {
		complain(c, NO_TYPES, &n->span, types_missing(c));
		return -1;
	}
	near_events(c, t->name, &near);
	complain(c, NO_TRACEPOINT, &n->span, t->name,
		 near.n ? arena_printf(c->a, " (similar: %s)",
				       near_text(c, &near))
			: "");
	return -1;
}

/*
 * The library makes one point of the end of requests and that of bios: $bio is
 * good for both. A request stands for its first one.
 */
static const char *stand_in(struct compile *c, const struct trace *t,
			    struct node *n)
{
	struct target_part first = {
		.kind = TP_MEMBER, .member = str_internz(c->str, "bio"),
		.span = n->span,
	};
	__typeof__(n->u.target.parts) old = n->u.target.parts;
	unsigned i;

	if (strcmp(t->name, "block_rq_complete") ||
	    strcmp(n->u.target.name, "$bio"))
		return n->u.target.name;
	n->u.target.name = str_internz(c->str, "$rq");
	memset(&n->u.target.parts, 0, sizeof(n->u.target.parts));
	vec_push(c->a, &n->u.target.parts, first);
	for (i = 0; i < old.n; i++)
		vec_push(c->a, &n->u.target.parts, old.v[i]);
	return n->u.target.name;
}

static int target_trace(struct compile *c, struct probe *p, struct node *n,
			bool quiet)
{
	const struct trace *t = p->data;
	const char *name = stand_in(c, t, n);
	const struct ctype *args;

	if (*name == '@')
		return probe_cast(c, p, n, quiet);
	if (!strcmp(name, "$$name")) {
		target_text(c, n, t->name);
		return 0;
	}
	args = trace_args(c, p);
	if (!args)
		return quiet ? -1 : no_args(c, t, n);
	if (!strcmp(name, "$$vars") || !strcmp(name, "$$parms") ||
	    !strcmp(name, "$$args"))
		return all_args(c, args, n);
	for (unsigned i = 0; i < args->members.n && i < 64; i++) {
		const struct cmember *m = &args->members.v[i];
		struct access a;

		if (strcmp(name + 1, m->name))
			continue;
		a = arg_access(args, i);
		return target_tail(c, n, &a, m->type, quiet);
	}
	return target_unknown(c, p, n, quiet);
}

static void names_trace(struct compile *c, struct probe *p, ctx_names *out)
{
	const struct ctype *args = trace_args(c, p);

	for (unsigned i = 0; args && i < args->members.n; i++) {
		struct ctx_name n = {.is_param = true};

		n.name = arena_printf(c->a, "$%s", args->members.v[i].name);
		n.type = ctype_text(c, args->members.v[i].type);
		vec_push(c->a, out, n);
	}
}

/* --- attaching ------------------------------------------------------------ */

static const char *explain(struct compile *c, const struct trace *t, int err)
{
	struct near near = {0};

	if (err == -EPERM || err == -EACCES)
		return "not allowed to attach to tracepoints: run as root, or "
		       "with CAP_BPF and CAP_PERFMON";
	if (err != -ENOENT)
		return arena_printf(c->a, "tracepoint %s: %s", t->name,
				    strerror(-err));
	near_events(c, t->name, &near);
	if (!near.n)
		return arena_printf(c->a, "the kernel has no tracepoint %s",
				    t->name);
	return arena_printf(c->a,
			    "the kernel has no tracepoint %s (similar: %s)",
			    t->name, near_text(c, &near));
}

static int attach_trace(struct compile *c, struct probe *p, int prog_fd,
			struct attach *ret, const char **ret_why)
{
	const struct trace *t = p->data;
	union bpf_attr attr;
	int fd;

	/* A raw tracepoint has one descriptor, its link. */
	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	memset(&attr, 0, sizeof(attr));
	/* A BTF program knows its tracepoint since it was loaded. */
	if (p->prog == PROG_RAW_TP)
		attr.raw_tracepoint.name = (uintptr_t)t->name;
	attr.raw_tracepoint.prog_fd = prog_fd;
	fd = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr,
		     sizeof(attr.raw_tracepoint));
	if (fd < 0) {
		fd = -errno;
		*ret_why = explain(c, t, fd);
		return fd;
	}
	ret->link_fd = fd;
	return 0;
}

static int load_opts_trace(struct compile *c, struct probe *p,
			   struct load_opts *ret)
{
	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	return 0;
}

const struct family family_trace = {
    .name = "trace",
    .type = "kernel_tracepoint",
    .expand = expand_trace,
    .target = target_trace,
    .names = names_trace,
    .suggest = suggest_trace,
    .attach = attach_trace,
    .load_opts = load_opts_trace,
};
