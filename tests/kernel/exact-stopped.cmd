# tally is stopped for seconds while handlers go on: nothing is lost, since
# what they add up stays in the kernel's maps. EXACT: times longer.
n=$((${EXACT:-1} * 250000))
tally -c "work-calls getppid $n 4 pin" -e '
global s, a, sum, asum
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		s <<< $id
		a[tid(), cpu()] <<< $id
	}
}
function report() {
	sum += @count(s)
	foreach ([t, c] in a) asum += @count(a[t, c])
	delete s; delete a
}
probe timer.ms(100) { report() }
probe end { report(); printf("%d %d\n", sum - 4 * $1, asum - 4 * $1) }' $n &
for i in 1 2 3; do
	sleep 0.1
	kill -STOP $! || break
	sleep 1
	kill -CONT $!
done 2>/dev/null
wait $!
