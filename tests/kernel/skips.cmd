# Handlers that cannot have their globals: counted, named, and too many of them
# end the run. A timer on top of a long handler finds its lock held there. One
# thread on one CPU, and nobody but it uses the globals: whatever else the
# machine does, no handler waits for another CPU, so each skip is such a timer.
# All these end when there are more than three skips.
cat >"$TMP/x.stp" <<'END'
global n, m
probe kernel.trace("sys_enter") {
	if (pid() != target()) next
	for (i = 0; i < 400; i++) n = n + 1
	m = n
}
probe timer.profile.freq.hz(4000) {
	if (pid() != target()) next
	m = m + 1
	n = m
}
END
set +e
tally -g --suppress-time-limits -DMAXSKIPPED=3 \
	-c 'work-calls getppid 10000000 1 pin' "$TMP/x.stp" >"$TMP/out" 2>"$TMP/err"
echo "status $?"
sed -n '/^ERROR/p; s/skipped probes: .*/skipped probes/p' "$TMP/err"
sed -n 's/.*, [0-9]* \(interrupted another.*\)/\1/p' "$TMP/err" | head -1
# No patience: a lock that is held on another CPU is given up at once.
sed '/^probe timer/,/^}/d' "$TMP/x.stp" >"$TMP/y.stp"
tally -t -DMAXTRYLOCK=0 -DMAXSKIPPED=3 \
	-c 'work-calls getppid 10000000 4 pin' "$TMP/y.stp" 2>&1 |
	tee "$TMP/err" | grep -q 'gave up waiting' && echo 'gave up at once'
sed -n 's/[0-9]*$/N/; /^Skipped due to global/p' "$TMP/err"
exit 0
