# Programs as two compilers describe them. clang has enumerations without an
# encoding of their own, and frames that count from rsp or rbp as they are behind
# the prologue. At the entry, what the caller has passed is known, or refused;
# never read from where it will be later.
stop() {
	echo "$*"
	exit 1
}
cd "$TMP"
PATH=$TMP:$PATH
for level in 0 2; do
	clang -g -O$level -o work-vars$level "$TOP/tests/workload/vars.c" ||
		stop "vars.c, -O$level"
done
for test in vars vars-optimized; do
	level=0
	[ $test = vars ] || level=2
	timeout 60 tally -c work-vars$level "$TOP/tests/kernel/$test.stp" >out 2>&1
	diff "$TOP/tests/kernel/$test.out" out && echo "$test: the same"
done

cat >p.c <<'EOF2'
#include <alloca.h>
#include <stdio.h>
#define CALLED __attribute__((noinline))
struct big { long a[4]; };
enum __attribute__((packed)) byte { SMALL = 1, LARGE = 200 };
enum low { LOW = -3, HIGH = 3 };
CALLED void use(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
/* Nothing on the stack but the return address; pushed; made room; both. */
CALLED long leaf(long a, long b, long c, long d, long e, long f, long g,
		 enum low h, enum byte i)
{
	__asm__ volatile("" : : : "memory");
	return a * g + h + i;
}
CALLED long pushed(long a, long b, long c, long d, long e, long f, long g,
		   struct big s)
{
	long r = leaf(a, 2, 3, 4, 5, 6, g, LOW, LARGE);

	return leaf(r, a, b, c, d, e, g, HIGH, SMALL) + a + b + g + s.a[2];
}
CALLED long room(int x, long b, long c, long d, long e, long f, long g,
		 struct big s)
{
	char buf[9000];

	use(buf);
	use(&x);
	return x + g + s.a[1] + buf[3] + pushed(b, 2, 3, 4, 5, 6, g, s);
}
/* With a frame in rbp, and with one that is aligned besides. */
CALLED long varies(int x, long b, long c, long d, long e, long f, long g,
		   struct big s)
{
	char *buf = alloca(x + 1);

	use(buf);
	use(&x);
	return x + g + s.a[1] + buf[0];
}
CALLED long aligned(int x, long b, long c, long d, long e, long f, long g,
		    struct big s)
{
	_Alignas(64) char buf[90];

	use(buf);
	use(&x);
	return x + g + s.a[1] + buf[3];
}
int main(void)
{
	struct big s = {{1, 22, -333, 4}};
	int n = 12;
	long m = -8, r;

	/* As if read from somewhere: not to be passed as constants. */
	__asm__ volatile("" : "+r"(n), "+r"(m));
	use(&s);
	r = room(n, 2, 3, 4, 5, 6, m, s) +
	    varies(n + 1, 2, 3, 4, 5, 6, m - 1, s) +
	    aligned(n + 2, 2, 3, 4, 5, 6, m - 2, s);
	return r == 5;
}
EOF2
cat >p.stp <<'EOF2'
# What an optimizer has not kept track of may be missing, but not wrong.
global first, right = 0, missing = 0
@define is(variable, number) %(
	if (!@defined(@variable))
		missing++
	else if ((@defined(@variable) ? @variable : 0) == @number)
		right++
	else
		printf("%s: %d, not %d\n", ppfunc(), @variable, @number)
%)
probe process("./p").function("leaf") {
	if (first++)
		next
	@is($g, -8)
	@is($h, -3)
	@is($i, 200)
	if (@defined($i) && @enumname($i) != "LARGE")
		println("name: ", @enumname($i))
}
probe process("./p").function("pushed") {
	@is($g, -8)
	@is($s->a[2], -333)
}
probe process("./p").function("room") {
	@is($x, 12)
	@is($g, -8)
	@is($s->a[2], -333)
}
probe process("./p").function("varies") {
	@is($x, 13)
	@is($g, -9)
	@is($s->a[2], -333)
}
probe process("./p").function("aligned") {
	@is($x, 14)
	@is($g, -10)
	@is($s->a[2], -333)
}
probe end {
	printf("%d: %s\n", right + missing,
	       right > 7 ? "most are right" : "few are right")
}
EOF2
for cc in clang gcc; do
	for level in 0 1 2 s; do
		$cc -g -O$level -o p p.c || stop "p.c, $cc -O$level"
		echo "$cc -O$level:"
		timeout 60 tally -c ./p p.stp
	done
done
