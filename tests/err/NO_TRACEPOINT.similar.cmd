# Which others are near depends on the kernel; the first does not.
tally -p2 -e 'probe kernel.trace("sched_switsh") { println($x) }' 2>&1 |
	grep -o "unable to find tracepoint .* (similar: sched_switch"
