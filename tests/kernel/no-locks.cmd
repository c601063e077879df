# The proof rules of docs/design/exclusion.md: handlers that they set free of
# locks, on all CPUs at once, each with what would go wrong if a rule were. The
# work lasts until the timer has looked twice.
cd "$TMP"
cat >x.stp <<'END'
global step = 3, added, by, open, once, two, unique[8192], uneven, broken

# 1. additions commute
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { added += step; by[cpu()] += step }
}
# 1. a thread's own element
probe kernel.trace("sys_enter") { if (pid() == target()) open[tid()]++ }
probe kernel.trace("sys_exit") {
	if (pid() == target() && tid() in open) {
		if (open[tid()] != 1) broken <<< 1
		delete open[tid()]
	}
}
# 1. feeding, as of one instant
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { once <<< 1; two <<< 1; two <<< 1 }
}
# 2. one step: nobody else gets the same number
global next_number
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) unique[next_number++ % 8192] <<< 1
}
probe timer.ms(20) {
	looks++
	if (2 * @count(once) != @count(two)) uneven++
	if (looks == 2) system(": >stop")
}
global looks
probe end {
	foreach (c in by) sum += by[c]
	foreach (k in unique) { most = max(most, @count(unique[k])); keys++ }
	printf("%d %d %d\n", added, sum, most)
	printf("own elements broken %d\n", @count(broken))
	printf("reports uneven %d\n", uneven)
	printf("numbers %d\n", keys)
}
function max(a, b) { return a > b ? a : b }
END
tally --dump=locks x.stp | grep -c ': no lock'
tally --dump=locks x.stp | grep ': lock' || true
# Seven times as many calls as there are numbers, each round of each thread.
n=57344
tally -w -c "work-calls getppid $n 4 pin stop" x.stp >out
read -r rounds <stop
{
	read -r added by_cpu most
	each=$((3 * n * rounds))
	echo added $((added - each)) $((by_cpu - each)), \
		each $((most - 7 * rounds))
	cat
} <out
