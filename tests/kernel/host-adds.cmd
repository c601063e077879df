# What a timer adds to an array and to a scalar, while handlers on all CPUs add
# to the same: nothing is lost.
tally -c 'work-calls getppid 250000 4 pin' -e '
global a, n, h
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { a["x"]++; n++ }
}
probe timer.us(200) { a["x"]++; n++; h++ }
probe end { printf("%d %d %d\n", a["x"] - h, n - h, h > 10) }'
