/* SPDX-License-Identifier: MIT */
/* Calls: script functions, inlined or not, and built-in functions. */
#include "ir/build.h"

#include <string.h>

/* --- script functions ----------------------------------------------------- */

/* The host's version of a script function, queued when it is first called. */
static struct ir_func *host_version(struct build *b, struct function *fn)
{
	struct ir_func *f = b->host_fn[fn->index];

	if (f)
		return f;
	f = arena_new_of(b->a, struct ir_func);
	f->kind = IR_FUNCTION;
	f->name = fn->name;
	f->fn = fn;
	f->place = PLACE_HOST;
	f->index = b->ir->funcs.n;
	vec_push(b->a, &b->ir->funcs, f);
	vec_push(b->a, &b->queue, f);
	b->host_fn[fn->index] = f;
	return f;
}

/* A call that is not inlined: the callee is found by its number. */
static struct ir_val call_host(struct build *b, struct function *fn,
			       struct ir_val *args, unsigned n)
{
	struct ir_ins *i;

	/* The callee finds strings of its parameters' widths. */
	for (unsigned k = 0; k < n; k++) {
		const struct var *v = fn->params.v[k];
		uint32_t r;

		if (v->type != TY_STRING ||
		    (args[k].kind == VAL_REG &&
		     val_width(b->f, &args[k]) == v->width))
			continue;
		r = tmp_str(b, v->width);
		emit_mov(b, r, args[k]);
		args[k] = val_reg(r);
	}
	i = emit_n(b, OP_CALL, n, args);
	i->callee = host_version(b, fn);
	if (fn->type == TY_LONG || fn->type == TY_STRING) {
		i->dst = tmp_of(b, fn->type, fn->width);
		i->has_dst = true;
	}
	emit_fail(b, i, NULL);
	return i->has_dst ? val_reg(i->dst) : NOVAL;
}

/*
 * One body of an inlined chain of overloads. The parameters are locals of this
 * scope; proto has the exit and the result.
 */
static void inline_body(struct build *b, struct function *fn,
			const struct ir_val *args, struct scope *proto)
{
	struct scope s = *proto;

	s.fn = fn;
	s.reg = NULL;
	s.nreg = 0;
	s.overload = block_new(b);
	b->scope = &s;
	for (unsigned i = 0; i < fn->params.n; i++)
		emit_mov(b, local_reg(b, fn->params.v[i]), args[i]);
	scope_init(b, &s, fn->locals.v, fn->locals.n, fn->params.n);
	if (fn->body)
		region(b, fn->body, 0);
	emit_jmp(b, s.exit);
	block_start(b, s.overload);
}

/*
 * Each call is a copy of the body, with the call as the `caller` of its places,
 * so that messages show the way. return is a jump to the exit.
 */
static struct ir_val call_inline(struct build *b, struct function *fn,
				 struct ir_val *args, unsigned n)
{
	struct scope s = {.up = b->scope, .inlined = true};
	struct scope *outer = b->scope;
	struct loop *loop = b->loop;
	struct span at = b->here;
	struct ir_loc l = {.span = b->here, .caller = outer->caller};

	/* The loc of the call itself: places in the body refer to it. */
	s.caller = (int32_t)b->ir->locs.n;
	vec_push(b->a, &b->ir->locs, l);
	s.exit = block_new(b);
	s.has_ret = fn->type == TY_LONG || fn->type == TY_STRING;
	/* What the body assigns to its parameters is its own. */
	for (unsigned i = 0; i < n; i++) {
		if (args[i].kind == VAL_REG) {
			uint32_t r = tmp_of(b, fn->params.v[i]->type,
					    val_width(b->f, &args[i]));

			emit_mov(b, r, args[i]);
			args[i] = val_reg(r);
		}
	}
	if (s.has_ret) {
		s.ret = tmp_of(b, fn->type, fn->width);
		emit_mov(b, s.ret, fn->type == TY_STRING ?
			 val_str(build_text(b, "")) : val_num(0));
	}
	b->depth++;
	/* A break in the body must not leave the caller's loop. */
	b->loop = NULL;
	for (struct function *o = fn; o; o = o->overload)
		inline_body(b, o, args, &s);
	/* After the last body: where its `next` leads. */
	b->scope = &s;
	build_at(b, &fn->span);
	emit_raise(b, val_str(build_text(b, "all functions exhausted")), 0);
	b->depth--;
	b->loop = loop;
	b->scope = outer;
	b->here = at;
	block_start(b, s.exit);
	return s.has_ret ? val_reg(s.ret) : NOVAL;
}

/*
 * Is the function, or an overload of it, being inlined around here? Also of a
 * function that calls itself through others.
 */
static bool comes_back(const struct build *b, const struct function *fn)
{
	for (const struct scope *s = b->scope; s; s = s->up)
		for (const struct function *o = fn; o && s->fn;
		     o = o->overload)
			if (o == s->fn)
				return true;
	return fn->is_recursive;
}

/*
 * Kernel handlers have no calls of script functions: what cannot be inlined
 * goes on on the host.
 */
static struct ir_val call_script(struct build *b, struct function *fn,
				 struct ir_val *args, unsigned n)
{
	int64_t nest = b->c->set.limit[LIMIT_MAXNESTING];

	if (b->f->place == PLACE_HOST || comes_back(b, fn) ||
	    b->nins > INLINE_BUDGET || b->depth >= INLINE_DEPTH)
		return call_host(b, fn, args, n);
	/* Inlining could go on; -DMAXNESTING says that the script must not. */
	if (b->c->set.limit_set[LIMIT_MAXNESTING] && nest > 0 &&
	    b->depth >= nest) {
		emit_raise(b, val_str(build_text(b, "MAXNESTING exceeded")),
			   0);
		return fn->type == TY_STRING ? val_str(build_text(b, "")) :
		       val_num(0);
	}
	return call_inline(b, fn, args, n);
}

/* --- built-in functions --------------------------------------------------- */

/*
 * The text in name("...") of a resolved point, up to an '@'; or "". The same as
 * vm/host_who.c does at run time; in a handler it is known now.
 */
static const char *point_text(struct build *b, const char *pp,
			      const char *const *names)
{
	for (; *names; names++) {
		const char *s = strstr(pp, *names);
		size_t n;

		if (!s)
			continue;
		s += strlen(*names);
		n = strcspn(s, "@\"");
		return str_intern(b->c->str, s, n);
	}
	return build_text(b, "");
}

/* A BF_CONST built-in in a handler. false: not known here. */
static bool call_const(struct build *b, const struct builtin *bi,
		       struct ir_val *ret)
{
	static const char *const funcs[] = {
		"function(\"", "statement(\"", NULL
	};
	static const char *const mods[] = { "module(\"", NULL };
	const struct probe *p = b->probe;

	if (!p || !(bi->flags & BF_CONST))
		return false;
	switch (bi->id) {
	case BI_PP:
		*ret = val_str(build_text(b, p->pp ? p->pp : ""));
		return true;
	case BI_PN:
		*ret = val_str(build_text(b, p->pn ? p->pn : ""));
		return true;
	case BI_PPFUNC:
	case BI_PROBEFUNC:
		*ret = val_str(point_text(b, p->pp ? p->pp : "", funcs));
		return true;
	case BI_PROBEMOD:
		*ret = val_str(point_text(b, p->pp ? p->pp : "", mods));
		return true;
	case BI_PROBE_TYPE:
		*ret = val_str(build_text(b, p->family && p->family->type ?
					  p->family->type : "unknown"));
		return true;
	case BI_IS_RETURN:
		*ret = val_num(p->is_return);
		return true;
	case BI_REGISTERS_VALID:
		*ret = val_num(p->prog == PROG_KPROBE ||
			       p->prog == PROG_PERF_EVENT);
		return true;
	default:
		return false;
	}
}

/*
 * What happens when a built-in that may fail fails. The texts are the
 * reference's, fault address included.
 */
static void builtin_fails(struct build *b, struct ir_ins *i)
{
	switch (i->builtin->id) {
	case BI_KERNEL_STRING:
	case BI_KERNEL_STRING_N:
		emit_fail_num(b, i, "kernel string copy fault at 0x",
			      i->args[0], " [man error::fault]");
		return;
	case BI_USER_STRING:
	case BI_USER_STRING_N:
		emit_fail_num(b, i, "user string copy fault -14 at 0x",
			      i->args[0], " [man error::fault]");
		return;
	case BI_KERNEL_READ:
		emit_fail_num(b, i, "kernel read fault at 0x", i->args[0],
			      " (addr) [man error::fault]");
		return;
	case BI_USER_READ:
		emit_fail_num(b, i, "user read fault at 0x", i->args[0],
			      " (addr) [man error::fault]");
		return;
	case BI_STRINGAT:
		emit_fail(b, i, "Position out of bounds");
		return;
	case BI_RANDINT:
		emit_fail(b, i, "range too wide");
		return;
	case BI_PERF_READ:
		emit_fail(b, i, "too many threads read perf counters, "
			  "check MAXMAPENTRIES");
		return;
	default: /* host only: the machine has the text */
		emit_fail(b, i, NULL);
	}
}

/*
 * error() and abort() end the handler or lead to its catch block; others are
 * one instruction, with a failure edge when they may fail.
 */
static struct ir_val call_builtin(struct build *b, struct node *n,
				  struct ir_val *args, unsigned nargs)
{
	const struct builtin *bi = n->u.call.builtin;
	enum type t = builtin_type(bi);
	struct ir_val ret;
	struct ir_ins *i;
	bool fails;

	if (call_const(b, bi, &ret))
		return ret;
	if (bi->id == BI_PERF_READ)
		need_handler(b, "@perf");
	if (bi->id == BI_ERROR) {
		emit_raise(b, args[0], 0);
		return NOVAL;
	}
	fails = bi->flags & BF_FAIL && bi->id != BI_ABORT;
	/*
	 * The host has no registers of an event. (Its half of a kernel handler
	 * is the kernel's code again, where they were read.)
	 */
	if (bi->flags & BF_REGS &&
	    (!b->probe || b->probe->place == PLACE_HOST) &&
	    b->f->place == PLACE_HOST)
		fails = true;
	i = emit_n(b, fails ?
		   OP_BCALLE : OP_BCALL, nargs, args);
	i->builtin = bi;
	if (t == TY_LONG || t == TY_STRING) {
		i->dst = tmp_of(b, t, n->width);
		i->has_dst = true;
	}
	if (bi->id == BI_ABORT) {
		emit_raise(b, val_str(build_text(b, "")),
			   RAISE_UNCATCHABLE | RAISE_QUIET);
		return NOVAL;
	}
	if (i->op == OP_BCALLE)
		builtin_fails(b, i);
	return i->has_dst ? val_reg(i->dst) : NOVAL;
}

struct ir_val expr_call(struct build *b, struct node *n, bool want)
{
	unsigned nargs = n->u.call.args.n;
	struct ir_val *args = arena_array(b->a, struct ir_val, nargs + 1);
	struct span old;
	struct ir_val ret;

	expr_list(b, n->u.call.args.v, nargs, args);
	old = build_at(b, &n->span);
	if (n->u.call.fn)
		ret = call_script(b, n->u.call.fn, args, nargs);
	else
		ret = call_builtin(b, n, args, nargs);
	b->here = old;
	return ret;
}
