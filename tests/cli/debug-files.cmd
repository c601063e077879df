# Wherever a program's debug information is, inlined copies are found by it; and
# where it cannot be read, that is said.
cd "$TMP"
cat >p.c <<'EOF'
#include <stdio.h>
static inline __attribute__((always_inline)) int copied(int n)
{
	__asm__ volatile("" : "+r"(n) : : "memory");
	return n * 3;
}
__attribute__((noinline)) int whole(int n)
{
	return copied(n) + 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", whole(argc) + copied(argc + 1));
	return 0;
}
EOF
list() {
	printf '%s: ' "$1"
	timeout 20 tally -L "process(\"./$1\").function(\"$2\")" 2>&1 |
		sed 's|@[^"]*/p.c|@p.c|'
}
gcc -g -O2 -o plain p.c
list plain copied
list plain whole

# in a file of its own, by the name that the program has of it
objcopy --only-keep-debug plain plain.debug
cp plain linked
strip linked
objcopy --add-gnu-debuglink=plain.debug linked
list linked copied
list linked whole
mkdir below below/.debug
cp linked below
cp plain.debug below/.debug
list below/linked copied
# which is that of another program; without a build id the checksum tells
gcc -g -O2 -DOTHER -Wl,--build-id=none -o other p.c
objcopy --only-keep-debug other other.debug
strip -o bare other
objcopy --add-gnu-debuglink=other.debug bare
list bare whole
echo >>other.debug
list bare whole 2>&1 | head -1
cp other.debug plain.debug
list linked whole 2>&1 | head -1

for how in zlib zlib-gnu; do
	objcopy --compress-debug-sections=$how plain compressed
	list compressed copied
done
gcc -g -gdwarf-4 -O2 -flto -o lto p.c
list lto copied
gcc -g -O2 -gsplit-dwarf -o split p.c
tally -p2 -e 'probe process("./split").function("whole") { println($n) }' 2>&1 || :
