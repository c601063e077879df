/* SPDX-License-Identifier: MIT */
/*
 * kernel.function("name"), module("m").function("name"), kprobe.function(...):
 * functions of the kernel by symbol. Tags: 0 entry, 1 return. The handler gets
 * registers, so int_arg() and returnval() work; $arg and $return have the types
 * of the kernel's BTF where it knows the function.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/pretty.h"
#include "probe/target.h"
#include "types/glob.h"
#include "types/ksyms.h"
#include "types/regs.h"
#include "types/types.h"

#define PMU "/sys/bus/event_source/devices/kprobe/"

/* struct probe.data */
struct kprobe {
	const char *name;
	const char *symbol; /* to attach to */
	const char *module;
	bool is_return;
	bool looked; /* proto was looked for (and maybe not found) */
	const struct ctype *proto; /* NULL: BTF does not know the function */
};

/*
 * The string argument of a component; "" where it has none, which ksyms_find
 * takes for the kernel itself.
 */
static const char *arg_of(const struct match *m, const char *part)
{
	for (unsigned i = 0; i < m->nparts; i++)
		if (!strcmp(m->name[i], part) && m->arg[i])
			return m->arg[i]->str;
	return "";
}

/* "name@file" without the file; NULL when the file decides what is meant. */
static const char *plain_function(struct compile *c, const struct match *m)
{
	const char *name = arg_of(m, "function"), *at = strchr(name, '@');

	if (!at)
		return name;
	/* One function's file is no more than a reminder. */
	if (name_is_glob(name) || strchr(name, ':'))
		return NULL;
	return str_intern(c->str, name, at - name);
}

/*
 * pp() must read as a point that would resolve to this function again, in the
 * family of words the script used: kernel., module(). or kprobe.
 */
static void add_probe(struct compile *c, const struct match *m,
		      const struct ksym *sym, probe_list *out)
{
	struct probe *p = family_probe(c, m);
	struct kprobe *k = arena_new_of(c->a, struct kprobe);
	const char *head = "kernel", *tail = "";

	if (!strcmp(m->name[0], "kprobe"))
		head = *sym->module ? arena_printf(c->a,
						   "kprobe.module(\"%s\")",
						   sym->module)
				    : "kprobe";
	else if (*sym->module)
		head = arena_printf(c->a, "module(\"%s\")", sym->module);
	if (m->pattern->tag == 1)
		tail = ".return";
	else if (strcmp(m->name[m->nparts - 1], "function"))
		tail = arena_printf(c->a, ".%s", m->name[m->nparts - 1]);
	k->name = sym->name;
	k->symbol = sym->symbol;
	k->module = sym->module;
	k->is_return = m->pattern->tag == 1;
	p->data = k;
	p->place = PLACE_KERNEL;
	p->prog = PROG_KPROBE;
	p->guard = GUARD_SELF;
	p->is_return = k->is_return;
	p->pp = str_internz(c->str,
			    arena_printf(c->a, "%s.function(\"%s\")%s", head,
					 sym->name, tail));
	vec_push(c->a, out, p);
}

/* Does the kernel know a module of that name? *ret_built_in: as a part of it,
 * whose functions are the kernel's. */
static bool module_exists(struct compile *c, const char *name,
			  bool *ret_built_in)
{
	const char *dir = arena_printf(c->a, "/sys/module/%s", name);

	/* What is loaded has a state; parameters make a folder for the rest. */
	*ret_built_in =
	    !access(dir, F_OK) &&
	    access(arena_printf(c->a, "%s/initstate", dir), F_OK);
	return !access(dir, F_OK);
}

/*
 * Why nothing matched, where a name that looks like another does not tell.
 * 0: it does.
 */
static int explain_nothing(struct compile *c, const struct match *m,
			   const char *name)
{
	const char *module = arg_of(m, "module");
	bool built_in;

	if (m->quiet)
		return 0;
	if (*module && !name_is_glob(module)) {
		if (!module_exists(c, module, &built_in))
			return family_refuse(c, m, "no module '%s' is loaded "
					     "(lsmod lists those that are)",
					     module);
		if (built_in)
			return family_refuse(c, m, "'%s' is no module here but "
					     "a part of the kernel: "
					     "kernel.function(\"%s\")",
					     module, name);
	}
	if (!strncasecmp(name, "sys_", 4))
		return family_refuse(c, m, "no function %s: since Linux 4.17 "
				     "those of system calls are called "
				     "__x64_%s: probe syscall.%s", name,
				     arena_printf(c->a, "sys_%s", name + 4),
				     name + 4);
	return 0;
}

/*
 * An alias may name dozens of functions of a module that is not there; the list
 * of all symbols, which takes 10 ms and more, has none of them.
 */
static int symbols(struct compile *c, const char *module, const char *name,
		   ksym_list *ret)
{
	bool built_in;

	if (*module && !name_is_glob(module) &&
	    !module_exists(c, module, &built_in))
		return 0;
	return ksyms_find(c, module, name, ret);
}

static int expand_function(struct compile *c, const struct match *m,
			   probe_list *out)
{
	const char *name = plain_function(c, m);
	ksym_list syms = {0};
	int err;

	if (!name) {
		if (!m->quiet)
			complain(c, NO_POINT, &m->point->span,
				 "by the file or line of kernel functions",
				 "the kernel's debug information is not read: "
				 "name the function, or list several");
		return m->quiet ? 0 : -1;
	}
	err = symbols(c, arg_of(m, "module"), name, &syms);
	if (err)
		return family_refuse(c, m, "cannot read /proc/kallsyms: %s",
				     strerror(-err));
	for (unsigned i = 0; i < syms.n; i++)
		add_probe(c, m, &syms.v[i], out);
	return syms.n ? 0 : explain_nothing(c, m, name);
}

static void suggest_function(struct compile *c, const struct match *m,
			     name_list *out)
{
	/*
	 * All symbols are read for a suggestion. That takes a tenth of a
	 * second, after an error.
	 */
	ksym_list syms = {0};
	struct near near = {0};

	symbols(c, arg_of(m, "module"), "*", &syms);
	for (unsigned i = 0; i < syms.n; i++)
		near_add(&near, arg_of(m, "function"), syms.v[i].name);
	near_list(c, &near, out);
}

/* --- target variables ----------------------------------------------------- */

/*
 * Looked up at the first $variable: a script without any never loads BTF, which
 * is 5 MB and more.
 */
static const struct ctype *proto_of(struct compile *c, struct probe *p)
{
	struct kprobe *k = p->data;

	if (!k->looked)
		k->proto = types_function(c, k->module, k->name);
	k->looked = true;
	return k->proto;
}

static struct access reg_access(uint32_t off, const struct ctype *type)
{
	struct access a = {.base = ACC_REG, .arg = off};

	target_narrow(&a, type);
	return a;
}

/*
 * A struct passed by value takes registers away from those behind it. Such a
 * struct, and a floating-point number, sit where this cannot tell; all
 * parameters before them are right.
 */
static unsigned reg_args(const struct ctype *proto)
{
	unsigned n;

	for (n = 0; n < proto->members.n && n < REGS_NARGS; n++) {
		const struct ctype *t = ctype_strip(proto->members.v[n].type);

		if (!t || t->size > 8 || t->kind == CT_FLOAT)
			break;
	}
	return n;
}

/*
 * Parameters that reg_args() leaves out do not appear: a wrong value would be
 * worse.
 */
static int all_args(struct compile *c, struct probe *p,
		    const struct ctype *proto, struct node *n)
{
	struct pretty pr;

	pretty_start(&pr, c, &n->span);
	for (unsigned i = 0; i < reg_args(proto); i++) {
		const struct cmember *m = &proto->members.v[i];
		struct access a = reg_access(regs_arg[i], m->type);

		if (i)
			pretty_text(&pr, " ");
		pretty_item(&pr, m->name, &a, m->type, pretty_depth(n));
	}
	pretty_finish(&pr, n);
	return 0;
}

/*
 * as_text: $$return, "return=0x1", which is an empty text where there is no
 * result. $return is an error there.
 */
static int result(struct compile *c, const struct ctype *proto, struct node *n,
		  bool as_text, bool quiet)
{
	struct access a = reg_access(REGS_RESULT, proto->to);
	const struct ctype *t = ctype_strip(proto->to);
	bool is_void = !t || t->kind == CT_VOID;
	struct pretty pr;

	if (as_text) {
		pretty_start(&pr, c, &n->span);
		if (!is_void)
			pretty_item(&pr, "return", &a, proto->to,
				    pretty_depth(n));
		pretty_finish(&pr, n);
		return 0;
	}
	if (is_void) {
		if (!quiet)
			complain(c, NO_TARGET, &n->span, "$return",
				 ": the function returns nothing");
		return -1;
	}
	return target_tail(c, n, &a, proto->to, quiet);
}

static int target_function(struct compile *c, struct probe *p, struct node *n,
			   bool quiet)
{
	const struct kprobe *k = p->data;
	const char *name = n->u.target.name;
	const struct ctype *proto;

	if (*name == '@')
		return probe_cast(c, p, n, quiet);
	proto = proto_of(c, p);
	if (!proto) {
		/*
		 * No BTF at all, or BTF without this function (static, inlined
		 * away, assembly): the two have different remedies.
		 */
		const char *why = types_missing(c);

		if (!why)
			why = arena_printf(c->a,
					   "BTF does not describe %s; "
					   "pointer_arg(n) and @cast do "
					   "without",
					   k->name);
		if (!quiet)
			complain(c, NO_TYPES, &n->span, why);
		return -1;
	}
	if (k->is_return &&
	    (!strcmp(name, "$return") || !strcmp(name, "$$return")))
		return result(c, proto, n, name[1] == '$', quiet);
	/* The registers of the entry are gone by now; sema asks an entry probe
	 * for parameters. */
	if (k->is_return)
		return target_unknown(c, p, n, quiet);
	if (!strcmp(name, "$$vars") || !strcmp(name, "$$parms"))
		return all_args(c, p, proto, n);
	for (unsigned i = 0; i < reg_args(proto); i++) {
		const struct cmember *m = &proto->members.v[i];
		struct access a;

		if (strcmp(name + 1, m->name))
			continue;
		a = reg_access(regs_arg[i], m->type);
		return target_tail(c, n, &a, m->type, quiet);
	}
	return target_unknown(c, p, n, quiet);
}

static void names_function(struct compile *c, struct probe *p, ctx_names *out)
{
	const struct kprobe *k = p->data;
	const struct ctype *proto = proto_of(c, p);
	struct ctx_name n;

	if (!proto)
		return;
	if (k->is_return) {
		n = (struct ctx_name){"$return", ctype_text(c, proto->to),
				      false};
		if (strcmp(n.type, "void"))
			vec_push(c->a, out, n);
		return;
	}
	for (unsigned i = 0; i < reg_args(proto); i++) {
		n.name = arena_printf(c->a, "$%s", proto->members.v[i].name);
		n.type = ctype_text(c, proto->members.v[i].type);
		n.is_param = true;
		vec_push(c->a, out, n);
	}
}

/* --- attaching ------------------------------------------------------------ */

/*
 * The kernel answers with bare numbers; each means something else here than
 * strerror() would say. (kernel/trace/trace_kprobe.c, kernel/kprobes.c)
 */
static const char *explain(struct compile *c, const struct kprobe *k, int err)
{
	if (access(PMU "type", F_OK))
		return "this kernel has no kprobes (CONFIG_KPROBES, "
		       "CONFIG_KPROBE_EVENTS): its functions cannot be probed; "
		       "tracepoints can: tally -l 'kernel.trace(\"*\")'";
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "not allowed to probe kernel functions: run as root, or "
		       "with CAP_BPF and CAP_PERFMON; kernel lockdown in "
		       "confidentiality mode forbids it to everybody";
	case -ENOENT:
		return arena_printf(c->a, "the kernel has no function %s",
				    k->name);
	case -EINVAL:
	case -EOPNOTSUPP:
		return arena_printf(c->a,
				    "%s cannot be probed (it is part of "
				    "probing itself, or marked notrace)",
				    k->name);
	case -EADDRNOTAVAIL:
		return arena_printf(c->a,
				    "several functions are called %s and the "
				    "kernel does not choose",
				    k->name);
	case -EMFILE:
		return "too many open files: raise `ulimit -n` (two or three "
		       "are needed for each probe)";
	default:
		return arena_printf(c->a, "kernel function %s: %s", k->name,
				    strerror(-err));
	}
}

/*
 * The PMU's type and the bit that makes it a return probe are assigned at boot:
 * sysfs tells. The function goes by name, with "module:" before it, so that the
 * kernel resolves and checks the address.
 */
static int open_event(struct compile *c, const struct kprobe *k)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1};
	const char *name = k->symbol;
	unsigned type, bit;
	int err;

	err = family_sysfs(PMU "type", "%u", &type);
	if (err)
		return err;
	if (*k->module)
		name = arena_printf(c->a, "%s:%s", k->module, name);
	attr.type = type;
	attr.kprobe_func = (uintptr_t)name;
	if (k->is_return) {
		err = family_sysfs(PMU "format/retprobe", "config:%u", &bit);
		if (err)
			return err;
		attr.config |= UINT64_C(1) << bit;
	}
	return family_open_event(&attr, 0);
}

/*
 * Through a link, which tells how many hits the kprobe layer skipped (since
 * 6.7), or without one before 5.15.
 */
static int start_event(int event, int prog_fd, struct attach *ret)
{
	int err;

	ret->link_fd = bpf_link_create(prog_fd, event, BPF_PERF_EVENT, NULL);
	if (ret->link_fd < 0) {
		ret->link_fd = family_start_event(event, prog_fd);
		return ret->link_fd < 0 ? ret->link_fd : 0;
	}
	ret->aux_fd = event;
	if (!ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	err = -errno;
	close(ret->link_fd);
	close(event);
	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	return err;
}

static int attach_function(struct compile *c, struct probe *p, int prog_fd,
			   struct attach *ret, const char **ret_why)
{
	const struct kprobe *k = p->data;
	int fd = open_event(c, k);
	int err = fd;

	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	if (fd >= 0)
		err = start_event(fd, prog_fd, ret);
	if (err < 0)
		*ret_why = explain(c, k, err);
	return err < 0 ? err : 0;
}

static int load_opts_function(struct compile *c, struct probe *p,
			      struct load_opts *ret)
{
	/*
	 * All that a kprobe program is checked for is its type; the place comes
	 * at attaching.
	 */
	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_KPROBE};
	return 0;
}

const struct family family_kprobe = {
    .name = "kprobe",
    .type = "kprobe",
    .expand = expand_function,
    .target = target_function,
    .names = names_function,
    .suggest = suggest_function,
    .attach = attach_function,
    .load_opts = load_opts_function,
};

/*
 * The two families differ in their type only, which probe_type() shows: whether
 * a probe is on the return is decided by the pattern's tag.
 */
const struct family family_kretprobe = {
    .name = "kprobe",
    .type = "kretprobe",
    .expand = expand_function,
    .target = target_function,
    .names = names_function,
    .suggest = suggest_function,
    .attach = attach_function,
    .load_opts = load_opts_function,
};
