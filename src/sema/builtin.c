/* SPDX-License-Identifier: MIT */
/* Looking up built-in functions. */
#include "sema/builtin.h"

#include <assert.h>
#include <string.h>

static const struct builtin builtins[BI_MAX] = {
#define BUILTIN(id, name, sig, flags, width, doc)                              \
	{BI_##id, name, sig, flags, width, doc},
#include "sema/builtin.def"
#undef BUILTIN
};

unsigned builtin_nargs(const struct builtin *b)
{
	return (unsigned)strlen(b->sig) - 2;
}

/* A few hundred rows, asked once for each call in the script. */
const struct builtin *builtin_find(const char *name, unsigned nargs)
{
	unsigned i;

	for (i = 0; i < BI_MAX; i++)
		if (!strcmp(builtins[i].name, name) &&
		    builtin_nargs(&builtins[i]) == nargs)
			return &builtins[i];
	return NULL;
}

const struct builtin *builtin_at(enum builtin_id id)
{
	assert(id < BI_MAX);
	return &builtins[id];
}

static enum type sig_type(char c)
{
	switch (c) {
	case 'l':
		return TY_LONG;
	case 's':
		return TY_STRING;
	default:
		return TY_UNKNOWN;
	}
}

enum type builtin_type(const struct builtin *b)
{
	return sig_type(b->sig[0]);
}

enum type builtin_arg(const struct builtin *b, unsigned i)
{
	assert(i < builtin_nargs(b));
	return sig_type(b->sig[2 + i]);
}
