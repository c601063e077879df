/* SPDX-License-Identifier: MIT */
/*
 * Linking: a code's instructions with their addresses filled in, checked so
 * that the interpreter can trust registers and jump targets and has only
 * memory, budget and helpers left to watch.
 */
#include "vm/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "vm/op.h"

/* BPF_PSEUDO_FUNC; newer than some headers. */
enum { PSEUDO_FUNC = 4 };

/*
 * What the interpreter knows is exactly the kernel's instruction set, with the
 * signed division and sign extension of 6.6: a program that the kernel would
 * refuse for an instruction is refused here, too, before it runs. NULL, or the
 * word for what is wrong; likewise the others.
 */
static const char *alu_ok(const struct bpf_insn *i)
{
	switch (BPF_OP(i->code)) {
	case BPF_DIV:
	case BPF_MOD:
		return i->off == 0 || i->off == SUB_SDIV ? NULL
							 : "division kind";
	case BPF_MOV:
		if (i->off == 0)
			return NULL;
		/*
		 * Sign-extending moves: from 8, 16, or (64-bit only) 32 bits.
		 */
		return BPF_SRC(i->code) == BPF_X &&
			       (i->off == 8 || i->off == 16 ||
				(i->off == 32 &&
				 BPF_CLASS(i->code) == BPF_ALU64))
			   ? NULL
			   : "move width";
	case BPF_END:
		return i->imm == 16 || i->imm == 32 || i->imm == 64
			   ? NULL
			   : "byte swap width";
	case BPF_NEG:
		return BPF_SRC(i->code) == BPF_K ? NULL : "operation";
	default:
		return BPF_OP(i->code) <= BPF_ARSH ? NULL : "operation";
	}
}

static const char *atomic_ok(const struct bpf_insn *i)
{
	if (BPF_SIZE(i->code) != BPF_W && BPF_SIZE(i->code) != BPF_DW)
		return "atomic width";
	switch (i->imm) {
	case BPF_ADD:
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
	case BPF_ADD | BPF_FETCH:
	case BPF_AND | BPF_FETCH:
	case BPF_OR | BPF_FETCH:
	case BPF_XOR | BPF_FETCH:
	case BPF_XCHG:
	case BPF_CMPXCHG:
		return NULL;
	default:
		return "atomic operation";
	}
}

static const char *jump_ok(const struct bpf_insn *i)
{
	switch (BPF_OP(i->code)) {
	case BPF_CALL:
	case BPF_EXIT:
		return BPF_CLASS(i->code) == BPF_JMP &&
			       BPF_SRC(i->code) == BPF_K
			   ? NULL
			   : "call";
	case BPF_JA:
		return BPF_SRC(i->code) == BPF_K ? NULL : "jump";
	default:
		return BPF_OP(i->code) <= BPF_JSLE ? NULL : "jump";
	}
}

/* NULL, or what is wrong with the instruction. */
static const char *insn_ok(const struct bpf_insn *i)
{
	unsigned mode = BPF_MODE(i->code);

	/* Registers are four bits wide: 11 to 15 do not exist. */
	if (i->dst_reg > BPF_REG_10 || i->src_reg > BPF_REG_10)
		return "register";
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		/*
		 * r10 is the frame: the kernel refuses to change it, and so it
		 * is a constant for the interpreter.
		 */
		if (i->dst_reg == BPF_REG_10)
			return "write to r10";
		return alu_ok(i);
	case BPF_JMP:
	case BPF_JMP32:
		return jump_ok(i);
	case BPF_LDX:
		if (i->dst_reg == BPF_REG_10)
			return "write to r10";
		return mode == BPF_MEM || (mode == MODE_MEMSX &&
					   BPF_SIZE(i->code) != BPF_DW)
			   ? NULL
			   : "load";
	case BPF_ST:
		return mode == BPF_MEM ? NULL : "store";
	case BPF_STX:
		if (mode != BPF_ATOMIC)
			return mode == BPF_MEM ? NULL : "store";
		/* A fetching atomic writes its source register. */
		if (i->src_reg == BPF_REG_10)
			return "write to r10";
		return atomic_ok(i);
	default: /* BPF_LD; its second slot is checked with the targets */
		if (i->dst_reg == BPF_REG_10)
			return "write to r10";
		return i->code == CODE_LDDW ? NULL : "load";
	}
}

/*
 * One instruction without its relocation. The operand that selects what an
 * instruction does (kind of division, width of a swap, atomic operation) moves
 * to `sub` whatever its class has it in: the interpreter looks at one place.
 */
static void decode(struct op *o, const struct bpf_insn *i, uint32_t at)
{
	*o = (struct op){
	    .code = i->code,
	    .dst = i->dst_reg,
	    .src = i->src_reg,
	    .sub = (uint8_t)i->off,
	    .off = i->off,
	    .imm = i->imm,
	};
	switch (BPF_CLASS(i->code)) {
	case BPF_STX:
		if (BPF_MODE(i->code) == BPF_ATOMIC)
			o->sub = (uint8_t)i->imm;
		break;
	case BPF_ALU:
	case BPF_ALU64:
		if (BPF_OP(i->code) == BPF_END)
			o->sub = (uint8_t)i->imm;
		break;
	case BPF_JMP32:
		if (i->code == CODE_JA32)
			o->off = i->imm;
		break;
	case BPF_JMP:
		if (i->code == CODE_CALL && i->src_reg == BPF_PSEUDO_CALL) {
			o->code = CODE_LOCAL;
			o->off = i->imm;
		}
		break;
	case BPF_LD:
		/* The 64-bit constant is spread over two instructions. */
		o->imm = (int64_t)((uint64_t)(uint32_t)i->imm |
				   (uint64_t)(uint32_t)i[1].imm << 32);
		if (i->src_reg == PSEUDO_FUNC)
			o->imm = (int64_t)(VM_FUNC_TAG |
					   (uint32_t)(at + 1 + i->imm));
		break;
	}
}

/*
 * Addresses of areas and numbers of maps into the instructions. false: the
 * relocation is wrong.
 */
static bool reloc_one(struct vm *vm, struct image *img, const struct reloc *r)
{
	struct store *s = vm->s;
	struct op *o;

	if (r->insn >= img->n)
		return false;
	o = &img->ops[r->insn];
	switch (r->kind) {
	case RELOC_MAP:
		o->imm = (int64_t)(VM_MAP_TAG | r->map);
		return r->map < s->plan->maps.n;
	case RELOC_VALUE:
		if (r->map == MAP_CONTROL)
			o->imm = (int64_t)(uintptr_t)(s->control + r->off);
		else if (r->map == MAP_ROWS)
			o->imm = (int64_t)(uintptr_t)(s->rows + r->off);
		else if (r->map == MAP_RODATA)
			o->imm = (int64_t)(uintptr_t)(s->rodata + r->off);
		else
			return false;
		return true;
	case RELOC_FUNC:
		/* A callback's distance is in the instruction. */
		if (o->code == CODE_LDDW)
			return true;
		o->code = CODE_FAR;
		o->imm = r->func;
		return r->func < vm->g->codes.n;
	/*
	 * A function of the kernel's that means nothing here: the no-op stays.
	 */
	case RELOC_KFUNC:
	/* Nor is there a task to load from: 0 stays, the helper is asked. */
	case RELOC_COMM:
	/* and nobody to walk each round of a loop */
	case RELOC_TURNS:
		return true;
	}
	return false;
}

/*
 * Is there an instruction at at + 1 + off, not the second half of one? An op of
 * code 0 is such a second half, or the end.
 */
static bool target_ok(const struct image *img, uint32_t at, int32_t off)
{
	int64_t to = (int64_t)at + 1 + off;

	return to >= 0 && to < img->n && img->ops[to].code;
}

/* So that the interpreter needs no check of pc. */
static bool targets_ok(const struct image *img, uint32_t *ret_at)
{
	const struct op *last = NULL;
	uint32_t i;

	for (i = 0; i < img->n; i++) {
		const struct op *o = &img->ops[i];
		unsigned class = BPF_CLASS(o->code);

		*ret_at = i;
		if (o->code)
			last = o;
		if (o->code == CODE_LOCAL) {
			if (!target_ok(img, i, o->off))
				return false;
			continue;
		}
		if ((class != BPF_JMP && class != BPF_JMP32) ||
		    o->code == CODE_FAR || o->code == CODE_CALL ||
		    o->code == CODE_EXIT)
			continue;
		if (!target_ok(img, i, o->off))
			return false;
	}
	/* Nothing may run off the end. */
	return last && (last->code == CODE_EXIT || last->code == CODE_JA32 ||
			last->code == (BPF_JMP | BPF_JA));
}

/* code NULL: bare instructions, without relocations. NULL after vm_failed(). */
static struct image *image_make(struct vm *vm, const struct code *code,
				const struct bpf_insn *insns, uint32_t n)
{
	struct image *img = xcalloc(1, sizeof(*img));
	const char *wrong = NULL;
	uint32_t i;
	unsigned r;

	img->code = code;
	img->n = n;
	img->ops = xcalloc(n + 1, sizeof(*img->ops));
	for (i = 0; i < n && !wrong; i++) {
		wrong = insn_ok(&insns[i]);
		if (!wrong && insns[i].code == CODE_LDDW &&
		    (i + 1 == n || insns[i + 1].code))
			wrong = "second half of a load";
		if (wrong)
			break;
		decode(&img->ops[i], &insns[i], i);
		/* The second half stays zero: no jump may go there. */
		if (insns[i].code == CODE_LDDW)
			i++;
	}
	for (r = 0; code && !wrong && r < code->relocs.n; r++)
		if (!reloc_one(vm, img, &code->relocs.v[r])) {
			wrong = "relocation";
			i = code->relocs.v[r].insn;
		}
	if (!wrong && !targets_ok(img, &i))
		wrong = "jump target";
	if (!wrong)
		return img;
	vm_failed(vm, "instruction %u: bad %s (code %#x)", i, wrong,
		  i < n ? insns[i].code : 0);
	image_free(img);
	return NULL;
}

void image_free(struct image *img)
{
	if (!img)
		return;
	free(img->ops);
	free(img);
}

/* For tests and fuzzers: nothing of it is remembered, so free it. */
struct image *image_bare(struct vm *vm, const struct bpf_insn *insns,
			 uint32_t n)
{
	return image_make(vm, NULL, insns, n);
}

/* Linked once, when first run: most functions of a script never are. */
struct image *image_of(struct vm *vm, const struct code *code)
{
	uint32_t i = code->fn->index;

	if (i >= vm->nimages) {
		vm_failed(vm, "no such function: %u", i);
		return NULL;
	}
	if (!vm->images[i])
		vm->images[i] = image_make(vm, code, code->insns, code->ninsns);
	return vm->images[i];
}

struct image *image_of_func(struct vm *vm, uint32_t func)
{
	if (func >= vm->g->codes.n || !vm->g->codes.v[func]) {
		vm_failed(vm, "call of function %u, which has no code", func);
		return NULL;
	}
	return image_of(vm, vm->g->codes.v[func]);
}
