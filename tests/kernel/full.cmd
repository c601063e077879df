# A full array refuses keys until one goes, in a handler or by a timer; a full
# array of aggregates gathers strangers until a report has emptied its bank. The
# second burst begins behind the report on the first, which is made when that
# has long been over.
tally -w -c 'work-calls getppid 10 1' -e '
global a[4], n, ok, full
probe kernel.trace("sys_enter") {
	if (pid() != target() || $id != 110) next
	n++
	if (n == 7) delete a[1]
	try { a[n] = n; ok++ } catch { full++ }
}
probe end { printf("plain: %d in, %d refused, %d\n", ok, full, a[7]) }'
cd "$TMP"
tally -w -c 'work-mix 40 0 0 1; until grep -q report out; do sleep 0.1; done
	work-mix 40 0 0 1; true' -e '
global a[4], n, sum, keys, rounds, calm
probe kernel.trace("sys_enter") {
	if ($id == 110 && ppid() == target()) a[n++ % 8] <<< 1
}
function report() {
	had = keys
	foreach (k in a) { sum += @count(a[k]); keys++ }
	rounds += keys > had
	delete a
}
probe timer.ms(50) {
	if (n == 40 && ++calm == 3) {
		report()
		println("report")
	}
}
probe end { report(); printf("%d keys in %d rounds hold %d of %d\n", keys, rounds, sum, n) }' >out
cat out
