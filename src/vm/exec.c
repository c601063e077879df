/* SPDX-License-Identifier: MIT */
/*
 * The interpreter. image.c has checked registers and jump targets; what is
 * left to watch here is memory, the budget, calls and helpers. Registers r1 to
 * r5 are overwritten after a call, as the kernel's verifier assumes, so that a
 * generator's mistake shows here first.
 */
#include "vm/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "vm/op.h"

enum {
	MAX_CALLS = 100100, /* more than MAXNESTING allows */
	SLICE = 4 << 20,    /* instructions between looks at ^C */
};

/*
 * Loads and stores need not be aligned. Packed, so the compiler makes unaligned
 * accesses; may_alias, since the same bytes are read in other sizes.
 */
struct un64 {
	uint64_t v;
} __attribute__((packed, may_alias));
struct un32 {
	uint32_t v;
} __attribute__((packed, may_alias));
struct un16 {
	uint16_t v;
} __attribute__((packed, may_alias));
struct un8 {
	uint8_t v;
} __attribute__((packed, may_alias));

/*
 * Where a call returns to. r6 to r9 are the callee's to use and the caller's to
 * keep, so they are saved here; r10 is the caller's frame.
 */
struct call {
	struct image *img;
	uint32_t pc;
	uint64_t r6, r7, r8, r9, r10;
};

/* One run's; nested runs (callbacks) have their own. */
struct calls {
	struct call *v;
	unsigned n, cap;
};

/*
 * The host address of n bytes a program names; NULL: not its. First the stack,
 * then the region used last: together nearly every access.
 */
static inline uint8_t *at(struct vm *vm, uint64_t addr, unsigned n, bool write)
{
	uint64_t off = addr - vm->stack_lo;

	if (off < vm->stack_size && vm->stack_size - off >= n)
		return (uint8_t *)(uintptr_t)addr;
	off = addr - vm->last.base;
	if (off < vm->last.size && vm->last.size - off >= n &&
	    (!write || vm->last.writable))
		return vm->last.host + off;
	return mem_find(vm, addr, n, write);
}

/*
 * Kernel code may follow a trusted pointer into memory that is not there: the
 * kernel gives 0 then. Only for what cannot be one of our own addresses.
 */
static bool reads_as_zero(const struct vm *vm, uint64_t addr)
{
	return vm->in_kernel && vm->event &&
	       (addr < 4096 || addr >= 0xffff800000000000ull);
}

/*
 * Bytes of stack of the subprogram that starts at pc. Codes without subprograms
 * have one frame for all; host code's may be larger than the kernel's 512
 * bytes.
 */
static uint32_t frame_of(const struct image *img, uint32_t pc)
{
	uint32_t frame = VM_FRAME;
	unsigned i;

	if (!img->code)
		return frame;
	if (img->code->subprogs.n <= 1)
		return img->code->frame > frame ? (img->code->frame + 15) & ~15u
						: frame;
	for (i = 0; i < img->code->subprogs.n; i++)
		if (img->code->subprogs.v[i].start <= pc)
			frame = img->code->subprogs.v[i].frame;
	/* A little more than said costs nothing and keeps alignment. */
	return ((frame ? frame : 8) + 15) & ~15u;
}

/*
 * Makes [fp - frame, stack top) touchable; false: the stack is used up. The
 * memory above fp belongs to callers and stays touchable: arguments are passed
 * by address.
 */
static bool frame_open(struct vm *vm, uint64_t fp, uint32_t frame)
{
	uint64_t bottom = (uint64_t)(uintptr_t)vm->stack;

	if (fp < bottom + frame)
		return false;
	vm->stack_lo = fp - frame;
	vm->stack_size = bottom + VM_STACK - vm->stack_lo;
	return true;
}

/* false: more calls than the language's limit can have asked for. */
static bool push_call(struct calls *calls, struct image *img, uint32_t pc,
		      const uint64_t *r)
{
	if (calls->n == MAX_CALLS)
		return false;
	if (calls->n == calls->cap) {
		calls->cap = calls->cap ? calls->cap * 2 : 16;
		calls->v = xrealloc(calls->v, calls->cap * sizeof(*calls->v));
	}
	calls->v[calls->n++] = (struct call){
	    .img = img,
	    .pc = pc,
	    .r6 = r[6],
	    .r7 = r[7],
	    .r8 = r[8],
	    .r9 = r[9],
	    .r10 = r[10],
	};
	return true;
}

/*
 * The value in `bits` with its bytes turned around; cut() and extend()
 * likewise.
 */
static uint64_t swap(uint64_t v, unsigned bits)
{
	return bits == 16   ? __builtin_bswap16((uint16_t)v)
	       : bits == 32 ? __builtin_bswap32((uint32_t)v)
			    : __builtin_bswap64(v);
}

static uint64_t cut(uint64_t v, unsigned bits)
{
	return bits == 16 ? (uint16_t)v : bits == 32 ? (uint32_t)v : v;
}

static uint64_t extend(uint64_t v, unsigned bits)
{
	return bits == 8    ? (uint64_t)(int8_t)v
	       : bits == 16 ? (uint64_t)(int16_t)v
	       : bits == 32 ? (uint64_t)(int32_t)v
			    : v;
}

/*
 * The instruction set's rule for signed division: by 0 gives 0 (the dividend
 * for the remainder), and INT64_MIN / -1 wraps, where C and x86 would trap.
 */
static uint64_t sdiv64(int64_t a, int64_t b)
{
	return !b ? 0 : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t smod64(int64_t a, int64_t b)
{
	return !b ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b);
}

static uint32_t sdiv32(int32_t a, int32_t b)
{
	return !b ? 0 : b == -1 ? 0 - (uint32_t)a : (uint32_t)(a / b);
}

static uint32_t smod32(int32_t a, int32_t b)
{
	return !b ? (uint32_t)a : b == -1 ? 0 : (uint32_t)(a % b);
}

/*
 * One atomic instruction at an address that is in bounds and aligned. r0 is
 * cmpxchg's expected value and gets what was there.
 */
#define ATOMIC(T)                                                              \
	do {                                                                   \
		T *m_ = (T *)(void *)p;                                        \
		T v_ = (T)r[o->src], old_ = 0;                                 \
                                                                               \
		switch (o->sub & ~BPF_FETCH) {                                 \
		case BPF_ADD:                                                  \
			old_ = __atomic_fetch_add(m_, v_, __ATOMIC_SEQ_CST);   \
			break;                                                 \
		case BPF_AND:                                                  \
			old_ = __atomic_fetch_and(m_, v_, __ATOMIC_SEQ_CST);   \
			break;                                                 \
		case BPF_OR:                                                   \
			old_ = __atomic_fetch_or(m_, v_, __ATOMIC_SEQ_CST);    \
			break;                                                 \
		case BPF_XOR:                                                  \
			old_ = __atomic_fetch_xor(m_, v_, __ATOMIC_SEQ_CST);   \
			break;                                                 \
		case BPF_XCHG & ~BPF_FETCH:                                    \
			old_ = __atomic_exchange_n(m_, v_, __ATOMIC_SEQ_CST);  \
			break;                                                 \
		default: /* BPF_CMPXCHG */                                     \
			old_ = (T)r[0];                                        \
			__atomic_compare_exchange_n(m_, &old_, v_, false,      \
						    __ATOMIC_SEQ_CST,          \
						    __ATOMIC_SEQ_CST);         \
			r[0] = old_;                                           \
			break;                                                 \
		}                                                              \
		if (o->sub != BPF_CMPXCHG && (o->sub & BPF_FETCH))             \
			r[o->src] = old_;                                      \
	} while (0)

static void atomic_op(const struct op *o, uint8_t *p, uint64_t *r)
{
	if (BPF_SIZE(o->code) == BPF_W)
		ATOMIC(uint32_t);
	else
		ATOMIC(uint64_t);
}

/* Says in the script's words where: whoever sees this reports a bug. */
static void say_bad_address(struct vm *vm, const struct image *img, uint32_t pc,
			    uint64_t addr)
{
	const struct op *o = &img->ops[pc];
	const struct ir *ir = vm->g ? vm->g->ir : NULL;
	const struct span *span = NULL;

	if (img->code && img->code->loc && ir &&
	    img->code->loc[pc] < ir->locs.n)
		span = &ir->locs.v[img->code->loc[pc]].span;
	vm_failed(vm, "%s, instruction %u (code %#x): bad address %#llx%s%s",
		  img->code && img->code->fn && img->code->fn->name
		      ? img->code->fn->name
		      : "code",
		  pc, o->code, (unsigned long long)addr,
		  span && span->text ? " near " : "",
		  span && span->text ? span->text : "");
}

/*
 * Addresses of loads and stores; the instruction is o. bad_address is the label
 * at the end of run().
 */
#define MEMORY(reg, bytes, write)                                              \
	do {                                                                   \
		addr = r[reg] + (uint64_t)(int64_t)o->off;                     \
		p = at(vm, addr, bytes, write);                                \
		if (!p)                                                        \
			goto bad_address;                                      \
	} while (0)
#define LOAD_AS(T, name, cast)                                                 \
	do {                                                                   \
		addr = r[o->src] + (uint64_t)(int64_t)o->off;                  \
		p = at(vm, addr, sizeof(T), false);                            \
		if (p)                                                         \
			r[o->dst] = (uint64_t)(cast)((struct name *)p)->v;     \
		else if (reads_as_zero(vm, addr))                              \
			r[o->dst] = 0;                                         \
		else                                                           \
			goto bad_address;                                      \
	} while (0)
#define STORE_AS(name, T, value)                                               \
	do {                                                                   \
		MEMORY(o->dst, sizeof(T), true);                               \
		((struct name *)p)->v = (T)(value);                            \
	} while (0)

/*
 * Both forms (register, immediate) of both widths of an ALU operation. Shifts
 * are cut to the width, as the instruction set has them; 32-bit results clear
 * the upper half. Immediates are sign-extended (o->imm is).
 */
#define ALU_CASES(OP, e64, e32)                                                \
	case BPF_ALU64 | OP | BPF_X: {                                         \
		uint64_t a = r[o->dst], b = r[o->src];                         \
		r[o->dst] = (e64);                                             \
		break;                                                         \
	}                                                                      \
	case BPF_ALU64 | OP | BPF_K: {                                         \
		uint64_t a = r[o->dst], b = (uint64_t)o->imm;                  \
		r[o->dst] = (e64);                                             \
		break;                                                         \
	}                                                                      \
	case BPF_ALU | OP | BPF_X: {                                           \
		uint32_t a = (uint32_t)r[o->dst], b = (uint32_t)r[o->src];     \
		r[o->dst] = (uint32_t)(e32);                                   \
		break;                                                         \
	}                                                                      \
	case BPF_ALU | OP | BPF_K: {                                           \
		uint32_t a = (uint32_t)r[o->dst], b = (uint32_t)o->imm;        \
		r[o->dst] = (uint32_t)(e32);                                   \
		break;                                                         \
	}

/*
 * Both forms of both widths of a conditional jump. U or S: the types. o->off
 * counts from the next instruction, to which pc points already.
 */
#define JUMP_CASES(OP, T64, T32, rel)                                          \
	case BPF_JMP | OP | BPF_X: {                                           \
		T64 a = (T64)r[o->dst], b = (T64)r[o->src];                    \
		pc += (rel) ? (uint32_t)o->off : 0;                            \
		break;                                                         \
	}                                                                      \
	case BPF_JMP | OP | BPF_K: {                                           \
		T64 a = (T64)r[o->dst], b = (T64)o->imm;                       \
		pc += (rel) ? (uint32_t)o->off : 0;                            \
		break;                                                         \
	}                                                                      \
	case BPF_JMP32 | OP | BPF_X: {                                         \
		T32 a = (T32)r[o->dst], b = (T32)r[o->src];                    \
		pc += (rel) ? (uint32_t)o->off : 0;                            \
		break;                                                         \
	}                                                                      \
	case BPF_JMP32 | OP | BPF_K: {                                         \
		T32 a = (T32)r[o->dst], b = (T32)o->imm;                       \
		pc += (rel) ? (uint32_t)o->off : 0;                            \
		break;                                                         \
	}

/* A helper call; false: the machine stops. */
static bool call_helper(struct vm *vm, int64_t id, uint64_t *r)
{
	vm_helper *fn =
	    id >= HOST_FIRST ? host_helper_at(id) : sim_helper_at(id);
	unsigned i;

	/* Host code copies strings with the kernel's helpers, as gen makes one
	 * copy for both machines; bare instructions have no helpers. Of the
	 * host's own a kernel handler has one: what an event says of its
	 * process. */
	if (!fn || !vm->s ||
	    (id >= HOST_FIRST && vm->in_kernel && id != HOST_BUILTIN) ||
	    (id < HOST_FIRST && !vm->in_kernel && !sim_on_host(id))) {
		vm_failed(vm, "call of helper %lld, which does not exist",
			  (long long)id);
		return false;
	}
	/* Its result; r1 to r5 it may have changed. */
	r[0] = fn(vm, r + 1);
	/* What it pointed to may be gone. */
	vm->last.size = 0;
	for (i = 1; i <= 5; i++)
		r[i] = 0xdead00dead00dead;
	return vm->halt == HALT_NO;
}

/*
 * The next slice of the budget; 0: the machine stops. The session is asked
 * between slices whether to stop: asking for each instruction would cost more
 * than running it.
 */
static uint64_t next_slice(struct vm *vm)
{
	uint64_t slice = vm->budget < SLICE ? vm->budget : SLICE;

	if (!slice)
		vm_failed(vm, "instruction budget used up");
	else if (vm->hooks.interrupted && vm->hooks.interrupted(vm->hooks.ctx))
		vm_raise_final(vm, UINT32_MAX, true, "");
	if (vm->halt != HALT_NO)
		return 0;
	vm->budget -= slice;
	return slice;
}

/* clang-format off: the cases of a table.
 * The loop; a flat switch over the instruction byte. */
static int run(struct vm *vm, struct image *img, uint32_t pc, uint64_t *r,
	       struct calls *calls)
{
	uint64_t left = 0, addr = 0; /* left: of the slice */
	const struct op *o = NULL;
	int ret = -1;
	uint8_t *p;

	for (;;) {
		/* One instruction. pc is beyond it while it runs. */
		if (!left && !(left = next_slice(vm)))
			goto out;
		left--;
		o = &img->ops[pc++];
		switch (o->code) {
			ALU_CASES(BPF_ADD, a + b, a + b)
			ALU_CASES(BPF_SUB, a - b, a - b)
			ALU_CASES(BPF_MUL, a * b, a * b)
			ALU_CASES(BPF_OR, a | b, a | b)
			ALU_CASES(BPF_AND, a & b, a & b)
			ALU_CASES(BPF_XOR, a ^ b, a ^ b)
			ALU_CASES(BPF_LSH, a << (b & 63), a << (b & 31))
			ALU_CASES(BPF_RSH, a >> (b & 63), a >> (b & 31))
			ALU_CASES(BPF_ARSH, (uint64_t)((int64_t)a >> (b & 63)),
				  (int32_t)a >> (b & 31))
			ALU_CASES(BPF_DIV,
				  o->sub ? sdiv64(a, b)
				  : b    ? a / b
					 : 0,
				  o->sub ? sdiv32(a, b)
				  : b    ? a / b
					 : 0)
			ALU_CASES(BPF_MOD,
				  o->sub ? smod64(a, b)
				  : b    ? a % b
					 : a,
				  o->sub ? smod32(a, b)
				  : b    ? a % b
					 : a)
		case BPF_ALU64 | BPF_MOV | BPF_X:
			r[o->dst] = extend(r[o->src], o->sub);
			break;
		case BPF_ALU64 | BPF_MOV | BPF_K:
			r[o->dst] = (uint64_t)o->imm;
			break;
		case BPF_ALU | BPF_MOV | BPF_X:
			r[o->dst] = (uint32_t)extend(r[o->src], o->sub);
			break;
		case BPF_ALU | BPF_MOV | BPF_K:
			r[o->dst] = (uint32_t)o->imm;
			break;
		case BPF_ALU64 | BPF_NEG:
			r[o->dst] = 0 - r[o->dst];
			break;
		case BPF_ALU | BPF_NEG:
			r[o->dst] = 0 - (uint32_t)r[o->dst];
			break;
		case BPF_ALU | BPF_END | BPF_TO_LE:
			r[o->dst] = cut(r[o->dst], o->sub);
			break;
		case BPF_ALU | BPF_END | BPF_TO_BE:
		case BPF_ALU64 | BPF_END | BPF_TO_LE: /* bswap */
			r[o->dst] = swap(r[o->dst], o->sub);
			break;
		/* Its second half is the next op. */
		case CODE_LDDW:
			r[o->dst] = (uint64_t)o->imm;
			pc++;
			break;
		case BPF_LDX | BPF_MEM | BPF_B:
			LOAD_AS(uint8_t, un8, uint8_t);
			break;
		case BPF_LDX | BPF_MEM | BPF_H:
			LOAD_AS(uint16_t, un16, uint16_t);
			break;
		case BPF_LDX | BPF_MEM | BPF_W:
			LOAD_AS(uint32_t, un32, uint32_t);
			break;
		case BPF_LDX | BPF_MEM | BPF_DW:
			LOAD_AS(uint64_t, un64, uint64_t);
			break;
		case BPF_LDX | MODE_MEMSX | BPF_B:
			LOAD_AS(uint8_t, un8, int8_t);
			break;
		case BPF_LDX | MODE_MEMSX | BPF_H:
			LOAD_AS(uint16_t, un16, int16_t);
			break;
		case BPF_LDX | MODE_MEMSX | BPF_W:
			LOAD_AS(uint32_t, un32, int32_t);
			break;
		case BPF_STX | BPF_MEM | BPF_B:
			STORE_AS(un8, uint8_t, r[o->src]);
			break;
		case BPF_STX | BPF_MEM | BPF_H:
			STORE_AS(un16, uint16_t, r[o->src]);
			break;
		case BPF_STX | BPF_MEM | BPF_W:
			STORE_AS(un32, uint32_t, r[o->src]);
			break;
		case BPF_STX | BPF_MEM | BPF_DW:
			STORE_AS(un64, uint64_t, r[o->src]);
			break;
		case BPF_ST | BPF_MEM | BPF_B:
			STORE_AS(un8, uint8_t, o->imm);
			break;
		case BPF_ST | BPF_MEM | BPF_H:
			STORE_AS(un16, uint16_t, o->imm);
			break;
		case BPF_ST | BPF_MEM | BPF_W:
			STORE_AS(un32, uint32_t, o->imm);
			break;
		case BPF_ST | BPF_MEM | BPF_DW:
			STORE_AS(un64, uint64_t, o->imm);
			break;
		case BPF_STX | BPF_ATOMIC | BPF_W:
			MEMORY(o->dst, 4, true);
			if (addr & 3)
				goto bad_address;
			atomic_op(o, p, r);
			break;
		case BPF_STX | BPF_ATOMIC | BPF_DW:
			MEMORY(o->dst, 8, true);
			if (addr & 7)
				goto bad_address;
			atomic_op(o, p, r);
			break;
			JUMP_CASES(BPF_JEQ, uint64_t, uint32_t, a == b)
			JUMP_CASES(BPF_JNE, uint64_t, uint32_t, a != b)
			JUMP_CASES(BPF_JGT, uint64_t, uint32_t, a > b)
			JUMP_CASES(BPF_JGE, uint64_t, uint32_t, a >= b)
			JUMP_CASES(BPF_JLT, uint64_t, uint32_t, a < b)
			JUMP_CASES(BPF_JLE, uint64_t, uint32_t, a <= b)
			JUMP_CASES(BPF_JSET, uint64_t, uint32_t, a & b)
			JUMP_CASES(BPF_JSGT, int64_t, int32_t, a > b)
			JUMP_CASES(BPF_JSGE, int64_t, int32_t, a >= b)
			JUMP_CASES(BPF_JSLT, int64_t, int32_t, a < b)
			JUMP_CASES(BPF_JSLE, int64_t, int32_t, a <= b)
		case BPF_JMP | BPF_JA:
		case CODE_JA32:
			pc += (uint32_t)o->off;
			break;
		case CODE_CALL:
			/* A callback runs on the same budget. */
			vm->budget += left;
			vm->current = img;
			if (!call_helper(vm, o->imm, r)) {
				left = 0;
				goto out;
			}
			if (left > vm->budget)
				left = vm->budget;
			vm->budget -= left;
			break;
		case CODE_LOCAL:
		case CODE_FAR: {
			struct image *to = img;
			uint32_t start = pc + (uint32_t)o->off;

			if (o->code == CODE_FAR) {
				to = image_of_func(vm, (uint32_t)o->imm);
				start = 0;
			}
			if (!to)
				goto out;
			/* The callee's frame lies below the caller's. */
			if (!push_call(calls, img, pc, r) ||
			    !frame_open(vm, vm->stack_lo,
					frame_of(to, start))) {
				vm_failed(vm, "calls nest too deep");
				goto out;
			}
			/* The caller's frame ends where the callee's begins. */
			r[10] = vm->stack_lo + frame_of(to, start);
			img = to;
			pc = start;
			break;
		}
		case CODE_EXIT:
			if (!calls->n) {
				ret = 0;
				goto out;
			}
			{
				const struct call *c = &calls->v[--calls->n];

				/*
				 * The frame is given back: the touchable part
				 * begins at the caller's r10 - its frame, which
				 * is where the callee's r10 was.
				 */
				vm->stack_size += vm->stack_lo;
				vm->stack_lo = r[10];
				vm->stack_size -= vm->stack_lo;
				img = c->img;
				pc = c->pc;
				r[6] = c->r6;
				r[7] = c->r7;
				r[8] = c->r8;
				r[9] = c->r9;
				r[10] = c->r10;
			}
			break;
		default:
			vm_failed(vm, "instruction %u: code %#x", pc - 1,
				  o->code);
			goto out;
		}
	}
bad_address:
	say_bad_address(vm, img, pc - 1, addr);
out:
	vm->budget += left;
	return ret;
}

/* clang-format on */

/*
 * Starts at instruction pc of img with r1..r3. The touchable stack is restored,
 * so a callback's frame does not outlive it.
 */
int exec_run(struct vm *vm, struct image *img, uint32_t pc,
	     const uint64_t args[4], uint64_t frame, uint64_t *ret_r0)
{
	/* 16, not 11: the register numbers of an op are four bits wide. */
	uint64_t r[16] = {0, args[0], args[1], args[2], args[3]};
	uint64_t lo = vm->stack_lo, size = vm->stack_size;
	uint64_t start = vm->budget;
	struct calls calls = {0};
	int err = -1;

	if (pc >= img->n || !img->ops[pc].code)
		vm_failed(vm, "start at instruction %u, which is none", pc);
	else if (!frame_open(vm, frame, frame_of(img, pc)))
		vm_failed(vm, "calls nest too deep");
	else {
		r[10] = frame;
		err = run(vm, img, pc, r, &calls);
	}
	free(calls.v);
	/* Nested runs (loop callbacks) count their own steps. */
	if (!vm->loops)
		vm->steps += start - vm->budget;
	vm->stack_lo = lo;
	vm->stack_size = size;
	*ret_r0 = r[0];
	return err;
}
