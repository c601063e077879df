# What begin and timers feed to arrays and a scalar that kernel handlers read,
# while these feed them on all CPUs: handlers see it, and nothing is lost. Each
# does one thing, so there are no locks. The work lasts until the timers have
# fed a thousand times, which is all they do: its last events see all of it.
cd "$TMP"
cat >x.stp <<'END'
global a, s, wide, g, seen, sseen, wseen, fed, sfed, wfed, told
probe begin {
	a["x"] <<< 5
	s <<< 5
	g = g . "xyz" # as long as a string may be: no such key fits a stack
	wide[g, g, 1] <<< 8
}
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) a["x"] <<< 2
}
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) s <<< 2
}
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) wide[g, g, 1] <<< 1
}
probe kernel.trace("sys_exit") {
	if (pid() == target()) seen <<< @count(a["x"])
}
probe kernel.trace("sys_exit") {
	if (pid() == target()) sseen <<< @count(s)
}
probe kernel.trace("sys_exit") {
	if (pid() == target()) wseen <<< @count(wide["xyz", g, 1])
}
probe timer.us(200) { if (fed < 1000) { fed++; a["x"] <<< 3 } }
probe timer.us(200) { if (sfed < 1000) { sfed++; s <<< 3 } }
probe timer.us(200) { if (wfed < 1000) { wfed++; wide["xyz", g, 1] <<< 0 } }
probe timer.ms(20) {
	if (fed + sfed + wfed == 3000 && !told++) system(": >stop")
}
probe end {
	printf("%d %d\n%d %d\n%d %d\n", @count(a["x"]), @sum(a["x"]),
	       @count(s), @sum(s), @count(wide[g, g, 1]),
	       @sum(wide[g, g, 1]))
	# the last of the handlers saw all that there was
	printf("%d%d%d\n", @max(seen) == @count(a["x"]),
	       @max(sseen) == @count(s),
	       @max(wseen) == @count(wide[g, g, 1]))
}
END
tally -v -p4 x.stp 2>&1 | grep ': lock {' || echo no locks
tally -c 'work-calls getppid 50000 4 pin stop' x.stp >out
read -r rounds <stop
n=$((50000 * rounds))
{
	read -r count sum
	echo $((count - n)) $((sum - 2 * n))
	read -r count sum
	echo $((count - n)) $((sum - 2 * n))
	read -r count sum
	echo $((count - n)) $((sum - n))
	cat
} <out
# A kernel handler deletes: what it took and what is left is all there was.
rm stop
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 50000 4 pin stop' -e '
global a, s, events, fed, got, sgot, rounds, told
probe begin { a["x"] <<< 1; s <<< 1; fed++ }
probe kernel.trace("sys_enter") {
	if (pid() != target() || $id != 110) next
	a["x"] <<< 1
	s <<< 1
	if (++events % 100) next
	got += @count(a["x"])
	sgot += @count(s)
	delete a["x"]
	delete s
	rounds++
}
# A loop: it runs on the host, which holds the lock.
probe timer.us(200) {
	for (i = 0; i < 2; i++) { a["x"] <<< 1; s <<< 1; fed++ }
}
probe timer.ms(20) {
	if (rounds > 100 && fed > 20 && !told++) system(": >stop")
}
probe end {
	printf("%d %d\n", got + @count(a["x"]) - events - fed,
	       sgot + @count(s) - events - fed)
}' 2>/dev/null
