# One end for each process and one for each thread but the first, however they
# end: by exit while threads run, the first thread first, killed, by a signal
# that asks, without a program of their own, as another user's program.
cd "$TMP" && : >out
tally -e '
global ended, gone, others, told
probe process("work-ends").end { ended[execname()]++ }
probe process("work-ends").thread.end { gone[execname()]++ }
probe process("work-calls").end { others++ }
probe timer.ms(100) { if (!told++) println("attached") }
probe end {
	foreach (name in ended+)
		printf("%s: ended %d, threads gone %d\n", name, ended[name],
		       gone[name])
	printf("others %d\n", others)
}' >out &
job=$!
until grep -q attached out; do sleep 0.1; done
count=20
work-ends exit 3 $count
work-ends last 3 $count
work-ends fork 2 $count
for signal in KILL TERM; do
	i=0
	while [ $i -lt 10 ]; do
		work-ends run 3 &
		until [ "$(ls /proc/$!/task | wc -l)" = 4 ]; do :; done
		kill -$signal $!
		wait $! || true
		i=$((i + 1))
	done
done 2>/dev/null
(exec work-calls getppid 10 3)
work-calls getppid 10 1
kill $job
wait $job
cat out
