# What the kernel begins and the host continues is two pieces: -v says so, others
# come between, and each piece alone is undisturbed. The work lasts until that
# has happened often enough.
cd "$TMP"
cat >x.stp <<'END'
global x, a, left, right, between, torn, rounds
probe kernel.trace("sys_enter") {
	if (ppid() != target() || $id != 110) next
	n = ++x
	if (n % 500) next
	# here the host goes on
	foreach (k in a) m += a[k]
	if (x != n) between++
	if (left != right) torn++
	left += m + 1
	right += m + 1
	rounds++
	println(x != n ? "others" : "alone")
}
probe kernel.trace("sys_exit") { left++; right++ }
probe timer.ms(1) { if (left != right) torn++; left++; right++; a[1] = left & 7 }
probe end {
	printf("%s rounds, others came between in %s, %d torn\n",
		rounds > 50 ? "many" : "few", between ? "some" : "none", torn)
}
END
tally -v -p4 x.stp 2>&1 | grep 'two pieces'
# How many gave up, which a busy machine decides, stands on stderr.
: >out
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 4000 2 pin stop; true' \
	x.stp >out 2>err &
until [ "$(wc -l <out)" -gt 50 ] && grep -q others out; do sleep 0.1; done
: >stop
wait $! || cat err
tail -n 1 out
