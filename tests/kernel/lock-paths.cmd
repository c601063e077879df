# Whatever way a handler ends, its locks are free again: errors that are caught
# and not, next, return, break, exit from deep inside; on the host and in the
# kernel. If one stayed taken, all later handlers would give up.
tally -w --suppress-handler-errors -DMAXSKIPPED=1000000000 \
	-c 'work-calls getppid 40000 2 pin; sleep 0.2; work-calls getppid 40000 2' -e '
global a, b, zero, done[8], last_calls, last_handled
probe kernel.trace("sys_enter") {
	if (ppid() != target() || $id != 110) next
	seen <<< 1
	a[tid() & 7]++
	if (b % 97 == 50) { b++; x = 1 / zero; next }
	if (b % 97 == 60) { try { b++; x = 1 / zero } catch { next } }
	b++
	handled <<< 1
} global seen, handled
function deep(k) { if (a[k] + b >= 0) return 1 / zero; return b }
function early(k) { foreach (j in a) if (a[j] + b > 0) return a[k]; return 0 }
probe timer.ms(5) { foreach (k in a) { done[0]++; x = a[k] / zero } b += 0 }
probe timer.ms(6) { foreach (k in a) { done[1]++; if (a[k]) next } b += 0 }
probe timer.ms(7) { done[2]++; try { x = deep(1) } catch { } b += 0 }
probe timer.ms(8) { done[3]++; x = early(1) + b }
probe timer.ms(9) { done[4]++; if (a[1] + b) x = b / zero; b += 0 }
probe end {
	for (i = 0; i < 5; i++) missing += !done[i]
	printf("%d missing, most handled: %d\n", missing,
		@count(handled) * 10 > @count(seen) * 9)
}' 2>/dev/null
