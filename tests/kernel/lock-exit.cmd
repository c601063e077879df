# exit() in the middle of a locked region ends the run in time, with the region
# whole; a string of 512 bytes is whole, too; check-then-insert and deletion by
# handlers on all CPUs in a full array lose nothing. (A holder whose CPU the host
# stops makes others skip; that is no matter here.) The work lasts until the array
# was full.
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 100000000 4 pin' -e '
global x, y, torn
probe kernel.trace("sys_enter") {
	if (x != y) torn++
	x++
	if (x >= 20000) exit()
	for (i = 0; i < 20; i++) n += i
	y++
}
probe kernel.trace("sys_exit") { if (x != y) torn++; x += 2; y += 2 }
probe end { printf("%d torn, %s\n", torn + (x != y), x >= 20000 ? "over" : "early") }' 2>/dev/null
cd "$TMP"
tally -w -DMAXSKIPPED=1000000000 -c 'work-calls getppid 6000 4 pin stop' -e '
global s[3], t, u, full[4], came, went, broken
function long_one(n) {
	x = sprintf("%d", n) . execname()
	x = x . x . x . x
	x = x . x . x . x
	return x . x . x . x
}
function sum(n) {
	if (s[n] != "" && strlen(s[n]) < 100) broken <<< 1
	if (t != u) broken <<< 1
	s[n] = long_one(n)
	t = s[n]
	u = t
}
function some(k) {
	if (k in full) { went++; delete full[k] }
	else { try { full[k] = k; came++ } catch { refused <<< 1 } }
	if (came - went < 0 || came - went > 4) broken <<< 1
} global refused
probe kernel.trace("sys_enter") { if (pid() == target()) { sum(tid() % 3); some(tid() & 7) } }
probe kernel.trace("sys_exit") { if (pid() == target()) { some(cpu()); sum(1) } }
probe timer.profile.freq.hz(997) { some(5); sum(2) }
probe timer.ms(3) { n = 0; foreach (k in full) n++; if (n != came - went) broken <<< 1 }
probe timer.ms(2) { foreach (k in s) if (s[k] != "" && strlen(s[k]) < 100) broken <<< 1 }
probe timer.ms(20) { if (@count(refused) && !told++) system(": >stop") } global told
probe end { delete s; delete full; printf("%d broken, %d long, %d\n", @count(broken), strlen(t) > 100, @count(refused) > 0) }' 2>/dev/null
