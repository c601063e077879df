/* SPDX-License-Identifier: MIT */
/* Unprintable bytes as the script language writes them: text_str(). */
#ifndef VM_ESCAPE_H
#define VM_ESCAPE_H

#include "out/format.h"

/*
 * Appends n bytes of s with \n, \ooo, \uXXXX (UTF-8) and the like, at most max
 * bytes of result. quoted: in double quotes, with ... behind them when it was
 * cut (then never less than 5 bytes). An escape is never cut in two.
 */
void text_escape(struct text *t, const char *s, size_t n, size_t max,
		 bool quoted);

#endif
