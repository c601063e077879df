# Root without capabilities: what is missing, what helps, what still works. It
# may not be let into the folder of somebody else, who has built tally there.
cp "$BUILD/tally" "$TMP/tally"
exec 2>&1
set +e
weak() {
	setpriv --bounding-set=-all --inh-caps=-all "$TMP/tally" "$@"
	echo "status $?"
}
weak -e 'probe kernel.trace("sys_enter") { n++ } global n' 2>&1 | sed 's/=ep .*/=ep .../'
weak -e 'probe begin { println("begin needs nothing"); exit() }'
# but for the kernel's memory, of which it is told once
weak -e 'probe begin {
	for (i = 1; i < 3; i++) try { println(kernel_long(i)) } catch { n++ }
	println(n, " faults"); exit() }' 2>&1 | sed 's/=ep .*/=ep .../'
exit 0
