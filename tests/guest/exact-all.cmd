# Everything at once: raw tracepoint, user-space function and page faults on
# all CPUs, thousands of keys made and deleted, an array ten times too small,
# ten reports a second, CPUs that go offline and come back, and a reader that
# is stopped for seconds. The work lasts until all that has happened, and then
# tells how much it was. EXACT: times longer.
n=$((${EXACT:-1} * 300000))
cpu=/sys/devices/system/cpu
echo 0 >$cpu/cpu1/online
cd "$TMP" && rm -f stop many && : >out
tally -w -DMAXMAPENTRIES=10000 -DMAXACTION=100000 --snapshot s \
	-c "work-mix $n $((n / 50)) $((n / 50)) 4 stop" -e '
global s, v, a, few[50], f, p, faults, calls, sum, keyed, steps, seen, reports
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		k = (gettimeofday_ns() * 40503 >> 8 & 0xfffff) % 3000
		s <<< $id
		a[k] <<< $id
		few[k % 500] <<< $id
	}
}
probe process("work-mix").function("mix_step") { f <<< 1; a[-1] <<< 1 }
probe perf.sw.page_faults.sample(1) {
	if (pid() == target()) { p <<< 1; faults++ }
}
function report() {
	calls += @count(s)
	if (@count(s)) v += @min(s) - 110 + @max(s) - 110 + @variance(s)
	sum += @sum(f)
	seen += @count(p)
	foreach (k in a) {
		if (k >= 0) keyed += @count(a[k])
		else steps += @count(a[k])
	}
	delete s; delete a; delete f; delete p
	if (++reports == 11) system(": >many")
}
probe timer.ms(100) { report() }
probe end {
	report()
	foreach (k in few) m += @sum(few[k]) - 110 * @count(few[k])
	printf("%d %d %d %d %d\n", calls, keyed, sum * 50, steps * 50, v)
	printf("faults %d, some %d, %d %d\n", seen - faults, faults > 0, m,
	       reports > 10)
}' >out &
tally=$!
moves=0
stops=0
while kill -0 $tally 2>/dev/null; do
	for i in 1 3 2; do
		echo 1 >$cpu/cpu$i/online
		sleep 0.1
		echo 0 >$cpu/cpu$i/online && moves=$((moves + 1))
		sleep 0.1
		[ $i = 1 ] || echo 1 >$cpu/cpu$i/online
	done
	if [ $moves -ge 6 ] && [ $stops -lt 3 ]; then
		kill -STOP $tally 2>/dev/null || break
		stops=$((stops + 1))
		sleep 2
		kill -CONT $tally
	fi
	[ $stops -lt 1 ] || [ ! -e many ] || [ -e stop ] || : >stop
done
wait $tally
echo 1 >$cpu/cpu1/online
[ $moves -gt 5 ] && [ $stops -gt 0 ] && echo "CPUs moved, tally stopped"
read -r rounds <stop
n=$((n * rounds))
{
	read -r calls keyed sum steps v
	echo calls $((calls - n)) $v, keyed $((keyed - n))
	echo steps $((sum - n)) $((steps - n))
	cat
} <out
tally merge --print s | tr '[]=' '   ' | awk -v n=$n '
	$1 == "few" { all += $4 }
	$1 == "few" && $2 != "other" { rows++ }
	$1 == "few" && $2 == "other" { wrong = $6 - $4 * 110 }
	END { print rows, all - n, wrong }'
