/* SPDX-License-Identifier: MIT */
#include "types/libdw.h"

#include <dlfcn.h>

#include "base/compile.h"
#include "types/types.h"

/* dlsym() gives a pointer to void; C has no conversion of it to a function. */
static bool find(void *lib, const char *name, void *ret)
{
	*(void **)ret = dlsym(lib, name);
	return *(void **)ret;
}

const struct libdw *libdw_open(struct compile *c, const char **ret_why)
{
	struct libdw **kept = (struct libdw **)types_keep(c, "libdw");
	struct libdw *dw;
	/* Never closed: the library stays for the life of the process. */
	void *lib;

	if (*kept)
		return *kept;
	lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		*ret_why = "libdw.so.1 is not installed, which reads debug "
			   "information (Debian: apt-get install libdw1)";
		return NULL;
	}
	dw = arena_new_of(c->a, struct libdw);
#define DW(name)                                                               \
	if (!find(lib, #name, &dw->name)) {                                    \
		*ret_why = "libdw.so.1 is too old: it lacks " #name;           \
		return NULL;                                                   \
	}
#include "types/libdw.def"
#undef DW
	*kept = dw;
	return dw;
}
