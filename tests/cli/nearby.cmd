# Files that are not where they are looked for, but near: a program in this
# directory, a library by half of its name, a script without -e.
set +e
cd "$TMP"
cp "$BUILD/tests/work-calls" here
{
	tally -p2 -e 'probe process("here").function("main") { exit() }'
	tally -p2 -e 'probe process("libc").function("malloc") { exit() }'
	tally -p2 -e 'probe process("nowhere").function("main") { exit() }'
	tally -p2 'probe begin { exit() }'
	tally -p2 nowhere.stp
} 2>&1 | grep -v '^[ <P]'
exit 0
