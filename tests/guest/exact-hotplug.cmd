# CPUs go offline and come back while handlers on all of them add up and ten
# reports a second read and delete.
n=$((${EXACT:-1} * 20000))
cpu=/sys/devices/system/cpu
tally -c "work-mix $n $((n / 10)) $((n / 10)) 4" -e '
global s, a, f, sum, asum, fsum
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		s <<< $id
		a[cpu()] <<< $id
	}
}
probe process("work-mix").function("mix_step") { f <<< 1 }
function report() {
	sum += @count(s); fsum += @count(f)
	foreach (c in a) asum += @count(a[c])
	delete s; delete a; delete f
}
probe timer.ms(100) { report() }
probe end {
	report()
	n = $1 * 4
	printf("%d %d %d\n", sum - n, asum - n, fsum - n / 10)
}' $n &
moves=0
while kill -0 $! 2>/dev/null; do
	for i in 3 2; do
		[ -w $cpu/cpu$i/online ] || continue
		echo 0 >$cpu/cpu$i/online && moves=$((moves + 1))
		sleep 0.2
		echo 1 >$cpu/cpu$i/online
	done
done
wait $!
[ $moves -gt 1 ] && echo "CPUs moved"
