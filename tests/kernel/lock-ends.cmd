# However a handler in the kernel ends while it holds a lock, the lock is free
# again. The program's main thread may be about as well, on a CPU that a guest
# starves, so some skips are let pass; a lock that stayed taken would make a
# thousand, which ends the run. Likewise on the host, where the kernel's
# handlers would all wait in vain.
cat >"$TMP/x.stp" <<'END'
global a[4], n, turn, after, zero, ends, s
function deep(x) { n++; if (x > 1) error("deep"); return 1 / zero }
function leave(x) { if (n > 0) return x; n++; return deep(x) }
probe kernel.trace("sys_enter") {
	if (pid() != target() || $id != 110) next
	way = turn++ % 11; n = n + 1
	ends <<< way
	if (way == 1) a[n] = n				/* overflow */
	if (way == 2) while (n > 0) n = n + zero	/* MAXACTION */
	if (way == 3) deep(2)
	if (way == 4) x = kernel_int64(8)			/* fault */
	if (way == 5) next
	if (way == 6) x = leave(1)
	if (way == 7) try { x = deep(1) } catch { next }
	if (way == 8) for (;;) if (n++ > 0) break
	if (way == 9) x = n % zero
	if (way == 10) s = execname() . sprintf("%d", n + x)
	n = n + x + 0
}
probe kernel.trace("sys_exit") {
	if (pid() == target()) { after = after + 1; n = n + 0 }
}
probe end { delete a; if (s == "") println("no text"); n = turn = 0
	printf("%d of each way, %s\n", @count(ends) / 11, after > 900 ? "all" : "few") }
END
tally -w --suppress-handler-errors -DMAXSKIPPED=300 \
	-c 'work-calls getppid 1000 1 pin' "$TMP/x.stp" 2>/dev/null
tally -w -t -DMAXERRORS=1000000 -DMAXSKIPPED=300 \
	-c 'work-calls getppid 1000 1 pin' "$TMP/x.stp" 2>&1 >/dev/null |
	grep '^ERROR' |
	sed 's/ near .*//; s/0x[0-9a-f]*/ADDR/' |
	sort -u
# The host: each ending in a timer of its own, with walks, so that none of it is
# done by the kernel. The first work lasts until each has ended so; handlers of
# the second one get the lock, which a part of those of the first may not.
cd "$TMP"
tally -w --suppress-handler-errors -DMAXSKIPPED=1000000000 -DMAXACTION=50 \
	-c 'work-calls getppid 3000 2 pin stop; work-calls getpgid 3000 2; true' -e '
global a[8], n, zero, seen, handled, done[8], told
probe kernel.trace("sys_enter") {
	if (ppid() != target() || $id != 110 && $id != 121) next
	seen[$id] <<< 1; a[tid() & 3]++; n = n + full[1] + 1; handled[$id] <<< 1
}
probe timer.ms(3) { foreach (k in a) { done[0]++; n++; error("x") } n = n + 0 }
probe timer.ms(4) { foreach (k in a) { done[1]++; while (1) n++ } n = n + 0 }
probe timer.ms(5) { foreach (k in a) { done[2]++; n++; full[n] = 1 } } global full[2]
probe timer.ms(6) { foreach (k in a) { done[3]++; n++; next } n = n + 0 }
probe timer.ms(7) { foreach (k in a) { done[4]++; x = kernel_int64(8) + n++ } n = n + x }
probe timer.ms(20) {
	if (done[0] && done[1] && done[2] && done[3] && done[4] && !told++)
		system(": >stop")
}
probe end {
	delete a; delete full; delete done; n = turn = 0
	printf("%d seen, most handled: %d\n", @count(seen[121]),
		@count(handled[121]) * 2 > @count(seen[121]))
}' 2>/dev/null
