# Debug information whose common parts are in a second file, and in units that
# others import.
cd "$TMP"
cat >common.h <<'EOF'
struct common {
	int members, of, both, programs;
	struct common *next;
};
static inline __attribute__((always_inline)) int copied(struct common *c)
{
	__asm__ volatile("" : : : "memory");
	return c->members * 3;
}
EOF
for i in 1 2 3; do
	cat >p$i.c <<EOF
#include "common.h"
__attribute__((noinline)) int whole$i(struct common *c)
{
	return copied(c->next) + 1;
}
EOF
done
cat >main.c <<'EOF'
#include "common.h"
int MAIN(struct common *), whole3(struct common *);
int main(void)
{
	struct common c = {1, 2, 3, 4, &c};

	return MAIN(&c) + whole3(&c);
}
EOF
for i in 1 2; do
	gcc -g -O2 -DMAIN=whole$i -o prog$i p$i.c p3.c main.c
done
cp prog1 one
dwz -m common.debug prog1 prog2
dwz one 2>&1
readelf -SW prog1 | grep -o 'gnu_debugaltlink'
for f in prog1 prog2 one; do
	tally -L "process(\"./$f\").function(\"copied\")" 2>&1 |
		sed 's|@[^"]*/c|@c|' | sort
	tally -p2 -e "probe process(\"./$f\").function(\"copied\") { println(\$c->both, \$c\$) }" >/dev/null
done
mv common.debug gone
tally -p2 -e 'probe process("./prog1").function("copied") { next }' 2>&1 |
	grep -E "WARNING|note: .\./"
