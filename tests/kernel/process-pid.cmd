# The target's calls; the end of a process by its number; samples of a program
# and of no other: both go on until there are enough.
cd "$TMP"
cat >a.stp <<'X'
global n, samples, told
probe process.syscall { if ($syscall == 135) n++ }
probe process.syscall.return { if ($syscall == 135 && $return < 0) n += 1000 }
probe perf.sw.cpu_clock.sample(100000).process("sha256sum") { samples[execname()]++ }
probe perf.sw.cpu_clock.sample(100000).process { samples["target"]++ }
probe timer.ms(20) {
	if (samples["sha256sum"] > 10 && samples["target"] > 10 && !told++)
		system(": >stop")
}
probe end {
	println("calls ", n)
	foreach (name+ in samples)
		println(name, " ", samples[name] > 10)
}
X
# Here and there the kernel misses a sample, and tally says so.
tally -c "until [ -e stop ]; do sha256sum $(command -v tally) >/dev/null; done
    exec work-calls personality 100 1" a.stp 2>/dev/null
sleep 1000 & p=$!
until grep -q sleep "/proc/$p/comm"; do sleep 0.1; done
cat >b.stp <<X
probe process($p).end { println("end of ", execname()); exit() }
probe timer.ms(200) { if (!killed++) system("kill $p") }
global killed
X
tally b.stp
