# Thousands of keys made and deleted while handlers on all CPUs add to them:
# whole arrays, single elements, and never. EXACT: times longer.
n=$((${EXACT:-1} * 100000))
tally -DMAXMAPENTRIES=10000 -DMAXACTION=100000 -c "work-calls getppid $n 4 pin" -e '
global a, b, c, d, all, odd, even, kept, pairs
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		k = gettimeofday_ns() % 3000
		a[k] <<< $id
		b[k] <<< $id
		c[k % 1000, tid()] <<< $id
		d[execname(), k % 7] <<< k
	}
}
function report() {
	foreach (k in a) all += @count(a[k])
	delete a
	for (k = 1; k < 3000; k += 2) {
		odd += @count(b[k])
		delete b[k]
	}
	foreach ([k, t] in c[*, *]) pairs += @count(c[k, t])
	delete c
}
probe timer.ms(100) { report() }
probe end {
	report()
	foreach (k in b) even += @count(b[k])
	foreach ([k, t] in c) pairs += @count(c[k, t])
	foreach ([e, k] in d) kept += @count(d[e, k])
	n = $1 * 4
	printf("%d %d %d %d\n", all - n, odd + even - n, pairs - n, kept - n)
}' $n
