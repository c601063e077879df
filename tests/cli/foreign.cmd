# What is proposed instead of another tracer's point is a script.
tally -p1 ../err/EXPECTED.foreign.stp 2>&1 | sed -n 's/.*here it is: //p' |
	sed 's/\.\.\./exit()/; s/CONDITION/pid() == 1/' >"$TMP/scripts"
while read -r script; do
	tally -p1 -e "$script" >"$TMP/out" 2>&1 || cat "$TMP/out"
done <"$TMP/scripts"
grep -c probe "$TMP/scripts"
tally -p2 -e 'probe begin { println(@2) }' 2>&1 || true
tally -p2 -e 'probe begin { println(@2) }' one 2>&1 || true
