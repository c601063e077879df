# Handlers nested in each other (system call, page fault, function, clock, all
# with the same globals), tally holding their lock for whole walks: kill -9 in
# the middle of it stalls nobody and leaves nothing.
noise=$(dmesg | wc -l)
cat >"$TMP/x.stp" <<'END'
global a, b, walks
function move(n) { a[n & 63]++; b[n & 63]--; if (a[0] + b[0]) bad++ }
global bad
probe kernel.trace("sys_enter") { move(tid()) }
probe kernel.trace("sys_exit") { move(cpu()) }
probe process("work-mix").function("mix_step") { move(ulong_arg(1)) }
probe perf.sw.page_faults.sample(1) { move(3) }
probe timer.profile.freq.hz(2000) { move(4) }
probe timer.ms(1) {
	foreach (k in a) if (a[k] + b[k]) bad++
	if (walks++ == 20) println("running")
}
probe end { if (bad) println("torn") }
END
i=0
while [ $i -lt 4 ]; do
	work-mix 100000000 100000000 100000000 4 &
	work=$!
	: >"$TMP/out"
	tally -w -DMAXSKIPPED=1000000000 "$TMP/x.stp" >"$TMP/out" 2>/dev/null &
	pid=$!
	until grep -q running "$TMP/out"; do sleep 0.1; done
	sleep "0.0$((i * 3 + 1))"
	kill -9 $pid
	wait $pid 2>/dev/null || true
	kill -9 $work
	wait $work 2>/dev/null || true
	i=$((i + 1))
done
# All of it is still possible, and right.
tally -w -DMAXSKIPPED=1000000000 -c 'work-mix 2000 2000 2000 4' \
	"$TMP/x.stp" 2>/dev/null | grep -v running || true
work-mix 2000 2000 2000 4 && echo "goes on"
dmesg | tail -n +$((noise + 1)) | grep -E \
	'lockup|LOCKUP|stall|blocked for more|BUG:|hung|deadlock' || true
