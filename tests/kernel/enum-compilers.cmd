# Values of enumerations, as two compilers describe them: with an encoding, or
# with another type that has one; numbers of one byte that have no sign.
cd "$TMP"
cat >p.c <<'EOF2'
enum low { LOW = -2, HIGH = 3 };
enum __attribute__((packed)) byte { SMALL = 1, LARGE = 200 };
struct both { enum low low; enum byte byte; };
__attribute__((noinline)) int called(enum low l, enum byte b, struct both *p)
{
	return l + b + p->low;
}
int main(void)
{
	struct both both = {LOW, LARGE};

	return called(LOW, LARGE, &both) == 0;
}
EOF2
for cc in clang gcc; do
	$cc -g -O0 -o p p.c
	timeout 60 tally -w -c ./p -e 'probe process("./p").function("called") {
		println($l, " ", $b, " ", $p->low, " ", $p->byte, " ",
			@enumname($l), " ", @enumname($p->byte))
	}' 2>&1 | grep -v '^WARNING: Child'
done
