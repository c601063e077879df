# A result outside of a .return probe.
cd "$BUILD/tests"
tally -p2 -e 'probe process("./work-vars2").function("work") { println($return) }' 2>&1 | sed 's/alternatives: [^)]*/alternatives: .../'
