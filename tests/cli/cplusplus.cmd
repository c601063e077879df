# C++: functions by their plain names, with the scopes they are in, by those the
# linker knows, and what templates make.
cd "$TMP"
cat >p.cc <<'EOF'
#define KEEP asm volatile("" ::: "memory")
#define CALLED __attribute__((noinline))
namespace ns {
struct Class {
	int k;
	int method(int a);
	int method(const char *s);
	__attribute__((always_inline)) int small(int a) const { KEEP; return a + k; }
};
CALLED int Class::method(int a) { KEEP; return a * k; }
CALLED int Class::method(const char *s) { KEEP; return s[0] + k; }
template <typename T> CALLED T twice(T v) { KEEP; return v + v; }
namespace { CALLED int hidden(int a) { KEEP; return a - 1; } }
int call_hidden(int a) { return hidden(a); }
}
struct Class {
	CALLED int method(int a) { KEEP; return a; }
};
CALLED int method(int a) { KEEP; return a; }
int main(int argc, char **)
{
	ns::Class c{argc + 2};
	Class d;

	return c.method(3) + c.method("x") + c.small(argc) + d.method(argc) +
	       method(4) + ns::twice(argc) + (int)ns::twice(2L) +
	       ns::call_hidden(7) == 2;
}
EOF
g++ -g -O2 -o prog p.cc
list() {
	echo "$1"
	tally -l "process(\"./prog\").$1" 2>&1 |
		sed 's|@[^"]*/p.cc|@p.cc|; s|.*prog")|    |' | sort -u
}
list 'function("method")'
list 'function("Class::method").call'
list 'function("ns::Class::method")'
list 'function("::Class::method").return'
list 'function("::method")'
list 'function("ns::Class::s*")'
list 'function("ns::twice")'
list 'function("twice<int>")'
list 'function("hidden")'
list 'function("_ZN2ns5Class6methodEi")'
list 'statement("ns::Class::method@p.cc:10")'
tally -L 'process("./prog").function("ns::Class::method@p.cc:10")' | sed 's|.*)||'
strip -g prog
tally -l 'process("./prog").function("ns::Class::method")'  2>&1 | grep note
