/* SPDX-License-Identifier: MIT */
/* Instructions as text, in the verifier's notation. */
#include "gen/code.h"

#include <string.h>

static const char *const helper_names[] = {
	[1] = "map_lookup_elem", [2] = "map_update_elem",
	[3] = "map_delete_elem", [5] = "ktime_get_ns",
	[7] = "get_prandom_u32", [8] = "get_smp_processor_id",
	[14] = "get_current_pid_tgid", [15] = "get_current_uid_gid",
	[16] = "get_current_comm", [35] = "get_current_task",
	[55] = "perf_event_read_value",
	[112] = "probe_read_user", [113] = "probe_read_kernel",
	[114] = "probe_read_user_str", [115] = "probe_read_kernel_str",
	[118] = "jiffies64", [131] = "ringbuf_reserve", [134] = "ringbuf_query",
	[132] = "ringbuf_submit", [133] = "ringbuf_discard",
	[181] = "loop", [195] = "map_lookup_percpu_elem",
};

static const char *const host_names[] = {
#define HOST(id, name, args, doc) name,
#include "gen/host.def"
#undef HOST
};

static void call(const struct bpf_insn *in, char *buf, size_t n)
{
	int32_t id = in->imm;

	if (in->src_reg == BPF_PSEUDO_CALL)
		snprintf(buf, n, "call pc%+d", id);
	else if (id >= HOST_FIRST && id < HOST_END)
		snprintf(buf, n, "call host %s", host_names[id - HOST_FIRST]);
	else if (id > 0 &&
		 (size_t)id < sizeof(helper_names) / sizeof(*helper_names) &&
		 helper_names[id])
		snprintf(buf, n, "call %s", helper_names[id]);
	else
		snprintf(buf, n, "call %d", id);
}

static const char *size_name(int code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return "u8";
	case BPF_H:
		return "u16";
	case BPF_W:
		return "u32";
	default:
		return "u64";
	}
}

static void alu(const struct bpf_insn *in, char *buf, size_t n)
{
	static const char *const op[] = {
		"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=",
		"neg", "%=", "^=", "=", "s>>=", "end",
	};
	/* operations are numbered in steps of 16 */
	unsigned k = BPF_OP(in->code) >> 4;
	char r = BPF_CLASS(in->code) == BPF_ALU ? 'w' : 'r';

	if (k >= sizeof(op) / sizeof(*op))
		snprintf(buf, n, "?alu %#x", in->code);
	else if (k == BPF_NEG >> 4)
		snprintf(buf, n, "%c%u = -%c%u", r, in->dst_reg, r,
			 in->dst_reg);
	else if (k == BPF_END >> 4)
		snprintf(buf, n, "r%u = be%d r%u", in->dst_reg, in->imm,
			 in->dst_reg);
	else if (BPF_SRC(in->code) == BPF_X)
		snprintf(buf, n, "%c%u %s %c%u", r, in->dst_reg, op[k], r,
			 in->src_reg);
	else
		snprintf(buf, n, "%c%u %s %d", r, in->dst_reg, op[k], in->imm);
}

static void jump(const struct bpf_insn *in, char *buf, size_t n)
{
	static const char *const op[] = {
		"goto", "==", ">", ">=", "&", "!=", "s>", "s>=",
		"call", "exit", "<", "<=", "s<", "s<=",
	};
	unsigned k = BPF_OP(in->code) >> 4;
	char r = BPF_CLASS(in->code) == BPF_JMP32 ? 'w' : 'r';

	if (k >= sizeof(op) / sizeof(*op))
		snprintf(buf, n, "?jmp %#x", in->code);
	else if (k == BPF_JA >> 4)
		snprintf(buf, n, "goto %+d",
			 BPF_CLASS(in->code) == BPF_JMP32 ? in->imm : in->off);
	else if (k == BPF_CALL >> 4)
		call(in, buf, n);
	else if (k == BPF_EXIT >> 4)
		snprintf(buf, n, "exit");
	else if (BPF_SRC(in->code) == BPF_X)
		snprintf(buf, n, "if %c%u %s %c%u goto %+d", r, in->dst_reg,
			 op[k], r, in->src_reg, in->off);
	else
		snprintf(buf, n, "if %c%u %s %d goto %+d", r, in->dst_reg,
			 op[k], in->imm, in->off);
}

static void atomic(const struct bpf_insn *in, char *buf, size_t n)
{
	const char *op = "add";

	switch (in->imm & ~BPF_FETCH) {
	case BPF_OR:
		op = "or";
		break;
	case BPF_AND:
		op = "and";
		break;
	case BPF_XOR:
		op = "xor";
		break;
	case BPF_XCHG & ~BPF_FETCH:
		op = "xchg";
		break;
	case BPF_CMPXCHG & ~BPF_FETCH:
		op = "cmpxchg";
		break;
	default:
		break;
	}
	snprintf(buf, n, "atomic%s %s *(%s *)(r%u %+d), r%u",
		 in->imm & BPF_FETCH ? " fetch" : "", op, size_name(in->code),
		 in->dst_reg, in->off, in->src_reg);
}

/* An instruction of 16 bytes: the upper half of its number is in the second. */
static void wide(const struct bpf_insn *in, char *buf, size_t n)
{
	uint64_t v = (uint32_t)in[0].imm | (uint64_t)(uint32_t)in[1].imm << 32;

	switch (in->src_reg) {
	case BPF_PSEUDO_MAP_FD:
		snprintf(buf, n, "r%u = map", in->dst_reg);
		break;
	case BPF_PSEUDO_MAP_VALUE:
		snprintf(buf, n, "r%u = value +%d", in->dst_reg, in[1].imm);
		break;
	case BPF_PSEUDO_FUNC:
		snprintf(buf, n, "r%u = func pc%+d", in->dst_reg, in->imm);
		break;
	default:
		snprintf(buf, n, "r%u = %#llx ll", in->dst_reg,
			 (unsigned long long)v);
	}
}

void disasm(const struct bpf_insn *in, char *buf, size_t n)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		alu(in, buf, n);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		jump(in, buf, n);
		break;
	case BPF_LD:
		wide(in, buf, n);
		break;
	case BPF_LDX:
		snprintf(buf, n, "r%u = *(%s *)(r%u %+d)", in->dst_reg,
			 size_name(in->code), in->src_reg, in->off);
		break;
	case BPF_ST:
		snprintf(buf, n, "*(%s *)(r%u %+d) = %d", size_name(in->code),
			 in->dst_reg, in->off, in->imm);
		break;
	default:
		if (BPF_MODE(in->code) == BPF_ATOMIC)
			atomic(in, buf, n);
		else
			snprintf(buf, n, "*(%s *)(r%u %+d) = r%u",
				 size_name(in->code), in->dst_reg, in->off,
				 in->src_reg);
	}
}
