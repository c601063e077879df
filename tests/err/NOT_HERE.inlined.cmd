# Where a function was inlined its arguments are in no agreed registers.
cd "$BUILD/tests"
tally -p4 -e 'probe process("work-inlines").function("copied") { println(int_arg(1)) }' 2>&1 | head -3
