# A place in code is probed by an event that must name a CPU, of which it takes
# the one that tally runs on. That one goes offline: the place is probed on.
n=1000
cpu=/sys/devices/system/cpu
cd "$TMP" && : >out && : >err
taskset 8 tally --strict -e '
global calls, steps, told
probe kernel.function("__x64_sys_getppid") {
	if (execname() == "work-mix") calls[cpu()] <<< 1
}
probe process("work-mix").function("mix_step") { steps[cpu()] <<< 1 }
probe process("work-mix").function("mix_step").return { steps[-1] <<< 1 }
probe timer.ms(100) { if (!told++) println("attached") }
probe end {
	foreach (c+ in calls)
		printf("CPU %d: %d calls, %d steps\n", c, @count(calls[c]),
		       @count(steps[c]))
	printf("%d returns\n", @count(steps[-1]))
}' >out 2>err &
job=$!
until grep -q attached out; do sleep 0.1; done
mix() { taskset $1 work-mix $n $n 0 1; }
mix 4
mix 8
echo 0 >$cpu/cpu3/online
mix 1
mix 4
echo 1 >$cpu/cpu3/online
mix 8
kill $job
status=0
wait $job || status=$?
cat out err
echo "status $status"
