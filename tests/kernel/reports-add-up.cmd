# Reports that read and delete ten times a second neither lose nor double a
# call, whatever adds it up: a scalar, an array of aggregates, a plain array.
tally -c 'work-calls getppid 250000 4 pin' -e '
global s, total, a, asum, b
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		s <<< $id
		a[tid(), $id] <<< 1
		b[tid()]++
	}
}
probe timer.ms(100) {
	if (@count(s)) total += @count(s)
	delete s
	foreach ([t, i] in a) asum += @count(a[t, i])
	delete a
}
probe end {
	if (@count(s)) total += @count(s)
	foreach ([t, i] in a) asum += @count(a[t, i])
	foreach (t in b) n += b[t]
	printf("%d %d %d\n", total, asum, n)
}'
