/* SPDX-License-Identifier: MIT */
/*
 * System calls by name. All probes on entries share one program on the
 * tracepoint sys_enter (returns: sys_exit) which jumps to the handler of the
 * call's number through a program array: a handler runs for its own call only,
 * and any number of them costs one dispatch. The tapset makes syscall.NAME,
 * with its variables, of these points. Tags: 0 entry, 1 return.
 * __syscall_all has no dispatcher: it is for all calls, as a rule of one
 * program.
 *
 * Calls of 32-bit programs have numbers of their own; the dispatcher leaves
 * them out.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "probe/pretty.h"
#include "probe/target.h"
#include "store/insn.h"
#include "store/sysbpf.h"
#include "types/glob.h"
#include "types/tracefs.h"
#include "types/types.h"

/*
 * NR_MAX leaves room for calls that are newer than the table. Helpers by their
 * numbers in <linux/bpf.h> (tail_call, probe_read_kernel), which never change.
 */
enum { NR_MAX = 512, HELPER_TAIL_CALL = 12, HELPER_READ_KERNEL = 113 };

/*
 * struct pt_regs, in bytes. The order of call_regs is that of the kernel's
 * calls: rdi, rsi, rdx, r10, r8, r9 (r10 where functions have rcx, which the
 * instruction syscall overwrites).
 */
enum { REGS_NR = 120, REGS_CS = 136, CS_32BIT = 0x23 }; /* __USER32_CS */
static const uint32_t call_regs[6] = {112, 104, 96, 56, 72, 64};

/*
 * The table of x86-64, in order of numbers: no file of a running system has the
 * list of calls.
 */
static const struct {
	int nr;
	const char *name;
} calls[] = {
#define SYSCALL(nr, name) {nr, name},
#include "probe/syscall.def"
#undef SYSCALL
};
/* All calls: no number. */
enum { NR_ALL = -1 };
enum { NCALLS = sizeof(calls) / sizeof(calls[0]) };

/* struct probe.data */
struct syscall_probe {
	int nr; /* the call's number */
	const char *name;
	bool is_return;
	bool looked; /* parms were looked for */
	bool known;  /* and found, though there may be none */
	trace_fields parms; /* by the kernel's names */
};

/* nr: NR_ALL, or the number of the call that is called so. */
static struct probe *syscall_new(struct compile *c, const struct match *m,
				 int nr, const char *name)
{
	struct syscall_probe *s = arena_new_of(c->a, struct syscall_probe);
	struct probe *p = family_probe(c, m);

	s->nr = nr;
	s->name = name;
	s->is_return = m->pattern->tag == 1;
	p->data = s;
	p->place = PLACE_KERNEL;
	p->prog = PROG_RAW_TP;
	p->guard = GUARD_SELF;
	p->is_return = s->is_return;
	return p;
}

/*
 * One probe for each call that the name or glob means; names that no kernel
 * here has are no error, so a script can name what came later.
 */
static int expand_syscall(struct compile *c, const struct match *m,
			  probe_list *out)
{
	for (unsigned i = 0; i < NCALLS; i++) {
		struct probe *p;

		if (!name_glob(m->arg[0]->str, calls[i].name))
			continue;
		p = syscall_new(c, m, calls[i].nr, calls[i].name);
		p->pp = str_internz(
		    c->str, arena_printf(c->a, "syscall.%s%s", calls[i].name,
					 p->is_return ? ".return" : ""));
		vec_push(c->a, out, p);
	}
	return 0;
}

/* One probe for all calls of all programs: it stands for itself. */
static int expand_all(struct compile *c, const struct match *m, probe_list *out)
{
	vec_push(c->a, out, syscall_new(c, m, NR_ALL, ""));
	return 0;
}

static void suggest_syscall(struct compile *c, const struct match *m,
			    name_list *out)
{
	struct near near = {0};

	for (unsigned i = 0; i < NCALLS; i++)
		near_add(&near, m->arg[0]->str, calls[i].name);
	near_list(c, &near, out);
}

/* --- target variables ----------------------------------------------------- */

/*
 * A register that passed an argument; it is still there on return. Both
 * tracepoints have struct pt_regs as their first word: one step reads from it.
 * It is on the stack of the running thread: there is no fault that a handler
 * would have to be ready for, with code for the message, at each argument.
 */
static struct access register_of(struct compile *c, uint32_t off, int size,
				 bool sign)
{
	struct access a = {.base = ACC_ARG, .arg = 0};
	struct access_step s = {.load = size, .sign = sign, .trusted = true};

	s.off = off;
	vec_push(c->a, &a.steps, s);
	return a;
}

static struct access argument(struct compile *c, unsigned i, int size,
			      bool sign)
{
	return register_of(c, call_regs[i], size, sign);
}

static int set_access(struct compile *c, struct node *n,
		      const struct access *a)
{
	n->type = TY_LONG;
	n->width = 0;
	n->u.target.access = arena_new_of(c->a, struct access);
	*n->u.target.access = *a;
	return 0;
}

/*
 * $arg1 all 64 bits, $int1 and $uint1 the lower 32 of them. *ret_size is in
 * bytes.
 */
static bool parse_argument(const char *name, unsigned *ret_i, int *ret_size,
			   bool *ret_sign)
{
	static const struct {
		const char *head;
		int size;
		bool sign;
	} forms[] = {
	    {"$arg", 8, false}, {"$int", 4, true}, {"$uint", 4, false}};

	for (unsigned i = 0; i < 3; i++) {
		size_t len = strlen(forms[i].head);

		if (strncmp(name, forms[i].head, len) || name[len] < '1' ||
		    name[len] > '6' || name[len + 1])
			continue;
		*ret_i = name[len] - '1';
		*ret_size = forms[i].size;
		*ret_sign = forms[i].sign;
		return true;
	}
	return false;
}

/*
 * Parameters as the kernel's source calls them. The events of tracefs have
 * them; some are called after the function that makes a newer form of the call.
 */
static const trace_fields *parms_of(struct compile *c, struct syscall_probe *s)
{
	static const char *const before[] = {"", "new", ""};
	static const char *const behind[] = {"", "", "64"};
	trace_fields fields = {0};

	for (unsigned i = 0; i < 3 && !s->looked && !fields.n; i++)
		tracefs_fields(c, "syscalls",
			       arena_printf(c->a, "sys_enter_%s%s%s", before[i],
					    s->name, behind[i]),
			       &fields);
	s->looked = true;
	/* those of all events come first, the last of them is the number */
	for (unsigned i = 0; i < fields.n; i++) {
		if (s->known)
			vec_push(c->a, &s->parms, fields.v[i]);
		s->known |= !strcmp(fields.v[i].name, "__syscall_nr");
	}
	return &s->parms;
}

/*
 * A parameter has as many bits as its type: what the others hold is the
 * caller's leavings.
 */
static struct access parameter(struct compile *c, const struct syscall_probe *s,
			       unsigned i)
{
	const char *type = s->parms.v[i].type;
	const struct ctype *t = NULL;
	bool whole;

	if (!strchr(type, '*'))
		t = ctype_strip(types_find(c, type));
	whole = !t || (t->kind != CT_INT && t->kind != CT_ENUM);
	return argument(c, i, whole ? 8 : (int)t->size, !whole && t->sign);
}

static bool named_argument(struct compile *c, struct syscall_probe *s,
			   const char *name, struct access *ret)
{
	const trace_fields *parms = parms_of(c, s);

	for (unsigned i = 0; i < parms->n && i < 6; i++) {
		if (strcmp(name, parms->v[i].name))
			continue;
		*ret = parameter(c, s, i);
		return true;
	}
	return false;
}

/* All six registers where nothing tells how many the call takes. */
static int all_args(struct compile *c, struct syscall_probe *s, struct node *n)
{
	static const char *const names[] = {"arg1", "arg2", "arg3",
					    "arg4", "arg5", "arg6"};
	const trace_fields *parms = parms_of(c, s);
	unsigned count = s->known && parms->n < 6 ? parms->n : 6;
	struct pretty pr;

	pretty_start(&pr, c, &n->span);
	for (unsigned i = 0; i < count; i++) {
		struct access a = s->known ? parameter(c, s, i) :
					     argument(c, i, 8, false);

		if (i)
			pretty_text(&pr, " ");
		pretty_number(&pr, s->known ? parms->v[i].name : names[i], &a);
	}
	pretty_finish(&pr, n);
	return 0;
}

/* Word 1 of sys_exit is the result, of sys_enter the number. */
static int result_text(struct compile *c, struct node *n)
{
	const struct access a = {.base = ACC_ARG, .arg = 1};
	struct pretty pr;

	pretty_start(&pr, c, &n->span);
	pretty_number(&pr, "return", &a);
	pretty_finish(&pr, n);
	return 0;
}

static int target_syscall(struct compile *c, struct probe *p, struct node *n,
			  bool quiet)
{
	struct syscall_probe *s = p->data;
	const char *name = n->u.target.name;
	struct access a;
	unsigned i;
	int size;
	bool sign;

	if (*name == '@')
		return probe_cast(c, p, n, quiet);
	if (!strcmp(name, "$$name")) {
		target_text(c, n, s->name);
		return 0;
	}
	if (!strcmp(name, "$$vars") || !strcmp(name, "$$parms"))
		return all_args(c, s, n);
	if (s->is_return && !strcmp(name, "$$return"))
		return result_text(c, n);
	/* An argument is a number: what it points to is of no known type. */
	if (n->u.target.parts.n) {
		if (!quiet)
			complain(c, BAD_ACCESS, &n->span, "->", "long int");
		return -1;
	}
	/* On return the number is still with the registers. */
	if (s->nr == NR_ALL && !strcmp(name, "$syscall")) {
		a = register_of(c, REGS_NR, 8, false);
		return set_access(c, n, &a);
	}
	if (s->nr != NR_ALL && !strcmp(name, "$nr")) {
		a = (struct access){.base = ACC_CONST, .constant = s->nr};
		return set_access(c, n, &a);
	}
	if (s->is_return && !strcmp(name, "$return")) {
		a = (struct access){.base = ACC_ARG, .arg = 1};
		return set_access(c, n, &a);
	}
	if (parse_argument(name, &i, &size, &sign)) {
		a = argument(c, i, size, sign);
		return set_access(c, n, &a);
	}
	if (named_argument(c, s, name + 1, &a))
		return set_access(c, n, &a);
	return target_unknown(c, p, n, quiet);
}

static void names_syscall(struct compile *c, struct probe *p, ctx_names *out)
{
	struct syscall_probe *s = p->data;
	struct ctx_name n = {.type = "long int", .is_param = true};
	const trace_fields *parms = parms_of(c, s);

	for (unsigned i = 0; i < parms->n; i++) {
		n.name = arena_printf(c->a, "$%s", parms->v[i].name);
		n.type = parms->v[i].type;
		vec_push(c->a, out, n);
	}
	n.type = "long int";

	for (unsigned i = 1; i <= 6; i++) {
		n.name = arena_printf(c->a, "$arg%u", i);
		vec_push(c->a, out, n);
	}
	n = (struct ctx_name){"$syscall", "long int", false};
	if (s->nr == NR_ALL)
		vec_push(c->a, out, n);
	n = (struct ctx_name){"$return", "long int", false};
	if (s->is_return)
		vec_push(c->a, out, n);
}

/* --- attaching ------------------------------------------------------------ */

/* A dispatcher and its program array; a second one where two probes are on one
 * call. */
struct layer {
	struct layer *next;
	bool is_return;
	int map_fd;
	bool used[NR_MAX];
};

/*
 * libbpf has no assembler, and its loader wants an object file. A handler is
 * entered by a tail call, so the dispatcher does not come back from it; where
 * the array has no program (no probe on this call, or a number beyond it: x32
 * calls have bit 30 set) the call does nothing and the dispatcher ends. A
 * 64-bit program that calls by int 0x80 has the code segment of 64 bits and
 * cannot be told apart here.
 *
 * Number and code segment come from the registers the call was made with; the
 * tracepoints differ in their second argument only.
 */
static int load_dispatcher(int map_fd)
{
	const struct bpf_insn insns[] = {
	    /* r6 = context; read nr, ip and cs to the stack */
	    MOV_REG(6, 1),
	    LOAD(3, 6, 0),
	    ALU_IMM(BPF_ADD, 3, REGS_NR),
	    MOV_REG(1, 10),
	    ALU_IMM(BPF_ADD, 1, -24),
	    MOV_IMM(2, 24),
	    CALL(HELPER_READ_KERNEL),
	    JUMP_IMM(BPF_JNE, 0, 0, 7),
	    INSN(BPF_LDX | BPF_MEM | BPF_H, 4, 10, -24 + REGS_CS - REGS_NR, 0),
	    JUMP_IMM(BPF_JEQ, 4, CS_32BIT, 5),
	    LOAD(3, 10, -24),
	    MOV_REG(1, 6),
	    LOAD_64(2, BPF_PSEUDO_MAP_FD, map_fd, 0),
	    CALL(HELPER_TAIL_CALL),
	    MOV_IMM(0, 0),
	    EXIT,
	};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	/* helpers for tracing are for GPL programs */
	a.license = (uintptr_t) "Dual MIT/GPL";
	sysbpf_name(a.prog_name, "tally_syscalls");
	return sysbpf(BPF_PROG_LOAD, &a);
}

static int create_array(void)
{
	return sysbpf_map(BPF_MAP_TYPE_PROG_ARRAY, "tally_syscalls", 4, 4,
			  NR_MAX, 0, 0);
}

static int open_tracepoint(int prog_fd, bool is_return)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.name =
	    (uintptr_t)(is_return ? "sys_exit" : "sys_enter");
	a.raw_tracepoint.prog_fd = prog_fd;
	return sysbpf(BPF_RAW_TRACEPOINT_OPEN, &a);
}

/*
 * *ret owns both descriptors from here on, and so the first probe of a layer
 * holds it for all of them: probes are detached together.
 */
static int make_layer(struct layer *l, struct attach *ret)
{
	int prog;

	l->map_fd = create_array();
	if (l->map_fd < 0)
		return l->map_fd;
	prog = load_dispatcher(l->map_fd);
	ret->link_fd = prog < 0 ? prog : open_tracepoint(prog, l->is_return);
	if (prog >= 0)
		close(prog);
	if (ret->link_fd < 0) {
		close(l->map_fd);
		return ret->link_fd;
	}
	/* An array that no descriptor holds any more is emptied. */
	ret->aux_fd = l->map_fd;
	return 0;
}

static const char *explain(struct compile *c, int err)
{
	if (err == -EPERM || err == -EACCES)
		return "not allowed to attach to system calls: run as root, or "
		       "with CAP_BPF and CAP_PERFMON";
	if (err == -ENOENT)
		return "the kernel does not trace system calls "
		       "(CONFIG_FTRACE_SYSCALLS)";
	return arena_printf(c->a, "system calls: %s", strerror(-err));
}

/* Only the probe that needs a new layer gets descriptors of its own in *ret. */
static int attach_syscall(struct compile *c, struct probe *p, int prog_fd,
			  struct attach *ret, const char **ret_why)
{
	const struct syscall_probe *s = p->data;
	void **kept = types_keep(c, "syscall layers");
	struct layer *l;
	union bpf_attr a;
	int err;

	*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
	if (s->nr == NR_ALL) {
		ret->link_fd = open_tracepoint(prog_fd, s->is_return);
		if (ret->link_fd >= 0)
			return 0;
		err = ret->link_fd;
		*ret_why = explain(c, err);
		return err;
	}
	for (l = *kept; l; l = l->next)
		if (l->is_return == s->is_return && !l->used[s->nr])
			break;
	if (!l) {
		l = arena_new_of(c->a, struct layer);
		l->is_return = s->is_return;
		err = make_layer(l, ret);
		if (err) {
			*ret = (struct attach){.link_fd = -1, .aux_fd = -1};
			*ret_why = explain(c, err);
			return err;
		}
		l->next = *kept;
		*kept = l;
	}
	memset(&a, 0, sizeof(a)); /* the handler's place in the array */
	a.map_fd = l->map_fd;
	a.key = (uintptr_t)&s->nr;
	a.value = (uintptr_t)&prog_fd;
	err = sysbpf(BPF_MAP_UPDATE_ELEM, &a);
	if (err) {
		*ret_why = explain(c, err);
		return err;
	}
	l->used[s->nr] = true;
	return 0;
}

/*
 * Handlers are loaded as what the dispatcher is: tail calls need programs of
 * one type.
 */
static int load_opts_syscall(struct compile *c, struct probe *p,
			     struct load_opts *ret)
{
	*ret = (struct load_opts){.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	return 0;
}

const struct family family_syscall = {
    .name = "syscall",
    .type = "kernel_tracepoint",
    .expand = expand_syscall,
    .target = target_syscall,
    .names = names_syscall,
    .suggest = suggest_syscall,
    .attach = attach_syscall,
    .load_opts = load_opts_syscall,
};

const struct family family_syscall_all = {
    .name = "syscall_all",
    .type = "utrace_syscall",
    .expand = expand_all,
    .target = target_syscall,
    .names = names_syscall,
    .attach = attach_syscall,
    .load_opts = load_opts_syscall,
};
