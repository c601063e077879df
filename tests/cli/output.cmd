# -o, and readers that go away.
set +e
tally -o "$TMP/f" -e 'probe begin { println("to the file") exit() }'
cat "$TMP/f"
tally -o /no/such/dir/f -e 'probe begin { exit() }' 2>&1; echo "status $?"
tally -e 'probe timer.ms(1) { println("x") }' | head -1
tally -o /dev/full -e 'probe begin { println("x") exit() }' 2>&1; echo "status $?"
exit 0
