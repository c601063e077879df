# -t: what a hit costs, also of handlers that one program jumps to, of several
# on one event, of each way out, of timers in tally and in the kernel. Not how
# much, which is the machine's matter, but that more work is more, and that
# every hit has its time.
cd "$TMP"
cat >x.stp <<'END'
global n, x, y, z
/* rare events, not only of this test: each hit of the second has the loop */
probe syscall.getppid { n <<< 1 }
probe syscall.getppid.return { for (i = 0; i < 1000; i++) n <<< i }
probe kernel.trace("sched_process_exit") { x <<< 1 }
probe kernel.trace("sched_process_exit") { for (i = 0; i < 1000; i++) x <<< i }
/* strings: a scratch slot is given back, then the time is taken */
probe syscall.getpgid {
	if (ppid() == target())
		x <<< strlen(sprintf("%s %s", execname(), execname() . "x"))
}
/* an error, an early end, and the rest in tally */
probe syscall.getpriority { if (ppid() == target()) x <<< 1 / (pid() & 0) }
probe syscall.sched_yield { if (ppid() == target()) next; x <<< 1 }
probe syscall.personality { if (ppid() == target()) system(":") }
/* a lock, whose wait is a part of it; in the kernel, from a timer */
probe syscall.close { if (ppid() == target()) { z = z + 1; y = y + z } }
probe timer.ms(3) { z = z + 1; y = y + z }
probe timer.ms(2) { println("timer") }
probe begin { for (i = 0; i < 1000; i++) y += i }
probe end { println(@count(n) >= 200200, @count(x) >= 6006) }
END
# When the second timer fires again, the first has.
tally -t -w --suppress-handler-errors -c 'for c in getppid getpgid getpriority \
	sched_yield personality close; do work-calls $c 200 1; done
	until [ $(grep -c timer out) -ge 2 ]; do sleep 0.1; done' \
	x.stp >out 2>err
tail -1 out
# Begin probes of the library are left out.
sed -n '/^begin(/d
	s/\(.*\), (.*), \(hits: .*, handled: .*, nsecs: .*\), from.*index: /\1|\2|/
	s/\(hits\|, handled\|, nsecs\): /|/g; s/\(min.\|avg.\|max\)/|/g
	/hits\|contradict\|[|]/p' err |
awk -F '|' '
NF != 9 { print "not timed:", $0; next }
{
	print $1, ($4 > 0 && $4 <= $3 ? "hit" : $0),
		($6 > 0 && $5 <= $6 && $6 <= $7 && $7 < 1e10 ? "fits" : $0)
	least[$9] = $5
}
END {
	print least[0] < least[1] ? "more" : least[0] " " least[1]
	print least[2] < least[3] ? "more" : least[2] " " least[3]
}'
