# A call that is under way when the probes are attached has no entry: its return
# is seen, but not where @entry is asked for. The program waits in read() for
# its first byte, which comes when the probes are there.
mkfifo "$TMP/go"
exec 8<>"$TMP/go"
work-watch 1 wait <"$TMP/go" &
until grep -q '^0 0x0 ' "/proc/$!/syscall"; do sleep 0.1; done
tally -x $! -e '
	global seen, took, told
	probe syscall.read.return {
		if (pid() == target())
			seen++
	}
	probe syscall.read.return {
		if (pid() == target())
			took <<< gettimeofday_us() - @entry(gettimeofday_us())
	}
	probe timer.ms(50) {
		if (!told++) system("echo >" . @1)
		if (seen) exit()
	}
	probe end { println(seen, " ", @count(took)) }' "$TMP/go"
echo >&8
wait $!
