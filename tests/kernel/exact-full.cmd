# An array ten times too small: the rows and the other cell have every sample,
# and so has a too small array that reports empty ten times a second, with its
# losses counted as map_full. EXACT: times longer.
n=$((${EXACT:-1} * 100000))
tally -w --format=json -c "work-calls getppid $n 4 pin" -e '
global few[50], gone[50], seen
probe kernel.trace("sys_enter") {
	if (pid() == target() && $id == 110) {
		few[gettimeofday_ns() % 500] <<< $id
		gone[gettimeofday_ns() % 500] <<< $id
	}
}
function report() {
	foreach (k in few) m = @sum(few[k])
	foreach (k in gone) seen += @count(gone[k])
	delete gone
	return m
}
probe timer.ms(100) { report() }
probe end { report(); println(seen) }' | python3 -c '
import json, sys
n = int(sys.argv[1])
lines = [json.loads(line) for line in sys.stdin]
seen = int("".join(l["text"] for l in lines if l["type"] == "text"))
few = lines[-1]["aggregates"][0]
print(len(few["rows"]), sum(r["count"] for r in few["rows"])
      + few["other"]["count"] - n)
print(few["other"]["sum"] - few["other"]["count"] * 110, seen < n)' \
    $((4 * n))
