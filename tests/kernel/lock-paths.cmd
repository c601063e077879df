# Whatever way a handler ends, its locks are free again: errors that are caught
# and not, next, return, break, exit from deep inside; on the host and in the
# kernel. The first work lasts until each way was gone; if a lock stayed taken,
# all handlers of the second one would give up.
cd "$TMP"
tally -w --suppress-handler-errors -DMAXSKIPPED=1000000000 \
	-c 'work-calls getppid 10000 2 pin stop; work-calls getpgid 40000 2; true' -e '
global a, b, zero, done[8], told
probe kernel.trace("sys_enter") {
	if (ppid() != target() || $id != 110 && $id != 121) next
	seen[$id] <<< 1
	a[tid() & 7]++
	if (b % 97 == 50) { b++; x = 1 / zero; next }
	if (b % 97 == 60) { try { b++; x = 1 / zero } catch { next } }
	b++
	handled[$id] <<< 1
} global seen, handled
function deep(k) { if (a[k] + b >= 0) return 1 / zero; return b }
function early(k) { foreach (j in a) if (a[j] + b > 0) return a[k]; return 0 }
probe timer.ms(5) { foreach (k in a) { done[0]++; x = a[k] / zero } b += 0 }
probe timer.ms(6) { foreach (k in a) { done[1]++; if (a[k]) next } b += 0 }
probe timer.ms(7) { done[2]++; try { x = deep(1) } catch { } b += 0 }
probe timer.ms(8) { done[3]++; x = early(1) + b }
probe timer.ms(9) { done[4]++; if (a[1] + b) x = b / zero; b += 0 }
probe timer.ms(20) {
	if (done[0] && done[1] && done[2] && done[3] && done[4] && !told++)
		system(": >stop")
}
probe end {
	printf("%d seen, most handled: %d\n", @count(seen[121]),
		@count(handled[121]) * 2 > @count(seen[121]))
}' 2>/dev/null
