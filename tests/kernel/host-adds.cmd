# What a timer adds to an array and to a scalar, while handlers on all CPUs add
# to the same: nothing is lost. The work lasts until the timer has added enough.
cd "$TMP"
tally -c 'work-calls getppid 250000 4 pin stop' -e '
global a, n, h, told
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) { a["x"]++; n++ }
}
probe timer.us(200) { a["x"]++; n++; h++ }
probe timer.ms(20) { if (h > 10 && !told++) system(": >stop") }
probe end { printf("%d %d\n", a["x"] - h, n - h) }' >out
read -r rounds <stop
read -r in_array scalar <out
echo $((in_array - 250000 * rounds)) $((scalar - 250000 * rounds))
