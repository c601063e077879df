# Raw tracepoint, user-space function, page faults and clock interrupts add to
# the same aggregates from all CPUs while ten reports a second read and delete
# them. All reports and the ledger add up to what happened. The work lasts until
# a clock has ticked, and then tells how much it was. EXACT: times longer.
# -w: emulated clocks tick late.
n=$((${EXACT:-1} * 20000))
cd "$TMP"
tally -w -c "work-mix $((4 * n)) $((n / 4)) $n 4 stop" -e '
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
probe timer.ms(100) {
	report()
	if (ticks && !told++) system(": >stop")
} global told
probe end {
	report()
	printf("%d %d %d\n", calls, hist, keyed)
	printf("%d %d\n", steps, sum)
	printf("%d %d\n", seen_faults - faults, faults)
	printf("ticks %d, some %d\n", seen_ticks - ticks, ticks > 0)
}' >out
read -r rounds <stop
{
	read -r calls hist keyed
	each=$((4 * n * rounds))
	echo calls $((calls - each)) $((hist - each)) $((keyed - each))
	read -r steps sum
	each=$((n / 4 * rounds))
	echo steps $((steps - each)), sum $((sum - each * (n / 4 - 1) / 2))
	read -r missed faults
	echo faults "$missed", enough $((faults >= n * rounds))
	cat
} <out
