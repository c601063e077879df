# Keys that come in runs, alternate, and are few: they stay in the rows of the
# CPUs and reach the maps seldom. Reports with delete ten times a second from
# all CPUs; nothing is lost or twice. EXACT: times longer.
n=$((${EXACT:-1} * 100000))
tally -c "work-calls getppid $n 4 pin" -e '
global mine, runs, few, name, one, many, sums, names
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		t = gettimeofday_ns()
		mine[tid()] <<< 1
		runs[t / 100000 % 5, "run"] <<< $id
		few[t & 1] <<< $id
		few[t & 2] <<< $id
		name[execname()] <<< $id
	}
}
function report() {
	foreach (t in mine) one += @count(mine[t])
	delete mine
	foreach ([k, s] in runs) {
		many += @count(runs[k, s])
		bad += @min(runs[k, s]) != 110 || @max(runs[k, s]) != 110 ||
			@variance(runs[k, s]) != 0
	}
	delete runs
	for (k = 0; k < 3; k++) {
		if (k in few) sums += @sum(few[k])
		delete few[k]
	}
	return bad
}
probe timer.ms(100) { if (report()) println("bad") }
probe end {
	if (report()) println("bad")
	foreach (e in name) names += @count(name[e])
	n = $1 * 4
	printf("%d %d %d %d\n", one - n, many - n, sums - 220 * n, names - n)
}' $n
