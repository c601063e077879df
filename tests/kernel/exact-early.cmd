# Quantile grids by octave, of which the map has room for a seventh: as it is
# drained early, nearly all samples of short bursts find their element, and none
# is lost. Between bursts tally gets two turns, of which the second drains what
# the burst has left. EXACT: times longer.
n=$((${EXACT:-1} * 40))
cd "$TMP"
tally -w --snapshot s -c "for i in \$(seq $n); do
	work-calls getppid 150 4
	enough=\$((\$(wc -c <out) + 2))
	until [ \$(wc -c <out) -ge \$enough ]; do sleep 0.01; done
	done" -e '
global g[300]
probe kernel.trace("sys_enter") {
	if ($id == 110 && ppid() == target()) {
		t = gettimeofday_ns() * 40503 >> 8 & 0xfffff
		g[t % 300] <<< 1 << (t >> 9) % 45
	}
}
probe timer.ms(10) { print(".") }
probe end {
	foreach (k in g) {
		m = @median(g[k])
		p = @quantile(g[k], 90)
		if (m < @min(g[k]) || p < m || @max(g[k]) < p) wrong++
	}
	println(wrong, " wrong")
}' >out
tr -d . <out
awk -v n=$((600 * n)) '
	/"other": \{/ { other = 1 }
	/"count":/ { count = $2 + 0; if (other) rest += count; else rows += count }
	/"grid": \{/ { inside = 1; sum = 0; next }
	inside && /^ *"[0-9]+":/ { sum += $2 }
	inside && /\}/ { inside = 0; bad += sum != count; cells++ }
	END { print rows + rest - n, (rows > 0.9 * n ? "nearly all" : rows),
	      bad + 0, cells - other }' s
