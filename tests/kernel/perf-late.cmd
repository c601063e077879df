# Threads that ran before the session: counted from their first @perf on. Which
# is 0, and what they do from then on is counted as of others.
work-faults 10000000 5 2 &
work=$!
trap 'kill $work' EXIT
until [ "$(ls "/proc/$work/task" | wc -l)" = 3 ]; do sleep 0.1; done
tally -x $work -e '
probe perf.sw.page_faults.process.counter("faults") {}
global at, first, seen, not0, pairs, off, enough
probe process("work-faults").function("work_before") {
	at[tid()] = @perf("faults")
	if (!([tid()] in first)) {
		first[tid()] = 1
		not0 += at[tid()] != 0
	}
}
probe process("work-faults").function("work_after") {
	# the first times also map what the probes themselves need
	if (!([tid()] in at) || seen[tid()]++ < 3)
		next
	pairs++
	off += @perf("faults") - at[tid()] != int_arg(2)
	# ten of each of the two threads
	if (seen[tid()] == 13 && ++enough == 2)
		exit()
}
probe end {
	printf("%d %d %d\n", not0, pairs > 10, off)
	delete at delete first delete seen
}' >"$TMP/out" 2>"$TMP/err"
read -r not0 pairs off <"$TMP/out"
# see perf-counter.cmd
gaps=$(sed -n 's/^WARNING: perf counters: \([0-9]*\) times.*/\1/p' "$TMP/err")
echo "first reads not 0: $not0, pairs $pairs"
[ "$off" -le "${gaps:-0}" ] || echo "$off of them are off"
# No more threads than MAXMAPENTRIES; this is an error that can be caught.
tally -DMAXMAPENTRIES=2 -c 'work-faults 1000 5 4' -e '
probe perf.sw.page_faults.counter("faults") {}
global errors[10], below
probe process("work-faults").function("work_before") {
	try { below += @perf("faults") < 0 }
	catch (e) { errors[e]++ }
}
probe end {
	foreach (e in errors)
		println(e, ": ", errors[e] > 0)
	delete errors
}' 2>"$TMP/err"
sed 's/: [0-9]* threads/: N threads/' "$TMP/err" | grep -v ' times a thread'
# An event that no machine has: nothing is run without it.
tally -c 'work-faults 1 1 1' -e 'probe perf.type(250).config(0).counter("x") {}
probe process("work-faults").function("main") { println(@perf("x")) }' 2>&1 ||
	echo "status $?"
