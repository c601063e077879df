# An array ten times too small: the rows and the other cell have every sample,
# and so has a too small array that reports empty ten times a second, with its
# losses counted as map_full. EXACT: times longer.
n=$((${EXACT:-1} * 100000))
tally -w --snapshot "$TMP/s" -c "work-calls getppid $n 4 pin" -e '
global few[50], gone[50], seen
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		k = (gettimeofday_ns() * 40503 >> 8 & 0xfffff) % 500
		few[k] <<< $id
		gone[k] <<< $id
	}
}
function report() {
	foreach (k in few) m += @sum(few[k]) - @count(few[k])
	foreach (k in gone) seen += @count(gone[k])
	delete gone
	return m
}
probe timer.ms(100) { report() }
probe end { report(); println(seen) }' >"$TMP/out"
tally merge --print "$TMP/s" | tr '[]=' '   ' | awk -v n=$((4 * n)) '
	NR == FNR { seen = $1; next }
	$1 == "few" { all += $4 }
	$1 == "few" && $2 != "other" { rows++ }
	$1 == "few" && $2 == "other" { wrong = $6 - $4 * 110 }
	END { print rows, all - n; print wrong, (seen < n ? "True" : seen) }
' "$TMP/out" -
