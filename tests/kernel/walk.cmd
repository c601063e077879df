# A timer walks an array under its lock, while handlers on all CPUs change it:
# what it reads, by the walk or beside it, is of one moment; between walks it
# changes the array itself. The work lasts until it has walked three times.
cd "$TMP"
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 60000 4 pin stop' -e '
global a, b, bad, walks
probe kernel.trace("sys_enter") {
	if (pid() == target()) { a[tid() & 63]++; b++ }
}
probe timer.ms(10) {
	sum = sum2 = 0
	walks++
	foreach (k in a) {
		x = a[k]
		sum += x
		if (a[k] != x || a[k + 64] != 0) bad++
	}
	a[0] += 1000
	foreach (y = k in a) {
		sum2 += a[k]
		if (y != a[k]) bad++
	}
	a[0] -= 1000
	if (sum != b || sum2 != b + 1000) bad++
}
probe timer.ms(10) { if (walks > 2 && !told++) system(": >stop") } global told
probe end { printf("%s walks, %d bad\n", walks ? "some" : "no", bad) }' 2>/dev/null
