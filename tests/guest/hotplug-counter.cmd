# A counter is an event of one CPU, and the kernel ends it when that CPU goes
# offline. CPU 1 comes during the run for the first time, CPU 3 comes back: what
# threads do there then is counted as before.
cpu=/sys/devices/system/cpu
cd "$TMP" && : >out && : >err
echo 0 >$cpu/cpu1/online
tally -v --strict -e '
probe perf.sw.page_faults.counter("faults") {}
global at, pairs, off, told
probe process("work-faults").function("work_before") {
	at[tid()] = @perf("faults")
}
probe process("work-faults").function("work_after") {
	# the first round maps what the functions need
	if (!int_arg(1))
		next
	pairs[cpu()]++
	off += @perf("faults") - at[tid()] != int_arg(2)
}
probe timer.ms(100) { if (!told++) println("attached") }
probe end {
	foreach (c+ in pairs)
		printf("CPU %d: %d pairs\n", c, pairs[c])
	println(off, " off")
	delete at
}' >out 2>err &
job=$!
until grep -q attached out; do sleep 0.1; done
taskset 4 work-faults 11 20 2
taskset 8 work-faults 11 20 2
echo 0 >$cpu/cpu3/online
echo 1 >$cpu/cpu1/online
until grep -q 'CPU 1 came' err; do sleep 0.1; done
taskset 2 work-faults 11 20 2
echo 1 >$cpu/cpu3/online
until grep -q 'CPU 3 came' err; do sleep 0.1; done
taskset 8 work-faults 11 20 2
kill $job
status=0
wait $job || status=$?
cat out
echo "status $status"
grep WARNING err || :
grep -o 'CPU . came online: .*' err
