# Handlers made as for older kernels, on all CPUs at once: a lock that is waited
# for in a walk over a map, loops by that and by jumps back, elements with a cell
# for each of the programs that feed them, keys that find no room.
n=20000
tally -w --lacking=loop -c "work-calls getppid $n 4 pin" -e '
global calls, twice, torn, loops
probe kernel.trace("sys_enter") {
	if (pid() != target() || $id != 110) next
	if (twice != 2 * calls) torn++
	calls++
	twice = 2 * calls
	for (i = 0; i < 5; i++) for (j = 0; j < i; j++) k++
	loops <<< k
}
probe end {
	printf("%d torn\n", torn)
	printf("loops %d..%d\n", @min(loops), @max(loops))
}' $n 2>"$TMP/lost"
# what gave up the lock is in the ledger, and nothing else
grep -v 'gave up\|^WARNING: Number of errors: 0' "$TMP/lost" || true
tally --lacking=each,fetch -c "work-calls getppid $n 4 pin" -e '
global a, c[9], all, room
function feed() {
	k = gettimeofday_ns() % 40
	for (i = 0; i < 3; i++) a[k, cpu()] <<< 7 - i
	c[k] <<< k - 20
}
probe kernel.trace("sys_enter") { if (pid() == target() && $id == 110) feed() }
probe kernel.trace("sys_enter") { if (pid() == target() && $id == 110) feed() }
probe end {
	foreach ([k, p] in a) {
		all += @count(a[k, p])
		if (@min(a[k, p]) != 5 || @max(a[k, p]) != 7 ||
		    @sum(a[k, p]) != 6 * @count(a[k, p]) ||
		    @variance(a[k, p]) > 1) odd++
	}
	foreach (k in c) {
		room += @count(c[k])
		if (@min(c[k]) != k - 20 || @avg(c[k]) != k - 20) odd++
	}
	printf("%d keys odd, %d lost, room for %d\n", odd, all - $1 * 24, room)
}' $n >"$TMP/out" 2>"$TMP/lost"
sed 's/, room.*//' "$TMP/out"
room=$(sed 's/.*room for //' "$TMP/out")
other=$(sed -n 's/.*was full: \([0-9]*\) samples.*/\1/p' "$TMP/lost")
echo "$((room + other - n * 8)) in no cell"
