# --format: the same results for programs, with the ledger and the other cell.
cd "$TMP"
cat >events <<'END'
1 kernel.trace("sys_enter") pid=1 execname=a args=0,-5
2 kernel.trace("sys_enter") pid=2 execname="b\"c" args=0,0
3 kernel.trace("sys_enter") pid=3 execname=d args=0,7
4 kernel.trace("sys_enter") pid=2 execname="b\"c" args=0,1000
END
cat >s.stp <<'END'
global by[2], h, l, q
probe kernel.trace("sys_enter") {
	by[execname()] <<< $id; h <<< $id; l <<< $id; q <<< $id
	printf("%d \"%s\"\n", $id, execname())
}
probe end {
	foreach (e in by) printf("%d %d\n", @sum(by[e]), @max(by[e]))
	println(@hist_log(h)[64], @hist_linear(l, 0, 8, 4)[0], @median(q))
}
END
tally -w --events events --format=json s.stp
tally -w --events events --format=json s.stp | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
print("".join(l["text"] for l in lines if l["type"] == "text"), end="")
print(lines[-1]["ledger"][0]["hits"])'
tally -w --events events --format=openmetrics s.stp
tally --format=xml -e 'probe begin { exit() }' 2>&1 | head -n 1
# A label is UTF-8, whatever bytes a key has.
tally --format=openmetrics -e 'global a
probe begin { a["\377-\303\251\n\\"] <<< 1; exit() }
probe end { print(@count(a["x"])) }' | grep -a key1 | od -An -c -w32
