# What is said of each probe's locks, and that one proved to need none is the
# same program as with locks forced off.
cat >"$TMP/x.stp" <<'END'
global n, s, by[10], cfg = 3, first, last, seen
probe perf.sw.cpu_clock.sample(1000000) { n++; s <<< n_of() }
function n_of() { return cfg * 2 }
probe perf.sw.cpu_clock.sample(1000001) { by[pid()] += 3 }
probe perf.sw.cpu_clock.sample(1000002) {
	if (!first) first = cpu() + 1
	last = cpu()
}
probe perf.sw.cpu_clock.sample(1000003) {
	try { if (!(pid() in seen)) seen[pid()] = 1 } catch { }
}
probe timer.s(1) { println(n, @count(s)) }
probe timer.s(2) { println(first, last) }
probe timer.s(3) { foreach (k in seen) println(k) }
probe end { println(by[1]) }
END
tally --dump=locks "$TMP/x.stp"
tally -v -p2 "$TMP/x.stp" 2>&1 >/dev/null | grep -c ': .*lock'
# 34 groups and 32 locks.
awk 'BEGIN { for (i = 0; i < 34; i++)
	printf "global g%d probe timer.profile { g%d = g%d * 3 + 1 }\n", i, i, i }
' >"$TMP/many.stp"
tally -w --dump=locks "$TMP/many.stp" | tail -1
tally --dump=bpf "$TMP/x.stp" >"$TMP/with"
tally --dump=bpf -DTALLY_NO_LOCKS "$TMP/x.stp" >"$TMP/without"
for probe in 0 1; do
	for f in with without; do
		awk -v probe="$probe:" '/^# /{ on = $3 == probe } on' \
			"$TMP/$f" >"$TMP/$f.one"
	done
	[ -s "$TMP/with.one" ] && cmp "$TMP/with.one" "$TMP/without.one" &&
		echo "probe $probe: same"
done
