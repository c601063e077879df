/* SPDX-License-Identifier: MIT */
/* hand OBJECT PROGRAM: attaches one program of hand.bpf.o until a signal. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *obj;
	struct bpf_program *p;

	if (argc != 3) {
		fprintf(stderr, "usage: hand OBJECT PROGRAM\n");
		return 2;
	}
	libbpf_set_print(quiet);
	obj = bpf_object__open(argv[1]);
	if (!obj)
		return 1;
	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(
		    p, strcmp(bpf_program__name(p), argv[2]) == 0);
	if (bpf_object__load(obj))
		return 1;
	p = bpf_object__find_program_by_name(obj, argv[2]);
	if (!p || !bpf_program__attach(p))
		return 1;
	pause();
	return 0;
}
