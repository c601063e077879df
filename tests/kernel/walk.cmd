# A timer walks and changes an array under its lock, while handlers on all CPUs
# change it too: what it reads is what is there, its own changes included.
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 60000 4 pin' -e '
global a, b, bad, walks
probe kernel.trace("sys_enter") {
	if (pid() == target()) { a[tid() & 63]++; b++ }
}
probe timer.ms(10) {
	sum = 0
	walks++
	foreach (k in a) {
		x = a[k]
		sum += a[k]
		a[k] = x + 1000
		if (a[k] != x + 1000) bad++
		a[k] -= 1000
		if (a[k] != x) bad++
		if (a[k + 1] < 0) bad++
	}
	if (sum != b) bad++
}
probe end { printf("%s walks, %d bad\n", walks ? "some" : "no", bad) }'
