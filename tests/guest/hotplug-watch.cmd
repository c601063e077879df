# A breakpoint in the kernel's memory is set on each CPU: also on one that comes
# during the run.
cpu=/sys/devices/system/cpu
cd "$TMP" && : >out && : >err
echo 0 >$cpu/cpu3/online
tally -v -e '
global writes, told
probe kernel.data("vm_swappiness").write { writes[cpu()] <<< 1 }
probe timer.ms(100) { if (!told++) println("attached") }
probe end {
	foreach (c+ in writes)
		printf("CPU %d: %d writes\n", c, @count(writes[c]))
}' >out 2>err &
job=$!
until grep -q attached out; do sleep 0.1; done
echo 1 >$cpu/cpu3/online
until grep -q 'CPU 3 came' err; do sleep 0.1; done
cd /proc/sys/vm
taskset 8 sh -c 'for i in 1 2 3 4 5 6 7; do echo $i >swappiness; done'
taskset 4 sh -c 'for i in 1 2 3; do echo $i >swappiness; done'
cd "$TMP"
kill $job
wait $job
cat out
sed -n '/^WARNING.*CPUs came/s/[0-9]*[.][0-9]\{4\} s/N s/gp' err
