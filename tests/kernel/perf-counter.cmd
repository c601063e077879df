# Counters of threads: what a thread does between two probes is counted, and
# nothing of what others do on the same CPU meanwhile; from the thread's start on
# they say what the kernel's own accounts of it say.
#
# Some machines hide the threads of their keepers from programs in the kernel,
# and with them a switch now and then. Such times are told, and no more pages
# are missing than a thread touches at a time (8) at each of them.
cat >"$TMP/counts.stp" <<'END'
probe perf.sw.page_faults.counter("faults") {}
probe perf.sw.context_switches.process("work-faults").counter("switches") {}
probe perf.sw.task_clock.counter("ns") {}
global at, pairs, wrong, missing, many, own_faults, own_switches, ns, reports

probe process("work-faults").function("work_before") {
	at[tid()] = faults()
}

function faults() { return @perf("faults") }

# round 0 maps the functions' own pages
probe process("work-faults").function("work_after") {
	if (!int_arg(1))
		next
	d = faults() - at[tid()] - int_arg(2)
	pairs++
	wrong += d != 0
	missing -= d
	many += d > 0
}

# The kernel's accounts, told by the thread several times: at least once
# without a switch between its asking and its telling.
probe process("work-faults").function("work_report") {
	reports++
	own_switches[tid()] <<< @perf("switches") - long_arg(1)
	own_faults[tid()] <<< @perf("faults") - long_arg(2)
}

probe process("work-faults").function("work").return {
	ns <<< @perf("ns") - @entry(@perf("ns"))
}

probe end {
	n = 0
	foreach (t in own_switches)
		n += @min(own_switches[t]) || @min(own_faults[t]) ||
		     @max(own_faults[t])
	printf("%d %d %d %d %d %d %d\n", pairs, wrong, missing, many, n,
	       reports, @count(ns) == 4 && @min(ns) > 100000 &&
			@max(ns) < 10000000000)
	delete at
}
END
for try in 1 2 3 4 5 6 7 8; do
	tally -c 'work-faults 40 50 4' "$TMP/counts.stp" >"$TMP/out" 2>"$TMP/err"
	[ -s "$TMP/err" ] || break
done
read -r pairs wrong missing many own reports ns <"$TMP/out"
gaps=$(sed -n 's/^WARNING: perf counters: \([0-9]*\) times.*/\1/p' "$TMP/err")
gaps=${gaps:-0}
grep -v 'perf counters: [0-9]* times' "$TMP/err" || :
echo "$pairs pairs, $many with too much, $reports reports, times $ns"
[ "$wrong" -le "$gaps" ] && [ "$missing" -le $((8 * gaps)) ] &&
	[ "$own" -le "$gaps" ] && echo exact ||
	echo "$wrong wrong by $missing, $own threads off, $gaps told"
