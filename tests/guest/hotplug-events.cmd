# An event samples one CPU, and the kernel ends it when that CPU goes offline.
# CPU 1 comes during the run for the first time, CPU 3 comes back: from when the
# ledger says on, every page fault there is counted, and the clock ticks: on 3
# again, that is since the second work there.
n=2000
cpu=/sys/devices/system/cpu
cd "$TMP" && : >out && : >err
echo 0 >$cpu/cpu1/online
tally -v --strict -e '
global on, faults, ticks, told, works, from, seen
probe perf.sw.page_faults.sample(1) {
	if (execname() == "work-mix" && on) faults[cpu()] <<< 1
}
# From here to there each step makes one fault, and nothing else does.
probe process("work-mix").function("mix_step") {
	if (ulong_arg(1) == 10) on = 1
	if (ulong_arg(1) == $1 - 10) {
		on = 0
		works[cpu()]++
	}
}
probe timer.profile { ticks[cpu()] <<< 1 }
probe timer.ms(100) { if (!told++) println("attached") }
probe timer.ms(100) {
	if (works[3] != 2)
		next
	if (!from)
		from = @count(ticks[3])
	else if (@count(ticks[1]) && @count(ticks[3]) > from && !seen++)
		println("ticks on 1 and 3")
}
probe end {
	foreach (c+ in faults) printf("CPU %d: %d faults\n", c, @count(faults[c]))
}' $n >out 2>err &
job=$!
until grep -q attached out; do sleep 0.1; done
mix() { taskset $1 work-mix 0 $n $n 1; }
mix 4
mix 8
echo 0 >$cpu/cpu3/online
echo 1 >$cpu/cpu1/online
until grep -q 'CPU 1 came.*profile' err; do sleep 0.1; done
mix 2
echo 1 >$cpu/cpu3/online
until grep -q 'CPU 3 came.*profile' err; do sleep 0.1; done
mix 8
until grep -q ticks out; do sleep 0.1; done
kill $job
status=0
wait $job || status=$?
cat out
echo "status $status"
sed -n '/^WARNING.*CPUs came/s/[0-9]*[.][0-9]\{4\} s/N s/gp' err
