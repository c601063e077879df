/* SPDX-License-Identifier: MIT */
/*
 * work-mark N: passes a static probe N times, with arguments in a register, as
 * a constant and in memory. Prints the probe's semaphore before and after: it
 * counts who is looking.
 */
#include <stdio.h>
#include <stdlib.h>

/* In a section of its own, as <sys/sdt.h> does it. */
static volatile unsigned short semaphore
    __attribute__((section(".probes"), used));

/* By name, with a distance: known by the program's symbols. */
static long table[3] __attribute__((used)) = {5, 6, 7};

static void __attribute__((noinline)) pass(int i, long twice, short *back)
{
	__asm__ volatile(
	    "990: nop\n"
	    ".pushsection .note.stapsdt,\"\",\"note\"\n"
	    ".balign 4\n"
	    ".4byte 992f-991f, 994f-993f, 3\n"
	    "991: .asciz \"stapsdt\"\n"
	    "992: .balign 4\n"
	    "993: .8byte 990b, 0, %c[sem]\n"
	    ".asciz \"work\"\n"
	    ".asciz \"pass\"\n"
	    ".asciz \"-4@%[i] 8@%[twice] -4@$-7 -2@%[back] "
	    "8@table+16(%%rip)\"\n"
	    "994: .balign 4\n"
	    ".popsection\n" ::[i] "r"(i),
	    [twice] "r"(twice), [back] "m"(*back), [sem] "i"(&semaphore));
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	printf("watched: %d\n", semaphore);
	for (int i = 0; i < n; i++) {
		short back = (short)-i;

		table[2] = i % 10;

		pass(i, 2L * i, &back);
	}
	return 0;
}
