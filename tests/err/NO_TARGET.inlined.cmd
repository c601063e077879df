# A copy of a function that has not all of its parameters.
cd "$BUILD/tests"
tally -p2 -e 'probe process("./work-inlines").function("lost") { println($gone) }' 2>&1 |
	sed 's/@.*"/@FILE"/; /^note/s/.*/note: WHY/'
