# Arrays ten times too small, of which reports delete thousands of elements one
# by one and in slices, and maps that fill up and are drained early: rows, what
# reports have taken and the other cells have every sample. EXACT: times longer.
n=$((${EXACT:-1} * 75000))
tally -w -DMAXACTION=1000000 --snapshot "$TMP/s" -c "work-calls getppid $n 4 pin" -e '
global few[300], pairs[300], grid[300], large[60000], got_few, got_pairs
global got_grid, m
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		k = gettimeofday_ns()
		few[k % 3000] <<< $id
		pairs[k % 50, k % 61] <<< $id
		grid[k % 3001] <<< k % 100000
		large[k % 100003] <<< k % 1000
	}
}
function report() {
	for (k = 0; k < 3000; k++) {
		got_few += @count(few[k])
		delete few[k]
	}
	for (k = 0; k < 50; k += 2) {
		foreach ([a, b] in pairs[k, *])
			got_pairs += @count(pairs[a, b])
		delete pairs[k, *]
	}
	for (k = 0; k < 3001; k += 3) {
		got_grid += @count(grid[k])
		delete grid[k]
	}
	foreach (k in large limit 5) m += @hist_log(large[k])[0] < 0
	if (@count(grid[1])) m += @median(grid[1]) < 0
}
probe timer.ms(100) { report() }
probe end {
	printf("few %d\npairs %d\ngrid %d\nlarge %d\n", got_few, got_pairs,
	       got_grid, m)
}' >"$TMP/out"
awk -v n=$((4 * n)) '
	NR == FNR { got[$1] = $2; next }
	/^      "name":/ { gsub(/[",]/, ""); name = $2 }
	/"other": \{/ { full[name] = 1 }
	/"count":/ { count = $2 + 0; got[name] += count }
	/"(grid|histogram)": \{/ { inside = 1; sum = 0; next }
	inside && /"kind"/ { inside = 0 }
	inside && /^ *"[0-9]+":/ { sum += $2 }
	inside && /\}/ { inside = 0; bad += sum != count; cells++ }
	END {
		for (i = split("few pairs grid large", of); i; i--)
			print of[i], got[of[i]] - n, full[of[i]]
		print bad + 0, (cells > 300)
	}' "$TMP/out" "$TMP/s"
