# Elements of a thread, also changed on the host, where the thread does not wait:
# by tally itself between two steps of its timer, and behind a report. A busy
# guest may stop who holds a lock for so long that others give up: not counted.
exec 2>/dev/null
sh -c 'exec tally -w -DMAXSKIPPED=1000000000 -x $$ -e "
global a, c
probe kernel.trace(\"sys_enter\") {
	if (pid() == target()) { a[tid()] = a[tid()] + 1; c <<< 1 }
}
probe timer.ms(1) { a[tid()] = a[tid()] + 0 }
probe timer.ms(20) { if (@count(c) > 100) exit() }
probe end { println(a[tid()] - @count(c)) }"'
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 500 1' -e '
global a, s, c
probe kernel.trace("sys_enter") {
	if (pid() != target()) next
	s <<< 1
	x = sprint(@hist_log(s))
	a[tid()] = a[tid()] + 1
	c <<< strlen(x)
}
probe kernel.trace("sys_exit") {
	if (pid() == target()) { a[tid()]++; c <<< 1 }
}
probe end { foreach (t in a) n += a[t]; println(n - @count(c)) }'
