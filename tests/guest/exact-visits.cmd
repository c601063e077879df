# As exact-hotplug, without probes that may be preempted and with more reports:
# each waits for handlers by going to all CPUs, while CPUs come and go. The work
# lasts until they have moved often enough, and then tells how much it was.
n=$((${EXACT:-1} * 400000))
cpu=/sys/devices/system/cpu
cd "$TMP" && rm -f stop many && : >out
tally -w -c "work-mix $n 0 0 4 stop" -e '
global s, a, ticks, seen, sum, asum, tsum, reports
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { s <<< $id; a[cpu()] <<< $id }
}
probe timer.profile { ticks[cpu()] <<< 1; seen++ }
function report() {
	sum += @count(s)
	foreach (c in a) asum += @count(a[c])
	foreach (c in ticks) tsum += @count(ticks[c])
	delete s; delete a; delete ticks
	if (++reports == 21) system(": >many")
}
probe timer.ms(20) { report() }
probe end {
	report()
	printf("%d %d %d %d\n", sum, asum, tsum - seen, reports > 20)
}' >out &
moves=0
while kill -0 $! 2>/dev/null; do
	for i in 1 3 2; do
		echo 0 >$cpu/cpu$i/online && moves=$((moves + 1))
		sleep 0.1
		echo 1 >$cpu/cpu$i/online
		sleep 0.1
	done
	[ $moves -lt 6 ] || [ ! -e many ] || [ -e stop ] || : >stop
done
wait $!
[ $moves -gt 5 ] && echo "CPUs moved"
read -r rounds <stop
read -r sum asum ticks many <out
echo $((sum - n * rounds)) $((asum - n * rounds)) "$ticks, many: $many"
