/* SPDX-License-Identifier: MIT */
/*
 * Variables of every kind, to be read through debug information. Built twice:
 * unoptimized (work-vars0) and optimized (work-vars2). Tests name its lines.
 */
#include <stdio.h>
#include <string.h>

struct point {
	int x, y;
	unsigned low : 3, high : 5;
	char name[8];
	struct point *next;
	short grid[2][3];
};

enum color { RED, GREEN = 5, NEGATIVE = -2 };

int global_count = 7;
static struct point origin = {
    .x = 1, .y = -2, .low = 3, .high = 4, .name = "origin"};

static inline __attribute__((always_inline)) int twice(int v)
{
	int r = v * 2;

	global_count += r;
	return r;
}

static __attribute__((noinline)) long work(int a, struct point *p,
					   const char *s, enum color color,
					   unsigned char small, long last,
					   long on_stack)
{
	int local = a + p->x;

	p->y += twice(local);
	local += (int)strlen(s) + color + small;
	__asm__ volatile("" : "+r"(local) : : "memory"); /* line 40 */
	return local + last + on_stack;
}

int main(void)
{
	struct point p = {.x = 10, .y = 20, .low = 5, .high = 9, .name = "pt",
			  .next = &origin,
			  .grid = {{1, 2, 3}, {4, -5, 6}}};
	long sum = 0;

	/* A probe cannot wait for a page that has not been touched. */
	printf("%s\n", "hello");
	for (int i = 0; i < 3; i++) {
		const char *s = "hello";
		enum color color = NEGATIVE;
		unsigned char small = 200;
		long last = -3, on_stack = 4;

		/* As if read from somewhere: not to be passed as constants. */
		__asm__ volatile("" : "+r"(s), "+r"(color), "+r"(small),
				      "+r"(last), "+r"(on_stack));
		sum += work(i - 1, &p, s, color, small, last, on_stack);
	}
	printf("%ld\n", sum);
	return 0;
}
