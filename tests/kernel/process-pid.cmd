# The target's calls; the end of a process by its number; samples of a program
# and of no other.
cat >"$TMP/a.stp" <<'X'
global n, samples
probe process.syscall { if ($syscall == 135) n++ }
probe process.syscall.return { if ($syscall == 135 && $return < 0) n += 1000 }
probe perf.sw.cpu_clock.sample(100000).process("sha256sum") { samples[execname()]++ }
probe perf.sw.cpu_clock.sample(100000).process { samples["target"]++ }
probe end {
	println("calls ", n)
	foreach (name in samples+)
		println(name, " ", samples[name] > 10)
}
X
# Here and there the kernel misses a sample, and tally says so.
tally -c "sha256sum $(command -v tally) $(command -v tally) >/dev/null
    i=0; while [ \$i -lt 50000 ]; do i=\$((i+1)); done
    exec work-calls personality 100 1" "$TMP/a.stp" 2>/dev/null
sleep 30 & p=$!
cat >"$TMP/b.stp" <<X
probe process($p).end { println("end of ", execname()); exit() }
probe timer.ms(200) { if (!killed++) system("kill $p") }
global killed
X
timeout 15 tally "$TMP/b.stp"
