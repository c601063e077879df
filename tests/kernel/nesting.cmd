# Handlers on top of each other, task, softirq, hard interrupt, clock, and in
# guests non-maskable interrupts, all with the same globals: who interrupts a
# holder gives up at once, none waits for ever, every hit is accounted for, and
# the kernel's watchdogs have nothing to say. It is done again until somebody
# has interrupted a holder.
noise=$(dmesg | wc -l)
cd "$TMP"
cat >x.stp <<'END'
global a, b, c, torn, done, dummy[64]
function move(n) {
	if (a + b != 0 || c[0] != a) torn++
	a += n
	# Long enough for something to come on top.
	for (i = 0; i < 40; i++) dummy[i] = n
	b -= n
	c[0] = a
	done <<< 1
}
probe begin { c[0] = 0 }
probe kernel.trace("sys_enter") { move(1) }
probe kernel.trace("softirq_entry") { move(2) }
probe kernel.trace("hrtimer_expire_entry") { move(3) }
probe perf.sw.page_faults.sample(1) { move(4) }
probe timer.profile.freq.hz(2000) { move(5) }
probe kernel.trace("nmi_handler")? { move(6) }
probe timer.ms(5) { if (a + b != 0) torn++ }
probe end { printf("torn %d, done %d\n", torn, @count(done)) }
END
# Each of the other CPUs gets a non-maskable interrupt, several times while the
# work goes on; only in guests, as it fills the kernel's log.
if grep -q QEMU /proc/cpuinfo; then
	nmi='for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1
	echo l >/proc/sysrq-trigger; done;'
fi
round() {
	rm -f stop
	tally -w --format=json -DMAXSKIPPED=1000000000 -DMAXACTION=100000 \
		-c "(${nmi:-} : >stop) &
		work-mix ${CALLS:-30000} 0 3000 $(nproc) stop; wait" \
		x.stp 2>/dev/null | sed 's/{"probe":/\n&/g' >out
	awk '
function field(name) {
	if (!match($0, "\"" name "\":[0-9]+")) return 0
	s = substr($0, RSTART, RLENGTH); sub(/.*:/, "", s); return s + 0 }
/torn [0-9]/ { s = $0; sub(/.*torn /, "", s); print "torn", s + 0
	sub(/.*done /, "", s); done = s + 0 }
/"hits"/ {
	if (field("hits") != field("handled") + field("lock_skips") + \
	    field("nest_skips")) odd++
	if (!/timer.ms/) handled += field("handled")
	nested += field("nest_skips") }
END {
	print handled - done, "handlers missing,", odd + 0, "rows odd"
	print nested ? "some" : "none", "nested" }' out
}
round >result
while [ "$(cat result)" = "torn 0
0 handlers missing, 0 rows odd
none nested" ]; do
	round >result
done
cat result
dmesg | tail -n +$((noise + 1)) | grep -E \
	'lockup|LOCKUP|stall|blocked for more|BUG:|hung|deadlock' || true
