# In a network namespace of another user namespace the kernel tells of no CPU:
# tally looks each second, and says what it did not count until then.
cpu=/sys/devices/system/cpu
cd "$TMP" && : >out && : >err
echo 0 >$cpu/cpu3/online
unshare -U -n sleep 1000 &
other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]
do
	sleep 0.1
done
nsenter -n -t $other tally -v -e '
global ticks, told, seen
probe timer.profile { ticks[cpu()] <<< 1 }
probe timer.ms(100) { if (!told++) println("attached") }
probe timer.ms(100) { if (@count(ticks[3]) && !seen++) println("ticks on 3") }
' >out 2>err &
job=$!
until grep -q attached out; do sleep 0.1; done
echo 1 >$cpu/cpu3/online
until grep -q 'CPU 3 came.*profile' err; do sleep 0.1; done
until grep -q ticks out; do sleep 0.1; done
kill $job
wait $job
kill $other
cat out
sed -n '/^WARNING.*CPUs came/s/[0-9]*[.][0-9]\{4\} s/N s/gp' err
