/* SPDX-License-Identifier: MIT */
/*
 * process("PATH").mark("NAME"), .provider("P").mark("NAME"): static probes that
 * a program's author placed (SDT notes). Their arguments are $arg1, $arg2, ...
 */
#include <stdlib.h>
#include <string.h>

#include "probe/pretty.h"
#include "probe/target.h"
#include "probe/uprobe.h"
#include "types/regs.h"

/* STAP_PROBE12 of <sys/sdt.h> has the most arguments. */
enum { ARGS_MAX = 12 };

/* --- arguments ------------------------------------------------------------ */

/*
 * Registers by their 64-bit name; byte offsets in struct pt_regs.
 * (asm/ptrace.h)
 */
static const struct {
	const char *name;
	uint32_t off;
} regs[] = {
    {"r15", 0},	 {"r14", 8},   {"r13", 16}, {"r12", 24}, {"rbp", 32},
    {"rbx", 40}, {"r11", 48},  {"r10", 56}, {"r9", 64},	 {"r8", 72},
    {"rax", 80}, {"rcx", 88},  {"rdx", 96}, {"rsi", 104}, {"rdi", 112},
    {"rip", 128}, {"rsp", 152},
};

/*
 * %rax, %eax, %ax, %al; %r8, %r8d, %r8w, %r8b; the size that is wanted is the
 * argument's own. %ah and its like are the second byte: *ret_shift is 8. *s is
 * moved behind the name. -1: no register.
 */
static int parse_register(const char **s, unsigned *ret_shift)
{
	char name[8] = {0}, full[8] = {0};
	size_t len = strspn(*s + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

	*ret_shift = 0;
	if (**s != '%' || len < 2 || len > 4)
		return -1;
	memcpy(name, *s + 1, len);
	*s += len + 1;
	memcpy(full, name, sizeof(full));
	if (name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
		full[strcspn(full, "dwb")] = 0; /* r8d */
	} else if (name[0] == 'e') {
		full[0] = 'r'; /* eax */
	} else if (name[0] != 'r' && len == 3 && name[2] == 'l') {
		memcpy(full, (char[4]){'r', name[0], name[1]}, 4); /* sil */
	} else if (name[0] != 'r' && len == 2 &&
		   (name[1] == 'l' || name[1] == 'h')) {
		memcpy(full, (char[4]){'r', name[0], 'x'}, 4); /* al, ah */
		*ret_shift = name[1] == 'h' ? 8 : 0;
	} else if (name[0] != 'r' && len == 2) {
		memcpy(full, (char[4]){'r', name[0], name[1]}, 4); /* ax */
	}
	for (unsigned i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		if (!strcmp(regs[i].name, full))
			return regs[i].off;
	return -1;
}

/*
 * An access that needs a second register has it as an expression of its own:
 * the step's index is evaluated like any node.
 */
static struct node *register_node(struct compile *c, const struct span *at,
				  uint32_t off)
{
	struct node *n = node_new(c->a, N_TARGET, *at);

	n->type = TY_LONG;
	n->u.target.name = at->text;
	n->u.target.access = arena_new_of(c->a, struct access);
	n->u.target.access->base = ACC_REG;
	n->u.target.access->arg = off;
	return n;
}

/* Address, as linked, of a symbol of the probe's file. */
static bool find_symbol(struct compile *c, const struct uprobe *u,
			const char *name, size_t len, uint64_t *ret,
			bool *ret_fixed)
{
	const char *why;
	struct elf_file *f = elf_open_file(c, u->path, &why);
	bool found = f && elf_symbol(f, arena_strndup(c->a, name, len), ret);

	*ret_fixed = f && elf_is_fixed(f);
	elf_close_file(f);
	return found;
}

/*
 * What stands before the bracket: "16", "table", "table+16", "8+table" or
 * nothing. *s is moved behind it. *ret_name: the symbol in it, or NULL.
 */
static int64_t parse_distance(const char **s, const char **ret_name,
			      size_t *ret_len)
{
	char *end;
	int64_t off = strtoll(*s, &end, 0);

	*ret_name = NULL;
	if (end != *s && *end != '+') {
		*s = end;
		return off;
	}
	*s = end + (*end == '+');
	*ret_len = strcspn(*s, "+-(");
	if (*ret_len)
		*ret_name = *s;
	*s += *ret_len;
	off += strtoll(*s, &end, 0);
	*s = end;
	return off;
}

/* The registers in brackets: "(%rax)", "(%rax,%rbx,4)", "(,%rbx,4)". */
static bool parse_brackets(struct compile *c, const char *s,
			   const struct span *at, struct access *ret,
			   struct access_step *step)
{
	unsigned shift;
	char *end;
	int base, index;

	if (*s != ',') {
		base = parse_register(&s, &shift);
		if (base < 0)
			return false;
		ret->base = ACC_REG;
		ret->arg = base;
	}
	if (*s == ',') {
		s++;
		index = parse_register(&s, &shift);
		if (index < 0)
			return false;
		step->scale = *s == ',' ? strtoul(s + 1, &end, 10) : 1;
		if (*s == ',')
			s = end;
		step->index = register_node(c, at, index);
	}
	return *s == ')' && !s[1];
}

/*
 * Memory of the program, as in AT&T assembly: "-16(%rbp)", "8(%rax,%rbx,4)",
 * "counter(%rip)", "8+table(,%rax,4)". A variable behind %rip was loaded as far
 * from where it was linked as the probe was, and the handler has the probe's
 * address in its registers; without it the program is where it was linked for.
 */
static bool parse_memory(struct compile *c, const struct uprobe *u,
			 const char *s, const struct span *at,
			 struct access *ret)
{
	struct access_step step = {.user = true};
	const char *name;
	bool fixed = false, near;
	uint64_t addr = 0;
	size_t len;

	step.off = parse_distance(&s, &name, &len);
	near = !strcmp(s, "(%rip)");
	if (name && !find_symbol(c, u, name, len, &addr, &fixed))
		return false;
	/* "16(%rip)": from which instruction? */
	if (near ? !name : name && !fixed)
		return false;
	step.off += (int64_t)(near ? addr - u->addr : addr);
	ret->base = near ? ACC_REG : ACC_CONST;
	ret->arg = near ? REGS_IP : 0;
	/* the address is one of the program, whatever it is made of */
	ret->user = true;
	if (!near && *s &&
	    (*s != '(' || !parse_brackets(c, s + 1, at, ret, &step)))
		return false;
	/* parse_argument sets how many bytes the step loads. */
	vec_push(c->a, &ret->steps, step);
	return true;
}

/* One argument: "SIZE@OPERAND", the size negative for a signed number. */
static bool parse_argument(struct compile *c, const struct uprobe *u,
			   const char *text, const struct span *at,
			   struct access *ret)
{
	char *end;
	long size = strtol(text, &end, 10);
	const char *s = end;
	unsigned bytes = labs(size), shift;
	int reg;

	memset(ret, 0, sizeof(*ret));
	if (*s++ != '@' ||
	    (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return false;
	if (*s == '$') {
		ret->base = ACC_CONST;
		/* an immediate: the compiler knew the value */
		ret->constant = strtoll(s + 1, &end, 10);
		return !*end;
	}
	if (*s == '%') {
		reg = parse_register(&s, &shift);
		ret->base = ACC_REG;
		ret->arg = reg;
		ret->shift = shift;
		/*
		 * A note's size says how much of the register is the argument.
		 */
		ret->narrow = bytes < 8 ? bytes : 0;
		ret->sign = size < 0;
		return reg >= 0 && !*s;
	}
	if (!parse_memory(c, u, s, at, ret))
		return false;
	vec_last(&ret->steps).load = bytes;
	vec_last(&ret->steps).sign = size < 0;
	return true;
}

/*
 * The i-th of the blank-separated arguments, from 0; NULL: there are fewer.
 * Notes hold few and short arguments, so each search starts over.
 */
static const char *argument_text(struct compile *c, const char *args,
				 unsigned i)
{
	for (;; i--) {
		size_t len;

		args += strspn(args, " ");
		len = strcspn(args, " ");
		if (!len)
			return NULL;
		if (!i)
			return arena_strndup(c->a, args, len);
		args += len;
	}
}

/* --- target variables ----------------------------------------------------- */

/* An operand that cannot be read shows as "=?": the others are still of use. */
static int all_args(struct compile *c, const struct uprobe *u, struct node *n)
{
	struct pretty pr;
	const char *text;

	pretty_start(&pr, c, &n->span);
	for (unsigned i = 0; i < ARGS_MAX; i++) {
		struct access a;
		const char *name = arena_printf(c->a, "arg%u", i + 1);

		text = argument_text(c, u->args, i);
		if (!text)
			break;
		if (i)
			pretty_text(&pr, " ");
		if (parse_argument(c, u, text, &n->span, &a))
			pretty_number(&pr, name, &a);
		else
			pretty_text(&pr, arena_printf(c->a, "%s=?", name));
	}
	pretty_finish(&pr, n);
	return 0;
}

static int target_mark(struct compile *c, struct probe *p, struct node *n,
		       bool quiet)
{
	const struct uprobe *u = p->data;
	const char *name = n->u.target.name, *text;
	struct access a;
	unsigned long i;
	char *end;

	if (*name == '@')
		return probe_cast(c, p, n, quiet);
	if (!strcmp(name, "$$name") || !strcmp(name, "$$provider")) {
		target_text(c, n, name[2] == 'n' ? u->name : u->provider);
		return 0;
	}
	if (!strcmp(name, "$$vars") || !strcmp(name, "$$parms") ||
	    !strcmp(name, "$$args"))
		return all_args(c, u, n);
	if (strncmp(name, "$arg", 4))
		return target_unknown(c, p, n, quiet);
	i = strtoul(name + 4, &end, 10);
	text = *end || !i || i > ARGS_MAX ? NULL
					  : argument_text(c, u->args, i - 1);
	if (!text)
		return target_unknown(c, p, n, quiet);
	/*
	 * A note tells sizes, never types: nothing can follow an argument but a
	 * @cast.
	 */
	if (n->u.target.parts.n) {
		if (!quiet)
			diag_help(c->diag, complain(c, ARROW_UNKNOWN, &n->span),
				  "arguments of static probes have no type: "
				  "write @cast(%s, \"TYPE\")->member",
				  name);
		return -1;
	}
	if (!parse_argument(c, u, text, &n->span, &a)) {
		if (!quiet)
			complain(c, MARK_OPERAND, &n->span, name, text);
		return -1;
	}
	n->type = TY_LONG;
	n->width = 0;
	n->u.target.access = arena_new_of(c->a, struct access);
	*n->u.target.access = a;
	return 0;
}

static void names_mark(struct compile *c, struct probe *p, ctx_names *out)
{
	const struct uprobe *u = p->data;

	for (unsigned i = 0; i < ARGS_MAX && argument_text(c, u->args, i);
	     i++) {
		struct ctx_name n = {.type = "long int", .is_param = true};

		n.name = arena_printf(c->a, "$arg%u", i + 1);
		vec_push(c->a, out, n);
	}
}

/* --- expanding ------------------------------------------------------------ */

/*
 * The provider is part of pp even when the script left it out: programs have
 * marks of one name from several providers.
 */
static void add_mark(const struct uprobe_file *f, const struct elf_mark *k)
{
	struct probe *p = uprobe_add(f, k->offset);
	struct uprobe *u = p->data;

	u->addr = k->addr;
	u->semaphore = k->semaphore;
	u->name = k->name;
	u->provider = k->provider;
	u->args = k->args;
	p->pp = str_internz(
	    f->c->str,
	    arena_printf(f->c->a,
			 "process(\"%s\").provider(\"%s\").mark(\"%s\")",
			 f->elf->path, k->provider, k->name));
}

static int expand_file(const struct uprobe_file *f)
{
	const char *provider = uprobe_part(f->m, "provider");
	elf_marks marks = {0};

	elf_find_marks(f->c, f->elf, provider ? provider : "*",
		       uprobe_part(f->m, "mark"), &marks);
	for (unsigned i = 0; i < marks.n; i++)
		add_mark(f, &marks.v[i]);
	return 0;
}

static int expand_mark(struct compile *c, const struct match *m,
		       probe_list *out)
{
	return uprobe_expand(c, m, out, expand_file);
}

static void suggest_mark(struct compile *c, const struct match *m,
			 name_list *out)
{
	elf_marks marks = {0};
	struct near near = {0};
	struct elf_file *f = uprobe_open_first(c, m);

	if (!f)
		return;
	elf_find_marks(c, f, "*", "*", &marks);
	elf_close_file(f);
	for (unsigned i = 0; i < marks.n; i++)
		near_add(&near, uprobe_part(m, "mark"), marks.v[i].name);
	near_list(c, &near, out);
}

const struct family family_mark = {
    .name = "mark",
    .type = "uprobe",
    .expand = expand_mark,
    .target = target_mark,
    .names = names_mark,
    .suggest = suggest_mark,
    .attach = uprobe_attach,
    .load_opts = uprobe_load_opts,
};
