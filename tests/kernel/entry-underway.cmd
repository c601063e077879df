# A call that is under way when the probes are attached has no entry: its return
# is seen, but not where @entry is asked for.
sleep 3 &
tally -x $! -e '
	global seen, took
	probe syscall.clock_nanosleep.return {
		if (pid() == target())
			seen++
	}
	probe syscall.clock_nanosleep.return {
		if (pid() == target())
			took <<< gettimeofday_us() - @entry(gettimeofday_us())
	}
	probe end { println(seen, " ", @count(took)) }'
