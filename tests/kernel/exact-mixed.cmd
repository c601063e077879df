# Raw tracepoint, user-space function, page faults and clock interrupts add to
# the same aggregates from all CPUs while ten reports a second read and delete
# them. All reports and the ledger add up to what happened. EXACT: times longer.
# -w: emulated clocks tick late.
n=$((${EXACT:-1} * 20000))
tally -w -c "work-mix $((4 * n)) $((n / 4)) $n 4" -e '
global s, h, a, f, p, ticks, faults, ticked, faulted, seen_ticks, seen_faults
global calls, hist, keyed, steps, sum
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		s <<< $id; h <<< $id; a[tid(), cpu()] <<< $id
	}
}
probe process("work-mix").function("mix_step") {
	f <<< ulong_arg(1); a[tid(), -1] <<< 1
}
probe perf.sw.page_faults.sample(1) {
	if (pid() == target()) { p["fault"] <<< 1; faults++ }
}
probe timer.profile { p["tick"] <<< 1; ticks++ }
function report() {
	calls += @count(s)
	if (@count(h)) hist += @hist_log(h)[71]
	foreach ([t, c] in a) {
		if (c >= 0) keyed += @count(a[t, c])
		else steps += @count(a[t, c])
	}
	sum += @sum(f)
	seen_faults += @count(p["fault"])
	seen_ticks += @count(p["tick"])
	delete s; delete h; delete a; delete f; delete p
}
probe timer.ms(100) { report() }
probe end {
	report()
	n = $1
	printf("calls %d %d %d\n", calls - 16 * n, hist - 16 * n, keyed - 16 * n)
	printf("steps %d, sum %d\n", steps - n, sum - n * (n / 4 - 1) / 2)
	printf("faults %d, enough %d\n", seen_faults - faults, faults >= 4 * n)
	printf("ticks %d, some %d\n", seen_ticks - ticks, ticks > 0)
}' $n
