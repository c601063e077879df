# What begin and timers feed to arrays and a scalar that kernel handlers read,
# while these feed them on all CPUs: handlers see it, and nothing is lost. Each
# does one thing, so there are no locks.
cat >"$TMP/x.stp" <<'END'
global a, s, wide, g, seen, sseen, wseen, h
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
probe timer.us(200) { a["x"] <<< 3; h++ }
probe timer.us(200) { s <<< 3 }
probe timer.us(200) { wide["xyz", g, 1] <<< 0 }
probe end {
	n = @count(s) - 1000001
	printf("%d %d, %d %d, %s\n", @count(a["x"]) - h, @sum(a["x"]) - 3 * h,
	       @count(s) - n, @sum(s) - 3 * n, h > 10 ? "many" : "few")
	printf("%d %d\n", @count(wide[g, g, 1]) > 1000005,
	       @sum(wide[g, g, 1]))
	# the last of the handlers saw all that had been added by then
	m = 1000001 + h / 2
	printf("%d%d%d\n", @max(seen) > m, @max(sseen) > m, @max(wseen) > m)
	printf("%d%d%d\n", @max(seen) <= @count(a["x"]),
	       @max(sseen) <= @count(s), @max(wseen) <= @count(wide[g, g, 1]))
}
END
tally -v -p4 "$TMP/x.stp" 2>&1 | grep ': lock {' || echo no locks
tally -c 'work-calls getppid 250000 4 pin' "$TMP/x.stp"
# A kernel handler deletes: what it took and what is left is all there was.
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 100000 4 pin' -e '
global a, s, events, fed, got, sgot, rounds
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
probe end {
	printf("%d %d, %s\n", got + @count(a["x"]) - events - fed,
	       sgot + @count(s) - events - fed,
	       rounds > 100 && fed > 20 ? "many" : "few")
}' 2>/dev/null
