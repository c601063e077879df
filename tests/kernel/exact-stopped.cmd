# tally is stopped for seconds while handlers go on: nothing is lost, since
# what they add up stays in the kernel's maps. The work lasts until it was
# stopped three times, with reports between. EXACT: times longer.
n=$((${EXACT:-1} * 50000))
cd "$TMP" && : >out
tally -c "work-calls getppid $n 4 pin stop" -e '
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
probe timer.ms(100) { report(); if (sum) println("report") }
probe end { report(); printf("%d %d\n", sum, asum) }' >out &
# Until it has made a report from now on.
until_report() {
	lines=$(wc -l <out)
	until [ "$(wc -l <out)" -gt "$lines" ]; do sleep 0.1; done
}
until_report
for i in 1 2 3; do
	kill -STOP $!
	sleep 1
	kill -CONT $!
	until_report
done
: >stop
wait $!
read -r rounds <stop
tail -n 1 out | while read -r sum asum; do
	echo $((sum - n * rounds)) $((asum - n * rounds))
done
