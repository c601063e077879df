# MAXACTION: 10,000 statements in the kernel (ten times MAXACTION, as interrupts
# stay on), ten times that in tally; -D changes both.
h() { # limit, turns: a handler in tally
	tally $1 -e "global x probe begin { for (i = 0; i < $2; i++) x = i
	exit() } probe error { println(\"exceeded\") } probe end { println(x + 1) }" \
		2>/dev/null || true
}
k() { # the same in the kernel's code, on an event
	printf '1 kernel.trace("sys_enter")\n' >"$TMP/events"
	tally $1 --events "$TMP/events" -e "global x
	probe kernel.trace(\"sys_enter\") { for (i = 0; i < $2; i++) x = i }
	probe error { println(\"exceeded\") } probe end { println(x + 1) }" \
		2>/dev/null || true
}
h '' 33340; h '' 50000
k '' 3334; k '' 5000
h -DMAXACTION=100 3334; h -DMAXACTION=100 5000
k -DMAXACTION=100 333; k -DMAXACTION=100 500
h -DMAXACTION_INTERRUPTIBLE=100 333; h -DMAXACTION_INTERRUPTIBLE=100 500
h '-g --suppress-time-limits' 200000
