# A timer reports an array and a number from a copy, and both are emptied when
# that is taken: nothing of what handlers on all CPUs add meanwhile is lost, and
# what one report shows is of one moment. A loop of prints between makes a
# report longer than the time from event to event. The work lasts until there
# were some of them.
cd "$TMP"
cat >x.stp <<'END'
global a, b, seen, bad, walks
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { a[tid() & 63]++; b++ }
}
probe timer.ms(10) {
	sum = again = 0
	foreach (k in a) sum += a[k]
	foreach (k in a+) { again += a[k]; x = sprintf("%d %d", k, a[k]) }
	if (sum != b || again != b) bad++
	seen += sum
	walks++
	delete a
	b = 0
}
probe timer.ms(10) { if (walks > 3 && !told++) system(": >stop") } global told
probe end {
	foreach (k in a) seen += a[k]
	printf("%s walks, %d bad, %d seen\n", walks > 3 ? "some" : "few", bad,
		seen)
}
END
tally -w -DMAXSKIPPED=1000000000 --format=json \
	-c 'work-calls getppid 60000 4 pin stop' x.stp >out 2>/dev/null
sed 's/{"probe":/\n&/g' out >lines
grep -o '[a-z]* walks, [0-9]* bad' lines
read -r rounds <stop
# The calls that the program made, however many handlers gave up.
field() { sed -n "/sys_enter/s/.*\"$1\":\([0-9]*\).*/\1/p" lines; }
seen=$(sed -n 's/.*bad, \([0-9]*\) seen.*/\1/p' lines)
echo $((seen + $(field lock_skips) + $(field nest_skips) - 60000 * rounds)) lost
# Where that is not the same, the lock is held to the end, and -v says so.
for last in 'delete a; x = a[1]' 'if (walks) delete a' 'try { x = 1 / b; delete a } catch { }' \
		'foreach (k in a) b += 1' 'b = 1'; do
	tally -v -p4 -w -e "global a, b, walks
	probe kernel.trace(\"sys_enter\") { a[tid()]++; b++ }
	probe timer.s(1) { foreach (k in a) x += a[k]; $last; walks += x + b }" \
		2>&1 | grep 'while it walks' || echo "copied: $last"
done
tally -v -p4 -w -e 'global a, b
probe kernel.trace("sys_enter") { a[tid()]++; b++ }
probe timer.s(1) { foreach (k in a) println(k, a[k]); delete a; b = 0 }' 2>&1 |
	grep 'while it walks' || echo "copied: delete a; b = 0"
# An error on the way would be survived, or an error probe could look.
script='global a, b
probe kernel.trace("sys_enter") { a[tid()]++; b++ }
probe timer.s(1) { foreach (k in a) println(k, a[k]); delete a; b = 0 }'
tally -v -p4 -w -DMAXERRORS=1 -e "$script" 2>&1 | grep -c 'while it walks'
tally -v -p4 -w -e "$script probe error { println(b) }" 2>&1 |
	grep -c 'while it walks'
