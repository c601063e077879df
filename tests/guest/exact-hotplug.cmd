# CPUs go offline and come back while handlers on all of them add up and ten
# reports a second read and delete; one is away when the session starts, so more
# CPUs are possible than online. The work lasts until CPUs have moved often
# enough, and then tells how much it was.
n=$((${EXACT:-1} * 60000))
cpu=/sys/devices/system/cpu
echo 0 >$cpu/cpu1/online
[ "$(cat $cpu/possible)" != "$(cat $cpu/online)" ] && echo "one is offline"
cd "$TMP" && rm -f stop many && : >out
tally -c "work-mix $n $((n / 10)) $((n / 10)) 4 stop" -e '
global s, a, f, q, sum, asum, fsum, qsum, reports
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		s <<< $id
		a[cpu()] <<< $id
		q[tid() % 10] <<< $id
	}
}
probe process("work-mix").function("mix_step") { f <<< 1 }
function report() {
	sum += @count(s); fsum += @count(f)
	foreach (c in a) asum += @count(a[c])
	foreach (c in q)
		qsum += @median(q[c]) == 110 ? @count(q[c]) : 0
	delete s; delete a; delete f; delete q
	if (++reports == 11) system(": >many")
}
probe timer.ms(100) { report() }
probe end {
	report()
	printf("%d %d %d %d %d\n", sum, asum, fsum * 10, qsum, reports > 10)
}' >out &
moves=0
while kill -0 $! 2>/dev/null; do
	for i in 1 3 2; do
		echo 1 >$cpu/cpu$i/online
		sleep 0.1
		echo 0 >$cpu/cpu$i/online && moves=$((moves + 1))
		sleep 0.1
		[ $i = 1 ] || echo 1 >$cpu/cpu$i/online
	done
	[ $moves -lt 9 ] || [ ! -e many ] || [ -e stop ] || : >stop
done
wait $!
echo 1 >$cpu/cpu1/online
[ $moves -gt 5 ] && echo "CPUs moved"
read -r rounds <stop
read -r sum asum fsum qsum many <out
n=$((n * rounds))
echo $((sum - n)) $((asum - n)) $((fsum - n)) $((qsum - n)) $many
