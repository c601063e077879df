# The target's threads are counted from their start on where a library is probed,
# too: at its end a thread has touched the 3 pages of 3 rounds at least.
tally -c 'work-faults 3 3 1' -e '
probe perf.sw.page_faults.counter("faults") {}
global first
probe process("libc.so.6").function("getrusage") {
	if (!first)
		first = @perf("faults")
}
probe end { println(first > 8) first = 0 }' 2>"$TMP/err"
grep -v 'perf counters: [0-9]* times' "$TMP/err" || :
