# What only debug information knows: of a program without it, at a place where
# it has nothing, of names that are not there.
set +e
cd "$BUILD/tests"
try() {
	tally -p2 -e "$1" 2>&1 | sed "s|$PWD|DIR|g; s|@[^\":]*/workload|@workload|g"
}
try 'probe process("./work-bare").function("work") { println($a) }'
try 'probe process("./work-bare").function("work").return { println($return) }'
try 'probe process("./work-bare").statement("work@vars.c:40") { next }'
try 'probe begin { println(@cast(0, "struct point", "./work-bare")->x) }'
try 'probe process("./work-vars0").function("work") { println($b, $local) }'
try 'probe process("./work-vars0").function("work").return { println($local, @var("origin")->x) }'
try 'probe process("./work-vars0").function("work") { println(@var("orig"), @var("origin@none.c")) }'
try 'probe begin { println(@var("origin", "./work-vars0")->x) }'
try 'probe begin { println(@cast(0, "struct pint", "./work-vars0")->x) }'
try 'probe process("./work-vars0").statement("work@vars.c:1") { next }'
try 'probe process("./work-vars0").statement("*@vars.c:x") { next }'
try 'probe process("./work-vars0").statement("*@none.c:40") { next }'
try 'probe process("./work-vars0").function("work@none.c") { next }'
try 'probe process("./work-vars2").function("twice@vars.c:25").inline { next }'
